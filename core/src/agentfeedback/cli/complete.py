"""`agentfeedback completion SHELL`: prints the script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentfeedback.cli.main import program
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.host import Host
from agentfeedback.reading.refs import OUTCOMES
from agentfeedback.terminal import screen
from agentfeedback.terminal.completion import SHELLS, script

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run(line: Parsed) -> int:
    """Print the completion script of the shell named, with the harnesses that are installed here."""
    if len(line.positionals) != 1:
        raise UsageError("completion takes one shell", f"name one of {', '.join(SHELLS)}")
    host = Host(os.environ)
    words = {
        "harness": host.harnesses(),
        "installer": [
            plugin.name
            for plugin in host.installed
            if plugin.kind == "installer" and not plugin.error
        ],
        "outcome": OUTCOMES,
    }
    this = program()
    screen.write(script(line.positionals[0], this.name, this.commands(), words))
    return 0
