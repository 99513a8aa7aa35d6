"""The states of many sessions: unchanged ones from the cache, the others read, on every core where that pays.

The gate is asked for each session before anything of it is read, and again over what was read or
kept, in this process; the other processes only read logs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.reading.load import LogFacts, SessionRefused, tallied
from agentfeedback.reading.reader import Place, Reader, Session

if TYPE_CHECKING:
    from agentfeedback.sessions.examiner import ExaminedSession, Examiner
    from agentfeedback.sessions.facts_cache import FactsCache
    from agentfeedback.state.watermark import SessionRow

#: Bytes to read from which on other processes are worth their start.
PARALLEL_BYTES = 48 << 20
#: Bytes handed to a process at a time.
_SHARE = 4 << 20
#: Bytes of the longest log that is read before there are other processes.
_SMALL = 1 << 20


@define(eq=False)
class _Task:
    reader: Reader
    session: Session
    place: Place


def scan(
    examiner: Examiner,
    candidates: Sequence[tuple[Reader, Session]],
    rows: Mapping[tuple[str, str], SessionRow],
    caches: Mapping[str, FactsCache],
    step: Callable[[], None],
) -> Iterator[ExaminedSession]:
    """The state of each candidate, in order; `caches` by harness, `step` is called for each one finished."""
    results: list[LogFacts | SessionRefused | None] = []
    pending: dict[int, _Task] = {}
    for reader, session in candidates:
        cache = caches.get(session.harness)
        kept = cache.find(reader, session) if cache is not None else None
        try:
            place = examiner.admit(
                reader, session, kept[1] if kept is not None and kept[2] else None
            )
        except SessionRefused as refused:
            results.append(refused)
            step()
            continue
        if kept is not None and kept[1].paths == place.paths:
            results.append(kept[0])
            step()
        else:
            pending[len(results)] = _Task(reader, session, place)
            results.append(None)
    for index, outcome in _read(pending):
        task = pending[index]
        cache = caches.get(task.session.harness)
        if cache is not None and isinstance(outcome, LogFacts):
            cache.keep(task.reader, task.session, task.place, outcome)
        results[index] = outcome
        step()
    for (_, session), result in zip(candidates, results, strict=True):
        if isinstance(result, SessionRefused):
            yield examiner.refused(session, result)
        elif result is not None:
            yield examiner.judge(session, rows.get((session.harness, session.id)), result)


def _read(tasks: Mapping[int, _Task]) -> Iterator[tuple[int, LogFacts | SessionRefused]]:
    total = sum(task.session.size for task in tasks.values())
    workers = min(_cores(), 8, len(tasks))
    if workers < 2 or total < PARALLEL_BYTES or sys.platform != "linux":
        # Elsewhere than on Linux a process starts from nothing, and half of what it would save goes there.
        for index, task in tasks.items():
            yield index, _outcome(task)
        return
    yield from _parallel(tasks, workers)


def _parallel(
    tasks: Mapping[int, _Task], workers: int
) -> Iterator[tuple[int, LogFacts | SessionRefused]]:
    from agentfeedback.sessions.workers import shared_out

    def outcomes(indexes: Sequence[int]) -> list[tuple[int, LogFacts | SessionRefused]]:
        return [(index, _outcome(tasks[index])) for index in indexes]

    by_size = sorted(tasks, key=lambda index: -tasks[index].session.size)
    # What a reader imports, compiles and makes at its first log, each process would do by itself.
    smallest = {tasks[index].reader: index for index in by_size}
    first = [index for index in smallest.values() if tasks[index].session.size <= _SMALL]
    yield from outcomes(first)
    rest = [index for index in by_size if index not in first]
    for answer in shared_out(outcomes, _shares(rest, tasks), workers):
        yield from answer


def _shares(order: Sequence[int], tasks: Mapping[int, _Task]) -> Iterator[list[int]]:
    """The indexes in shares of about equal bytes, the largest logs first."""
    share: list[int] = []
    size = 0
    for index in order:
        share.append(index)
        size += tasks[index].session.size
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _outcome(task: _Task) -> LogFacts | SessionRefused:
    try:
        return tallied(task.reader, task.session, task.place)
    except SessionRefused as refused:
        return refused


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Silent:
    """The progress of a scan that nobody watches."""

    def step(self) -> None:
        """One session was examined."""

    def done(self) -> None:
        """The scan ended."""
