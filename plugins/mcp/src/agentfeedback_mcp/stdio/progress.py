"""How far a call is, told to the client that asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from anyio import from_thread

#: Seconds from one notification to the next.
_EVERY = 0.5
#: Sends one: how far, of how much, what is done. It does nothing for a client that gave no token.
Send = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]


class Progress:
    """Counts the steps of one part of a call, in the thread the call runs in."""

    def __init__(
        self,
        send: Send,
        label: str,
        total: int,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send = send
        self._label = label
        self._total = total
        self._now = now
        self._count = 0
        self._sent_at = now()
        self._sent = 0

    def step(self) -> None:
        """One more is done."""
        self._count += 1
        if self._now() - self._sent_at >= _EVERY:
            self._tell()

    def done(self) -> None:
        """The part is over: where anything of it was reported, so is its end."""
        if 0 < self._sent < self._count:
            self._tell()

    def _tell(self) -> None:
        self._sent_at, self._sent = self._now(), self._count
        from_thread.run(self._send, float(self._count), float(self._total), self._label)
