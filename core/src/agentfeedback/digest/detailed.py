"""A timeline that also keeps what was run, and how results end: for people and models that ask for detail. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agentfeedback.reading.record import INVALID, dumps, loads
from agentfeedback.reading.timeline import EXCERPT_BYTES, HEADS, Marker, Timeline
from agentfeedback.scrub import cut
from agentfeedback.scrub.formats import MARKER

if TYPE_CHECKING:
    from agentfeedback.reading.sink import Status
    from agentfeedback.reading.timeline_entries import Call
    from agentfeedback.scrub import Scrubber

COMMAND_BYTES = 240
TAIL_BYTES = 240
#: Arguments longer than this (characters or bytes) are scrubbed and cut when they come, not when they are needed.
_LONG = 4096
_NOTHING = frozenset(("null", "{}", "[]", '""'))


class DetailedTimeline(Timeline):
    """A timeline whose calls that did not succeed have `command` and `tail`.

    Whoever read a log into it calls `settle` before the calls are looked at.
    """

    def __init__(
        self, scrubber: Scrubber, mark: Marker | None, *, start: int = 0, rewrites: bool = False
    ) -> None:
        super().__init__(scrubber.clip, mark, start=start, rewrites=rewrites)
        self._scrubber = scrubber
        # Arguments as they came, by call, until its status says whether they are needed.
        self._given: dict[int, tuple[Call, bytes | None, str | None]] = {}
        self._fine: deque[int] = deque()

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        added = super().call(id, tool, input=input, command=command, span=span)
        call = self._current().calls[-1] if added else self._calls.get(id or "")
        if call is not None and (added or (self._rewriting and call.entry is self._current())):
            if len(command or input or b"") > _LONG:
                call.command = self._command(call, input, command)
                self._given.pop(key_of(call), None)
            else:
                self._given[key_of(call)] = (call, input, command)
        return added

    def settle(self) -> None:
        """Put the commands of calls that did not succeed into what is shown."""
        for call, input, command in self._given.values():
            if call.status not in (None, "ok"):
                call.command = self._command(call, input, command)
        self._given.clear()

    def _command(self, call: Call, input: bytes | None, command: str | None) -> str:
        return shown_arguments(self._scrubber, input, command, COMMAND_BYTES)

    def _settle(self, call: Call, status: Status) -> None:
        super()._settle(call, status)
        if status == "ok":  # a later record may still say otherwise
            self._fine.append(key_of(call))
            if len(self._fine) > HEADS:
                gone = self._given.get(self._fine.popleft())
                if gone is not None and gone[0].status == "ok":
                    del self._given[key_of(gone[0])]

    def _fill(self, call: Call, content: str) -> None:
        if call.has_content or not content or call.status == "ok" or self.offset < self.start:
            super()._fill(call, content)
            return
        call.has_content = True
        scrubbed = self._scrubber.text(content.strip())
        call.excerpt = cut(scrubbed, EXCERPT_BYTES)
        self._failed(call, scrubbed)
        if self._mark is not None:
            call.marks = self._mark("result", content)

    def _failed(self, call: Call, scrubbed: str) -> None:
        """Keep what is shown of a whole scrubbed result beside its excerpt."""
        call.tail = tail(scrubbed, EXCERPT_BYTES, TAIL_BYTES)


def key_of(call: Call) -> int:
    """What tells calls apart: an id of the log may be missing or repeated."""
    return id(call)


def shown_arguments(
    scrubber: Scrubber, input: bytes | None, command: str | None, limit: int | None
) -> str:
    """The command, else the input as JSON or, when it is a string, as that: scrubbed, in one line, cut to `limit` bytes.

    Empty where there is nothing in it.
    """
    if command is not None:
        text = scrubber.text(command)
    elif input is None:
        return ""
    else:
        value = loads(input)
        if isinstance(value, str):
            text = scrubber.text(value)
        elif value is INVALID:
            text = scrubber.text(input.decode("utf-8", "replace"))
        else:
            text = dumps(scrubber.tree(value)).decode("utf-8", "replace")
            if text in _NOTHING:
                return ""
    return cut(" ".join(text.split()), limit) if limit is not None else text


def tail(text: str, behind: int, size: int) -> str:
    """At most the last `size` bytes of a scrubbed text, and nothing before byte `behind`; empty when nothing is there.

    It begins with a whole line where one begins in it, and never within a character or a marker.
    """
    data = text.rstrip().encode("utf-8", "surrogatepass")
    start = max(behind, len(data) - size)
    if start >= len(data):
        return ""
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    split = data.rfind(b"[REDACTED:", max(0, start - 80), start + 9)
    if 0 <= split < start and (marker := MARKER.match(data, split)) and marker.end() > start:
        start = marker.end()
    if data[start - 1 : start] != b"\n":
        line = data.find(b"\n", start)
        start = line + 1 if line >= 0 else start
    return data[start:].decode("utf-8", "surrogatepass")
