"""A path as tables: its knots, and the scores at some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.problem import Columns

if TYPE_CHECKING:
    from optiframe_hodgerank.path.path import Path

_ROWS = 50_000
"""A table of scores has at most about so many rows, a file of two megabytes: of a longer path, knots evenly
spread among all, the first and the last with them."""


def path_tables(path: Path, items: NDArray[Any]) -> dict[str, Columns]:
    """Tables of a path by name; none of an empty one.

    `path`: of each knot its `lambda` or `t`, `active`, the share of the comparisons that are outliers on
    arriving there, and `entered`, how many different comparisons became outliers at it. `path_scores`:
    `lambda` or `t`, `item` and `score`, knot by knot; not all knots of a long path.
    """
    if not len(path):
        return {}
    knots = path.knots
    entered = np.bincount(path.knot[path.knot < len(path)], minlength=len(path))
    most = min(len(path), max(2, _ROWS // len(items)))
    shown = np.unique(np.linspace(0, len(path) - 1, most).round().astype(np.int64))
    return {
        "path": {path.parameter: knots, "active": path.active, "entered": entered},
        "path_scores": {
            path.parameter: np.repeat(knots[shown], len(items)),
            "item": np.tile(items, len(shown)),
            "score": path.scores_at_knots(shown).ravel(),
        },
    }
