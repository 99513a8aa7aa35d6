"""Shares of work on forked processes, any of which may end at any time: the share of a dead one is done by the parent.

A worker that the system kills (for want of memory, say) must cost time and never an answer. Only
pipes are used: no semaphore that a dead process could hold, and no memory that is shared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, ForkProcess

Share = TypeVar("Share")
Answer = TypeVar("Answer")


def shared_out(
    work: Callable[[Share], Answer], shares: Iterable[Share], count: int
) -> Iterator[Answer]:
    """The answer to each share, in any order, from at most `count` processes, or from this one.

    This process does the work when the system gives no other one, and when other threads run: what they hold
    locked while a process is forked stays locked there.
    Shares and answers travel pickled, `work` by the fork. An exception of `work` is raised here.
    """
    import multiprocessing
    import threading
    from multiprocessing.connection import wait

    if threading.active_count() > 1:
        count = 0
    context = multiprocessing.get_context("fork")
    rest = iter(shares)
    undone: list[Share] = []
    processes: list[ForkProcess] = []
    held: dict[Any, Share] = {}
    try:
        for share in islice(rest, count):
            try:
                given = _started(context, processes, list(held), work)
            except OSError:  # the system gives no more processes, or no more descriptors
                undone.append(share)
                break
            _give(given, share, held, undone)
        while held:
            ready: list[Any] = wait(list(held))
            for connection in ready:
                share = held.pop(connection)
                try:
                    answer = connection.recv()
                except (EOFError, OSError):  # it ended
                    undone.append(share)
                    continue
                for following in islice(rest, 1):
                    _give(connection, following, held, undone)
                yield answer
        for share in chain(undone, rest):
            yield work(share)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _started(
    context: ForkContext,
    processes: list[ForkProcess],
    others: list[Connection],
    work: Callable[[Share], Answer],
) -> Connection:
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, [*others, ours], work), daemon=True)
    try:
        process.start()
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    processes.append(process)
    return ours


def _give(
    connection: Connection, share: Share, held: dict[Any, Share], undone: list[Share]
) -> None:
    try:
        connection.send(share)
    except OSError:  # it ended
        undone.append(share)
    else:
        held[connection] = share


def _serve(
    connection: Connection, inherited: list[Connection], work: Callable[[Share], Answer]
) -> None:
    import signal

    # Ctrl-C reaches the whole group; the parent ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:  # so that each worker sees the end of the parent
        other.close()
    try:
        while True:
            connection.send(work(connection.recv()))
    except BaseException:  # noqa: BLE001 - the parent does the share again, and meets what there is to meet
        os._exit(1)
