"""Square tables of wins: a row and a column for each item, how often the row's item beat the column's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optiframe.errors import Complaints, InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe.tables.number_columns import as_number
from optiframe.tables.read import Column, Table, headings, missing, read_table

_FEWEST = 3  # columns of a matrix of two items and their names


def is_matrix(value: Any) -> bool:
    """Whether a table's rows and columns have the same names."""
    value = _with_names(value)
    return _name_column(value, headings(value)) is not None


def _name_column(value: Any, heads: Sequence[str]) -> str | None:
    """The column with the items' names, which those of the other columns are; None without."""
    if len(heads) < _FEWEST or len(set(heads)) < len(heads):
        return None
    try:
        names = read_table(value, (heads[0],), title="comparisons")[heads[0]]
    except InvalidInput:
        return None
    same = len(names) == len(heads) - 1 and set(map(str, names.tolist())) == set(heads[1:])
    return heads[0] if same else None


def read_matrix(value: Any, *, title: str) -> Table:
    """A table `left, right, label, weight` of wins: the row's item beat the column's so many times.

    The first column has the items' names, which are those of the other columns too; the rows may come in
    another order. Of a data frame of pandas the index may have them. Cells are numbers of at least 0, or
    empty for none; an item's own cell is empty or 0. Half wins may stand for ties, which are not ties then.

    Parameters
    ----------
    value
        A data frame, a mapping of columns, or the path of a CSV or Parquet file.
    title
        What to call it in messages when it has no file name.

    Raises
    ------
    InvalidInput
        Where names of rows and columns differ, for cells that are no such numbers, naming rows and columns,
        and for a matrix without a win.
    """
    value = _with_names(value)
    heads = headings(value)
    own = _name_column(value, heads)
    if own is None:
        raise InvalidInput(_no_matrix(value, heads, title))
    table = read_table(value, (own,), [name for name in heads if name != own], title=title)
    names = table[own]
    text = list(map(str, names.tolist()))
    wins = _counts(table, text)
    left, right = np.nonzero(wins)
    if not len(left):
        raise InvalidInput(f"{table.title} has no win: every cell is empty or 0")
    lines = None if table.lines is None else [table.lines[row] for row in left.tolist()]
    columns: dict[str, Column] = {
        "left": names[left],
        "right": names[right],
        "label": names[left],
        "weight": wins[left, right],
    }
    return Table(columns, table.title, table.backend, lines)


def _with_names(value: Any) -> Any:
    """A frame of pandas whose index has the names of its columns, with the index as its first column."""
    index, columns = getattr(value, "index", None), getattr(value, "columns", None)
    if index is None or columns is None or not hasattr(value, "reset_index"):
        return value
    if len(index) != len(columns) or set(map(str, index)) != set(map(str, columns)):
        return value
    return value.reset_index(names="item")


def _no_matrix(value: Any, heads: Sequence[str], title: str) -> str:
    """Why this is no matrix of wins, and what it takes."""
    what = (
        "format = 'matrix' needs a first column with the items' names and a further column for each of them, "
        "called by the same name"
    )
    if not heads:
        return f"{what}; give a data frame, a mapping of columns or a file, not {type(value).__name__}"
    if len(heads) < _FEWEST:
        return f"{what}; there are {len(heads)} columns"
    names = read_table(value, (heads[0],), title=title)[heads[0]]
    rows, columns = set(map(str, names.tolist())), set(heads[1:])
    if len(rows) < len(names):
        return f"{what}; the column {heads[0]!r} has a name twice"
    lacking = [f"no column for {listed(sorted(rows - columns))}"] if rows - columns else []
    lacking += [f"no row for {listed(sorted(columns - rows))}"] if columns - rows else []
    return f"{what}; there is {' and '.join(lacking)}"


def _counts(table: Table, names: Sequence[str]) -> Array:
    """Wins of the row's item over the column's, shape (items, items), columns in the order of the rows."""
    wins = np.zeros((len(names), len(names)))
    complaints = Complaints()
    for column, name in enumerate(names):
        cells = table[name]
        given = np.flatnonzero(~missing(cells))
        found = np.array([as_number(cell) for cell in cells[given].tolist()])
        wrong = given[~((found >= 0) & np.isfinite(found))]
        with complaints:
            if len(wrong):
                row = int(wrong[0])
                more = f" ({len(wrong)} such rows: {table.places(wrong)})" if len(wrong) > 1 else ""
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: the wins of {names[row]} over {name} are "
                    f"{cells[row]}; they must be a finite number of at least 0{more}"
                )
        wins[given, column] = found
        with complaints:
            if wins[column, column] > 0:
                raise InvalidInput(
                    f"{table.title} {table.place(column)}: {name} has {wins[column, column]:g} wins over "
                    "itself; leave the cell empty or 0"
                )
    complaints.tell()
    return wins
