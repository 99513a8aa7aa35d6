"""A timeline that a report is made from: the events of a session with their groups, and on demand their texts. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.digest.detailed import DetailedTimeline, key_of
from agentfeedback.report.facts import SLOT, Event, SessionEvents
from agentfeedback.report.signature import error_line, normalised, normalised_command
from agentfeedback.scrub import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.reading.sink import TroubleKind
    from agentfeedback.reading.timeline import Marker
    from agentfeedback.reading.timeline_entries import Call, Entry
    from agentfeedback.report.facts import Kind
    from agentfeedback.scrub import Scrubber

ERROR_BYTES = 240
#: The detector whose marks make a prompt a complaint.
_COMPLAINTS = "flagged"


@define(eq=False)
class Texts:
    """What is shown of one event, scrubbed and cut; what it has none of is empty."""

    command: str = ""
    error: str = ""
    excerpt: str = ""
    summary: str = ""
    phrases: Sequence[str] = ()


class ReportTimeline(DetailedTimeline):
    """The timeline of a whole log, for a report. `key` is a secret of this machine: groups are hashed with it."""

    def __init__(
        self, scrubber: Scrubber, mark: Marker | None, key: bytes, *, rewrites: bool = False
    ) -> None:
        super().__init__(scrubber, mark, rewrites=rewrites)
        self._key = key
        self._lines: dict[int, str] = {}
        self._normal: dict[int, str] = {}
        self._commands: dict[int, str] = {}
        self._troubles: list[str] = []
        self._entered: set[str | int] = set()
        self._minute = ""

    # -- what comes ----------------------------------------------------------------------------

    def entry(
        self,
        span: str | None = None,
        time: str | int | None = None,
        cwd: str | None = None,
        model: str | None = None,
    ) -> None:
        super().entry(span, time, cwd, model)
        if time is None:
            return
        if isinstance(time, int):
            self._entered.add(time)
        elif time[:16] != self._minute or not time.endswith("Z"):
            # The minute is enough to say on which day: many entries share one.
            self._minute = time[:16]
            self._entered.add(_minute(time))

    def trouble(self, kind: TroubleKind, text: str, time: str | int | None = None) -> None:
        super().trouble(kind, text, time)
        if len(self._troubles) < len(self.troubles):
            self._troubles.append(normalised(error_line(self._scrubber.text(text))))

    def _command(self, call: Call, input: bytes | None, command: str | None) -> str:
        shown = super()._command(call, input, command)
        if command is not None:
            self._commands[key_of(call)] = normalised_command(self._scrubber.text(command))
        return shown

    def _failed(self, call: Call, scrubbed: str) -> None:
        super()._failed(call, scrubbed)
        line = error_line(scrubbed)
        self._lines[key_of(call)] = cut(line, ERROR_BYTES)
        self._normal[key_of(call)] = normalised(line)

    # -- what it comes to ----------------------------------------------------------------------

    def facts(self) -> SessionEvents:
        """What a report keeps of the session."""
        found = SessionEvents([], [], [], [event for event, _ in self.events()])
        for entry in self.entries:
            if entry.kind == "prompt":
                found.prompts.append(entry.at)
            found.calls += [entry.at] * len(entry.calls)
        slots = {at // SLOT for at in _times(self._entered)}
        found.slots = sorted(slots)
        return found

    def events(self) -> Iterator[tuple[Event, Texts]]:
        """What went wrong, in log order, each with what is shown of it."""
        self.settle()
        failed: dict[tuple[str, str], Call] = {}
        for entry in self.entries:
            yield from self._of_entry(entry)
            for call in entry.calls:
                key = (call.tool, call.args_digest)
                if (earlier := failed.get(key)) is not None:
                    yield self._retry(entry, call, earlier)
                if call.status in ("error", "denied", "interrupted"):
                    failed[key] = call
                    yield self._of_call(entry, call)
        for trouble, line in zip(self.troubles, self._troubles, strict=True):
            group = self._group("trouble", trouble.kind, line)
            event = Event("", trouble.at, "trouble", trouble.kind, None, own=False, group=group)
            yield event, Texts(excerpt=trouble.excerpt)

    def _of_entry(self, entry: Entry) -> Iterator[tuple[Event, Texts]]:
        kind: Kind
        if entry.kind == "interrupt":
            kind, texts = "interrupt", Texts()
        elif phrases := entry.marks.get(_COMPLAINTS):
            kind, texts = "complaint", Texts(summary=entry.summary, phrases=phrases)
        else:
            return
        yield Event(entry.span, entry.at, kind, "", None, own=False, group=""), texts

    def _of_call(self, entry: Entry, call: Call) -> tuple[Event, Texts]:
        kind: Kind = call.status  # type: ignore[assignment] # whoever calls has looked
        group, code = "", None
        if kind == "error":
            group = self._group(
                "error", call.tool, self._normal_command(call), self._normal.get(key_of(call), "")
            )
            code = call.exit_code
        texts = Texts(call.command, self._lines.get(key_of(call), ""), call.excerpt)
        return Event(call.span, entry.at, kind, call.tool, code, call.own, group), texts

    def _retry(self, entry: Entry, call: Call, earlier: Call) -> tuple[Event, Texts]:
        # The same tool with the same arguments: the earlier call has its command.
        group = self._group("retry", call.tool, self._normal_command(earlier))
        event = Event(call.span, entry.at, "retry", call.tool, None, call.own, group)
        return event, Texts(command=earlier.command)

    def _normal_command(self, call: Call) -> str:
        return self._commands.get(key_of(call), "")

    def _group(self, *parts: str) -> str:
        material = "\0".join(parts).encode("utf-8", "replace")
        return hashlib.sha256(self._key + material).hexdigest()[:16]


def _minute(time: str) -> str:
    return time[:16] if len(time) >= 20 and time.endswith("Z") else time


def _times(entered: set[str | int]) -> Iterator[int]:
    from agentfeedback.reading.sink import parsed

    for time in entered:
        whole = f"{time}:00Z" if isinstance(time, str) and len(time) == 16 else time
        if (at := parsed(whole)) is not None:
            yield at
