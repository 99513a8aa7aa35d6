"""What an operation on a spool answers, and the errors that refuse one."""

from __future__ import annotations

from agentfeedback.foundation.errors import AgentFeedbackError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from agentfeedback_change_capture.facts import Target

    #: `new`: written. `duplicate`: retained before, nothing written. `conflict`: the same identity with
    #: other facts, kept as a local diagnostic alone. `paused`: not admitted, a pause is recorded.
    #: `dropped`: not admitted while paused already.
    Kind = Literal["new", "duplicate", "conflict", "paused", "dropped"]


class Outcome:
    """What became of a fact, and the id of its event where it has one."""

    __slots__ = ("event_id", "kind")

    def __init__(self, kind: Kind, event_id: str = "") -> None:
        self.kind = kind
        self.event_id = event_id


class Claim:
    """What a spool knows of one call of a tool, from its claim or from the compaction index.

    `pre` and `post` are the fingerprints of its phases, None for a phase that is not retained.
    `closed` says that a turn ended without it, `rule` is that of its action, None for a call without one,
    and `agent_id` names the subagent that made it.
    """

    __slots__ = ("agent_id", "closed", "post", "pre", "route", "rule", "target")

    def __init__(
        self,
        target: Target,
        route: str,
        rule: dict[str, str] | None,
        *,
        pre: str | None,
        post: str | None,
        closed: bool,
        agent_id: str | None,
    ) -> None:
        self.target = target
        self.route = route
        self.rule = rule
        self.pre = pre
        self.post = post
        self.closed = closed
        self.agent_id = agent_id


class SpoolRefused(AgentFeedbackError):
    """A spool that may not be used: unsafe, moved, not committed, of another namespace or malformed.

    Nothing in it was changed. `code` is one word for what is wrong, `path` the file or folder.
    """

    def __init__(self, code: str, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}", remedy)
        self.args = (code, path, problem, remedy)
        self.code = code
        self.path = path


class SpoolBusy(AgentFeedbackError):
    """Another process holds the spool until the deadline."""


class SpoolFull(AgentFeedbackError):
    """An operation does not fit the spool's limits; nothing was written."""
