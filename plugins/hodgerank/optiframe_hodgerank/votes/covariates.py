"""Votes counted by pair and covariates, and whether effects of these can be told from the scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import linprog

from optiframe.records.fields import Array
from optiframe_hodgerank.data import Comparisons

_TOLD_APART = 1e-8
"""Share of a covariate that items' scores and other covariates must leave over; rounding leaves 1e-13."""


class CovariateVotes(NamedTuple):
    """Votes on the same pair with the same covariates, counted together, shape (rows,) each.

    Parameters
    ----------
    pair
        Which pair of the tally, whose left item has the lower code.
    won, lost, tied
        Weight of the votes for the left item, for the right one and for neither.
    z
        Covariates, left minus right, divided by `scale`, shape (rows, covariates).
    scale
        Root mean square of each covariate over the votes, shape (covariates,).
    """

    pair: NDArray[np.int64]
    won: Array
    lost: Array
    tied: Array
    z: Array
    scale: Array


def covariate_votes(comparisons: Comparisons) -> CovariateVotes:
    """The votes of comparisons that have covariates."""
    covariates, merged = comparisons.covariates, comparisons.merged
    assert covariates is not None
    weight = np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight
    values = covariates.values
    largest = np.abs(values).max(axis=0)  # squares must neither overflow nor vanish
    scale = largest * np.sqrt(weight @ (values / largest) ** 2 / weight.sum())
    # Merged rows are sorted by pair.
    new = np.ones(len(merged), dtype=bool)
    new[1:] = (merged.left[1:] != merged.left[:-1]) | (merged.right[1:] != merged.right[:-1])
    pair = (np.cumsum(new) - 1)[merged.inverse]
    side = np.where(merged.flipped, -1.0, 1.0)
    outcome, z = side * np.sign(comparisons.margin), side[:, None] * values / scale + 0.0
    order = np.lexsort((*z.T, pair))
    pair, z, outcome, weight = pair[order], z[order], outcome[order], weight[order]
    differs = (np.diff(pair) != 0) | (np.diff(z, axis=0) != 0).any(axis=1)
    first = np.flatnonzero(np.append(True, differs))
    won, lost, tied = (np.add.reduceat(weight * (outcome == y), first) for y in (1, -1, 0))
    return CovariateVotes(pair[first], won, lost, tied, z[first], scale)


def confounded(comparisons: Comparisons) -> str | None:
    """Why the effects of covariates cannot be told from the scores, or from each other; None where they can.

    A covariate whose value is a difference of two items' own values, such as their price, moves the scores
    and has no effect of its own.
    """
    covariates, graph = comparisons.covariates, comparisons.unmerged()
    if covariates is None:
        return None
    left_over = []
    for name, column in zip(covariates.names, covariates.values.T, strict=True):
        if not column.any():
            return f"the covariate {name} is always 0, so it has no effect that could be seen; leave it out"
        values = column / np.abs(column).max()
        size = float(np.linalg.norm(np.sqrt(graph.weight) * values))
        left_over.append(np.sqrt(graph.weight) * graph.cycles(values) / size)
    for name, rest in zip(covariates.names, left_over, strict=True):
        if np.linalg.norm(rest) < _TOLD_APART:
            return (
                f"the covariate {name} is a difference of values of the two items, so its effect cannot be "
                "told from their scores; leave it out"
            )
    columns = np.column_stack([rest / np.linalg.norm(rest) for rest in left_over])
    triangle, order = qr(columns, mode="r", pivoting=True)
    size = np.abs(np.diagonal(triangle))
    if len(size) < columns.shape[1] or size[-1] < _TOLD_APART:
        names = ", ".join(covariates.names[i] for i in sorted(order[: columns.shape[1]]))
        return (
            f"the covariates {names} follow from each other and the items' scores, so their effects cannot "
            "be told apart; leave one out"
        )
    return None


def separating(comparisons: Comparisons) -> str | None:
    """Why covariates have no finite effects without a prior; None where they have.

    The likelihood has a maximum exactly where no change of scores and effects makes some outcome likelier
    and none less likely (Albert and Anderson 1984): a linear program over the votes.
    """
    covariates = comparisons.covariates
    if covariates is None:
        return None
    rows, items = np.arange(len(comparisons)), len(comparisons.item_ids)
    ones = np.ones(len(rows))
    cells = (np.append(ones, -ones), (np.tile(rows, 2), np.append(comparisons.left, comparisons.right)))
    values = covariates.values / np.abs(covariates.values).max(axis=0)
    x = sp.hstack([sp.coo_array(cells, shape=(len(rows), items)), sp.coo_array(values)], format="csr")
    sign = np.sign(comparisons.margin)
    decided = sign != 0
    gains, ties = sp.csr_array(sign[decided, None] * x[decided]), x[~decided]
    found = linprog(
        -gains.sum(axis=0),
        A_ub=sp.vstack([-gains, gains]),
        b_ub=np.repeat([0.0, 1.0], decided.sum()),
        A_eq=ties if ties.shape[0] else None,
        b_eq=np.zeros(ties.shape[0]) if ties.shape[0] else None,
        bounds=(None, None),
    )
    if found.x is None or (gains @ found.x).max(initial=0.0) < 0.5:  # the program scales a direction up to 1
        return None
    effects = np.abs(found.x[items:])
    names = [name for name, c in zip(covariates.names, effects, strict=True) if c > _TOLD_APART]
    return (
        f"{', '.join(names)} and the scores together tell who won without an exception, so without a prior "
        "the effects would be infinite; set prior above 0, such as 0.1, or leave covariates out"
    )
