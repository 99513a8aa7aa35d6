"""The help texts, built from the command tables: what a command is for, its flags, and examples."""

from __future__ import annotations

from agentfeedback.terminal.screen import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.terminal.arguments import Command, Flag

_WIDEST = 80
_VALUES = {"text": "text", "number": "n", "many": "text"}


def help_for(program: str, command: Command, columns: int = _WIDEST) -> str:
    """Return the usage of one command in lines of at most 80 cells, or `columns` when less (0: 80)."""
    room = _room(columns)
    words = [program, command.name, command.arguments, "[flags]" if command.flags else ""]
    parts = [
        _hanging("usage: ", " ".join(word for word in words if word), room),
        _wrapped(_sentence(command.summary), room),
        *_about(command.about, room),
        [
            "flags:",
            *_pairs(
                [
                    *((_spelling(flag), _meaning(flag)) for flag in command.flags),
                    ("-h, --help", "this text"),
                ],
                room,
            ),
        ],
    ]
    return _paragraphs(parts)


def overview(
    program: str, commands: Sequence[Command], group: str = "", columns: int = _WIDEST
) -> str:
    """Return the commands of a group with a line each (`""`: all of them); hidden ones are left out.

    The text before them is the `about` of the hidden command that has the group's name.
    """
    room = _room(columns)
    before = f"{group} " if group else ""
    listed = [
        (command.name.removeprefix(before), command.summary)
        for command in commands
        if not command.hidden and command.name.startswith(before)
    ]
    about = next((each.about for each in commands if each.hidden and each.name == group), "")
    head = f"{program} {group}".rstrip()
    parts = [
        _hanging("usage: ", f"{head} <command> [flags]", room),
        *_about(about, room),
        ["commands:", *_pairs(listed, room)],
        _wrapped(f"Run {head} <command> -h for what a command does, its flags and examples.", room),
    ]
    return _paragraphs(parts)


def _room(columns: int) -> int:
    return max(20, min(columns or _WIDEST, _WIDEST))


def _paragraphs(parts: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


def _spelling(flag: Flag) -> str:
    if flag.kind == "bool":
        return f"--{flag.name}"
    return f"--{flag.name} <{flag.value or _VALUES[flag.kind]}>"


def _meaning(flag: Flag) -> str:
    words = (
        f" ({', '.join(flag.choices)})" if isinstance(flag.choices, tuple) and flag.choices else ""
    )
    return f"{flag.help}{words}{'; may be repeated' if flag.kind == 'many' else ''}"


def _about(text: str, room: int) -> list[list[str]]:
    parts = []
    for paragraph in text.strip("\n").split("\n\n"):
        lines: list[str] = []
        prose: list[str] = []
        for line in paragraph.splitlines():
            if line.startswith(" "):
                lines += _wrapped(" ".join(prose), room) + _example(line.strip(), room)
                prose = []
            else:
                prose.append(line)
        parts.append(lines + _wrapped(" ".join(prose), room))
    return parts


def _example(line: str, room: int) -> list[str]:
    if 2 + width(line) <= room:
        return [f"  {line}"]
    command, mark, comment = line.partition("  # ")
    lines = [f"  # {part}" for part in _wrapped(comment.strip(), room - 4)] if mark else []
    # Continued as a shell continues it, so that it can still be copied.
    parts = _wrapped(command.strip(), room - 6)
    for number, part in enumerate(parts):
        lines.append(
            ("    " if number else "  ") + part + (" \\" if number < len(parts) - 1 else "")
        )
    return lines


def _pairs(pairs: Sequence[tuple[str, str]], room: int) -> list[str]:
    left = max((width(name) for name, _ in pairs), default=0) + 4
    if left > room // 2:  # names too long for two columns: the meaning goes below its name
        return [
            line
            for name, meaning in pairs
            for line in (*_hanging("  ", name, room), *_hanging("      ", meaning, room))
        ]
    return [
        line
        for name, meaning in pairs
        for line in _hanging("  " + name + " " * (left - 2 - width(name)), meaning, room)
    ]


def _hanging(first: str, text: str, room: int) -> list[str]:
    indent = width(first)
    lines = _wrapped(text, room - indent) or [""]
    return [f"{first}{lines[0]}".rstrip(), *(" " * indent + line for line in lines[1:])]


def _wrapped(text: str, room: int) -> list[str]:
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and width(line) + 1 + width(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines
