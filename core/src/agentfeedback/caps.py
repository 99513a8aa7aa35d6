"""Which events of a session fit under its cap (details 8.4). Pure; all sizes in bytes of JSON as printed (D2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

SESSION_BYTES = 64 * 1024
RUN_BYTES = 256 * 1024


@frozen
class Caps:
    """The most bytes of one session's digest and of one run."""

    session: int = SESSION_BYTES
    run: int = RUN_BYTES


@frozen
class Part:
    """An event with all that belongs to it: the offset of the record that completes it, and its bytes."""

    completed: int
    size: int


def fitting(
    parts: Sequence[Part], base: int, cap: int, measure: Callable[[frozenset[int]], int]
) -> tuple[frozenset[int], int] | None:
    """The indexes of the parts kept and the offset covered, or None when not even the first group fits.

    Parts are taken in the order they were completed, whole groups of one offset at a time, while
    the estimate stays within `cap`; then the last groups are dropped until `measure`, the real size
    of what is kept, fits. `base` is the size without any part. Call it only when not all parts fit.
    """
    order = sorted(range(len(parts)), key=lambda index: parts[index].completed)
    groups: list[list[int]] = []
    for index in order:
        if groups and parts[groups[-1][0]].completed == parts[index].completed:
            groups[-1].append(index)
        else:
            groups.append([index])
    taken, total = 0, base
    for group in groups:
        total += sum(parts[index].size for index in group)
        if total > cap:
            break
        taken += 1
    # Nothing kept would leave the watermark where it is: the next digest could never get past it.
    while taken:
        kept = frozenset(index for group in groups[:taken] for index in group)
        if taken < len(groups) and measure(kept) <= cap:
            return kept, parts[groups[taken][0]].completed
        taken -= 1
    return None
