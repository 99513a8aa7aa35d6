"""Detectors: what stands out among a session's prompts and calls. Pure.

A detector sees a full text once, when it is reported (`mark`), and the finished timeline once
(`find`). The core's fill `retries`, `denials` and `flagged`; what its `Troubles` and the
detectors of plugins find stands under `findings` by their name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from attrs import frozen

from agentfeedback.digest.complaints import complaints
from agentfeedback.digest.connections import is_lost, may_be_a_servers
from agentfeedback.foundation import times
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import Call, Entry, Trouble
from agentfeedback.wire import records
from agentfeedback.wire.encode import encode

DETECTOR_VERSION = "1"


@frozen(eq=False)
class Finding:
    """A finding and what it belongs to: it is shown when that event is, and left out with it.

    What belongs to a trouble is shown by itself, since a trouble is not an event.
    """

    owner: Entry | Call | Trouble
    value: Any


class Detector:
    """Base class of detectors. `name` is the member of the digest its findings stand under."""

    name: str = ""

    def mark(self, kind: Literal["prompt", "result"], text: str) -> Sequence[str]:
        """Words about the full, unscrubbed text of a prompt or a failed result; they are kept, the text is not."""
        return ()

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        """The findings about what is at or after `timeline.start`, in log order; values are JSON or wire records."""
        return ()


class Retries(Detector):
    """A call that repeats an earlier failed one with the same tool and arguments."""

    name = "retries"

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        failed: dict[tuple[str, str], Call] = {}
        for entry in timeline.entries:
            for call in entry.calls:
                key = (call.tool, call.args_digest)
                if call.offset >= timeline.start and (earlier := failed.get(key)) is not None:
                    retry = records.Retry(call.span, earlier.span, call.tool, call.args_digest)
                    yield Finding(earlier, retry)
                if is_event(call, timeline.start):
                    failed[key] = call


class Denials(Detector):
    """The spans of denied calls."""

    name = "denials"

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        for entry in timeline.entries:
            for call in entry.calls:
                if call.status == "denied" and is_event(call, timeline.start):
                    yield Finding(call, call.span)


class FlaggedPhrases(Detector):
    """Prompts that complain about what the agent did; each phrase at most once a prompt."""

    name = "flagged"

    def mark(self, kind: Literal["prompt", "result"], text: str) -> Sequence[str]:
        return complaints(text) if kind == "prompt" else ()

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        for entry in timeline.entries:
            for phrase in entry.marks.get(self.name, ()):
                yield Finding(entry, records.Flagged(entry.span, phrase))


class Troubles(Detector):
    """What failed around the calls: the provider, hooks, connections to servers of tools.

    A lost connection is found in the call that met it, and shown beside that call.
    """

    name = "troubles"

    def mark(self, kind: Literal["prompt", "result"], text: str) -> Sequence[str]:
        return ("connection",) if kind == "result" and is_lost(text) else ()

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        for trouble in timeline.troubles:
            at = _shown(trouble.at)
            yield Finding(trouble, records.Trouble(trouble.kind, at, trouble.excerpt))
        for entry in timeline.entries:
            for call in entry.calls:
                if self.name in call.marks and self._is_lost(call, timeline.start):
                    at = _shown(entry.at)
                    yield Finding(call, records.Trouble("connection", at, call.excerpt))

    def _is_lost(self, call: Call, start: int) -> bool:
        if call.status != "error" or not may_be_a_servers(call.tool, call.exit_code):
            return False
        return is_event(call, start)


class Guarded(Detector):
    """A detector of a plugin: where it raises, `failed` is called and it finds nothing."""

    def __init__(
        self, detector: Detector, failed: Callable[[str, str, BaseException], None]
    ) -> None:
        self.name = detector.name
        self._detector = detector
        self._failed = failed

    def mark(self, kind: Literal["prompt", "result"], text: str) -> Sequence[str]:
        try:
            return tuple(self._detector.mark(kind, text))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the plugin is named, the digest goes on
            self._failed(self.name, "mark", error)
            return ()

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        try:
            found = list(self._detector.find(timeline))
            for finding in found:
                encode((id(finding.owner), finding.value))  # raises here what could not be shown
            return found
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the plugin is named, the digest goes on
            self._failed(self.name, "find", error)
            return ()


CORE_DETECTORS = (Retries, Denials, FlaggedPhrases, Troubles)


def _shown(at: int | None) -> str:
    return times.digest_form(at) if at is not None else ""


def is_event(call: Call, start: int) -> bool:
    """Whether a call is reported: it did not succeed, and it or its result is at or after `start`."""
    if call.status is None or call.status == "ok":
        return False
    return call.offset >= start or call.result_offset >= start
