"""Builds the digest of one session from its timeline: events, findings, caps. Pure.

Every string is scrubbed before it is sized: texts were clipped when they were reported, and the
finished object is scrubbed once more before it is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import orjson
from attrs import define, frozen

from agentfeedback.digest.caps import Caps, Part, fitting
from agentfeedback.digest.detect import Detector, is_event
from agentfeedback.foundation import times
from agentfeedback.reading.reader import Session
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import AboutSession, Call, Entry, Trouble
from agentfeedback.scrub import Scrubber
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import About, Digest, Event

#: Findings of these detectors are members of a digest themselves; those of any other stand under `findings`.
OWN_MEMBERS = ("retries", "denials", "flagged")
#: The detector of the core whose findings stand under `findings`, and only where there are any.
TROUBLES = "troubles"


class TooLarge(Exception):
    """Not even the facts around the events fit the session cap. A value to the engine."""


@frozen(eq=False)
class BuiltDigest:
    """A digest as it is printed (a JSON object, scrubbed), and the offset its watermark covers."""

    digest: dict[str, Any]
    covered: int


@define(eq=False)
class _Piece:
    """Something shown, with what it belongs to and its JSON."""

    owner: Entry | Call | Trouble
    member: str
    value: Any


class Digester:
    """Builds digests with the detectors and formats of this run."""

    def __init__(self, detectors: Sequence[Detector], scrubber: Scrubber) -> None:
        self._detectors = detectors
        self._scrubber = scrubber

    def timeline(self, start: int, *, rewrites: bool, detail: bool = False) -> Timeline:
        """An empty timeline from `start` on, whose texts are scrubbed and marked as they come.

        With `detail` it also keeps the command of each call that did not succeed, and how its result ends.
        """
        if detail:
            from agentfeedback.digest.detailed import DetailedTimeline

            return DetailedTimeline(self._scrubber, self.mark, start=start, rewrites=rewrites)
        return Timeline(self._scrubber.clip, self.mark, start=start, rewrites=rewrites)

    def build(self, session: Session, timeline: Timeline, caps: Caps) -> BuiltDigest:
        """The digest of what is at or after `timeline.start`; raises `TooLarge` when nothing fits the cap."""
        tree = self._scrubber.tree
        events = [
            _Piece(owner, "events", tree(plain(event)))
            for owner, event in _events(session, timeline)
        ]
        shown = {id(piece.owner) for piece in events}
        findings = [
            _Piece(finding.owner, detector.name, tree(plain(finding.value)))
            for detector in self._detectors
            for finding in detector.find(timeline)
            if id(finding.owner) in shown or isinstance(finding.owner, Trouble)
        ]
        frame = tree(plain(_frame(session, timeline, self._detectors)))
        whole = _assembled(frame, events, findings, truncated=False)
        if len(orjson.dumps(whole)) <= caps.session:
            return BuiltDigest(whole, timeline.size)
        return _truncated(frame, events, findings, caps.session, timeline.size)

    def mark(self, kind: Literal["prompt", "result"], text: str) -> dict[str, Sequence[str]]:
        """What each detector says of a full text, by its name."""
        words = ((detector.name, detector.mark(kind, text)) for detector in self._detectors)
        return {name: found for name, found in words if found}


def _assembled(
    frame: dict[str, Any],
    events: Iterable[_Piece],
    findings: Iterable[_Piece],
    *,
    truncated: bool,
    dropped: int = 0,
) -> dict[str, Any]:
    whole = {}
    for name, value in frame.items():
        whole[name] = _fresh(value)
        if name == "truncated":
            whole[name] = truncated
            if dropped:
                whole["dropped"] = dropped
    for piece in (*events, *findings):
        members = whole if piece.member in whole else whole.setdefault("findings", {})
        members.setdefault(piece.member, []).append(piece.value)
    return whole


def _truncated(
    frame: dict[str, Any], events: list[_Piece], findings: list[_Piece], cap: int, end: int
) -> BuiltDigest:
    alone = (piece for piece in findings if isinstance(piece.owner, Trouble))
    owners = list({id(piece.owner): piece.owner for piece in (*events, *alone)}.values())
    sizes = {id(owner): 0 for owner in owners}
    for piece in (*events, *findings):
        sizes[id(piece.owner)] += len(orjson.dumps(piece.value)) + 1
    parts = [Part(_completed(owner), sizes[id(owner)]) for owner in owners]

    def selected(kept: frozenset[int], dropped: int) -> dict[str, Any]:
        shown = {id(owners[index]) for index in kept}
        return _assembled(
            frame,
            (piece for piece in events if id(piece.owner) in shown),
            (piece for piece in findings if id(piece.owner) in shown),
            truncated=True,
            dropped=dropped,
        )

    def measure(kept: frozenset[int], dropped: int) -> int:
        return len(orjson.dumps(selected(kept, dropped)))

    fit = fitting(parts, measure(frozenset(), 0), cap, end, measure)
    if fit is None:
        raise TooLarge
    return BuiltDigest(selected(fit.kept, fit.dropped), fit.covered)


def smallest(session: Session) -> int:
    """The bytes of the smallest digest this session can have; a run that has less left need not read it."""
    return len(orjson.dumps(plain(Digest(session.ref, session.harness, session.id))))


def _frame(session: Session, timeline: Timeline, detectors: Sequence[Detector]) -> Digest:
    extra: dict[str, list[Any]] = {
        detector.name: []
        for detector in detectors
        if detector.name not in OWN_MEMBERS and detector.name != TROUBLES
    }
    return Digest(
        ref=session.ref,
        harness=session.harness,
        session_id=session.id,
        project=next(iter(timeline.cwds), ""),
        cwd=timeline.cwd,
        start=times.digest_form(timeline.first) if timeline.first is not None else "",
        end=times.digest_form(timeline.last) if timeline.last is not None else "",
        model=timeline.model,
        from_offset=timeline.start,
        counts=timeline.counts(),
        final_excerpt=timeline.final_excerpt,
        findings=extra or None,
        about=_about(timeline.about_session),
    )


def _about(facts: AboutSession) -> About | None:
    if facts == AboutSession():
        return None
    return About(
        facts.title,
        facts.branch,
        facts.version,
        facts.parent,
        facts.input,
        facts.output,
        round(facts.cost, 6),
    )


def _events(session: Session, timeline: Timeline) -> Iterable[tuple[Entry | Call, Event]]:
    for entry in timeline.entries:
        at = times.digest_form(entry.at) if entry.at is not None else ""
        if entry.kind == "prompt" and entry.offset >= timeline.start:
            yield (
                entry,
                Event(entry.span, f"{session.ref}#{entry.span}", at, "prompt", entry.summary),
            )
        for call in entry.calls:
            if is_event(call, timeline.start):
                yield call, _failed(session, call, at)


def _failed(session: Session, call: Call, at: str) -> Event:
    error_class, exit_code = str(call.status), None
    if call.status == "error":
        error_class, exit_code = (
            ("exit", call.exit_code) if call.exit_code is not None else ("tool_error", None)
        )
    return Event(
        span=call.span,
        ref=f"{session.ref}#{call.span}",
        at=at,
        type="tool_call",
        tool=call.tool,
        args_digest=call.args_digest,
        command=call.command,
        status=str(call.status),
        exit_code=exit_code,
        error_class=error_class,
        excerpt=call.excerpt,
        tail=call.tail,
        own=call.own,
    )


def _completed(owner: Entry | Call | Trouble) -> int:
    return owner.result_offset if isinstance(owner, Call) else owner.offset


def _fresh(value: Any) -> Any:
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return {name: _fresh(each) for name, each in value.items()}
    return value
