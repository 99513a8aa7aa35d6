"""`agentfeedback sessions show`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agentfeedback.cli.session_line import (
    engine_of_line,
    host_of_line,
    print_result,
    warn_of_unknown_keys,
)
from agentfeedback.foundation.errors import UsageError
from agentfeedback.terminal import screen

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run_show(line: Parsed) -> int:
    """Show one session, or one entry of it."""
    if len(line.positionals) != 1:
        raise UsageError(
            "name one session, or one entry of it, to show",
            "write <harness>:<session id>, as sessions list shows it, or that with #<span>",
        )
    name, mark, span = line.positionals[0].rpartition("#")
    host = host_of_line()
    ref = host.ref(name if mark else span)
    if mark and not span:
        raise UsageError(f'"{line.positionals[0]}" names no span', "leave out the # at its end")
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    shown = engine.show(ref, span if mark else "", allow_unknown=line.allow_unknown_project)

    def text() -> str:
        from agentfeedback.cli.show_text import shown_text

        return shown_text(shown, screen.Screen.of(sys.stdout, os.environ))

    print_result(line, shown, text)
    return 0
