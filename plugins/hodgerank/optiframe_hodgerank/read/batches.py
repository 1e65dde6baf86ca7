"""Batches of comparisons as one table, for estimators that learn from further ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.tables.columns import Columns
from optiframe_hodgerank.data import Comparisons


def joined(first: Comparisons, second: Comparisons) -> Columns:
    """One table after the other; a column that one of them lacks is filled with what its lack means."""
    tables = (decoded(first), decoded(second))
    whole: dict[str, NDArray[Any]] = {}
    for name in {**tables[0], **tables[1]}:
        parts = []
        for table in tables:
            rows = len(table["left"])
            lacking = np.ones(rows) if name == "weight" else np.full(rows, None, dtype=object)
            parts.append(table.get(name, lacking))
        if parts[0].dtype != parts[1].dtype:
            parts = [part.astype(object) for part in parts]
        whole[name] = np.concatenate(parts)
    return whole


def decoded(table: Comparisons) -> dict[str, NDArray[Any]]:
    """Comparisons as columns of ids, and of labels or margins."""
    left, right = table.item_ids[table.left], table.item_ids[table.right]
    columns: dict[str, NDArray[Any]] = {"left": left, "right": right}
    if table.graded:
        columns["margin"] = table.margin
    else:
        label = left.astype(object)
        label[table.margin < 0] = right[table.margin < 0]
        label[table.margin == 0] = None
        columns["label"] = label
    if table.weight is not None:
        columns["weight"] = table.weight
    if table.worker is not None:
        worker = table.worker_ids[table.worker].astype(object)
        worker[table.worker < 0] = None
        columns["worker"] = worker
    return columns
