"""Code of other distributions while it is called: what it prints is not our output, and one that hangs is named."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any

#: Seconds after which a call that has not come back is named.
PATIENCE = 5.0


class ForeignCall:
    """Within `with`, what is printed goes to standard error; after five seconds `late` is called, once.

    The call goes on then: Ctrl-C ends it. In another thread than the main one, or where somebody else
    uses the timer, nothing is timed. Whoever calls handles what is raised: anything but a
    KeyboardInterrupt is the called code's failure, GeneratorExit and SystemExit too.
    """

    __slots__ = ("_handler", "_late", "_out", "_timed")

    def __init__(self, late: Callable[[], object] | None = None) -> None:
        self._late = late

    def __enter__(self) -> None:
        self._out = sys.stdout
        sys.stdout = sys.stderr
        self._timed = False
        if self._late is not None:
            self._start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timed:
            import signal

            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._handler)
        sys.stdout = self._out

    def _start(self) -> None:
        import signal

        if signal.getsignal(signal.SIGALRM) != signal.SIG_DFL:
            return
        try:
            self._handler: Any = signal.signal(signal.SIGALRM, self._named)
        except ValueError:  # not the main thread
            return
        self._timed = True
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)

    def _named(self, number: int, frame: FrameType | None) -> None:
        if self._late is not None:
            self._late()
