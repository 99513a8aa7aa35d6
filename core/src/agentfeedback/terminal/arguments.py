"""The command line as tables: what a command accepts, and how its words are read.

A parser of its own because the rules are not those of `argparse`: `-x` and `--x` are the same
flag, flags and positionals mix in any order, a boolean takes a value only after `=`, and a value
may start with a dash. It is pure, and imports next to nothing, since every command waits for it.
"""

from __future__ import annotations

from agentfeedback.foundation.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal

    Kind = Literal["bool", "text", "number", "many"]
    #: Fixed words, or the name of a set that is known only at run time, or what a path must be.
    Choices = (
        tuple[str, ...] | Literal["harness", "installer", "outcome", "ref", "directory", "file"]
    )

_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_LARGEST = 2**63 - 1  # what the state database can hold


class Flag:
    """One flag: `bool`, `text` (the last one wins), `number` (whole) or `many` (repeatable).

    `value` is the word for its value in the help; `choices` serve help and completion only: the
    command checks the value, since the order of checks is its own.
    """

    __slots__ = ("choices", "help", "kind", "name", "value")

    def __init__(
        self, name: str, kind: Kind, help: str, value: str = "", choices: Choices = ()
    ) -> None:
        self.name = name
        self.kind = kind
        self.help = help
        self.value = value
        self.choices = choices


class Command:
    """One command: `name` is all its words (`sessions list`).

    `target` is `module:function`, imported when the command is called: the function gets the
    `Parsed` line and returns the exit status. `arguments` shows the positionals, such as
    `<harness:id>...`; completion offers their `choices`. `about` teaches: paragraphs separated by
    empty lines; a line that starts with a space is an example and kept as it is. A hidden command
    is left out of overviews and completion. One that is hidden and has no target is not a command:
    its `about` introduces the group of its name (`""`: the whole program).
    """

    __slots__ = ("about", "arguments", "choices", "flags", "hidden", "name", "summary", "target")

    def __init__(
        self,
        name: str,
        summary: str,
        arguments: str = "",
        flags: tuple[Flag, ...] = (),
        about: str = "",
        target: str = "",
        hidden: bool = False,
        choices: Choices = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.arguments = arguments
        self.flags = flags
        self.about = about
        self.target = target
        self.hidden = hidden
        self.choices = choices


class Parsed:
    """What a command line says: positionals in order, each flag as an attribute (`-` written `_`).

    A flag that was not given is false, `""`, `0` or `[]`; `given` names those that were.
    """

    __slots__ = ("given", "positionals", "values")

    def __init__(
        self,
        positionals: list[str],
        values: dict[str, bool | str | int | list[str]],
        given: set[str],
    ) -> None:
        self.positionals = positionals
        self.values = values
        self.given = given

    def __getattr__(self, name: str) -> Any:
        if name in Parsed.__slots__ or name.replace("_", "-") not in self.values:
            raise AttributeError(name)
        return self.values[name.replace("_", "-")]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parsed):
            return NotImplemented
        return (self.positionals, self.values, self.given) == (
            other.positionals,
            other.values,
            other.given,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Parsed({self.positionals!r}, {self.values!r}, {self.given!r})"


class HelpRequested(Exception):
    """`-h` or `--help` was given for `command`; no error, the exit is 0."""

    def __init__(self, command: Command) -> None:
        super().__init__(command.name)
        self.command = command


def parse(command: Command, argv: Sequence[str], program: str = "agentfeedback") -> Parsed:
    """Read the words after the command's name; `program` is what an error says to run for help.

    Raises `HelpRequested` when help is asked for anywhere before `--`, even on a line that is
    otherwise wrong; else `UsageError` for the first word that is wrong.
    """
    flags = {flag.name: flag for flag in command.flags}
    values: dict[str, bool | str | int | list[str]] = {
        flag.name: _default(flag.kind) for flag in command.flags
    }
    positionals: list[str] = []
    given: set[str] = set()
    wrong: UsageError | None = None
    words = iter(argv)
    for word in words:
        if word == "--":
            positionals.extend(words)
            break
        if word == "-" or not word.startswith("-"):
            positionals.append(word)
            continue
        spelling, equals, value = word.partition("=")
        name = spelling[2 if spelling.startswith("--") else 1 :]
        flag = flags.get(name)
        try:
            if flag is None:
                if name in ("h", "help"):
                    raise HelpRequested(command)
                raise _undefined(command.flags, spelling, name)
            if flag.kind != "bool" and not equals:
                value = _next(words, spelling)
            _keep(flag, value if equals or flag.kind != "bool" else "true", values, spelling)
            given.add(name)
        except UsageError as error:
            wrong = wrong or error
    if wrong is not None:
        raise UsageError(
            wrong.problem, f"{wrong.remedy}{program} {command.name} --help shows how it is used"
        )
    return Parsed(positionals, values, given)


def no_names(line: Parsed, command: str) -> None:
    """Raise UsageError where a command that takes none was given a name."""
    if line.positionals:
        raise UsageError(
            f'{command} takes no names, but "{line.positionals[0]}" is one', "leave it out"
        )


def one_of(line: Parsed, first: str, second: str) -> None:
    """Raise UsageError where two flags are given that exclude each other."""
    if {first, second} <= line.given:
        raise UsageError(f"--{first} and --{second} cannot be combined", "give one of them")


def unknown_subcommand(
    program: str, group: str, word: str, commands: Iterable[Command]
) -> UsageError:
    """Return the error for a word that names no command of a group (`""` is the top level)."""
    commands = list(commands)
    known = members(group, commands)
    problem = f'there is no command "{f"{group} {word}".strip()}"'
    hint = _meant(program, group, word, known, commands)
    within = f" of {group}" if group else ""
    return UsageError(problem, f"{hint}the commands{within} are {', '.join(known)}")


def _meant(
    program: str, group: str, word: str, known: Sequence[str], commands: Iterable[Command]
) -> str:
    # At the top level people also write the last word of `sessions digest` alone.
    longer = [each.name for each in commands if " " in each.name and not (group or each.hidden)]
    tails = {name.split()[-1]: name for name in reversed(longer)}
    near = word if word in tails else closest(word, [*known, *tails])
    meant = tails.get(near) or f"{group} {near}".strip()
    return f"did you mean {program} {meant}? " if near else ""


def members(group: str, commands: Iterable[Command]) -> list[str]:
    """The words that may follow a group's name (`""`: the top level), in table order."""
    before = group.split()
    found: dict[str, None] = {}
    for command in commands:
        words = command.name.split()
        if not command.hidden and words[: len(before)] == before and len(words) > len(before):
            found[words[len(before)]] = None
    return list(found)


def closest(word: str, known: Iterable[str]) -> str:
    """The known word a person most likely meant, or an empty text."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word[:100], list(known), n=1, cutoff=0.6)), "")


def _default(kind: Kind) -> bool | str | int | list[str]:
    if kind == "bool":
        return False
    if kind == "number":
        return 0
    return [] if kind == "many" else ""


def _next(words: Iterable[str], spelling: str) -> str:
    for word in words:
        return word
    raise UsageError(f"{spelling} needs a value", "")


def _keep(
    flag: Flag, value: str, values: dict[str, bool | str | int | list[str]], spelling: str
) -> None:
    if flag.kind == "bool":
        if value not in _TRUE and value not in _FALSE:
            raise UsageError(f'{spelling} takes true or false, not "{value}"', "")
        values[flag.name] = value in _TRUE
    elif flag.kind == "number":
        values[flag.name] = _number(value, spelling)
    elif flag.kind == "many":
        kept = values[flag.name]
        assert isinstance(kept, list)
        kept.append(value)
    else:
        values[flag.name] = value


def _number(value: str, spelling: str) -> int:
    digits = value[1:] if value[:1] in ("+", "-") else value
    # `int` alone would also take white space, `_` and the digits of other scripts.
    if not (digits.isascii() and digits.isdigit()):
        raise UsageError(f'{spelling} takes a whole number, not "{value}"', "")
    digits = digits.lstrip("0") or "0"
    # The length first: `int` refuses thousands of digits with an error of its own.
    if len(digits) > len(str(_LARGEST)) or int(digits) > _LARGEST:
        raise UsageError(f'{spelling} takes a whole number up to {_LARGEST}, not "{value}"', "")
    return -int(digits) if value.startswith("-") else int(digits)


def _undefined(flags: Sequence[Flag], spelling: str, name: str) -> UsageError:
    """Return the error for a flag that there is not; `parse` completes its remedy."""
    if not name or name.startswith("-"):
        return UsageError(f'"{spelling}" is not a flag', "")
    near = closest(name, [flag.name for flag in flags])
    return UsageError(f"unknown flag {spelling}", f"did you mean --{near}? " if near else "")
