"""Which command of Claude Code is the visible call of a registered recipe. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

#: Whether this version has the command that guidance would name. Until it has, nothing is said of it.
RUNNER = False
#: The longest guidance that is added to a session, in bytes.
LONGEST = 2_048


def command_of(runner: str, id: str) -> str:
    """Return the one command that runs a recipe; `runner` is as the hook's entry holds it."""
    return f"{runner} --id {id}"


def recipe_of(
    payload: Mapping[str, Any], runner: str, recipes: Iterable[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """Return the recipe that a call runs: its command is exactly the runner's, without trimming or shell rules."""
    given = payload.get("tool_input")
    if not runner or payload.get("tool_name") != "Bash" or not isinstance(given, dict):
        return None
    command = given.get("command")
    return next((each for each in recipes if command == command_of(runner, each["id"])), None)


def guidance(runner: str, recipes: Iterable[Mapping[str, Any]]) -> str:
    """Return the guidance about a checkout's recipes, at most `LONGEST` bytes; empty without any."""
    lines = [
        f"{command_of(runner, each['id'])}  (up to {each['timeout_seconds']} seconds)"
        for each in recipes
    ]
    if not runner or not lines:
        return ""
    text = (
        "This checkout has registered checks. To run one, use exactly its command with the Bash tool, "
        "alone and unchanged, and allow it the time that is named:"
    )
    for line in lines:
        longer = f"{text}\n{line}"
        if len(longer.encode()) > LONGEST:
            break
        text = longer
    return text
