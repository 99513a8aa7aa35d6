"""A conversation that is recorded again within its own file, on a resume (2.0.2). Pure.

The copy has new `uuid`s, one `timestamp` for all its lines, and a first line without a parent.
"""

from __future__ import annotations

from agentfeedback_claude_code.lines import Line


class History:
    """Knows which `user` texts stand in a block of lines that repeats the conversation."""

    def __init__(self) -> None:
        #: Hashes of the texts: they are only compared within one run.
        self._seen: set[int] = set()
        #: The time that all lines of the current block have, None outside one.
        self.time: str | None = None

    def pass_line(self, line: Line) -> None:
        """Close the block where another time stands; a line without one says nothing."""
        if line.timestamp not in (None, self.time):
            self.time = None

    def repeats(self, line: Line, text: str) -> bool:
        """Whether the text of a `user` line is one of the conversation recorded again; the line may open a block."""
        key = hash(text)
        if key not in self._seen:
            self._seen.add(key)
            return False
        rooted = bytes(line.parent_uuid) == b"null" and not line.is_sidechain
        if self.time is None and rooted and text:
            self.time = line.timestamp
        return self.time is not None
