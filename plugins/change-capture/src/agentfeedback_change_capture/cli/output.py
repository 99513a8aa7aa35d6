"""How the commands of `agentscm` print: one JSON object, or short text without control characters."""

from __future__ import annotations

import os

from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.errors import UsageError
from agentfeedback.terminal import screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed


def print_result(line: Parsed, result: dict[str, Any], text: Iterable[str]) -> None:
    """Print a result as the command line asked for it."""
    if line.json:
        screen.write(compact(result).decode() + "\n")
    else:
        screen.write("".join(f"{screen.visible(each)}\n" for each in text))


def warn(command: str, warnings: Sequence[str]) -> None:
    """Show warnings on standard error, one line each."""
    for each in warnings:
        screen.note(f"agentscm {command}: warning: {each}")


def absolute(line: Parsed, name: str) -> str:
    """Return the path that a flag gives.

    Raises:
        UsageError: It is missing, or not absolute.
    """
    given: str = getattr(line, name)
    if not given:
        raise UsageError(f"--{name} is missing", f"add --{name} PATH")
    if not os.path.isabs(given) or "\0" in given:
        raise UsageError(f"--{name} is not an absolute path", "write it from the root on")
    return os.path.normpath(given)


def no_more(line: Parsed) -> None:
    """Raise UsageError for words that a command does not take."""
    if line.positionals:
        raise UsageError("wrong number of arguments", "give none beside the flags")


def limit(line: Parsed, default: int = 100) -> int:
    """Return the bound of each list.

    Raises:
        UsageError: It is not positive.
    """
    if "limit" not in line.given:
        return default
    given: int = line.limit
    if given < 1:
        raise UsageError("--limit is not a positive number", "give at least 1")
    return given
