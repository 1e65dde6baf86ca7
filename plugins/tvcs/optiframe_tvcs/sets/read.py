"""The fields of a three-view set as people give them: tables become groups, and the size is filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import as_vector
from optiframe_tvcs.sets.groups import Groups

_FILES = (".csv", ".npy")
_FIELDS = {"total", "rows", "columns", "size", "matrix"}


def as_matrix_shape(value: Any) -> tuple[int, int] | None:
    """Rows and columns of matrix points; None where points are vectors."""
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        value = value.tolist()
    whole = isinstance(value, list | tuple) and len(value) == 2
    if not whole or any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in value):
        text = f"must be two whole numbers (rows, columns), got {value!r}"
        raise InvalidInput(f"matrix: {text}", [(("matrix",), text)])
    return int(value[0]), int(value[1])


def read_views(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with tables made groups and `size` filled in.

    Raises
    ------
    InvalidInput
        For a view that is no table of groups, and sizes that are missing or do not agree.
    """
    values = dict(given)
    for key in ("total", "size"):  # sums and lengths of arrays are often NumPy's whole numbers
        if isinstance(values.get(key), np.integer):
            values[key] = int(values[key])
    shape = as_matrix_shape(values.get("matrix"))
    size = values.get("size")
    if shape is not None:
        if size not in (None, math.prod(shape)):
            raise InvalidInput(f"size is {size!r}, and a matrix of shape {shape} has {math.prod(shape)}")
        values["size"] = size = math.prod(shape)
    if isinstance(size, bool) or not isinstance(size, int | None) or (size or 0) < 0:
        return values  # the field says what is wrong
    sizes = {}
    for axis, view in enumerate(("rows", "columns")):
        groups = values.get(view)
        if groups is None:
            continue
        if not isinstance(groups, Groups):
            groups = _with_files(groups, view)
            table = groups if shape is None else _of_matrix(groups, shape, axis, view)
            values[view] = groups = Groups.from_table(table, size, view)
        sizes[view] = groups.size
    if size is None and sizes:
        values["size"] = size = next(iter(sizes.values()))
    if size is None and values.keys() <= _FIELDS:  # else the key that is no field is what is wrong
        raise InvalidInput("size is missing; give the number of elements, or groups with labels")
    for view, length in sizes.items():
        if length != size:
            raise InvalidInput(
                f"{view}: there are {length} labels for {size} elements; give one for each element"
            )
    return values


def _with_files(table: Any, view: str) -> Any:
    """The table with the numbers of files in place of their paths."""
    if not isinstance(table, Mapping):
        return table
    found = dict(table)
    for key in ("labels", "bounds"):
        if not isinstance(found.get(key), str | Path) or Path(found[key]).suffix.lower() not in _FILES:
            continue
        try:
            numbers = as_vector(found[key])
        except InvalidInput as error:
            raise InvalidInput(f"{view}: {key}: {error}") from None
        found[key] = numbers.astype(np.int64) if (numbers % 1 == 0).all() else numbers
    return found


def _of_matrix(table: Any, shape: tuple[int, int], axis: int, view: str) -> Any:
    """A table of bounds alone, with the rows or columns of a matrix as its groups."""
    if not isinstance(table, Mapping) or {"labels", "groups"} & set(table):
        return table
    bounds: Any = table.get("bounds")
    several = isinstance(bounds, list | tuple) or getattr(bounds, "ndim", 0) == 1
    if several and len(bounds) != shape[axis]:
        raise InvalidInput(
            f"{view}: {len(bounds)} bounds for {shape[axis]} {view} of the matrix; "
            "give one for each, or one number for all"
        )
    one = isinstance(bounds, int | np.integer)  # for all, also those without an entry
    filled = {"bounds": np.full(shape[axis], bounds)} if one else {}
    return {**table, "labels": np.indices(shape, dtype=np.int32)[axis].reshape(-1), **filled}
