"""A program made of commands: its own, and those that other distributions add by entry points.

One mechanism for all of them: a table, `COMMANDS`, is a tuple of `Command`, and what a command does
is imported when it is called. A line loads the program's own table, and of other distributions the
tables of its first word alone.
"""

from __future__ import annotations

import os
import sys

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import (
    Command,
    HelpRequested,
    members,
    parse,
    unknown_subcommand,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentfeedback.foundation.entry_points import EntryPoint

PIPE_CLOSED = 141
INTERRUPTED = 130
HELP = ("-h", "-help", "--help", "--h", "help")
VERSION = ("--version", "-version", "version", "-V")


def _pip_install(dist: str) -> str:
    return f"pip install {dist}"


class Program:
    """A command line: the program's own table of commands, and the tables of a group of entry points.

    An entry point of the group is named after the first word of its commands; its value, `module`
    or `module:object`, holds `COMMANDS`. `commands` names the program's own table in the same way,
    so that `--version` does not load it. Where names begin alike, the longest that a line begins
    with is meant; of equal names the program's own counts, then the first on the path.

    `elsewhere` says by a command's name which distribution brings it; where that is not installed,
    the error names it with the command that `install` returns for it. With `whole_names` errors
    begin with all words of the command, else with its first. `bare` (`module:function`) is called for
    a line without a word; where it returns None, and without it, that is help.
    """

    __slots__ = (
        *("_at", "_commands", "_elsewhere", "_group", "_install", "_whole_names", "_bare"),
        *("name", "version"),
    )

    def __init__(
        self,
        name: str,
        group: str,
        commands: str,
        *,
        version: str = "",
        elsewhere: Mapping[str, str] | None = None,
        install: Callable[[str], str] = _pip_install,
        whole_names: bool = False,
        bare: str = "",
    ) -> None:
        self.name = name
        self.version = version
        self._group = group
        self._commands = commands
        self._elsewhere = elsewhere or {}
        self._install = install
        self._whole_names = whole_names
        self._bare = bare
        self._at = ""

    def main(self, words: Sequence[str], before: Callable[[], None] | None = None) -> int:
        """Run one command line and return its exit status: 0 done, 1 failed, 2 a wrong command line.

        An error becomes one line on standard error, named after the command. What `before` raises
        is shown likewise.
        """
        self._at = ""
        try:
            try:
                if before is not None:
                    before()
                return self._run(list(words))
            except AgentFeedbackError as error:
                remedy = f"; {error.remedy.rstrip('.')}" if error.remedy else ""
                name = f"{self.name} {self._at}".rstrip()
                screen.error(f"{name}: {error.problem.rstrip('.')}{remedy}.")
                return error.exit_status
        except BrokenPipeError:
            screen.close_quietly()
            return PIPE_CLOSED
        except KeyboardInterrupt:
            return INTERRUPTED

    def commands(self) -> tuple[Command, ...]:
        """Return every command, for help and completion; others stand beside the program's own of the same word.

        A table that cannot be loaded is shown by the name of its entry point.
        """
        found = list(table(self._commands))
        for each in self._tables():
            for command in each.commands:
                _add(found, command)
        return tuple(found)

    def find(self, words: Sequence[str]) -> tuple[Command | None, list[str]]:
        """Return the command that a line begins with and the words that follow, or all of them.

        Raises:
            AgentFeedbackError: The command's table cannot be loaded, or its distribution is not
                installed.
        """
        known: list[Command] = list(table(self._commands))
        command = _longest(known, words)
        following = words[len(_words(command)) :]
        if command is None or (following and not following[0].startswith("-")):
            command = self._longer(command, words)
        return command, list(words[len(_words(command)) :])

    def _longer(self, own: Command | None, words: Sequence[str]) -> Command | None:
        tables = self._tables(words[0])
        found = [own] if own is not None else []
        command = _longest([*found, *(each for one in tables for each in one.commands)], words)
        missing = [
            (name, dist)
            for name, dist in self._elsewhere.items()
            if _begins(words, name) and len(name.split()) > len(_words(command))
        ]
        failed = [(each.dist, why) for each in tables for why in each.errors.values()]
        if failed and (command is None or missing):
            self._at = words[0]
            raise AgentFeedbackError(
                f"command {words[0]} could not be loaded: {failed[0][1]}",
                f"update or uninstall {failed[0][0]}",
            )
        for name, dist in missing:
            self._at = words[0]
            raise AgentFeedbackError(
                f"{name} comes with {dist}, which is not installed",
                f"run {self._install(dist)} first",
            )
        for dist, why in failed:
            screen.note(
                f"{self.name} {words[0]}: warning: a command of {dist} could not be loaded: {why}"
            )
        return command

    def _run(self, words: list[str]) -> int:
        if sys.platform == "win32":
            raise AgentFeedbackError("Windows is not supported", "run it on Linux or macOS")
        if len(words) == 1 and words[0] in VERSION:
            screen.write(f"{self.name} {self.version}\n")
            return 0
        if words[:1] == ["help"] and len(words) > 1:
            words = [*words[1:], "--help"]
        if not words and self._bare:
            from agentfeedback.foundation.entry_points import load

            status: int | None = load(self._bare)()
            if status is not None:
                return status
        if not words or words[0] in HELP:
            return self._overview(self.commands(), "")
        command, rest = self.find(words)
        if command is None:
            return self._group_of(words)
        self._at = command.name if self._whole_names else words[0]
        try:
            parsed = parse(command, rest, self.name)
        except HelpRequested as asked:
            return self._help(asked.command)
        own = any(each is command for each in table(self._commands))
        returned: int = _target(command, own=own)(parsed)
        return returned

    def _group_of(self, words: list[str]) -> int:
        """Show the group that a line names, or raise what is wrong with the line."""
        commands: Sequence[Command] = (
            *table(self._commands),
            *(each for one in self._tables(words[0]) for each in one.commands),
        )
        size = len(words)
        while size and not members(" ".join(words[:size]), commands):
            size -= 1
        if not size:
            raise unknown_subcommand(self.name, "", words[0], self.commands())
        self._at, group = words[0], " ".join(words[:size])
        if size == len(words):
            self._overview(commands, group, screen.tell)
            return UsageError.exit_status
        if words[size] in HELP:
            return self._overview(commands, group)
        raise unknown_subcommand(self.name, group, words[size], commands)

    def _overview(
        self,
        commands: Sequence[Command],
        group: str,
        put: Callable[[str], None] = screen.write,
    ) -> int:
        from agentfeedback.terminal.usage import overview

        stream = sys.stdout if put is screen.write else sys.stderr
        columns = screen.Screen.of(stream, os.environ).columns
        put(overview(self.name, commands, group, columns))
        return 0

    def _help(self, command: Command) -> int:
        from agentfeedback.terminal.usage import help_for

        columns = screen.Screen.of(sys.stdout, os.environ).columns
        screen.write(help_for(self.name, command, columns))
        return 0

    def _tables(self, word: str = "") -> list[_Table]:
        """Load the tables of other distributions: those of one word, or all of them."""
        from agentfeedback.foundation.entry_points import entry_points

        modules: dict[str, dict[str, EntryPoint]] = {}
        for point in entry_points((self._group,)):
            if word in ("", point.name):
                modules.setdefault(point.value, {}).setdefault(point.name, point)
        return [_Table(value, list(modules[value].values())) for value in sorted(modules)]


class _Table:
    """The commands of the entry points with one value; `errors` says by name why there are none of that word."""

    __slots__ = ("commands", "dist", "errors")

    def __init__(self, value: str, points: list[EntryPoint]) -> None:
        self.dist = points[0].dist
        self.errors: dict[str, str] = {}
        from agentfeedback.terminal.foreign import TABLE_LIMIT, ForeignImport, described

        names = {point.name for point in points}
        try:
            with ForeignImport(TABLE_LIMIT):
                found = [each for each in table(value) if _first(each) in names]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is named and the rest works
            found, why = [], described(error)
        else:
            why = f"LookupError: no command of {value} begins with it"
        silent = names.difference(map(_first, found))
        self.errors = dict.fromkeys(sorted(silent), why)
        #: Each that can be called, and for each name without one a line that says so.
        self.commands = [
            *found,
            *(Command(name, f"cannot be loaded: {why.partition(':')[0]}") for name in self.errors),
        ]


def table(value: str) -> tuple[Command, ...]:
    """Return the commands that `module` or `module:object` holds.

    Raises:
        TypeError: `COMMANDS` is not a tuple of commands that can be called. An import may raise anything.
    """
    from agentfeedback.foundation.entry_points import load

    commands = load(value).COMMANDS
    if not isinstance(commands, tuple) or not all(isinstance(each, Command) for each in commands):
        raise TypeError(f"COMMANDS of {value} is not a tuple of Command")
    for each in commands:
        if not (each.target or each.hidden):
            raise TypeError(f"the command {each.name} of {value} has no target")
    return commands


def _target(command: Command, *, own: bool) -> Callable[..., int]:
    from agentfeedback.foundation.entry_points import load

    target: Callable[..., int]
    try:
        if own:
            target = load(command.target)
        else:
            from agentfeedback.terminal.foreign import ForeignImport

            with ForeignImport():
                target = load(command.target)
    except AgentFeedbackError:
        raise
    except Exception as error:
        from agentfeedback.terminal.foreign import described

        raise AgentFeedbackError(
            f"command {command.name} could not be loaded: {described(error)}"
        ) from error
    return target


def _words(command: Command | None) -> list[str]:
    return command.name.split() if command is not None else []


def _first(command: Command) -> str:
    return command.name.partition(" ")[0]


def _begins(words: Sequence[str], name: str) -> bool:
    wanted = name.split()
    return list(words[: len(wanted)]) == wanted


def _longest(commands: Iterable[Command], words: Sequence[str]) -> Command | None:
    called = [each for each in commands if each.target and _begins(words, each.name)]
    return max(called, key=lambda each: len(_words(each)), default=None)  # the first of equal ones


def _add(commands: list[Command], command: Command) -> None:
    """Put a command behind the last one of its first word, unless its name is taken."""
    if any(each.name == command.name for each in commands):
        return
    places = [at for at, each in enumerate(commands) if _first(each) == _first(command)]
    commands.insert(places[-1] + 1 if places else len(commands), command)
