"""How Copilot CLI is wired: its turn end, in a hook file of its own. Nothing of a payload is kept."""

from __future__ import annotations

import os

from agentfeedback.plugins import Installer, env_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Copilot(Installer):
    harness = "copilot"
    events = ("agentStop",)
    command_member = "bash"
    version = 1

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        return os.path.join(
            env_directory(environ, "COPILOT_HOME", home, ".copilot"), "hooks", "agentfeedback.json"
        )

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "bash": command, "timeoutSec": 5}


INSTALLER = Copilot()
