"""A path as tables: its knots, and the scores at some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.tables.columns import Columns

_ROWS = 50_000
"""A table of scores has at most about so many rows, a file of two megabytes: of a longer path, knots evenly
spread among all, the first and the last with them."""


def path_tables(
    parameter: str,
    *,
    knots: Array,
    active: Array,
    entries: NDArray[np.int64],
    items: NDArray[Any],
    scores_at: Callable[[NDArray[np.int64]], Array],
) -> dict[str, Columns]:
    """Tables of a path by name; none of an empty one.

    `path`: of each knot its `lambda` or `t`, `active`, the share of the comparisons that are outliers on
    arriving there, and `entered`, how many different comparisons became outliers at it. `path_scores`:
    `lambda` or `t`, `item` and `score`, knot by knot; not all knots of a long path. `entries` has the knot of
    each entry, and `scores_at` gives the scores at some knots.
    """
    if not len(knots):
        return {}
    entered = np.bincount(entries[entries < len(knots)], minlength=len(knots))
    most = min(len(knots), max(2, _ROWS // len(items)))
    shown = np.unique(np.linspace(0, len(knots) - 1, most).round().astype(np.int64))
    return {
        "path": {parameter: knots, "active": active, "entered": entered},
        "path_scores": {
            parameter: np.repeat(knots[shown], len(items)),
            "item": np.tile(items, len(shown)),
            "score": scores_at(shown).ravel(),
        },
    }
