"""The elements that no support can hold: those in a group with a bound of 0.

They are left out before anything else, or a huge value among them would set the unit that all worths are
counted in, and the others would run together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.projection.certificate import Bounds, Prices


def closed_elements(bounds: Bounds) -> NDArray[np.bool_] | None:
    """Which elements are in a group with a bound of 0, shape (p,); None where none is."""
    if bounds.row_caps.all() and bounds.column_caps.all():
        return None
    rows, columns = np.append(bounds.row_caps, 1), np.append(bounds.column_caps, 1)  # [-1] is "no group"
    closed = (rows[bounds.row_labels] == 0) | (columns[bounds.column_labels] == 0)
    return np.asarray(closed) if closed.any() else None


def open_values(values: Array, closed: NDArray[np.bool_] | None) -> Array:
    """The values with 0 for closed elements; what is not finite there becomes nan, which is refused."""
    if closed is None:
        return values
    with np.errstate(invalid="ignore"):
        return values * ~closed


def with_closed(
    prices: Prices, bounds: Bounds, closed: NDArray[np.bool_], values: Array, *, squared: bool
) -> Prices:
    """The prices, with those of bounds of 0 as high as it takes to forbid every element of such a group.

    Like other prices they say what one more unit is worth at most; they add nothing to the dual worth. Where
    both groups of an element are closed, that of the row view has the price.

    Parameters
    ----------
    prices
        Of all groups; those of closed groups are not looked at.
    values, squared
        Of all elements, the closed ones included: worths, or entries whose squares are.
    """
    with np.errstate(over="ignore"):
        worths = np.square(values) if squared else values
    at = np.flatnonzero(closed & (worths > 0))
    row, column = bounds.row_labels[at], bounds.column_labels[at]
    rows = np.append(np.where(bounds.row_caps > 0, prices.rows, 0.0), 0.0)
    columns = np.append(np.where(bounds.column_caps > 0, prices.columns, 0.0), 0.0)
    with np.errstate(invalid="ignore"):
        over = worths[at] - prices.total - rows[row] - columns[column]
    over = np.where(np.isnan(over), np.inf, np.maximum(over, 0.0))  # of two beyond float64
    by_row = np.append(bounds.row_caps, 1)[row] == 0
    np.maximum.at(rows, row[by_row], over[by_row])
    np.maximum.at(columns, column[~by_row], over[~by_row])
    return Prices(prices.total, rows[:-1], columns[:-1])
