r"""Lines of a text as tools show them: behind numbers, diff marks and `>`, ended by a break or by `\n`."""

from agentfeedback.scrub.needle import pattern
from agentfeedback.scrub.quoted import slashes

BREAK = r"(?:\r\n|[\r\n]|\\{1,7}r\\{1,7}n|\\{1,7}n)"
"""The end of a line, real or escaped."""
_MARK = r"(?:[ \t]{0,8}[0-9]{1,6}(?:\xe2\x86\x92|[\t:|]))?(?:[+>|]|-(?=[^ \t\r\n\\]))?"
_MARKS = pattern(_MARK.encode("latin-1"))
# A `-` with a blank behind it begins an item of a list.
_BLANKS = pattern(rb"[ \t]*+(?:-[ \t]++)*+")
MARGIN = r"[ \t]{0,200}(?:[0-9]{1,6}(?:\xe2\x86\x92|[\t:|]))?[+>|-]?[ \t]{0,200}"
"""What stands before a line's text, blanks included."""
_LINE = pattern(rb"(?:[^\r\n\\]|\\{1,7}+(?![nr\\]))*+")
_NEXT = pattern(BREAK)
_MOST_LINES, _MOST_BYTES = 64, 16_384
_LONGEST_START = 512


def begin_of(buf: bytes, start: int) -> tuple[int, int]:
    """Return where a line begins behind what tools put before it, and where its text begins."""
    marks = _MARKS.match(buf, start)
    begin = marks.end() if marks else start
    blanks = _BLANKS.match(buf, begin)
    return begin, blanks.end() if blanks else begin


def indent_at(buf: bytes, pos: int) -> int:
    """Return how deep the line around a position is indented."""
    window = max(0, pos - _LONGEST_START)
    real = max(buf.rfind(b"\n", window, pos), buf.rfind(b"\r", window, pos)) + 1
    escaped = buf.rfind(b"\\n", window, pos)
    begin, text = begin_of(buf, max(real, escaped + 2 if escaped >= 0 else 0, window))
    return text - begin


def block(buf: bytes, pos: int, least: int) -> tuple[int, int, bool]:
    """Return start and end of the lines from `pos` on that are indented deeper than `least`.

    Empty if there are none. The third says that there were as many as are looked at.
    """
    start = end = pos
    stop = min(len(buf), pos + _MOST_BYTES)
    for _ in range(_MOST_LINES):
        line = _LINE.match(buf, pos, stop)
        if line is None or pos >= stop:
            return start, end, False
        margin, text = begin_of(buf, pos)
        if text < line.end():
            if text - margin <= least:
                return start, end, False
            start = text if end <= start else start
            end = _before_quote(buf, start, line.end())
            if end < line.end():
                return start, end, False
        following = _NEXT.match(buf, line.end())
        if following is None:
            return start, end, False
        pos = following.end()
    return start, end, True


def _before_quote(buf: bytes, start: int, end: int) -> int:
    """Return where the text in quotes around these lines ends, if it ends in this one."""
    quote = buf.find(b'"', start, end)
    if quote < 0:
        return end
    behind = buf[quote + 1 : quote + 2]
    if behind and behind not in b",}]) \t\r\n\\":
        return end
    return quote - slashes(buf, start, quote)
