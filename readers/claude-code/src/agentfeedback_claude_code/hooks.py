"""How Claude Code is wired: its turn end, in the user's settings. Nothing of a payload is kept."""

from __future__ import annotations

import os

from agentfeedback.plugins import Installer, env_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ClaudeCode(Installer):
    harness = "claude-code"
    events = ("Stop",)
    grouped = True

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        return os.path.join(
            env_directory(environ, "CLAUDE_CONFIG_DIR", home, ".claude"), "settings.json"
        )

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": 5}


INSTALLER = ClaudeCode()
