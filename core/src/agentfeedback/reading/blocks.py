"""What logs of every kind are read by: blocks of bytes, or a reason why not."""

from __future__ import annotations

#: Bytes read at a time: small enough to stay in the processor's cache until it is decoded.
BLOCK = 64 * 1024


class UnreadableLog(Exception):
    """A log that cannot be opened or read as it was listed; `reason` is shown with the state. A value to the engine."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
