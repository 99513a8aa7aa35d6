"""What matters of a log for a digest: its prompts, its calls with their results, and the facts around them. Pure.

`Timeline` answers the verbs of `Sink`. It keeps no text beyond what a digest shows: a prompt's
summary and a failed result's excerpt are scrubbed and cut when they are reported, detectors mark the
full text at the same moment, and of what the assistant said only the last text stays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from agentfeedback.reading.args_digest import args_digest, is_own
from agentfeedback.reading.sink import BATCH, Sink, Status, TroubleKind, parsed
from agentfeedback.reading.timeline_entries import AboutSession, Call, Entry, Trouble, Watched
from agentfeedback.wire.records import Counts

#: Words about a full text while it is at hand, by detector name.
Marker = Callable[[Literal["prompt", "result"], str], dict[str, Sequence[str]]]
#: Scrubs a text, then cuts it to a number of UTF-8 bytes.
Clip = Callable[[str, int], str]

SUMMARY_BYTES = 160
EXCERPT_BYTES = 240
#: How many results without an excerpt keep the start of their text, and how much of it is used.
HEADS = 64
HEAD_CHARACTERS = 2048
#: With what is kept behind it, so that a secret across its end is recognised.
KEPT_CHARACTERS = HEAD_CHARACTERS + 1024


class Timeline(Sink):
    """The full timeline of a log. Facts that count from `start` (a byte offset) leave out what comes before it.

    `clip` scrubs and cuts; `mark` asks the detectors about a full text; `watch` knows the span whose
    first entry is looked for; `rewrites` keeps every entry within reach of `rewrite`.
    """

    def __init__(
        self,
        clip: Clip,
        mark: Marker | None = None,
        *,
        start: int = 0,
        rewrites: bool = False,
        watch: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__()
        self.start = start
        #: Bytes of all complete lines; set when the log was read to its end.
        self.size = 0
        self.model = ""
        self.entries: list[Entry] = []
        self.troubles: list[Trouble] = []
        self.about_session = AboutSession()
        self.watched: Watched | None = None
        self._clip = clip
        self._mark = mark
        self._watch = watch
        self._calls: dict[str, Call] = {}
        self._open: dict[str, Call] = {}
        self._by_span: dict[str, Entry] | None = {} if rewrites else None
        self._heads: deque[Call] = deque()
        self._counted = 0
        self._unparsed_counted = 0
        self._order = 0
        self._model_order = 0
        self._said: tuple[int, str] = (0, "")
        self._entry: Entry | None = None
        self._pending: tuple[int, str | None, str | int | None] = (0, "", None)
        self._rewriting = False

    # -- what was reported -------------------------------------------------------------------------

    @property
    def final_excerpt(self) -> str:
        """The last thing the assistant said at or after `start`, scrubbed and cut."""
        return self._clip(self._said[1], EXCERPT_BYTES)

    def counts(self) -> Counts:
        """The seven counts from `start` on: entries by their record, calls by the record that first reports them."""
        counts = Counts(entries=self._counted, unparsed=self._unparsed_counted)
        for entry in self.entries:
            if entry.offset >= self.start:
                counts.prompts += entry.kind == "prompt"
                counts.interrupts += entry.kind == "interrupt"
            for call in entry.calls:
                if call.offset >= self.start:
                    counts.tool_calls += 1
                    counts.tool_errors += call.status == "error"
                    counts.denials += call.status == "denied"
                    counts.interrupts += call.status == "interrupted"
        return counts

    def settle(self) -> None:
        """The log was read to its end: what had to wait for that is put in place."""

    # -- verbs ---------------------------------------------------------------------------------

    def note(
        self, time: str | int | None = None, cwd: str | None = None, model: str | None = None
    ) -> None:
        super().note(time, cwd)
        if model:
            self.model = model

    def about(
        self,
        *,
        title: str | None = None,
        branch: str | None = None,
        version: str | None = None,
        parent: str | None = None,
    ) -> None:
        facts = self.about_session
        facts.title = self._clip(title, SUMMARY_BYTES) if title else facts.title
        facts.branch = self._clip(branch, SUMMARY_BYTES) if branch else facts.branch
        facts.version = self._clip(version, SUMMARY_BYTES) if version else facts.version
        facts.parent = self._clip(parent, SUMMARY_BYTES) if parent else facts.parent

    def used(self, *, input: int = 0, output: int = 0, cost: float = 0.0) -> None:
        self.about_session.input += max(input, 0)
        self.about_session.output += max(output, 0)
        self.about_session.cost += cost if 0 <= cost < float("inf") else 0.0

    def trouble(self, kind: TroubleKind, text: str, time: str | int | None = None) -> None:
        if self.offset >= self.start:
            excerpt = self._clip(text, EXCERPT_BYTES)
            self.troubles.append(Trouble(self.offset, parsed(time), kind, excerpt))

    def entry(
        self,
        span: str | None = None,
        time: str | int | None = None,
        cwd: str | None = None,
        model: str | None = None,
    ) -> None:
        self._order += 1
        self._rewriting = False
        if self.offset >= self.start:
            self._counted += 1
        if time is not None:
            self._times.append(time)
            if len(self._times) >= BATCH:
                self._note_times()
        if cwd and cwd != self.cwd:
            self._directory(cwd)
        self._set_model(self._order, model)
        self._pending = (self.offset, span, time)
        self._entry = None
        if self._by_span is not None and span is not None:
            self._by_span[span] = self._current()
        if self._watch is not None and self.watched is None and self._watch(self._span()):
            self.watched = Watched(self._span(), parsed(time), self.cwd, self.model)

    def prompt(self, text: str | None) -> None:
        if text is not None and (not text or text.isspace()):
            return
        entry = self._current()
        if entry.kind != "prompt":
            if self._rewriting:  # an entry never turns into a prompt later (prefix law)
                return
            entry.kind = "prompt"
        if text is not None and entry.offset >= self.start:
            summary = next(line for line in text.split("\n") if line and not line.isspace())
            entry.summary = self._clip(summary, SUMMARY_BYTES)
            if self._mark is not None:
                entry.marks = self._mark("prompt", text)

    def said(self, text: str) -> None:
        order, offset = self._position()
        if offset >= self.start and order >= self._said[0]:
            self._said = (order, text)

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        entry = self._current()
        known = self._calls.get(id) if id is not None else None
        if known is not None:
            if self._rewriting and known.entry is entry:
                known.tool = tool
                known.args_digest = args_digest(input, command)
                known.own = is_own(tool, command)
            return False
        call = Call(
            entry=entry,
            id=id,
            span=entry.span if span is None else span,
            tool=tool,
            args_digest=args_digest(input, command),
            own=is_own(tool, command),
            offset=self.offset,
        )
        entry.calls.append(call)
        if id is not None:
            self._calls[id] = self._open[id] = call
        if self._watch is not None and self.watched is None and self._watch(call.span):
            self.watched = Watched(call.span, entry.at, self.cwd, self.model)
        return True

    def interrupt(self) -> None:
        entry = self._current()
        if entry.kind == "other" and not self._rewriting:
            entry.kind = "interrupt"

    def result(
        self, id: str | None, status: Status, content: str = "", exit_code: int | None = None
    ) -> bool:
        call = self._calls.get(id) if id is not None else None
        if call is None:
            return False
        if call.status is None:
            self._settle(call, status)
        if not call.closed:
            if call.exit_code is None and call.status == status:
                call.exit_code = exit_code
            self._fill(call, content)
        return True

    def refine(
        self, id: str | None, status: Status | None, content: str = "", exit_code: int | None = None
    ) -> bool:
        call = self._calls.get(id) if id is not None else None
        if call is None:
            return False
        if status is None or call.closed:
            return True
        if call.status != status and call.status != "interrupted":
            self._settle(call, status)
            if status in ("denied", "interrupted"):  # only what ran to its end has an exit code
                call.exit_code = None
            if call.head:
                call.has_content, content, call.head = False, self._scrubbed(call.head), ""
        if call.status == status and exit_code is not None:
            call.exit_code = exit_code
        self._fill(call, content)
        return True

    def interrupt_open(self, content: str = "") -> None:
        for call in self._open.values():
            call.status, call.result_offset = "interrupted", self.offset
            self._fill(call, content)
            call.closed = True
        self._open.clear()

    def rewrite(self, span: str, time: str | int | None = None, model: str | None = None) -> bool:
        entry = self._by_span.get(span) if self._by_span is not None else None
        if entry is None:
            return False
        at = self._time(time) if time is not None else None
        if entry.at is None:
            entry.at = at
        self._entry, self._rewriting = entry, True
        self._set_model(entry.order, model)
        return True

    def known(self, id: str | None) -> bool:
        return id in self._calls

    def unparsed(self) -> None:
        super().unparsed()
        if self.offset >= self.start:
            self._unparsed_counted += 1

    # -- how it is kept ------------------------------------------------------------------------

    def _current(self) -> Entry:
        """The current entry as an object: made only when something is said of it that a digest may need."""
        if self._entry is None:
            offset, _, time = self._pending
            self._entry = Entry(self._order, offset, self._span(), parsed(time))
            self.entries.append(self._entry)
        return self._entry

    def _span(self) -> str:
        offset, span, _ = self._pending
        return f"L{offset}" if span is None else span

    def _position(self) -> tuple[int, int]:
        if self._entry is not None:
            return self._entry.order, self._entry.offset
        return self._order, self._pending[0]

    def _set_model(self, order: int, model: str | None) -> None:
        if model and order >= self._model_order:
            self.model, self._model_order = model, order

    def _scrubbed(self, head: str) -> str:
        """The kept start of a text, scrubbed; where the text went on, without its last word.

        That word can be a part of a secret, and markers that are shorter than their secrets move it
        forward to where it would be shown.
        """
        scrubbed = self._clip(head, 4 * len(head))
        if len(head) < KEPT_CHARACTERS:
            return scrubbed
        word = (scrubbed.rsplit(maxsplit=1) or [""])[-1]
        hidden = "[REDACTED:" in word and word.endswith("]")
        end = len(scrubbed) - (0 if hidden else min(len(word), KEPT_CHARACTERS - HEAD_CHARACTERS))
        return scrubbed[: min(end, HEAD_CHARACTERS)]

    def _settle(self, call: Call, status: Status) -> None:
        call.status, call.result_offset = status, self.offset
        if call.id is not None:
            self._open.pop(call.id, None)

    def _fill(self, call: Call, content: str) -> None:
        if call.has_content or not content:
            return
        call.has_content = True
        if call.status == "ok" or self.offset < self.start:
            call.head = content[:KEPT_CHARACTERS]
            self._heads.append(call)
            if len(self._heads) > HEADS:
                self._heads.popleft().head = ""
        else:
            call.excerpt = self._clip(content, EXCERPT_BYTES)
            if self._mark is not None:
                call.marks = self._mark("result", content)
