"""Matrices with ids in the first column and in the header, as submission systems export them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.columns import ERROR_WORDS, as_column, encode, missing
from optiframe.tables.csv_cells import parse
from optiframe.tables.ids import Ids, listed
from optiframe.tables.read import Table, headings, read_table

_FEWEST = 3  # columns of a matrix


def is_matrix(names: Sequence[str], sides: Collection[str], cell: str) -> bool:
    """Whether a table is a matrix: its first column holds the ids of one side, and no other column is ours.

    Parameters
    ----------
    names
        Names of its columns.
    sides
        What the ids of rows and those of columns are called, in either order.
    cell
        What the numbers in the cells are called.

    Raises
    ------
    InvalidInput
        Where no column is ours, so that this looks like a matrix whose first cell does not say which side
        its rows are.
    """
    ours = {name.casefold() for name in (*sides, cell)}
    known = [name for name in names if name.casefold() in ours]
    if len(names) > _FEWEST and not known:
        one, other = sides
        raise InvalidInput(
            f"there are no columns {one!r}, {other!r} and {cell!r} (columns: {listed(names)}); give the "
            f"names that they have, or, if this is a matrix with a row for each {one} and a column for each "
            f"{other}, write {one!r} into its first cell (in pandas, name the index so), and {other!r} if "
            "rows and columns are the other way round"
        )
    return len(names) >= _FEWEST and known == [names[0]] and names[0] in sides


def read_matrix(
    value: Any, sides: Collection[str], cell: str, *, title: str
) -> tuple[Table, Mapping[str, Ids]]:
    """The cells of a matrix that are not empty as a table with a row for each: both ids and the number.

    The second part has all ids of both sides, sorted: those with empty cells alone too. `place` of that table
    names the row and the column of the matrix. Headings that are all whole numbers are read as numbers, as a
    column of a CSV file is.

    Raises
    ------
    InvalidInput
        For what `read_table` finds, an id that has two rows, a formula that failed, and a matrix of empty
        cells.
    """
    own, *heads = headings(value)
    other = next(side for side in sides if side != own)
    wide = read_table(value, (own,), heads, title=title)
    heads = [name for name in heads if name in wide]  # columns without a name and values are gone
    codes, ids = encode(wide[own], f"{wide.title} {own}")
    first = np.unique(codes, return_index=True)[1]
    if len(first) < len(codes):
        again = int(np.setdiff1d(np.arange(len(codes)), first)[0])
        before = int(np.flatnonzero(codes == codes[again])[0])
        raise InvalidInput(
            f"{wide.title} {wide.place(again)}: {own} {ids[codes[again]]} has a row already "
            f"({wide.place(before)}); keep one row for each {own}"
        )
    cells = np.array([wide[name] for name in heads], dtype=object).T
    empty = missing(cells.reshape(-1)).reshape(cells.shape)
    for row, at in np.argwhere(empty).tolist():
        if cells[row, at] in ERROR_WORDS:
            raise InvalidInput(
                f"{wide.title} {wide.place(row)}, column {heads[at]}: {cells[row, at]} is no number; correct "
                "the formula, or empty the cell"
            )
    rows, columns = np.nonzero(~empty)
    if not len(rows):
        raise InvalidInput(f"{wide.title}: every cell is empty")
    names = parse(heads)
    notes = [f"{wide.title} was read as a matrix with a row for each {own} and a column for each {other}"]
    if empty.any():
        count = int(empty.sum())
        cell_words = "its empty cell is no pair" if count == 1 else f"its {count} empty cells are no pairs"
        notes[0] += f"; {cell_words}"
    for side, without in ((own, wide[own][empty.all(axis=1)]), (other, names[empty.all(axis=0)])):
        if len(without):
            notes.append(f"{side} {listed(without)}: all cells are empty")
    table = Table(
        {own: wide[own][rows], other: names[columns], cell: as_column(cells[rows, columns].tolist())},
        f"{wide.title} (read as a matrix)",
        wide.backend,
        notes=(*wide.notes, *notes),
        cells=_Places(wide, heads, rows, columns),
    )
    return table, {own: ids, other: encode(names, f"{wide.title} {other}")[1]}


@dataclass(frozen=True, eq=False)
class _Places(Sequence[str]):
    """Where each cell is in its matrix, in words; made when asked for, as there may be millions."""

    wide: Table
    heads: list[str]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return f"{self.wide.place(int(self.rows[at]))}, column {self.heads[self.columns[at]]}"
