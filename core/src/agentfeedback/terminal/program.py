"""How a program finds a command among its own and those of its plugins, and shows help. Ends quietly where the reader of its output is gone."""

from __future__ import annotations

import os
import sys

from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import (
    Command,
    unknown_subcommand,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


PIPE_CLOSED = 141


INTERRUPTED = 130


def close_quietly() -> None:
    # The reader went away; the interpreter's own flush at exit must not complain about it either.
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (
            OSError,
            ValueError,
        ):  # a stream without a descriptor has nothing to flush into a pipe
            continue


HELP = ("-h", "-help", "--help", "--h", "help")


def help_of(command: Command) -> int:
    from agentfeedback.terminal.usage import help_for

    screen.tell(help_for(command, screen.Screen.of(sys.stderr, os.environ).columns))
    return 0


def overview_of(commands: Sequence[Command], group: str, about: str) -> int:
    from agentfeedback.terminal.usage import overview

    columns = screen.Screen.of(sys.stderr, os.environ).columns
    screen.tell(overview(commands, group, columns, about=about))
    return 0


def find(commands: Sequence[Command], words: list[str]) -> tuple[Command | None, list[str]]:
    called = [each for each in commands if words[: len(each.name.split())] == each.name.split()]
    if called:  # of `plugins` and `plugins new` the longer name is meant
        command = max(called, key=lambda each: len(each.name))
        return command, words[len(command.name.split()) :]
    if words[0] == "sessions":
        raise unknown_subcommand("sessions", words[1], commands)
    return None, []
