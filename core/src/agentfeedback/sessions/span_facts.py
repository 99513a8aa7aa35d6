"""The facts a report takes from the session entry it is about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from attrs import frozen

from agentfeedback.digest.detect import DETECTOR_VERSION
from agentfeedback.foundation import times
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.refs import Ref
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import Watched
from agentfeedback.sessions.examiner import ReadSession
from agentfeedback.sessions.named import MARKER

#: Harnesses whose findings keep the key they had under an older name.
_KEY_NAMES = {"opencode-v1": "opencode"}


@frozen
class SpanFacts:
    """One entry of a session: `at` in nanoseconds since the epoch, `cwd` and `model` empty where the log has none.

    `detector` names the reader's format and the version of its entries.
    """

    harness: str
    session_id: str
    span: str
    detector: str
    at: int
    cwd: str
    model: str

    @property
    def occurred_at(self) -> str:
        """The entry's time as a submission has it."""
        return times.filing_form(self.at)

    def key(self, ordinal: int) -> str:
        """The key of the finding with this number at the span."""
        return finding_key(self.harness, self.session_id, self.span, ordinal)


def finding_key(harness: str, session_id: str, span: str, ordinal: int) -> str:
    """The key under which a finding is filed: the same for the same finding, whoever files it."""
    parts = (
        _KEY_NAMES.get(harness, harness),
        session_id,
        span,
        str(ordinal),
        DETECTOR_VERSION,
    )
    # A span of a log may hold what is not a Unicode text.
    material = "\0".join(parts).encode("utf-8", "replace")
    return f"session-scan-{hashlib.sha256(material).hexdigest()}"


def span_facts(
    read: Callable[[Timeline], ReadSession[Timeline]],
    ref: Ref,
    span: str,
    text: Callable[[str], str],
    *,
    rewrites: bool,
    allow_unknown: bool,
) -> SpanFacts:
    """The facts of the first entry with this span, read under the current policy and without a watermark.

    Args:
        read: Reads the session into a timeline; raises `SessionRefused`.
        ref: The session.
        span: The entry, by its span as the log has it or as a digest prints it.
        text: Scrubs, as it does where a span is printed.
        rewrites: Whether the session's reader rewrites entries.
        allow_unknown: Whether a session that records no working directory was asked for.

    Raises:
        AgentFeedbackError: The session is refused or not found, the span is not there or records no time.
    """

    def looked_for(watch: Callable[[str], bool]) -> tuple[ReadSession[Timeline], Watched | None]:
        timeline = Timeline(_nothing, rewrites=rewrites, watch=watch)
        try:
            return read(timeline), timeline.watched
        except SessionRefused as refused:
            raise _not_filed(ref, refused, allow_unknown=allow_unknown) from None

    found, entry = looked_for(lambda each: each == span)
    if entry is None and MARKER in span:
        found, entry = looked_for(lambda each: text(each) == span)
    if entry is None:
        raise AgentFeedbackError(
            f"span not found: {ref}#{span}", "copy the ref of the event from its digest"
        )
    if entry.at is None:
        raise AgentFeedbackError(
            f"{ref}#{span} records no time, so a replay would not match", "name another entry"
        )
    return SpanFacts(
        ref.harness,
        ref.id,
        entry.span,
        f"{found.reader.format}/1",
        entry.at,
        entry.cwd,
        entry.model,
    )


def _not_filed(ref: Ref, refused: SessionRefused, *, allow_unknown: bool) -> AgentFeedbackError:
    if refused.state == "absent":
        return AgentFeedbackError(f"session not found: {ref}", "copy the ref from sessions list")
    if refused.state == "unknown-project" and not allow_unknown:
        return AgentFeedbackError(
            f"{ref} is unknown-project: it records no working directory, so no policy can be checked",
            "pass --allow-unknown-project to file from it all the same",
        )
    reason = f" ({refused.reason})" if refused.reason else ""
    return AgentFeedbackError(
        f"{ref} is {refused.state}{reason}", "nothing was filed; sessions list shows its state"
    )


def _nothing(text: str, limit: int) -> str:
    """Stands in for the scrubber: no text of the log is kept."""
    return ""
