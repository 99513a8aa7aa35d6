"""`agentfeedback completion SHELL`: prints the script, and the refs that it asks for."""

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
    asked = "sessions refs"
    screen.write(script(line.positionals[0], this.name, this.commands(), words, asked))
    return 0


def run_refs(line: Parsed) -> int:
    """Print the refs that begin with a text, newest session first: what completion offers."""
    from agentfeedback.cli.session_line import engine_of_line

    before = line.positionals[0] if line.positionals else ""
    harness, colon, _ = before.partition(":")
    host = Host(os.environ)
    wanted = [
        name for name in host.harnesses() if (name == harness if colon else name.startswith(before))
    ]
    refs = engine_of_line(host, line).refs(wanted, before)
    screen.write("".join(f"{screen.visible(ref)}\n" for ref in refs))
    return 0
