"""`agentfeedback plugins new`: writes a reader package from the template of the kit."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.plugins.harnesses import ALIASES, CORE, HARNESSES, dist_of
from agentfeedback.terminal import screen
from pytest_agentfeedback import scaffold

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from agentfeedback.terminal.arguments import Parsed

KIT = "pytest-agentfeedback"
_LONGEST = 40


def run(line: Parsed) -> int:
    """Write `agentfeedback-NAME` into the folder of `--into`, else into the current one."""
    if len(line.positionals) != 1:
        raise UsageError(
            "plugins new takes one name",
            "name the harness, such as agentfeedback plugins new aider",
        )
    (name,) = line.positionals
    if not scaffold.WORD.fullmatch(name) or len(name) > _LONGEST:
        raise UsageError(
            f'"{name}" is not a name: words of a-z and 0-9 joined by dashes, at most {_LONGEST} characters',
            "take the name of the agent's command, such as goose",
        )
    if (name in HARNESSES or name in ALIASES) and not line.anyway:
        raise UsageError(
            f"{name} has a reader of this project",
            f"run {_pip_install(dist_of(ALIASES.get(name, name)))} and use that, or say --anyway",
        )
    target = os.path.join(line.into, f"agentfeedback-{name}")
    count = _write(target, scaffold.rendered(name))
    shown = shlex.quote(target)
    # What no index has to offer is installed from where it is.
    local = "".join(f"{shlex.quote(each)} " for each in _sources() if os.path.isabs(each))
    screen.write(
        f"wrote {count} files below {target}: a reader of an invented format, which passes its tests\n"
        "\n"
        "next:\n"
        f"  cd {shown}\n"
        f"  python3 -m venv .venv && .venv/bin/python -m pip install {local}-e '.[test]'\n"
        "  .venv/bin/python -m pytest\n"
        f"then put a session of {name} below corpus/{name}/home and change the reader until the tests pass\n"
    )
    return 0


def _sources() -> list[str]:
    from agentfeedback.plugins.install_hint import sources

    return sources(CORE, KIT)


def _pip_install(dist: str) -> str:
    from agentfeedback.plugins.install_hint import pip_install

    return pip_install(dist)


def _write(target: str, files: Iterable[tuple[PurePosixPath, str]]) -> int:
    try:
        os.mkdir(target)
    except FileExistsError:
        raise AgentFeedbackError(
            f"{target} is there already", "move it away, or use --into"
        ) from None
    except (OSError, ValueError) as error:
        raise AgentFeedbackError(
            f"{target} cannot be made: {reason_of(error)}",
            "use --into with a folder you can write to",
        ) from error
    count = 0
    try:
        for path, text in files:
            full = os.path.join(target, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            count += 1
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)  # half a package is worse than none
        raise AgentFeedbackError(
            f"{target} could not be written: {reason_of(error)}", "use --into with another folder"
        ) from error
    return count
