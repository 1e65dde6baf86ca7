"""What a plan, a start and a point are made of, checked before anything is calculated with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import as_whole_numbers, numbers_of
from optiframe_tvcs.projection.certificate import Bounds, Prices


def checked_bounds(
    row_labels: Any, row_caps: Any, column_labels: Any, column_caps: Any, total: Any
) -> Bounds:
    """The views as read-only arrays of the types that kernels take; copied where others could change them.

    Raises
    ------
    InvalidInput
        When labels or bounds are no vectors of whole numbers, a label names no group, a bound is negative or
        the views differ in length, naming the view and the element or group.
    """
    rows = _view("rows", row_labels, row_caps)
    columns = _view("columns", column_labels, column_caps)
    if len(rows[0]) != len(columns[0]):
        raise InvalidInput(
            f"columns: there are {len(columns[0])} labels, and {len(rows[0])} of rows; give one for each "
            "element, -1 for no group"
        )
    if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 0:
        raise InvalidInput(f"total must be a whole number of at least 0, got {total!r}")
    return Bounds(*rows, *columns, min(int(total), len(rows[0])))


def checked_prices(prices: Prices, bounds: Bounds) -> Prices:
    """Prices to start at, as float64.

    Raises
    ------
    InvalidInput
        When there is not one real number for each group and one for the total, naming the view.
    """
    if not isinstance(prices, Prices):
        raise InvalidInput(f"start must be the `prices` of a selection, got {type(prices).__name__}")
    return Prices(
        float(_numbers("total", prices.total, ())),
        _numbers("rows", prices.rows, bounds.row_caps.shape),
        _numbers("columns", prices.columns, bounds.column_caps.shape),
    )


def as_point(v: Any) -> NDArray[np.float64]:
    """A point as float64, not copied where it is; `InvalidInput` where it holds no real numbers."""
    if type(v) is np.ndarray and v.dtype == np.float64:
        return v if v.flags.aligned else v.copy()  # of a file mapped at an odd place: kernels refuse it
    if np.ma.is_masked(v):
        raise InvalidInput("entries of the point are masked; fill them, with 0 for what shall not be chosen")
    try:
        array = np.asarray(v)
    except ValueError:
        raise InvalidInput("the rows of the point differ in length") from None
    try:
        array = numbers_of(array)
    except InvalidInput as error:
        raise InvalidInput(f"the point {error}") from None
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    dense = f"a sparse {type(v).__name__}; give v.toarray()" if hasattr(v, "toarray") else str(array.dtype)
    raise InvalidInput(f"the point must hold real numbers, got {dense}")


def refuse_infinite(values: NDArray[np.float64], what: str) -> None:
    """Raise `InvalidInput` for the first entry that is not finite, naming its place in `what`."""
    if not np.isfinite(values).all():
        at = np.argwhere(~np.isfinite(values))[0].tolist()
        raise InvalidInput(f"entry {at} of the {what} is {values[tuple(at)]}; every entry must be finite")


def _view(view: str, labels: Any, caps: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    codes, bounds = _whole(view, "labels", labels, np.int32), _whole(view, "bounds", caps, np.int64)
    refuse_labels(view, codes, len(bounds))
    if bounds.min(initial=0) < 0:
        at = int(bounds.argmin())
        raise InvalidInput(f"{view}: the bound of group {at} is {bounds[at]}; it must be at least 0")
    return codes, bounds


def refuse_labels(view: str, labels: NDArray[np.integer[Any]], groups: int) -> None:
    """Raise `InvalidInput` for a label that is neither -1 nor one of so many groups, naming the element."""
    if labels.min(initial=0) < -1:
        at = int(labels.argmin())
        raise InvalidInput(
            f"{view}: label of element {at} is {labels[at]}; labels start at 0, and -1 stands for no group"
        )
    if labels.max(initial=-1) >= groups:
        at = int(labels.argmax())
        raise InvalidInput(
            f"{view}: element {at} is in group {labels[at]}, and there are bounds for {groups} groups "
            "(numbered from 0); give one for each group"
        )


def _whole(view: str, key: str, values: Any, kind: type[np.integer[Any]]) -> NDArray[Any]:
    try:
        return as_whole_numbers(values, kind)
    except InvalidInput as error:
        raise InvalidInput(f"{view}: {key}: {error}") from None


def _numbers(view: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.shape != shape:
        groups = f"one for each of the {shape[0]} groups" if shape else "one number"
        raise InvalidInput(f"start: prices of {view} have shape {array.shape}; give {groups}")
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"start: prices of {view} must be real numbers, got {array.dtype}")
    return array.astype(np.float64, copy=False)
