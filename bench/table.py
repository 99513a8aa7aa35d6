"""The table of a run: rows of costs and goals, as text, as Markdown and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from measure import Cost

_MIB = 1 << 20
_HEAD = ("what", "CPU", "wall", "peak", "to floor", "to last run", "goals")


@dataclass(frozen=True)
class Goal:
    """A measured value beside the bound it is meant to keep: at most `bound`, or at least."""

    what: str
    value: float
    bound: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        said = f"{self.what} {_number(self.value)}{self.unit} ({sign} {_number(self.bound)})"
        return said if self.met else f"{said} missed"


@dataclass(frozen=True)
class Row:
    """What one thing costs; `floor` is the CPU time in seconds of the floor it is measured by."""

    name: str
    cost: Cost | None = None
    floor: float | None = None
    goals: Sequence[Goal] = field(default_factory=tuple)
    remark: str = ""

    def as_json(self) -> dict[str, Any]:
        """The row as JSON."""
        return {
            "name": self.name,
            **(asdict(self.cost) if self.cost is not None else {}),
            "floor": self.floor,
            "goals": [{**asdict(goal), "met": goal.met} for goal in self.goals],
        }

    def cells(self, last: Mapping[str, float]) -> tuple[str, ...]:
        """The cells of the row; `last` is the CPU time of each row in an earlier run."""
        cost = self.cost
        remarks = [self.remark] if self.remark else []
        costs = ("–",) * 4 if cost is None else _costs(cost, self.floor)
        before = last.get(self.name)
        change = f"{cost.cpu / before:.2f}" if cost is not None and before else "–"
        return (self.name, *costs, change, "; ".join([*remarks, *map(str, self.goals)]))


def as_text(rows: Sequence[Row], last: Mapping[str, float]) -> str:
    """The table in columns."""
    table = [_HEAD, *(row.cells(last) for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(_HEAD) - 1)]
    return "\n".join(
        "  ".join(
            [
                cells[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(cells[1:-1], widths[1:], strict=True)),
                cells[-1],
            ]
        ).rstrip()
        for cells in table
    )


def as_markdown(rows: Sequence[Row], last: Mapping[str, float]) -> str:
    """The table in Markdown."""
    lines = [_HEAD, ("---", *("--:",) * 5, "---"), *(row.cells(last) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _costs(cost: Cost, floor: float | None) -> tuple[str, ...]:
    ratio = f"{cost.cpu / floor:.2f}" if floor else "–"
    return (_time(cost.cpu), _time(cost.wall), f"{cost.peak / _MIB:.0f} MiB", ratio)


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 20 or value == int(value) else f"{value:.2f}"
