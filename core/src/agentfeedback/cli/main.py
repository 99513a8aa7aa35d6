"""The door: finds the command, calls it, and turns what went wrong into one line and an exit status (details 3.2)."""

from __future__ import annotations

import os
import sys

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import (
    PROGRAM,
    HelpRequested,
    members,
    parse,
    unknown_subcommand,
)
from agentfeedback.terminal.program import (
    HELP,
    INTERRUPTED,
    PIPE_CLOSED,
    close_quietly,
    find,
    help_of,
    overview_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ABOUT = """Reads the session logs of coding agents and digests what went wrong, so that it can be filed as
feedback. New here? Run

 agentfeedback demo
 agentfeedback sessions list"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0 done, 1 failed, 2 a wrong command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"] and words[1:] not in (["-h"], ["--help"]):
        return _hook(words[1:], started=argv is None)
    try:
        try:
            if argv is None:
                _in_utf8()
            return _run(words)
        except AgentFeedbackError as error:
            name = f"{PROGRAM} {error.command or _group(words)}".rstrip()
            remedy = f"; {error.remedy.rstrip('.')}" if error.remedy else ""
            screen.note(f"{name}: {error.problem.rstrip('.')}{remedy}.")
            return error.exit_status
    except BrokenPipeError:
        close_quietly()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED


def _hook(words: list[str], *, started: bool) -> int:
    # An agent waits: nothing else is imported. No byte code is written, since on a full disk Python
    # may write half of it, and then every later start fails.
    sys.dont_write_bytecode = True
    try:
        if started:
            _in_utf8()
        from agentfeedback.cli.hook import run
    except Exception:  # noqa: BLE001 - not even a damaged installation may stop an agent
        return 0
    return run(words)


def _in_utf8() -> None:
    """Start over where Python takes the names of files for another encoding than UTF-8.

    Logs and policies name directories in UTF-8: in another encoding the system would not find them,
    and no link and no repository file would be seen to refuse a session.
    """
    if sys.getfilesystemencoding() == "utf-8" or sys.flags.utf8_mode or not sys.executable:
        return
    try:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    except OSError as error:
        raise AgentFeedbackError(
            f"Python cannot be started anew with UTF-8 as the encoding of file names: {error}",
            "set PYTHONUTF8=1",
        ) from error


def _group(words: list[str]) -> str:
    return words[0] if words[:1] in (["sessions"], ["config"]) else ""


def _run(words: list[str]) -> int:
    if sys.platform == "win32":
        raise AgentFeedbackError("Windows is not supported", "run it on Linux or macOS")
    if words in (["--version"], ["-version"], ["version"], ["-V"]):
        from agentfeedback import __version__

        screen.write(f"{PROGRAM} {__version__}\n")
        return 0
    from agentfeedback.cli.commands import COMMANDS, SESSIONS_ABOUT

    if words[:1] == ["help"] and len(words) > 1:
        words = [*words[1:], "--help"]
    if not words or words[0] in HELP:
        from agentfeedback.cli.plugin_commands import installed_commands

        return overview_of((*COMMANDS, *installed_commands()), "", _ABOUT)
    if words[0] == "sessions":
        if len(words) == 1:
            raise UsageError(
                "wrong number of arguments for sessions",
                f"use {PROGRAM} sessions {'|'.join(members('sessions', COMMANDS))} [flags]",
            )
        if words[1] in HELP:
            return overview_of(COMMANDS, "sessions", SESSIONS_ABOUT)
    command, rest = find(COMMANDS, words)
    if command is None:
        return _installed_command(words)
    try:
        parsed = parse(command, rest)
    except HelpRequested as asked:
        return help_of(asked.command)
    module, _, function = command.target.partition(":")
    from importlib import import_module

    status: int = getattr(import_module(module), function)(parsed)
    return status


def _installed_command(words: list[str]) -> int:
    """Run a command that another distribution brings (entry points `agentfeedback.commands`)."""
    from agentfeedback.cli.commands import COMMANDS
    from agentfeedback.foundation import entry_points as installed

    for point in installed.entry_points(("agentfeedback.commands",)):
        if point.name != words[0]:
            continue
        try:
            run = installed.load(point.value)
        except Exception as error:
            from agentfeedback.plugins.host import described

            raise AgentFeedbackError(
                f"command {words[0]} could not be loaded: {described(error)}",
                "run agentfeedback plugins",
            ) from error
        try:
            status: int = run(words[1:])
        except HelpRequested as asked:
            return help_of(asked.command)
        except AgentFeedbackError as error:
            error.command = words[0]
            raise
        return status
    from agentfeedback.cli.plugin_commands import installed_commands

    raise unknown_subcommand("", words[0], (*COMMANDS, *installed_commands()))
