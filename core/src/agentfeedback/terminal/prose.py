"""Lines for people: wrapped to the terminal, with an indent, and times as how long ago."""

from __future__ import annotations

from agentfeedback.terminal.screen import head, shorten, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds of each unit in which an age is shown, the largest first.
_UNITS = (("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60))


def wrapped(
    text: str, room: int, first: str = "", rest: str | None = None, most: int = 0
) -> list[str]:
    """One line of visible text in lines of at most `room` cells, 0 for one line however long.

    `first` stands before the first line, `rest` (blanks as wide without it) before the others. Words
    that are longer than a line are broken. With `most` the text ends after so many lines, with an
    ellipsis.
    """
    rest = " " * width(first) if rest is None else rest
    if not room:
        return [f"{first}{text}".rstrip()]
    space = max(8, room - max(width(first), width(rest)))
    lines = list(_lines(text, space)) or [""]
    if most and len(lines) > most:
        kept = " ".join(lines[most - 1 :])
        lines = [*lines[: most - 1], shorten(kept, space)]
    return [f"{rest if number else first}{line}".rstrip() for number, line in enumerate(lines)]


def _lines(text: str, space: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and width(line) + 1 + width(word) <= space:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = word
        while width(line) > space:
            part = head(line, space) or line[0]
            yield part
            line = line[len(part) :]
    if line:
        yield line


def ago(seconds: float) -> str:
    """How long ago something was, in one unit: `now`, `5m ago`, `3h ago`, `2d ago`, `6w ago`."""
    for unit, size in _UNITS:
        if seconds >= size and (unit != "w" or seconds >= 2 * size):
            return f"{int(seconds // size)}{unit} ago"
    return "now"


def number(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 session`, `2,100 sessions`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
