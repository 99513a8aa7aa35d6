"""The program `agentscm`."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from agentfeedback.terminal.program import Program

#: The group that a distribution of its own brings.
ELSEWHERE = {"hub": "agentfeedback-hub"}
#: The command that an agent waits for: it is run before anything else is imported.
HOOK = ["change-capture", "hook-claude"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0 done, 1 refused or failed, 2 a wrong command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:2] == HOOK and words[2:3] not in (["-h"], ["--help"]):
        _hook(words[2:], started=argv is None)
    return program().main(words, _in_utf8 if argv is None else None)


def _hook(words: list[str], *, started: bool) -> NoReturn:
    # No byte code is written: on a full disk Python may write half of it, and then every later start fails.
    sys.dont_write_bytecode = True
    try:
        if started:
            _in_utf8()
        from agentfeedback_change_capture.adapter.hook import main as serve

        serve(words)
    finally:
        # Not even a damaged installation may stop an agent.
        os._exit(0)


def program() -> Program:
    """Return the program with its own commands and those of every installed distribution."""
    from agentfeedback.terminal.program import Program
    from agentfeedback_change_capture import __version__

    return Program(
        "agentscm",
        "agentscm.commands",
        "agentfeedback_change_capture.cli.commands",
        version=__version__,
        elsewhere=ELSEWHERE,
        whole_names=True,
    )


def _in_utf8() -> None:
    if sys.getfilesystemencoding() != "utf-8":
        from agentfeedback.foundation.utf8 import start_in_utf8

        start_in_utf8()
