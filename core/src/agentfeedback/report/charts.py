"""The charts of a report's page as numbers: where each bar and cell is, and what is said of them in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentfeedback.wire.report import OfDay

#: What a bar is made of: the member, its title and its class.
NUMBERS = (
    ("tool_errors", "Failed calls", "failed"),
    ("denials", "Denials", "denied"),
    ("interrupts", "Interrupts", "stopped"),
    ("complaints", "Complaints", "said"),
)
_WIDTH, _HEIGHT, _LEFT, _FOOT = 720, 220, 44, 24
#: How many days have a column in the heat map, and how many labels fit below a chart.
_DAYS, _LABELS = 60, 10
_SMALLEST, _LARGEST, _THICKEST = 8.0, 26.0, 64.0
_NAMES, _MARGIN = 110, 20


def trend(days: Sequence[OfDay]) -> dict[str, Any]:
    """Stacked bars of a day each, oldest first; empty without a problem."""
    shown = list(reversed(days))
    highest = max((day.problems for day in shown), default=0)
    if not highest:
        return {"bars": []}
    top, steps = _scale(highest)
    room = _HEIGHT - _FOOT - 10
    width = (_WIDTH - _LEFT) / len(shown)
    every = -(-len(shown) // _LABELS)
    bars = []
    thick = min(width * 0.8, _THICKEST)
    for place, day in enumerate(shown):
        base = float(_HEIGHT - _FOOT)
        parts = []
        for name, _, kind in NUMBERS:
            height = room * getattr(day, name) / top
            if height:
                base -= height
                parts.append({"kind": kind, "y": round(base, 2), "height": round(height, 2)})
        label = day.day[5:] if (len(shown) - 1 - place) % every == 0 else ""
        bars.append(
            {
                "x": round(_LEFT + place * width + (width - thick) / 2, 2),
                "width": round(thick, 2),
                "parts": parts,
                "label": label,
                "said": f"{day.day}: {_said(day)}",
            }
        )
    worst = max(shown, key=lambda day: day.problems)
    lines = [(round(_HEIGHT - _FOOT - room * step / top, 2), f"{step:,}") for step in steps]
    said = (
        f"Bars for {len(shown)} days. The most problems were on {worst.day}: {_said(worst)}. "
        "The table below has every day."
    )
    return {
        "bars": bars,
        "lines": lines,
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "said": said,
    }


def heat(
    days: Sequence[OfDay], harnesses: Sequence[str], grid: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """A cell for each day and agent, by how many problems there were; empty without one."""
    shown = [day.day for day in reversed(days)][-_DAYS:]
    highest = max(grid.values(), default=0)
    if not highest or not harnesses:
        return {"rows": []}
    cell = min(_LARGEST, max(_SMALLEST, (_WIDTH - _NAMES - _MARGIN) / len(shown)))
    rows = [
        {
            "name": name,
            "y": 20 + place * cell,
            "cells": [
                _cell(day, name, grid.get((day, name), 0), _NAMES + at * cell, highest)
                for at, day in enumerate(shown)
            ],
        }
        for place, name in enumerate(harnesses)
    ]
    every = max(1, -(-len(shown) // _LABELS))
    labels = [
        (day[5:], round(_NAMES + at * cell + cell / 2, 2))
        for at, day in enumerate(shown)
        if (len(shown) - 1 - at) % every == 0
    ]
    (worst_day, worst), most = max(grid.items(), key=lambda item: item[1])
    return {
        "rows": rows,
        "labels": labels,
        "left": _NAMES,
        "cell": cell,
        "width": _WIDTH,
        "height": 20 + len(harnesses) * cell,
        "said": f"The darkest cell is {worst} on {worst_day} with {most:,} problems. The table below has every day.",
        "table": [
            (day, [grid.get((day, name), 0) for name in harnesses])
            for day in reversed(shown)
            if any(grid.get((day, name), 0) for name in harnesses)
        ],
    }


def _cell(day: str, name: str, count: int, x: float, highest: int) -> dict[str, Any]:
    level = 0 if not count else min(4, 1 + (4 * (count - 1)) // highest)
    said = f"{name}, {day}: {count:,} problems"
    return {"x": round(x, 2), "level": level, "said": said}


def _said(day: OfDay) -> str:
    return ", ".join(f"{getattr(day, name):,} {title.lower()}" for name, title, _ in NUMBERS)


def _scale(highest: int) -> tuple[int, list[int]]:
    """The top of an axis and its steps: at most five, each 1, 2 or 5 times a power of ten."""
    step = 1
    while highest > 4 * step:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    top = -(-highest // step) * step
    return top, list(range(0, top + 1, step))
