"""Tables of text: padded columns, and on a terminal only as wide as it is.

Off a terminal nothing is ever cut: scripts and agents read whole cells. On one, a table gives up
what says least first, in the order its maker names.
"""

from __future__ import annotations

from agentfeedback.terminal.screen import pad, shorten, visible, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentfeedback.terminal.screen import End, Screen

    #: `(title, cells)`: make that column at most so wide; 0 leaves it out.
    Squeeze = tuple[str, int]

_GAP = 2


class Column:
    """One column: `keep` says which part of a cell survives shortening, `style` the style.

    `whole` cells (times) are cut without an ellipsis, and exactly where a squeeze says. A `right`
    column (numbers) is padded before its cells.
    """

    __slots__ = ("keep", "right", "style", "title", "whole")

    def __init__(
        self,
        title: str,
        *,
        keep: End = "start",
        whole: bool = False,
        right: bool = False,
        style: Callable[[str], str] | None = None,
    ) -> None:
        self.title = title
        self.keep = keep
        self.whole = whole
        self.right = right
        self.style = style


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    screen: Screen,
    plans: Sequence[Sequence[Squeeze]] = (),
) -> str:
    """The table as text, a line per row under the header, each ended by a newline.

    Off a terminal (`screen.columns` is 0): every cell whole, padded in characters. On one: the
    first plan that makes it fit is followed, step by step and no further than needed; when none
    does, columns lose their ends evenly. Cells are made visible here.
    """
    cells = [
        [column.title for column in columns],
        *([visible(cell) for cell in row] for row in rows),
    ]
    if not screen.columns:
        widest = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "".join(_line(columns, row, widest) for row in cells)
    sizes = _fit(
        columns,
        [max(map(width, column)) for column in zip(*cells, strict=True)],
        screen.columns,
        plans,
    )
    shown = [index for index, size in enumerate(sizes) if size]
    lines = []
    for number, row in enumerate(cells):
        line = []
        for index in shown:
            column, size = columns[index], sizes[index]
            cell = _cut(row[index], size, column)
            if column.right:
                cell = " " * (size - width(cell)) + cell
            if index != shown[-1]:
                cell = pad(cell, size + _GAP)
            style = "bold" if number == 0 else column.style(row[index]) if column.style else ""
            line.append(screen.style(cell, style))
        lines.append("".join(line) + "\n")
    return "".join(lines)


def _line(columns: Sequence[Column], row: Sequence[str], sizes: Sequence[int]) -> str:
    cells = [
        cell.rjust(size) if column.right else cell
        for column, cell, size in zip(columns, row, sizes, strict=True)
    ]
    padded = [cell.ljust(size + _GAP) for cell, size in zip(cells[:-1], sizes, strict=False)]
    return "".join(padded) + cells[-1] + "\n"


def _cut(cell: str, size: int, column: Column) -> str:
    if column.whole and cell.isascii():
        return cell[:size]
    return shorten(cell, size, keep=column.keep)


def _fit(
    columns: Sequence[Column], natural: Sequence[int], room: int, plans: Sequence[Sequence[Squeeze]]
) -> list[int]:
    place = {column.title: index for index, column in enumerate(columns)}
    sizes = list(natural)
    for plan in ((), *plans):
        sizes = list(natural)
        for title, least in plan:
            if _total(sizes) <= room:
                break
            sizes[place[title]] = min(sizes[place[title]], least)
        if _total(sizes) <= room:
            return _grow(columns, sizes, natural, room)
    sizes = [min(size, room) for size in sizes]
    while _total(sizes) > room and max(sizes) > 1:
        widest = sizes.index(max(sizes))
        sizes[widest] -= 1
    while _total(sizes) > room and any(sizes):
        sizes[max(index for index, size in enumerate(sizes) if size)] = 0
    return sizes


def _grow(
    columns: Sequence[Column], sizes: list[int], natural: Sequence[int], room: int
) -> list[int]:
    # The last step may have freed more than was missing: the first column that was cut takes it.
    for index, size in enumerate(sizes):
        spare = room - _total(sizes)
        if size and spare > 0 and not columns[index].whole:
            sizes[index] = min(natural[index], size + spare)
    return sizes


def _total(sizes: Sequence[int]) -> int:
    shown = [size for size in sizes if size]
    return sum(shown) + _GAP * (len(shown) - 1)
