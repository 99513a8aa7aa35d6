"""A body on its way: its bytes, what is known about it, and what it is as a record. Pure."""

from __future__ import annotations

from attrs import define, field

from agentfeedback_submissions.envelope import EnvelopeRefused, Normalised, normalise
from agentfeedback_submissions.warning import SubmissionWarning


@define(eq=False)
class Body:
    """A body as it is sent, and what a spool, a log and an outcome say of it.

    `warnings` are those of this side. The session is taken from the body unless it is given.
    """

    data: bytes
    kind: str
    key: str
    warnings: tuple[SubmissionWarning, ...] = ()
    _session_id: str | None = None
    _envelope: Normalised | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(cls, data: bytes) -> Body:
        """A body with the kind and the key that a store would give it. Raises `EnvelopeRefused`."""
        found = cls(data, "", "")
        members = found.envelope().members
        found.kind, found.key = members["kind"], members.get("key", "")
        return found

    def envelope(self) -> Normalised:
        """What the body is as a record, found once however many ask. Raises `EnvelopeRefused`."""
        if self._envelope is None:
            self._envelope = normalise(self.data)
        return self._envelope

    @property
    def session_id(self) -> str:
        """The session that the context names; empty where it names none."""
        if self._session_id is None:
            try:
                context = self.envelope().members.get("context", {})
            except EnvelopeRefused:
                context = {}
            self._session_id = context.get("session_id", "")
        return self._session_id
