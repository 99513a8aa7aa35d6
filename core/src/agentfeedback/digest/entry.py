"""One entry of a log in full, and what was said around it. Pure.

The texts of the entry that is looked for are kept whole while the log is read, every other as a digest keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from agentfeedback.digest.detailed import key_of, shown_arguments, tail
from agentfeedback.foundation import times
from agentfeedback.reading.timeline import Marker, Timeline
from agentfeedback.scrub import cut
from agentfeedback.wire.show import Around, Said, ShownEntry, Text

if TYPE_CHECKING:
    from agentfeedback.reading.timeline_entries import Call, Entry
    from agentfeedback.scrub import Scrubber

HEAD_BYTES = TAIL_BYTES = 4096
SAID_BYTES = 1024
_COMPLAINTS = "flagged"


@define(eq=False)
class _Whole:
    """What the log holds of one call of the entry."""

    input: bytes | None
    command: str | None
    content: str = ""


@define(eq=False)
class _Spoken:
    span: str
    at: int | None
    text: str


@define(eq=False)
class _Found:
    """The entry, with its prompts and calls in log order, and what came before and after."""

    entry: Entry
    prompts: list[str] = field(factory=list)
    calls: dict[int, _Whole] = field(factory=dict)
    prompt: _Spoken | None = None
    before: _Spoken | None = None
    after: _Spoken | None = None


class EntryTimeline(Timeline):
    """A timeline that keeps the first entry for whose span `wanted` is true as a whole."""

    def __init__(
        self,
        scrubber: Scrubber,
        mark: Marker | None,
        wanted: Callable[[str], bool],
        *,
        rewrites: bool = False,
    ) -> None:
        super().__init__(scrubber.clip, mark, rewrites=rewrites)
        self._scrubber = scrubber
        self._wanted = wanted
        self._found: _Found | None = None
        self._span_found = ""
        self._prompted: _Spoken | None = None
        self._spoken: _Spoken | None = None

    @property
    def found(self) -> bool:
        """Whether the entry was there."""
        return self._found is not None

    # -- what comes ----------------------------------------------------------------------------

    def prompt(self, text: str | None) -> None:
        super().prompt(text)
        if text is None or not text.strip():
            return
        entry = self._current()
        if self._is_it(entry.span, entry):
            assert self._found is not None
            self._found.prompts = [text]
        elif self._found is None:
            self._prompted = _Spoken(entry.span, entry.at, text)

    def said(self, text: str) -> None:
        super().said(text)
        if not text.strip():
            return
        entry = self._current()
        spoken = _Spoken(entry.span, entry.at, text)
        found = self._found
        if found is None:
            self._spoken = spoken
        elif entry is found.entry:
            found.before = spoken
        elif found.after is None and not self._waits(found):
            found.after = spoken

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        added = super().call(id, tool, input=input, command=command, span=span)
        entry = self._current()
        call = entry.calls[-1] if added else self._calls.get(id or "")
        if call is None or not (added or (self._rewriting and call.entry is entry)):
            return added
        if self._is_it(call.span, entry):
            assert self._found is not None
            self._found.calls[key_of(call)] = _Whole(input, command)
        return added

    def _is_it(self, span: str, entry: Entry) -> bool:
        """Whether this belongs to the entry that is looked for; the first time it is found."""
        if self._found is None:
            if not self._wanted(span):
                return False
            self._found = _Found(entry, prompt=self._prompted, before=self._spoken)
            self._span_found = span
            return True
        return entry is self._found.entry and span == self._span_found

    def _fill(self, call: Call, content: str) -> None:
        whole = self._whole(call)
        if whole is not None and content and not whole.content:
            whole.content = content
        super()._fill(call, content)

    def _whole(self, call: Call) -> _Whole | None:
        return self._found.calls.get(key_of(call)) if self._found is not None else None

    def _waits(self, found: _Found) -> bool:
        """Whether a call of the entry has no result yet."""
        return any(call.status is None for call in found.entry.calls if key_of(call) in found.calls)

    # -- what is shown -------------------------------------------------------------------------

    def shown(self, ref: str) -> list[ShownEntry]:
        """The prompts and calls of the entry, in log order; `ref` is the session's."""
        found = self._found
        if found is None:
            return []
        entry = found.entry
        at = times.digest_form(entry.at) if entry.at is not None else ""
        shown = [
            ShownEntry(
                self._span_found,
                f"{ref}#{self._span_found}",
                at,
                "prompt",
                text=self._text(text),
                phrases=list(entry.marks.get(_COMPLAINTS, ())),
            )
            for text in found.prompts
        ]
        calls = [call for call in entry.calls if key_of(call) in found.calls]
        return shown + [self._shown_call(call, ref, at, found) for call in calls]

    def _shown_call(self, call: Call, ref: str, at: str, found: _Found) -> ShownEntry:
        whole = found.calls[key_of(call)]
        entry = ShownEntry(
            call.span,
            f"{ref}#{call.span}",
            at,
            "tool_call",
            tool=call.tool,
            args_digest=call.args_digest,
            status=str(call.status) if call.status is not None else "",
            own=call.own,
        )
        if whole.command is not None:
            entry.command = _ends(self._scrubber.text(whole.command).strip(), tailed=False)
        else:
            text = shown_arguments(self._scrubber, whole.input, None, None)
            entry.input = _ends(text, tailed=False) if text else None
        if call.status not in (None, "ok"):
            entry.error_class = str(call.status)
            if call.status == "error":
                entry.exit_code = call.exit_code
                entry.error_class = "tool_error" if call.exit_code is None else "exit"
        if whole.content.strip():
            entry.result = self._text(whole.content)
        entry.repeats = next((each.span for each in self._failed_before(call)), "")
        return entry

    def _failed_before(self, call: Call) -> Iterator[Call]:
        """The latest earlier failed call with the same tool and arguments, if there is one."""
        last = None
        for entry in self.entries:
            for each in entry.calls:
                if each is call:
                    yield from () if last is None else (last,)
                    return
                if (each.tool, each.args_digest) == (call.tool, call.args_digest) and (
                    each.status not in (None, "ok")
                ):
                    last = each

    def around(self) -> Around:
        """What was typed and said around the entry."""
        found = self._found
        if found is None:
            return Around()
        return Around(
            self._said_as(found.prompt), self._said_as(found.before), self._said_as(found.after)
        )

    def _said_as(self, spoken: _Spoken | None) -> Said | None:
        if spoken is None:
            return None
        at = times.digest_form(spoken.at) if spoken.at is not None else ""
        return Said(spoken.span, at, self._scrubber.clip(spoken.text, SAID_BYTES))

    def _text(self, text: str) -> Text:
        return _ends(self._scrubber.text(text.strip()), tailed=True)


def _ends(text: str, *, tailed: bool) -> Text:
    """Head and tail of a scrubbed text, and what is left out between them, in bytes."""
    head = cut(text, HEAD_BYTES)
    size = len(text.encode("utf-8", "surrogatepass"))
    shown = len(head.encode("utf-8", "surrogatepass"))
    end = tail(text, shown, TAIL_BYTES) if tailed and shown < size else ""
    return Text(head, end, size, size - shown - len(end.encode("utf-8", "surrogatepass")))
