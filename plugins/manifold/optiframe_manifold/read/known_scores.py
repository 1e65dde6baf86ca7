"""What is known to be true, for the metrics: the score matrix of a simulation, or of a survey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array, as_array, resolve
from optiframe.tables.ids import locked
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.low_rank import LowRank, finite
from optiframe_manifold.read.tables import read_scores


def read_truth(value: Any, info: ValidationInfo) -> LowRank | Array | None:
    """True scores X*: factors, a matrix, the path of an NPY file of one, or a table of every pair.

    Rows and columns of factors and matrices are in the order of the problem's users and items; a
    table, or a CSV or Parquet file, has the columns `user, item, score`.

    Raises
    ------
    InvalidInput
        For another size than users x items, an entry that is not finite, and for whatever
        `tables.read_scores` finds.
    """
    comparisons: ChoiceTable | None = info.data.get("comparisons")
    if value is None or comparisons is None:
        return None
    users, items = comparisons.user_ids, comparisons.item_ids
    truth: LowRank | Array
    if isinstance(value, LowRank):
        truth = value
    elif isinstance(value, np.ndarray | list) or _is_npy(value):
        truth = as_array(value)
    else:
        truth = locked(read_scores(value, info.data["columns"], users, items))
    if truth.shape != (len(users), len(items)):
        raise InvalidInput(
            f"has shape {truth.shape}, there are {len(users)} users and {len(items)} items; list those that "
            "occur in no comparison in `users` and `items`, in the order of its rows and columns"
        )
    if not finite(truth):
        raise InvalidInput("has an entry that is not finite")
    return truth


def _is_npy(value: Any) -> bool:
    return isinstance(value, str | Path) and resolve(value).suffix.lower() == ".npy"
