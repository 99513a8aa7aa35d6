"""Which events of a session fit under its cap. Pure; all sizes in bytes of JSON as printed."""

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


@frozen
class Fit:
    """The indexes of the parts kept, the offset covered, and how many parts before it are left out for good."""

    kept: frozenset[int]
    covered: int
    dropped: int = 0


def fitting(
    parts: Sequence[Part],
    base: int,
    cap: int,
    size: int,
    measure: Callable[[frozenset[int], int], int],
) -> Fit | None:
    """What of the parts is kept, or None when the cap is exceeded even without any.

    Parts are taken in the order they were completed, whole groups of one offset at a time, while
    the estimate stays within `cap`; then the last groups are left out until `measure`, the real size
    of what is kept with that many dropped, fits. Only the first group is ever kept in part, with as
    many of its parts as fit in their own order: else no digest could get past it. `base` is the size
    without any part, `size` the end of the log. Call it only when not all parts fit.
    """
    groups = _groups(parts)
    starts = [parts[group[0]].completed for group in groups] + [size]
    taken, total = 0, base
    for group in groups:
        total += sum(parts[index].size for index in group)
        if total > cap:
            break
        taken += 1
    taken = min(taken, len(groups) - 1)
    while taken > 0:
        kept = frozenset(index for group in groups[:taken] for index in group)
        if measure(kept, 0) <= cap:
            return Fit(kept, starts[taken])
        taken -= 1
    return _first_in_part(parts, groups[0] if groups else [], base, cap, starts[1:], measure)


def _groups(parts: Sequence[Part]) -> list[list[int]]:
    """The indexes of the parts by the offset that completes them, in the order of these."""
    groups: dict[int, list[int]] = {}
    for index in sorted(range(len(parts)), key=lambda index: parts[index].completed):
        groups.setdefault(parts[index].completed, []).append(index)
    return list(groups.values())


def _first_in_part(
    parts: Sequence[Part],
    group: Sequence[int],
    base: int,
    cap: int,
    behind: Sequence[int],
    measure: Callable[[frozenset[int], int], int],
) -> Fit | None:
    if not behind:
        return None
    kept, total = 0, base
    for index in group:
        total += parts[index].size
        if total > cap:
            break
        kept += 1
    kept = min(kept, len(group) - 1)
    while kept >= 0:
        some, dropped = frozenset(group[:kept]), len(group) - kept
        if measure(some, dropped) <= cap:
            return Fit(some, behind[0], dropped)
        kept -= 1
    return None
