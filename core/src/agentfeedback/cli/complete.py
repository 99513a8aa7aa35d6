"""`agentfeedback completion SHELL`: prints the script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentfeedback.cli import screen
from agentfeedback.cli.commands import COMMANDS
from agentfeedback.cli.completion import SHELLS, VOCABULARIES, script
from agentfeedback.cli.installed import installed_commands
from agentfeedback.errors import UsageError
from agentfeedback.host import Host

if TYPE_CHECKING:
    from agentfeedback.cli.arguments import Parsed


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
    screen.write(script(line.positionals[0], (*COMMANDS, *installed_commands()), words))
    return 0
