"""Covariates of comparisons: which columns they are, and their values, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optiframe.errors import Complaints, InvalidInput
from optiframe.tables.ids import locked
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table
from optiframe_hodgerank.data import Comparisons, Covariates

POSITION = "position"
"""Name of the effect of being the left item."""


def read_names(value: Any, taken: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, none of them twice and none of `taken`, which mean something else.

    Raises
    ------
    InvalidInput
        For anything else.
    """
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise InvalidInput(f"must be a list of names of columns, got {value!r}")
    names = tuple(value)
    for at, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"must be a list of names of columns; {name!r} is not a name")
        if name in taken:
            raise InvalidInput(f"the column {name} already has a fixed meaning and cannot be a covariate")
        if name in names[:at]:
            raise InvalidInput(f"the column {name} is named twice")
    return names


def read_covariates(table: Table, names: Sequence[str], position: bool) -> Covariates | None:
    """The columns `names` of a table, and one of ones for the position; None where neither is asked for.

    Raises
    ------
    InvalidInput
        For values that are not finite numbers, naming the rows, and where the position and a column have
        one name.
    """
    if not names and not position:
        return None
    if position and POSITION in names:
        raise InvalidInput(
            f"{table.title}: a covariate is called {POSITION}, as is the effect of the side; set "
            "position = false, or give the column another name"
        )
    columns, complaints = [], Complaints()
    for name in names:
        with complaints:
            columns.append(numbers(table, name))
    complaints.tell()
    if position:
        columns.append(np.ones(len(table)))
    return Covariates((*names, *[POSITION] * position), locked(np.column_stack(columns)))


def refuse_constant(table: Comparisons) -> None:
    """Raise `InvalidInput` for covariates that are the same in every row.

    A difference that is always 0 has no effect, and one that never changes is that of the position.
    """
    if table.covariates is None:
        return
    complaints = Complaints()
    for name, values in zip(table.covariates.names, table.covariates.values.T, strict=True):
        if name == POSITION or (values != values[0]).any():
            continue
        word, first, last = ("row", 0, len(table) - 1)
        if table.lines is not None:
            word, first, last = "line", table.lines[0], table.lines[-1]
        how = "; for an advantage of the left item set position = true" if values[0] else ""
        with complaints:
            raise InvalidInput(
                f"the covariate {name} is {values[0]:g} in every comparison ({word} {first} to {last}), so "
                f"it has no effect that could be seen; leave it out{how}"
            )
    complaints.tell()
