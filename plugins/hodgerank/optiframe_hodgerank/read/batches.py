"""A further batch of comparisons beside earlier ones: joined by codes, so that nothing is read again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked
from optiframe.tables.ids import joined as joined_ids
from optiframe.tables.read import encode
from optiframe_hodgerank.data import Comparisons, Covariates
from optiframe_hodgerank.graph.merging import Merged, merge
from optiframe_hodgerank.read.tables import WIDEST

Codes = NDArray[np.int64]


def joined(earlier: Comparisons, batch: Comparisons) -> Comparisons:
    """The comparisons of both, the batch after the earlier ones, as if they had been read together.

    New items and workers may come. A few passes over the earlier codes, none over the earlier ids but for
    those of the items and workers themselves; rows that were merged are merged with the batch's.
    Of remarks on the tables, the batch's are kept where both have one of a kind.

    Raises
    ------
    InvalidInput
        Where one has labels and the other margins, they have other covariates, or weights differ too much.
    """
    if earlier.graded != batch.graded:
        raise InvalidInput(
            "one batch says who won (label) and the other by how much (margin); they cannot be joined"
        )
    item_ids, old, new = _one_table(earlier.item_ids, batch.item_ids)
    worker, worker_ids = _workers(earlier, batch)
    kinds = {remark.identifier for remark in batch.remarks}
    remarks: tuple[Finding, ...] = tuple(one for one in earlier.remarks if one.identifier not in kinds)
    whole = Comparisons(
        locked(np.concatenate([old[earlier.left], new[batch.left]])),
        locked(np.concatenate([old[earlier.right], new[batch.right]])),
        locked(np.concatenate([earlier.margin, batch.margin])),
        _weights(earlier, batch),
        worker,
        item_ids,
        worker_ids,
        earlier.graded,
        backend=batch.backend,
        remarks=(*remarks, *batch.remarks),
        covariates=_covariates(earlier, batch),
    )
    if "merged" in vars(earlier):
        vars(whole)["merged"] = _merged(len(item_ids), earlier.merged, old, batch.merged, new)
    return whole


def _one_table(first: Ids, second: Ids) -> tuple[Ids, Codes, Codes]:
    """All ids of both, and where those of each are among them, in the order of either."""
    code, ids = encode(joined_ids(first, second))
    return locked(ids), code[: len(first)], code[len(first) :]


def _workers(earlier: Comparisons, batch: Comparisons) -> tuple[Codes | None, Ids]:
    """Codes of the workers of both and their ids; -1 for rows of a table without any."""
    if earlier.worker is None and batch.worker is None:
        return None, earlier.worker_ids
    ids, old, new = _one_table(earlier.worker_ids, batch.worker_ids)
    codes = []
    for table, place in ((earlier, old), (batch, new)):
        if table.worker is None:
            codes.append(np.full(len(table), -1, dtype=np.int64))
        else:
            codes.append(np.append(place, -1)[table.worker])  # -1 stays -1
    return locked(np.concatenate(codes)), ids


def _weights(earlier: Comparisons, batch: Comparisons) -> Array | None:
    if earlier.weight is None and batch.weight is None:
        return None
    each = [np.ones(len(table)) if table.weight is None else table.weight for table in (earlier, batch)]
    weight = np.concatenate(each)
    if weight.max() / WIDEST > weight.min():
        raise InvalidInput(
            f"the batches have weights from {weight.min():g} to {weight.max():g}; weights more than "
            f"{WIDEST:g} times apart let the scores drown in rounding"
        )
    return locked(weight)


def _covariates(earlier: Comparisons, batch: Comparisons) -> Covariates | None:
    first, second = earlier.covariates, batch.covariates
    names = [() if each is None else each.names for each in (first, second)]
    if names[0] != names[1]:
        shown = (", ".join(each) or "no covariates" for each in names)
        raise InvalidInput("the batches have different covariates: {}, then {}".format(*shown))
    if first is None or second is None:
        return None
    return Covariates(first.names, locked(np.concatenate([first.values, second.values])))


def _merged(items: int, earlier: Merged, old: Codes, batch: Merged, new: Codes) -> Merged:
    """The merged rows of both, merged with each other; `old` and `new` keep the order of codes."""
    both = merge(
        items,
        np.concatenate([old[earlier.left], new[batch.left]]),
        np.concatenate([old[earlier.right], new[batch.right]]),
        np.concatenate([earlier.margin, batch.margin]),
        np.concatenate([earlier.weight, batch.weight]),
    )
    count = np.bincount(both.inverse, np.concatenate([earlier.count, batch.count]), len(both))
    inverse = np.concatenate([both.inverse[earlier.inverse], both.inverse[len(earlier) + batch.inverse]])
    flipped = np.concatenate([earlier.flipped, batch.flipped])
    weights = (both.left, both.right, both.margin, both.weight)
    return Merged(*weights, count.astype(np.int64), inverse, flipped)
