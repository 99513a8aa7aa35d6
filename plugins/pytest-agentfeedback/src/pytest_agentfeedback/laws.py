"""The laws of a reading, as faults in words; an empty list is a law that holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import asdict

if TYPE_CHECKING:
    from agentfeedback.wire.records import Counts
    from pytest_agentfeedback.recorder import Recording, Told, ToldCall

#: Nanoseconds since the epoch of a time in 1973: no session is older, and a time in seconds,
#: milliseconds or microseconds of this century is.
EARLIEST = 10**17


def prefix_faults(part: Recording, whole: Recording, cut: int) -> list[str]:
    """Where what was reported of a log's first `cut` bytes differs from what was reported of the whole log (prefix law)."""
    return list(_prefix(part, whole, cut))


def span_faults(recording: Recording) -> list[str]:
    """Spans of prompts and calls that are empty, or that two entries share."""
    faults = []
    owner: dict[str, Told] = {}
    for entry in recording.entries:
        spans = {call.span for call in entry.calls}
        if entry.kind == "prompt":
            spans.add(entry.span)
        for span in spans:
            if not span:
                faults.append(f"an empty span at offset {entry.offset}")
            elif span in owner:
                faults.append(f"span {span} at offsets {owner[span].offset} and {entry.offset}")
            owner.setdefault(span, entry)
    return faults


def time_faults(recording: Recording) -> list[str]:
    """Times that are neither None nor nanoseconds since the epoch."""
    times = [(f"entry at offset {entry.offset}", entry.at) for entry in recording.entries]
    times += [("the first time", recording.first), ("the last time", recording.last)]
    return [
        f"{what}: {at!r}"
        for what, at in times
        if at is not None and (type(at) is not int or at < EARLIEST)
    ]


def result_faults(recording: Recording) -> list[str]:
    """Results reported before their calls."""
    called = {
        call.id: call.offset
        for entry in recording.entries
        for call in entry.calls
        if call.id is not None
    }
    return [
        f"a result of {id} at offset {offset}, before the call at {called[id]}"
        for offset, id, known in recording.results
        if not known and id in called
    ]


def count_faults(tallied: Counts, told: Counts) -> list[str]:
    """Counts in which a tally and a timeline of the same log differ."""
    ours, theirs = asdict(tallied), asdict(told)
    return [
        f"{name}: the tally has {ours[name]}, the timeline {theirs[name]}"
        for name in ours
        if ours[name] != theirs[name]
    ]


def _prefix(part: Recording, whole: Recording, cut: int) -> Iterator[str]:
    if part.troubles != tuple(each for each in whole.troubles if each[0] < cut):
        yield f"troubles {part.troubles}, in the whole {whole.troubles}"
    if part.unparsed != tuple(offset for offset in whole.unparsed if offset < cut):
        yield f"unparsed records {part.unparsed}, in the whole {whole.unparsed}"
    if part.cwds != whole.cwds[: len(part.cwds)]:
        yield f"directories {part.cwds}, in the whole {whole.cwds}"
    count = len(part.entries)
    if count > len(whole.entries):
        yield f"{count} entries, in the whole {len(whole.entries)}"
    if early := [entry for entry in whole.entries[count:] if entry.offset < cut]:
        yield f"entries before the cut that only the whole has: {early}"
    for mine, other in zip(part.entries, whole.entries, strict=False):
        yield from _entry(mine, other, cut)


def _entry(part: Told, whole: Told, cut: int) -> Iterator[str]:
    where = f"entry {part.span} at offset {part.offset}"
    rewritten = any(offset >= cut for offset in whole.rewritten)
    for name in ("offset", "span"):
        if getattr(part, name) != getattr(whole, name):
            yield f"{where}: {name} {getattr(whole, name)!r} in the whole"
    if part.at != whole.at and not (rewritten and part.at is None):
        yield f"{where}: time {part.at}, in the whole {whole.at}"
    if part.kind != whole.kind and (not rewritten or "prompt" in (part.kind, whole.kind)):
        yield f"{where}: a {part.kind}, in the whole a {whole.kind}"
    for name in ("text", "said", "model"):
        if getattr(part, name) != getattr(whole, name) and not rewritten:
            yield f"{where}: {name} {getattr(part, name)!r}, in the whole {getattr(whole, name)!r}"
    more = whole.calls[len(part.calls) :]
    if len(part.calls) > len(whole.calls):
        yield f"{where}: {len(part.calls)} calls, in the whole {len(whole.calls)}"
    elif more and (not rewritten or any(call.offset < cut for call in more)):
        yield f"{where}: calls that only the whole has: {more}"
    for mine, other in zip(part.calls, whole.calls, strict=False):
        yield from _call(mine, other, cut, rewritten)


def _call(part: ToldCall, whole: ToldCall, cut: int, rewritten: bool) -> Iterator[str]:
    where = f"call {part.span} ({part.tool}) at offset {part.offset}"
    for name in ("id", "span", "offset"):
        if getattr(part, name) != getattr(whole, name):
            yield f"{where}: {name} {getattr(whole, name)!r} in the whole"
    for name in ("tool", "args_digest"):
        if getattr(part, name) != getattr(whole, name) and not rewritten:
            yield f"{where}: {name} {getattr(whole, name)!r} in the whole"
    if whole.status is not None and whole.result_offset >= cut:
        return  # its result came later: an incremental digest reports it
    if (part.status, part.result_offset) != (whole.status, whole.result_offset):
        yield (
            f"{where}: {part.status} by the record at {part.result_offset}, "
            f"in the whole {whole.status} by the record at {whole.result_offset}"
        )
    elif part.exit_code is not None and whole.exit_code is None:
        # A later record may refine the code of a failure (Refine), never take it away.
        yield f"{where}: exit code {part.exit_code}, in the whole none"
    elif part.content not in ("", whole.content):
        yield f"{where}: content {part.content!r}, in the whole {whole.content!r}"
