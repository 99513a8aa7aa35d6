"""What of a digest fits under its cap: nothing is lost unsaid, and the next digest always gets further."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.digest.caps import Fit, Part, fitting

PARTS = st.lists(st.builds(Part, st.integers(0, 6), st.integers(1, 40)), max_size=12)
END = 100


def fitted(parts: list[Part], base: int, cap: int, slack: list[int]) -> Fit | None:
    """The fit where what is kept is really as large as estimated, and a little more for each part at hand."""
    return fitting(parts, base, cap, END, lambda kept, dropped: size(parts, base, slack, kept))


def size(parts: list[Part], base: int, slack: list[int], kept: frozenset[int]) -> int:
    return base + sum(parts[index].size + slack[index % len(slack)] for index in kept)


@given(
    parts=PARTS,
    base=st.integers(0, 30),
    cap=st.integers(0, 120),
    slack=st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
def test_what_is_not_kept_comes_next_or_is_counted(
    parts: list[Part], base: int, cap: int, slack: list[int]
) -> None:
    """What is completed before the covered offset is kept or counted as dropped, all else is left for the next digest."""
    if size(parts, base, slack, frozenset(range(len(parts)))) <= cap:
        return  # asked only when not all fits
    fit = fitted(parts, base, cap, slack)
    if fit is None:
        assert not parts or base > cap
        return
    assert size(parts, base, slack, fit.kept) <= cap
    before = {index for index, part in enumerate(parts) if part.completed < fit.covered}
    assert fit.kept <= before
    assert len(before) - len(fit.kept) == fit.dropped
    first = min(part.completed for part in parts)
    assert fit.covered > first
    if fit.dropped:
        group = [index for index, part in enumerate(parts) if part.completed == first]
        assert before == set(group)
        assert fit.kept == frozenset(group[: len(fit.kept)])
        assert size(parts, base, slack, frozenset(group)) > cap or len(group) == len(parts)


@given(parts=PARTS.filter(bool), cap=st.integers(41, 120))
def test_all_groups_that_fit_are_kept(parts: list[Part], cap: int) -> None:
    """With exact estimates the kept groups are the longest run of whole ones that fits."""
    if sum(part.size for part in parts) <= cap:
        return
    fit = fitted(parts, 0, cap, [0])
    assert fit is not None
    behind = [part.size for part in parts if part.completed == fit.covered]
    if fit.dropped:
        return
    kept = sum(parts[index].size for index in fit.kept)
    assert kept + sum(behind) > cap or fit.covered == max(part.completed for part in parts)


def test_one_group_is_kept_in_part() -> None:
    """Where one record completes all there is, as much of it as fits is kept and the log is covered to its end."""
    parts = [Part(5, 10) for _ in range(9)]
    assert fitted(parts, 7, 40, [0]) == Fit(frozenset({0, 1, 2}), END, 6)
    assert fitted(parts, 7, 9, [0]) == Fit(frozenset(), END, 9)
    assert fitted(parts, 7, 6, [0]) is None


class Measured:
    """A measure that remembers what it was asked; `more` is what the real size has beyond the estimate."""

    def __init__(self, parts: list[Part], base: int, more: int = 0) -> None:
        self.asked: list[tuple[list[int], int]] = []
        self._parts = parts
        self._base = base
        self._more = more

    def __call__(self, kept: frozenset[int], dropped: int) -> int:
        self.asked.append((sorted(kept), dropped))
        return self._base + sum(self._parts[index].size + self._more for index in kept)


def test_exact_estimates_are_measured_once() -> None:
    """Measuring writes the whole digest, so it begins with what the estimates say, filled to the last byte."""
    parts = [Part(at, 10) for at in (1, 2, 2, 3, 4)]
    measure = Measured(parts, 5)
    assert fitting(parts, 5, 35, END, measure) == Fit(frozenset({0, 1, 2}), 3)
    assert measure.asked == [([0, 1, 2], 0)]
    measure = Measured(parts, 5)
    assert fitting(parts, 5, 34, END, measure) == Fit(frozenset({0}), 2)
    assert measure.asked == [([0], 0)]


def test_estimates_that_are_too_small_cost_a_group_at_a_time() -> None:
    """The last groups are left out one by one; that all of it does not fit is known before."""
    parts = [Part(at, 10) for at in (1, 2, 3, 4)]
    measure = Measured(parts, 0, more=3)
    assert fitting(parts, 0, 50, END, measure) == Fit(frozenset({0, 1, 2}), 4)
    measure = Measured(parts, 0, more=3)
    assert fitting(parts, 0, 38, END, measure) == Fit(frozenset({0, 1}), 3)
    assert measure.asked == [([0, 1, 2], 0), ([0, 1], 0)]


def test_estimates_that_are_too_large_count() -> None:
    """What does not fit by its estimate is not measured: the digest stays below its cap by the estimate too."""
    parts = [Part(at, 10) for at in (1, 2, 3)]
    assert fitting(parts, 0, 25, END, Measured(parts, 0, more=-5)) == Fit(frozenset({0, 1}), 3)


def test_the_first_group_is_measured_with_what_is_dropped_of_it() -> None:
    """The count of what is left out is printed, so the size is asked with it; a part at a time is left out."""
    parts = [Part(5, 10) for _ in range(6)]
    measure = Measured(parts, 5)
    assert fitting(parts, 5, 35, END, measure) == Fit(frozenset({0, 1, 2}), END, 3)
    assert measure.asked == [([0, 1, 2], 3)]
    measure = Measured(parts, 5, more=2)
    assert fitting(parts, 5, 35, END, measure) == Fit(frozenset({0, 1}), END, 4)
    assert measure.asked == [([0, 1, 2], 3), ([0, 1], 4)]
    measure = Measured(parts, 5, more=1)
    assert fitting(parts, 5, 70, END, measure) == Fit(frozenset(range(5)), END, 1)
    assert measure.asked == [([0, 1, 2, 3, 4], 1)]
