"""The verbs with which a reader reports a log, in the log's order: `Tally` counts, `Timeline` remembers what matters.

Both keep the rules that are not format (architecture.md, "A reader"): the first result of a call
wins unless the reader refines it; an interrupted call never changes back, and one interrupted by
`interrupt_open` takes no content later; otherwise only empty content is filled; a change of status
moves the call's result to the current record. Pure: no I/O.
"""

from __future__ import annotations

from typing import Literal

from agentfeedback.foundation import times
from agentfeedback.wire.records import Counts

Status = Literal["ok", "error", "denied", "interrupted"]
#: What failed around the calls: the model's provider, a hook, or the connection to a server of tools.
TroubleKind = Literal["provider", "hook", "connection"]


#: How many times are noted at once.
BATCH = 512
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_FORM = b"0000-00-00T00:00:00.000Z"


class Sink:
    """The verbs with which a reader reports a log, and the facts both kinds of timeline keep.

    `entry` opens an entry; `prompt`, `said`, `call` and `interrupt` speak of it. `result`, `refine`
    and `interrupt_open` speak of earlier calls, `rewrite` makes an earlier entry current again,
    `note` reports facts outside any entry, `trouble` that something around the calls failed,
    `unparsed` that a record is not of the format. A record
    about which nothing is said is parsed and no entry.
    """

    #: Whether arguments of calls and what the assistant said are kept. Where they are not, a reader
    #: may tell `call` without `input` and `command`, and leave out `said`.
    keeps_texts: bool = True

    def __init__(self) -> None:
        #: Byte offset of the record being read; the log sets it.
        self.offset = 0
        self.cwds: dict[str, None] = {}
        #: The directory recorded last, empty when none was.
        self.cwd = ""
        self._times: list[str | int] = []
        self._first: int | None = None
        self._last: int | None = None
        self.unparsed_lines = 0

    @property
    def first(self) -> int | None:
        """The earliest time seen, in nanoseconds since the epoch."""
        self._note_times()
        return self._first

    @property
    def last(self) -> int | None:
        """The latest time seen, in nanoseconds since the epoch."""
        self._note_times()
        return self._last

    # -- facts ---------------------------------------------------------------------------------

    def note(
        self, time: str | int | None = None, cwd: str | None = None, model: str | None = None
    ) -> None:
        """A time (RFC 3339 text, or nanoseconds since the epoch), directory or model outside any entry."""
        if time is not None:
            self._time(time)
        if cwd:
            self._directory(cwd)

    def _note_times(self) -> None:
        """Note the times reported since the last call. Nearly all are of one form, in which text order is time order."""
        noted, self._times = self._times, []
        try:
            if "".join(noted).encode().translate(_ZEROS) == _FORM * len(noted):  # type: ignore[arg-type]
                ends = [min(noted), max(noted)] if noted else []
                if all(times.parse(end) is not None for end in ends):  # type: ignore[arg-type]
                    noted = ends
        except (TypeError, UnicodeEncodeError):  # numbers among them, or no time at all
            pass
        for time in noted:
            self._time(time)

    def _time(self, time: str | int) -> int | None:
        at = parsed(time)
        if at is not None:
            if self._first is None or at < self._first:
                self._first = at
            if self._last is None or at > self._last:
                self._last = at
        return at

    def _directory(self, cwd: str) -> None:
        # Only an absolute directory is recorded; the path rules of the system decide.
        if cwd.startswith("/") and "\0" not in cwd:
            self.cwds[cwd] = None
            self.cwd = cwd

    def trouble(self, kind: TroubleKind, text: str, time: str | int | None = None) -> None:
        """Something around the calls failed, in the words that the harness recorded.

        It belongs to no entry, opens none and counts nothing. `time` is as in `note`, and is not
        taken for a time of the session: a record that is an entry gives its time itself.
        """

    def about(
        self,
        *,
        title: str | None = None,
        branch: str | None = None,
        version: str | None = None,
        parent: str | None = None,
    ) -> None:
        """What the harness recorded about the session: its title, the git branch, its own version, the parent's id.

        What is said last of each counts. It belongs to no entry, opens none and counts nothing.
        """

    def used(self, *, input: int = 0, output: int = 0, cost: float = 0.0) -> None:
        """Tokens into and out of the model, and US dollars, of one answer; a digest shows the sums.

        Of the session as a whole, wherever its digest begins. An answer that is recorded twice is reported once.
        """

    # -- verbs ---------------------------------------------------------------------------------

    def entry(
        self,
        span: str | None = None,
        time: str | int | None = None,
        cwd: str | None = None,
        model: str | None = None,
    ) -> None:
        """Open an entry. `span` None stands for its byte offset, as `L<offset>`."""
        raise NotImplementedError

    def prompt(self, text: str | None) -> None:
        """The entry is what a person typed for the model.

        A blank text is not a prompt. None is a prompt without a word: what the person sent was not
        text (an image alone).
        """
        raise NotImplementedError

    def said(self, text: str) -> None:
        """What the assistant said in this entry."""
        raise NotImplementedError

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        """A tool call of the entry. False when a call of that id was reported before: then nothing is added.

        `input` is its input as JSON text, None when there is none; `command` the shell command, when
        it has one. `id` None is a call that no result can name. `span` is the call's own where one
        record carries several.
        """
        raise NotImplementedError

    def interrupt(self) -> None:
        """The entry is an interrupt by the user."""
        raise NotImplementedError

    def result(
        self, id: str | None, status: Status, content: str = "", exit_code: int | None = None
    ) -> bool:
        """The result of an earlier call; the first one wins. Answers whether that call is known."""
        raise NotImplementedError

    def refine(
        self, id: str | None, status: Status | None, content: str = "", exit_code: int | None = None
    ) -> bool:
        """A better record of a call's result: it wins over an earlier one. Answers whether that call is known."""
        raise NotImplementedError

    def interrupt_open(self, content: str = "") -> None:
        """Interrupt every call that has no result yet."""
        raise NotImplementedError

    def rewrite(self, span: str, time: str | int | None = None, model: str | None = None) -> bool:
        """Make the entry of that span current again; False when there is none."""
        raise NotImplementedError

    def known(self, id: str | None) -> bool:
        """Whether a call of that id was reported."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """The seven counts."""
        raise NotImplementedError

    def unparsed(self) -> None:
        """The record is not an entry of the format (or no JSON object at all)."""
        self.unparsed_lines += 1


def parsed(time: str | int | None) -> int | None:
    """A time of a log in nanoseconds since the epoch; None when it cannot be read as a time."""
    return times.parse(time) if isinstance(time, str) else time
