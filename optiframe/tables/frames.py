"""Data frames of whichever library narwhals knows, in and out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.numbers import without_rounding_errors
from optiframe.tables.arrow_arrays import codes_of_text, numbers_of
from optiframe.tables.columns import Coded, Coder, Column, Columns, as_column, days, refuse_doubled


def from_frame(value: Any, title: str, coder: Coder | None) -> tuple[dict[str, Column], str]:
    """The columns of a frame and the library it is of; text as codes where that is cheap.

    Raises
    ------
    InvalidInput
        For what is no frame, and for two columns of one name.
    """
    try:
        frame: Any = nw.from_native(value, eager_only=True)
    except TypeError:
        lazy = "; call its collect() first" if hasattr(value, "collect") else ""
        raise InvalidInput(
            f"{title}: a {type(value).__name__} is not a table; give a data frame (pandas, polars, "
            f"pyarrow), a mapping of columns, or the path of a CSV, Parquet or Excel file{lazy}"
        ) from None
    except DuplicateError:
        names = getattr(value, "column_names", getattr(value, "columns", ()))  # of pyarrow, and of pandas
        refuse_doubled(map(str, names), title)
        raise InvalidInput(f"{title}: two columns have the same name; rename one") from None
    columns: dict[str, Column] = {}
    for name, spelled in zip(frame.columns, column_names(frame), strict=True):
        series = frame.get_column(name)  # not frame[name]: pandas' names may be numbers
        wide = series.dtype in (nw.Int128, nw.UInt128)  # NumPy has no such type
        if (series.dtype.is_numeric() and not wide) or series.dtype == nw.Boolean:
            has_gap = bool(series.is_null().any())
            columns[spelled] = as_column(series.to_list() if has_gap else _numbers(series))
        else:
            coded = _coded(series, coder) if series.dtype == nw.String else None
            columns[spelled] = as_column(series.to_list()) if coded is None else coded
    return columns, frame.implementation.value


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a narwhals frame as text; of days, which pandas keeps as times, the dates."""
    return [str(name) for name in days(list(frame.columns))]


def with_index(frame: Any, wanted: Collection[str]) -> Any:
    """A pandas frame with the wanted levels of its index as columns; anything else as it is."""
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name in wanted]
    levels = [name for name in names if name not in getattr(frame, "columns", names)]
    # The copy is in one piece; pandas warns when a level goes into one of many columns that is not.
    return frame.copy().reset_index(levels) if levels else frame


def _numbers(series: Any) -> NDArray[Any]:
    native = series.to_native()
    if type(native).__module__.startswith("pyarrow") and (
        series.dtype.is_integer() or series.dtype.is_float()
    ):
        return numbers_of(native.combine_chunks())
    return np.asarray(series.to_numpy())


def _coded(series: Any, coder: Coder | None) -> Coded | None:
    """Text as codes, by Arrow.

    None where the values are Python's objects anyway (pandas' object columns, which may hold more than
    text), where some are missing, and without pyarrow.
    """
    native = series.to_native()
    if str(getattr(native, "dtype", "")) == "object" or len(series) == 0 or bool(series.is_null().any()):
        return None
    try:
        arrow = series.to_arrow()
    except ImportError:
        return None
    return codes_of_text(arrow, coder)


def to_frame(columns: Columns, backend: str | None) -> Any:
    """Columns as a frame of the library `backend`; a dict of arrays when it is None."""
    arrays = {name: without_rounding_errors(np.asarray(values)) for name, values in columns.items()}
    if backend is None:
        return arrays
    lists = {name: values.tolist() for name, values in arrays.items()}
    frame = nw.from_dict(lists, backend=cast(Any, backend)).to_native()
    if backend == "pandas":  # which would make floats of whole numbers beside a gap
        import pandas as pd

        whole = [name for name, values in lists.items() if {type(v) for v in values} == {int, type(None)}]
        frame = frame.assign(**{name: pd.array(lists[name], dtype="Int64") for name in whole})
    return frame
