"""`agentfeedback completion SHELL`: prints the script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentfeedback.cli.main import program
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.terminal.completion import SHELLS, VOCABULARIES, script

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run(line: Parsed) -> int:
    """Print the completion script of the shell named, with the harnesses that have a reader here."""
    if len(line.positionals) != 1:
        raise UsageError(
            "wrong number of arguments for completion", f"name one of {', '.join(SHELLS)}"
        )
    host = Host(os.environ)
    here = {
        "harness": host.harnesses(),
        "installer": [
            plugin.name
            for plugin in host.installed
            if plugin.kind == "installer" and not plugin.error
        ],
    }
    words = {**VOCABULARIES, **{name: found for name, found in here.items() if found}}
    screen.write(script(line.positionals[0], program().commands(), words))
    return 0
