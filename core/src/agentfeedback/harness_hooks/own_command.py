"""The commands of agentfeedback's own entries in hook files: `<agentfeedback> hook <harness> <event>`. Pure."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.harness_hooks.entries import Owns
    from agentfeedback.harness_hooks.installer import Installer


def commands(installer: Installer, program: str) -> dict[str, str]:
    """Return the command for each event; `program` is quoted for the shell already."""
    return {event: f"{program} hook {installer.harness} {event}" for event in installer.events}


def owner(harness: str) -> Owns:
    """Return the rule of which commands are ours: any agentfeedback's, wherever it is installed."""

    def owns(words: list[str]) -> bool:
        if len(words) < 4 or words[-3:-1] != ["hook", harness]:
            return False
        program = words[:-3]
        if program[1:] == ["-m", "agentfeedback"]:
            return os.path.isabs(program[0])
        return len(program) == 1 and os.path.basename(program[0]) == "agentfeedback"

    return owns
