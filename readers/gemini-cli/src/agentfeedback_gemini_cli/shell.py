"""How a shell command ended, by the text of its result and what was displayed of it (README, "Shell results"). Pure.

The harness appends a trailer of fixed lines to what the command printed. A command can print such
lines itself; where the log also holds the display, that distinguishes the two.
"""

from __future__ import annotations

import re

from agentfeedback.reading import Raw, Status, last_line

_OPENING = "<untrusted_context>\n"
_CLOSING = "</untrusted_context>"
#: What the harness makes of a closing tag that the command printed.
_ESCAPED_CLOSING = "&lt;/untrusted_context&gt;"
_CUT_SHORT = "Output too large."
#: Stands before what a command printed.
_OUTPUT = "Output: "
#: How results start that are the harness's own words, and what they say of the command.
_SAID: tuple[tuple[str, Status], ...] = (
    ("Command was automatically cancelled because it exceeded the timeout of ", "error"),
    ("Command was cancelled by user before it could ", "interrupted"),
    ("Command injection detected: ", "error"),
    ("Command is running in background. PID: ", "ok"),
    ("Command moved to background (PID: ", "ok"),
)

_EXIT = "Exit Code: "
_SIGNAL = "Signal: "
#: The lines of the trailer, in their order; each is there at most once.
_TRAILER = ("Error: ", _EXIT, _SIGNAL, "Background PIDs: ", "Process Group PGID: ")
_NO_SIGNAL = "(none)"
#: An exit code; one that no 64 bits hold counts as absent.
_CODE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: How many characters of the ends of text and display are compared where one of them was cut short.
_COMPARED = 4096


def succeeded(result: Raw) -> bool:
    """Whether a shell result is what a command printed, and its last line is none of the trailer.

    False where that takes more to know.
    """
    if bytes(memoryview(result)[: len(_OUTPUT) + 1]) != f'"{_OUTPUT}'.encode():
        return False
    line = last_line(result)
    return line is not None and line != "" and not line.startswith(_TRAILER)


def unwrapped(text: str) -> tuple[str, Status | None]:
    """A shell result without what the harness wraps around it.

    The second value is what the harness says where the text is its own, and not the output and
    trailer of a command that ended.
    """
    # By offsets: a text may be megabytes, and each step would copy it.
    start, end = 0, _end(text, len(text))
    opening = text.find("\n") + 1 if text.startswith(_CUT_SHORT) else 0
    wrapped = text.startswith(_OPENING, opening)
    if wrapped:
        start = opening + len(_OPENING)
        if text.endswith(_CLOSING, start, end):
            end = _end(text, end - len(_CLOSING))
    said = None
    if text.startswith(_OUTPUT, start):
        start += len(_OUTPUT)
    else:
        said = next((status for words, status in _SAID if text.startswith(words, start)), None)
    inner = text[start:end]
    return inner.replace(_ESCAPED_CLOSING, _CLOSING) if wrapped else inner, said


def trailer(text: str) -> list[int]:
    """Where the lines of the longest possible trailer of an unwrapped text start, first to last."""
    starts: list[int] = []
    rank, end = len(_TRAILER), len(text)
    while rank and end >= 0:
        start = text.rfind("\n", 0, end) + 1
        rank = next((each for each in range(rank) if text.startswith(_TRAILER[each], start)), -1)
        if rank < 0:
            break
        starts.append(start)
        end = start - 1
    starts.reverse()
    return starts


def failure(text: str, starts: list[int]) -> tuple[bool, int | None]:
    """Whether the trailer lines at `starts` tell a failure, and its exit code where they tell one."""
    failed, code = False, None
    for start in starts:
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else None].rstrip()
        if line.startswith(_EXIT) and (exit := _CODE.fullmatch(line[len(_EXIT) :])):
            told = int(exit[0])
            code = told if told and _LEAST <= told <= _MOST else None
        elif line.startswith(_SIGNAL) and line[len(_SIGNAL) :] != _NO_SIGNAL:
            failed = True
    return failed or code is not None, code


def written_by_harness(text: str, starts: list[int], display: str, *, exact: bool) -> list[int]:
    """The trailer lines at `starts` that the command did not print, by what was displayed of its output.

    `exact` says that the display is the output as it was printed, not the cells of a screen.
    """
    if exact and text.startswith(display) and text[len(display) : len(display) + 1] in ("", "\n"):
        return [start for start in starts if start > len(display)]
    shown = _squeezed(display)
    before = _squeezed(text[: starts[0]])
    agreeing: int | None = None
    for count, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        if before == shown:
            return starts[count:]
        if _ends_agree(before, shown):
            agreeing = count
        before += _squeezed(text[start:end])
    if before == shown:
        return []
    if _ends_agree(before, shown):
        agreeing = len(starts)
    return starts if agreeing is None else starts[agreeing:]


def is_whole_result(display: str, text: str) -> bool:
    """Whether a display is the result itself (in the harness's debug mode): then it says nothing about the output."""
    return display.startswith(_OUTPUT) and display[len(_OUTPUT) :] == text


def _end(text: str, end: int) -> int:
    """Where `text[:end]` ends without its last line feeds."""
    while end and text[end - 1] == "\n":
        end -= 1
    return end


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _ends_agree(one: str, other: str) -> bool:
    length = min(len(one), len(other), _COMPARED)
    return length > 0 and one[-length:] == other[-length:]
