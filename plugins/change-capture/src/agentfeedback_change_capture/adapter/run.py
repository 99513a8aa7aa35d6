"""What one run of the hook knows, and what it says in the end. Nothing here prints."""

from __future__ import annotations

import time

from agentfeedback.foundation.errors import AgentFeedbackError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentfeedback_change_capture.delivery.hub import Hub


class Run:
    """What one run of the hook knows; `deadline` is a time of `time.monotonic`, `now` Unix seconds."""

    __slots__ = ("answer", "deadline", "environ", "hub", "now", "root", "runner", "warnings")

    def __init__(
        self,
        root: str,
        runner: str,
        hub: Hub,
        deadline: float,
        environ: Mapping[str, str],
        now: int,
    ) -> None:
        self.root = root
        self.runner = runner
        self.hub = hub
        self.deadline = deadline
        self.environ = environ
        self.now = now
        #: What went wrong, as sentences without any text of the payload.
        self.warnings: list[str] = []
        #: What Claude Code is answered; empty for nothing.
        self.answer = ""

    def by(self, seconds: float) -> float:
        """Return when a step of so many seconds has to end."""
        return min(time.monotonic() + seconds, self.deadline)


def message_of(error: BaseException) -> str:
    """Return an error as a warning may show it: ours as it is, of any other the kind and number alone."""
    if isinstance(error, AgentFeedbackError):
        return str(error)
    number = getattr(error, "errno", None)
    kind = type(error).__name__
    return f"{kind} {number}" if isinstance(number, int) else kind
