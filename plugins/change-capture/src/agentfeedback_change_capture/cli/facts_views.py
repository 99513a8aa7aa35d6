"""`capabilities` and `recipe-digest`: what capture observes, and how an input is identified."""

from __future__ import annotations

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback_change_capture.cli.output import no_more, print_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed

_LARGEST = 32 << 20


def run_capabilities(line: Parsed) -> int:
    """`change-capture capabilities`."""
    from agentfeedback_change_capture.adapter.capabilities import HARNESSES

    no_more(line)
    if line.harness and line.harness not in HARNESSES:
        known = ", ".join(HARNESSES)
        raise UsageError(f'no harness "{line.harness}" (have {known})', "name one of these")
    names = [line.harness] if line.harness else list(HARNESSES)
    found: list[dict[str, Any]] = [{"harness": name, **HARNESSES[name]} for name in names]
    text = []
    for each in found:
        text.append(f"{each['harness']}, tried with {each['qualified_version']}")
        text += [f"  {state:<12} {field}" for field, state in each["fields"].items()]
    print_result(line, {"harnesses": found}, text)
    return 0


def run_recipe_digest(line: Parsed) -> int:
    """`change-capture recipe-digest`."""
    from agentfeedback_change_capture import identities

    no_more(line)
    if bool(line.recipe_file) == bool(line.tool):
        raise UsageError(
            "name one thing to digest", "give --recipe-file, or --tool and --input-file"
        )
    if line.recipe_file:
        from agentfeedback_change_capture.setup import recipes
        from agentfeedback_change_capture.spool.limits import SpoolLimits

        found = recipes.read(line.recipe_file, SpoolLimits().artifact_bytes)
        digest = identities.recipe_digest(found)
    else:
        digest = identities.native_recipe_digest(line.tool, _input(line.input_file))
    print_result(line, {"digest": digest}, [digest])
    return 0


def _input(path: str) -> Any:
    from agentfeedback.foundation.files import regular_bytes
    from agentfeedback.foundation.json_text import NotJson, parse

    if not path:
        raise UsageError("--input-file is missing", "name a JSON file with the tool's input")
    try:
        return parse(regular_bytes(path, _LARGEST)).value
    except NotJson as error:
        raise AgentFeedbackError(f"{path} is {error}", "name a JSON file") from None
    except (OSError, ValueError) as error:
        raise AgentFeedbackError(f"{path}: {reason_of(error)}", "name a JSON file") from error
