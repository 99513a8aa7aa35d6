"""A timeline that keeps everything that is reported to it, so that two readings can be compared entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from agentfeedback.reading.timeline import Timeline

if TYPE_CHECKING:
    from agentfeedback.reading.sink import Status
    from agentfeedback.reading.timeline_entries import Call
    from agentfeedback.wire.records import Counts


@frozen
class ToldCall:
    """A call as the timeline holds it; offsets in bytes, `content` is kept of failed calls alone."""

    id: str | None
    span: str
    tool: str
    args_digest: str
    offset: int
    status: str | None
    result_offset: int
    exit_code: int | None
    content: str


@frozen
class Told:
    """An entry as the timeline holds it: `at` in nanoseconds since the epoch, `offset` in bytes."""

    offset: int
    span: str
    at: int | None
    kind: str
    text: str = ""
    said: tuple[str, ...] = ()
    model: str = ""
    calls: tuple[ToldCall, ...] = ()
    #: Offsets of the records that rewrote it.
    rewritten: tuple[int, ...] = ()


@frozen
class Recording:
    """All that was reported of a log. `unparsed` are the offsets of the records that were not an entry of the format."""

    entries: tuple[Told, ...]
    unparsed: tuple[int, ...]
    cwds: tuple[str, ...]
    cwd: str
    first: int | None
    last: int | None
    model: str
    counts: Counts
    #: Results reported: (offset, id of the call, whether that call was known).
    results: tuple[tuple[int, str | None, bool], ...]
    #: Troubles reported: (offset, time, kind, text).
    troubles: tuple[tuple[int, int | None, str, str], ...]

    def facts(self) -> tuple[object, ...]:
        """Everything but the counts, which have no equality of their own."""
        log = self.entries, self.unparsed, self.troubles
        return *log, self.cwds, self.cwd, self.first, self.last, self.model


class Recorder(Timeline):
    """A `Timeline` of whole texts that keeps every entry, also one of which nothing is said."""

    def __init__(self, *, rewrites: bool = False) -> None:
        super().__init__(_whole, rewrites=rewrites)
        self._texts: dict[int, str] = {}
        self._saids: dict[int, list[str]] = {}
        self._models: dict[int, str] = {}
        self._rewritten: dict[int, list[int]] = {}
        self._unparsed: list[int] = []
        self._results: list[tuple[int, str | None, bool]] = []

    def recording(self) -> Recording:
        """What was reported so far."""
        entries = tuple(
            Told(
                entry.offset,
                entry.span,
                entry.at,
                entry.kind,
                self._texts.get(entry.order, ""),
                tuple(self._saids.get(entry.order, ())),
                self._models.get(entry.order, ""),
                tuple(map(_told, entry.calls)),
                tuple(self._rewritten.get(entry.order, ())),
            )
            for entry in self.entries
        )
        return Recording(
            entries,
            tuple(self._unparsed),
            tuple(self.cwds),
            self.cwd,
            self.first,
            self.last,
            self.model,
            self.counts(),
            tuple(self._results),
            tuple((each.offset, each.at, each.kind, each.excerpt) for each in self.troubles),
        )

    def entry(
        self,
        span: str | None = None,
        time: str | int | None = None,
        cwd: str | None = None,
        model: str | None = None,
    ) -> None:
        super().entry(span, time, cwd, model)
        order = self._current().order
        if model:
            self._models[order] = model

    def prompt(self, text: str | None) -> None:
        super().prompt(text)
        entry = self._current()
        if entry.kind == "prompt" and text and text.strip():
            self._texts[entry.order] = text

    def said(self, text: str) -> None:
        super().said(text)
        order = self._current().order
        # A rewrite replaces the entry: what was said before it is gone.
        if self._rewriting:
            self._saids[order] = []
        self._saids.setdefault(order, []).append(text)

    def rewrite(self, span: str, time: str | int | None = None, model: str | None = None) -> bool:
        known = super().rewrite(span, time, model)
        if known:
            order = self._current().order
            self._rewritten.setdefault(order, []).append(self.offset)
            if model:
                self._models[order] = model
        return known

    def result(
        self, id: str | None, status: Status, content: str = "", exit_code: int | None = None
    ) -> bool:
        return self._note_result(id, super().result(id, status, content, exit_code))

    def refine(
        self, id: str | None, status: Status | None, content: str = "", exit_code: int | None = None
    ) -> bool:
        return self._note_result(id, super().refine(id, status, content, exit_code))

    def unparsed(self) -> None:
        super().unparsed()
        self._unparsed.append(self.offset)

    def _note_result(self, id: str | None, known: bool) -> bool:
        self._results.append((self.offset, id, known))
        return known


def shifted(recording: Recording, start: int, by: int) -> Recording:
    """The recording as it would be with `by` more bytes before the record at `start`; ids of calls are left out."""

    def move(offset: int) -> int:
        return offset + by if offset >= start else offset

    def span(text: str, offset: int) -> str:
        return f"L{move(offset)}" if text == f"L{offset}" else text

    entries = tuple(
        evolve(
            entry,
            offset=move(entry.offset),
            span=span(entry.span, entry.offset),
            rewritten=tuple(map(move, entry.rewritten)),
            calls=tuple(
                evolve(
                    call,
                    # Left out: a reader may make the id of a call without one of its offset.
                    id=None,
                    span=span(call.span, entry.offset),
                    offset=move(call.offset),
                    result_offset=move(call.result_offset) if call.status is not None else 0,
                )
                for call in entry.calls
            ),
        )
        for entry in recording.entries
    )
    troubles = tuple(
        (move(offset), at, kind, text) for offset, at, kind, text in recording.troubles
    )
    unparsed = tuple(map(move, recording.unparsed))
    return evolve(recording, entries=entries, unparsed=unparsed, troubles=troubles)


def _told(call: Call) -> ToldCall:
    return ToldCall(
        call.id,
        call.span,
        call.tool,
        call.args_digest,
        call.offset,
        call.status,
        call.result_offset,
        call.exit_code,
        call.excerpt,
    )


def _whole(text: str, size: int) -> str:
    return text
