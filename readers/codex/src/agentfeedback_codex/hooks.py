"""How Codex is wired: its turn end, in the hook file of its home. Nothing of a payload is kept."""

from __future__ import annotations

import os

from agentfeedback.plugins import Installer, env_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Codex(Installer):
    harness = "codex"
    events = ("Stop",)
    grouped = True
    next = "Codex runs only hooks you have trusted: start it once and trust this one"

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        return os.path.join(env_directory(environ, "CODEX_HOME", home, ".codex"), "hooks.json")

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": 5}


INSTALLER = Codex()
