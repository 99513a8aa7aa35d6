"""Where text meets a terminal: what may be shown, how wide it is, and how it is written.

Text of a log is untrusted: whatever is printed as text goes through `visible`, on standard output
and standard error alike. JSON is written as it is, since JSON escapes for itself.
"""

from __future__ import annotations

import os
import sys

from agentfeedback.foundation.errors import AgentFeedbackError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO, Literal

    End = Literal["start", "end", "both"]

ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"
# Format characters with a shape of their own: they stand before a number and enclose it.
_SHAPED = frozenset((*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD))
_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}


def visible(text: str, *, keep_newlines: bool = False) -> str:
    r"""Text that is safe to show: what could move the cursor, reorder a line or hide is spelt out.

    Escaped as `\x1b`, `\u202e`, `\U000e0041`: control characters (DEL), the line and
    paragraph separators, marks of direction and other invisible format characters, and lone
    surrogates. TAB, LF and CR are written `\t`, `\n`, `\r`; with `keep_newlines` TAB and LF stay.
    A joiner stays between two characters beyond ASCII, where scripts and emoji need it. Everything
    else is unchanged, so a text that was safe before is returned as it is.
    """
    if text.isprintable():  # every character to escape is unprintable, and this test is one call
        return text
    shown = []
    last = len(text) - 1
    for index, char in enumerate(text):
        if char.isprintable() or (keep_newlines and char in "\t\n"):
            shown.append(char)
        elif char in _JOINERS:
            joins = 0 < index < last and _joined(text[index - 1]) and _joined(text[index + 1])
            shown.append(char if joins else _escape(char))
        else:
            shown.append(_escape(char) if _hides(char) else char)
    return "".join(shown)


def width(text: str) -> int:
    """Return the cells the text takes on a terminal; `text` is one line that went through `visible`.

    Beyond ASCII they are counted by wcwidth, cluster by cluster: a family of emoji takes two.
    """
    if text.isascii():
        return len(text)
    return sum(cells for _, cells in _clusters(text))


def shorten(text: str, cells: int, *, keep: End = "start") -> str:
    """The text in at most `cells` cells; an ellipsis stands for what is not kept."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    room = cells - 1
    if keep == "start":
        return head(text, room) + ELLIPSIS
    if keep == "end":
        return ELLIPSIS + _tail(text, room)
    tail = _tail(text, room // 2)
    return head(text, room - width(tail)) + ELLIPSIS + tail


def pad(text: str, cells: int) -> str:
    """The text followed by spaces up to `cells` cells."""
    return text + " " * (cells - width(text))


class Screen:
    """What standard output can show: `columns` is its width in cells, 0 when it is not a terminal."""

    __slots__ = ("colour", "columns")

    def __init__(self, columns: int = 0, *, colour: bool = False) -> None:
        self.columns = columns
        self.colour = colour

    @classmethod
    def of(cls, stream: IO[str] | None, environ: Mapping[str, str]) -> Screen:
        """The screen behind a stream; no colour with `NO_COLOR`, `TERM=dumb` or off a terminal."""
        if not is_terminal(stream):
            return cls()
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM", "") in ("", "dumb")
        return cls(_columns(stream, environ), colour=not plain)

    def style(self, text: str, style: str) -> str:
        """The text in a style (`bold`, `dim` or a colour); unchanged where colour is not wanted."""
        if not self.colour or not style or not text:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a standard stream is open and a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def write(data: bytes | str) -> None:
    """Write to standard output and flush; a reader gone away raises `BrokenPipeError`."""
    if sys.stdout is None:
        raise AgentFeedbackError("standard output is closed", "run the command with one")
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        _give_up(sys.stdout)
        reason = (error.strerror or type(error).__name__).lower()
        raise AgentFeedbackError(
            f"standard output cannot be written: {reason}", "print to a place with room"
        ) from error


def note(line: str) -> None:
    """One line for a person on standard error: made visible, and ended with a newline."""
    tell(visible(line) + "\n")


def error(line: str) -> None:
    """A note that may quote a configuration, a path or an argument, and so a key that was put there."""
    from agentfeedback.scrub import SUBMIT, Scrubber

    scrubber: Scrubber = Scrubber(SUBMIT)
    note(scrubber.text(line))


def tell(text: str) -> None:
    """Text on standard error as it is; nothing where it is closed or full, since nobody can read it."""
    if sys.stderr is not None:
        try:
            _write(sys.stderr, text)
        except BrokenPipeError:
            raise
        except OSError:
            _give_up(sys.stderr)


def close_quietly() -> None:
    """Put nothing in the place of what the streams wrote to."""
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


def _give_up(stream: IO[str]) -> None:
    # What is left in the buffer would fail once more at exit, with a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(stream: IO[str], data: bytes | str) -> None:
    stream.flush()
    if isinstance(data, str):
        # File names that are not UTF-8 arrive as lone surrogates; none may stop the output.
        data = data.encode("utf-8", "backslashreplace")
    buffer: IO[bytes] | None = getattr(stream, "buffer", None)
    if buffer is None:  # a text stream put in place of the real one
        stream.write(data.decode())
        return
    rest = memoryview(data)
    while rest:
        # Some parents hand over a pipe that does not block; an unbuffered stream may write less.
        try:
            written: int | None = buffer.write(rest)
        except BlockingIOError as full:
            written = full.characters_written
        rest = rest[written or 0 :]
        if rest:
            _wait(buffer)
    while True:
        try:
            buffer.flush()
            return
        except BlockingIOError:
            _wait(buffer)


def _wait(buffer: IO[bytes]) -> None:
    from select import select

    select([], [buffer], [])


def _columns(stream: IO[str] | None, environ: Mapping[str, str]) -> int:
    wanted = environ.get("COLUMNS", "")
    if wanted.isascii() and wanted.isdigit() and 0 < len(wanted) < 6 and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80 if stream is not None else 80
    except (OSError, ValueError):
        return 80


def _joined(char: str) -> bool:
    return char > "\x7f" and char.isprintable()


def _hides(char: str) -> bool:
    # Unprintable are also spaces of other widths, private and unassigned characters: those stay.
    from unicodedata import category

    return category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(char) not in _SHAPED


def _escape(char: str) -> str:
    code = ord(char)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else _NAMED.get(char, f"\\x{code:02x}")


def _clusters(text: str) -> list[tuple[str, int]]:
    """What a reader takes for one character each, with its cells; a cut between two of them spoils none."""
    # Imported here, since most of what is shown is ASCII and this costs as much as a short command.
    from wcwidth import iter_graphemes, wcswidth

    return [(each, max(0, wcswidth(each))) for each in iter_graphemes(text)]


def head(text: str, cells: int) -> str:
    """The beginning of a text in at most `cells` cells."""
    if text.isascii():
        return text[:cells]
    shown = 0
    for cluster, size in _clusters(text):
        cells -= size
        if cells < 0:
            break
        shown += len(cluster)
    return text[:shown]


def _tail(text: str, cells: int) -> str:
    if text.isascii():
        return text[len(text) - min(cells, len(text)) :]
    start = len(text)
    for cluster, size in reversed(_clusters(text)):
        cells -= size
        if cells < 0:
            break
        start -= len(cluster)
    return text[start:]
