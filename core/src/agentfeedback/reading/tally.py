"""Counts, times and directories of a log alone: what `sessions list` needs. Pure."""

from __future__ import annotations

from agentfeedback.reading.sink import BATCH, Sink, Status
from agentfeedback.wire.records import Counts


class Tally(Sink):
    """Counts, times and directories alone: what listing needs, at one cheap call per line."""

    keeps_texts = False
    _current: str | None = ""
    _rewriting = False

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0
        self._prompts = 0
        self._interrupts = 0
        self._calls = 0
        self._status: dict[str, Status | None] = {}
        self._spans: dict[str | None, bool] | None = None

    @classmethod
    def for_reader(cls, rewrites: bool) -> Tally:
        """A tally; for a reader that rewrites entries it remembers their spans."""
        tally = cls()
        if rewrites:
            tally._spans = {}
        return tally

    def counts(self) -> Counts:
        """The seven counts of the whole log."""
        tallied = {"error": 0, "denied": 0, "interrupted": 0}
        for status in self._status.values():
            if status in tallied:
                tallied[status] += 1
        return Counts(
            entries=self.entries,
            prompts=self._prompts,
            tool_calls=self._calls,
            tool_errors=tallied["error"],
            interrupts=self._interrupts + tallied["interrupted"],
            denials=tallied["denied"],
            unparsed=self.unparsed_lines,
        )

    def entry(
        self,
        span: str | None = None,
        time: str | int | None = None,
        cwd: str | None = None,
        model: str | None = None,
    ) -> None:
        self.entries += 1
        if time is not None:
            self._times.append(time)
            if len(self._times) >= BATCH:
                self._note_times()
        if cwd and cwd != self.cwd:
            self._directory(cwd)
        if self._spans is not None:  # a record without a span is an entry of its own too
            self._spans[span] = False
            self._current = span
            self._rewriting = False

    def prompt(self, text: str | None) -> None:
        if text is not None and (not text or text.isspace()):
            return
        if self._spans is not None:
            # An entry never turns into a prompt later (prefix law).
            if self._rewriting or self._spans.get(self._current):
                return
            self._spans[self._current] = True
        self._prompts += 1

    def said(self, text: str) -> None:
        pass

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        if id is not None:
            if id in self._status:
                return False
            self._status[id] = None
        self._calls += 1
        return True

    def interrupt(self) -> None:
        if not self._rewriting:
            self._interrupts += 1

    def result(
        self, id: str | None, status: Status, content: str = "", exit_code: int | None = None
    ) -> bool:
        if id not in self._status:
            return False
        if self._status[id] is None:
            self._status[id] = status
        return True

    def refine(
        self, id: str | None, status: Status | None, content: str = "", exit_code: int | None = None
    ) -> bool:
        if id not in self._status:
            return False
        if status is not None and self._status[id] != "interrupted":
            self._status[id] = status
        return True

    def interrupt_open(self, content: str = "") -> None:
        for id, status in self._status.items():
            if status is None:
                self._status[id] = "interrupted"

    def rewrite(self, span: str, time: str | int | None = None, model: str | None = None) -> bool:
        if self._spans is None or span not in self._spans:
            return False
        if time is not None:
            self._times.append(time)
            if len(self._times) >= BATCH:
                self._note_times()
        self._rewriting = True
        return True

    def known(self, id: str | None) -> bool:
        return id in self._status
