"""Action rules: which tool's calls count as actions, and what their endings say. Pure.

`TOOL=execution:COVERAGE:RESULT_SOURCE`, or for one exact input of a tool
`TOOL=verification:COVERAGE:RESULT_SOURCE:sha256:<recipe digest>`. A rule of an exact input wins over
the one of its tool.
"""

from __future__ import annotations

import re

from agentfeedback.foundation.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

EXIT_CODE, UNVERIFIED = "process_exit_code", "unverified"
#: The tools whose results may hold an exit code.
SHELLS = ("Bash", "PowerShell")
_COVERAGES = ("complete", "partial", "unknown")
_TOOL = re.compile(r"[^\x00-\x20\x7f=]{1,256}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Rule:
    """One rule; `digest` is empty for an execution rule. `text` is how it is written."""

    __slots__ = ("coverage", "digest", "kind", "result_source", "text", "tool")

    def __init__(
        self, text: str, tool: str, kind: str, coverage: str, result_source: str, digest: str
    ) -> None:
        self.text = text
        self.tool = tool
        self.kind = kind
        self.coverage = coverage
        self.result_source = result_source
        self.digest = digest

    def shown(self) -> dict[str, str]:
        """Return what an action says of its rule."""
        return {
            "kind": self.kind,
            "coverage": self.coverage,
            "result_source": self.result_source,
        }


def parse(text: str) -> Rule:
    """Read one rule. Raises `UsageError`."""
    tool, equals, rest = text.partition("=")
    words = rest.split(":")
    kind = words[0]
    wanted = {"execution": 3, "verification": 5}.get(kind)
    if not equals or not _TOOL.fullmatch(tool) or len(tool.encode()) > 256:
        raise _wrong(text, "it does not begin with a tool's name and =")
    if wanted is None or len(words) != wanted:
        raise _wrong(text, "it is neither an execution nor a verification rule")
    if words[1] not in _COVERAGES:
        raise _wrong(text, f"its coverage is not one of {', '.join(_COVERAGES)}")
    if words[2] not in (EXIT_CODE, UNVERIFIED):
        raise _wrong(text, f"its result source is neither {EXIT_CODE} nor {UNVERIFIED}")
    if words[2] == EXIT_CODE and tool not in SHELLS:
        raise _wrong(text, f"{EXIT_CODE} is for {' and '.join(SHELLS)} only")
    digest = ""
    if kind == "verification":
        digest = words[4]
        if words[3] != "sha256" or not _DIGEST.fullmatch(digest):
            raise _wrong(text, "it does not end in sha256: and a recipe digest")
    return Rule(text, tool, kind, words[1], words[2], digest)


def parse_all(texts: Iterable[str]) -> list[Rule]:
    """Read rules. Raises `UsageError` also for two rules of the same calls."""
    found: dict[tuple[str, str], Rule] = {}
    for text in texts:
        rule = parse(text)
        if (rule.tool, rule.digest) in found:
            raise _wrong(text, "there is another rule for the same calls")
        found[rule.tool, rule.digest] = rule
    return list(found.values())


def rule_for(rules: Sequence[Rule], tool: str, digest: str) -> Rule | None:
    """Return the rule of a call, by its tool and the recipe digest of its input."""
    exact = (rule for rule in rules if rule.tool == tool and rule.digest == digest)
    whole = (rule for rule in rules if rule.tool == tool and not rule.digest)
    return next(exact, None) or next(whole, None)


def result(
    rule: Mapping[str, str], event: str, payload: Mapping[str, Any]
) -> tuple[str, str, int | None]:
    """Return execution, verification and exit code of a native ending.

    `rule` is what an action says of its rule. An exit code is read from an integer `exit_code` or
    `exitCode` of the result alone, never from text: a hook that returned says nothing about success.
    """
    verifies = rule["kind"] == "verification"
    response = payload.get("tool_response")
    members: Mapping[str, Any] = response if isinstance(response, dict) else {}
    if members.get("interrupted") is True or payload.get("is_interrupt") is True:
        return "incomplete", "incomplete" if verifies else "unknown", None
    if event == "PostToolUseFailure":
        return "failed", "incomplete" if verifies else "unknown", None
    code = _exit_code(members) if rule["result_source"] == EXIT_CODE else None
    if code is None:
        return "unknown", "unknown", None
    execution = "succeeded" if code == 0 else "failed"
    if not verifies:
        return execution, "unknown", code
    return execution, "passed" if code == 0 else "failed", code


def _exit_code(members: Mapping[str, Any]) -> int | None:
    from agentfeedback.foundation.json_text import Number

    for name in ("exit_code", "exitCode"):
        value = members.get(name)
        if isinstance(value, Number):
            value = int(value.text) if re.fullmatch(r"-?[0-9]{1,10}", value.text) else None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _wrong(text: str, reason: str) -> UsageError:
    shown = text if len(text) <= 80 else text[:79] + "…"
    return UsageError(
        f'action rule "{shown}": {reason}',
        "write TOOL=execution:COVERAGE:RESULT_SOURCE, such as Bash=execution:partial:process_exit_code",
    )
