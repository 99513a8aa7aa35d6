"""One session, or one entry of it in full, for a person or a model that looks closer; no watermark moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentfeedback.digest.build import Digester, TooLarge
from agentfeedback.digest.caps import RUN_BYTES, Caps
from agentfeedback.digest.entry import EntryTimeline
from agentfeedback.foundation import times
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.scrub import Scrubber
from agentfeedback.sessions.digest_run import NOTICE
from agentfeedback.sessions.named import MARKER, NamedSession
from agentfeedback.state.watermark import StorageOnly
from agentfeedback.wire.encode import plain
from agentfeedback.wire.show import Shown, ShownSession

if TYPE_CHECKING:
    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.sessions.examiner import ReadSession

#: Reads the session into a sink; raises `SessionRefused`.
Read = Callable[["Timeline"], "ReadSession[Timeline]"]


def show(
    named: NamedSession,
    span: str,
    read: Read,
    *,
    host: Host,
    digester: Digester,
    scrubber: Scrubber,
) -> Shown:
    """A session as the digest of its whole log with detail, or the first entry with a span, and what is around it.

    Raises:
        AgentFeedbackError: The session is refused or not there, or the span is not.
    """
    reader = named.store.reader if named.store is not None else None
    if reader is not None and not reader.digests:
        raise StorageOnly(named.ref.harness, named.ref.id)
    rewrites = reader is not None and reader.rewrites
    try:
        if span:
            return _entry(named, span, read, digester, scrubber, rewrites=rewrites)
        timeline = digester.timeline(0, rewrites=rewrites, detail=True)
        found = read(timeline)
    except SessionRefused as refused:
        raise _refused(named, refused, scrubber) from None
    timeline.size = found.facts.size
    timeline.settle()
    try:
        built = host.digest_session(found.session, timeline, 0, Caps(session=RUN_BYTES))
    except TooLarge:
        too_large = SessionRefused("unreadable", "its facts exceed the session cap")
        raise _refused(named, too_large, scrubber) from None
    session = scrubber.tree(built.digest)
    return Shown(NOTICE, session["ref"], found.state, scrubber.text(found.reason), session)


def _entry(
    named: NamedSession,
    span: str,
    read: Read,
    digester: Digester,
    scrubber: Scrubber,
    *,
    rewrites: bool,
) -> Shown:
    def looked_for(
        wanted: Callable[[str], bool],
    ) -> tuple[ReadSession[Timeline], EntryTimeline]:
        timeline = EntryTimeline(scrubber, digester.mark, wanted, rewrites=rewrites)
        return read(timeline), timeline

    found, timeline = looked_for(lambda each: each == span)
    if not timeline.found and MARKER in span:
        found, timeline = looked_for(lambda each: scrubber.text(each) == span)
    if not timeline.found:
        raise AgentFeedbackError(
            f"span not found: {scrubber.text(f'{named.ref}#{span}')}",
            "copy the ref of the event from its digest",
        )
    ref = str(named.ref)
    shown = Shown(
        NOTICE, f"{ref}#{span}", found.state, found.reason, _session(ref, found, timeline)
    )
    shown.entries = timeline.shown(ref)
    shown.around = timeline.around()
    return _scrubbed(shown, scrubber)


def _session(ref: str, found: ReadSession[Timeline], timeline: Timeline) -> ShownSession:
    return ShownSession(
        ref,
        found.session.harness,
        found.session.id,
        next(iter(timeline.cwds), ""),
        timeline.cwd,
        times.digest_form(timeline.first) if timeline.first is not None else "",
        times.digest_form(timeline.last) if timeline.last is not None else "",
        timeline.model,
        timeline.counts(),
    )


def _scrubbed(shown: Shown, scrubber: Scrubber) -> Shown:
    """The same with every text scrubbed: spans, ids and paths as well. It is made plain by that."""
    whole = scrubber.tree(plain(shown))
    session, entries, around = whole["session"], whole.get("entries"), whole.get("around")
    return Shown(
        NOTICE, whole["ref"], shown.state, whole.get("reason", ""), session, entries, around
    )


def _refused(
    named: NamedSession, refused: SessionRefused, scrubber: Scrubber
) -> AgentFeedbackError:
    ref = scrubber.text(str(named.ref))
    if refused.state == "absent":
        return AgentFeedbackError(
            f"{ref} is absent: {refused.reason}", "copy the ref from sessions list"
        )
    if refused.state == "unknown-project":
        return AgentFeedbackError(
            f"{ref} is unknown-project: it records no working directory, so no policy can be checked",
            "pass --allow-unknown-project to see it all the same",
        )
    reason = f" ({scrubber.text(refused.reason)})" if refused.reason else ""
    return AgentFeedbackError(f"{ref} is {refused.state}{reason}", "sessions list shows its state")
