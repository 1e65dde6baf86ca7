"""How sure the scores of a crowd are: from what votes tell, and from leaving groups of workers out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, ndtri, stdtrit

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.crowd import CrowdPoint
from optiframe_hodgerank.votes.curvature import Curvature
from optiframe_hodgerank.votes.workers import SHARES

_GROUPS = 20  # of workers
_RARE = 1e-3  # a chance of a share that adds nothing to what is not known
_ROWS = 2048  # of the dense matrix of doubts that are multiplied at a time
_DENSE = 0.02  # share of entries from which a matrix of doubts is multiplied as a dense one


def standard_errors(point: CrowdPoint) -> Array:
    """Of the scores, shape (items,): the larger of two, item by item.

    Louis 1982: the information of the votes is that of the votes with workers' shares known, less the
    variance of the slope over what the shares may be. The delete-a-group jackknife: each of 20 groups of
    workers is left out in turn, which moves the scores by one Newton step each; it also sees that a
    worker's votes hang together in ways the model has no words for. Its errors are multiplied by the
    ratio of Student's to the normal quantile, so that 1.645 of them make a 90% interval.

    Memory: a matrix of items x items, a second one for the variance of the slope.
    """
    information = _information(point)
    errors = np.sqrt(np.maximum(information.inverse_diagonal(), 0.0))
    groups = min(_GROUPS, len(point.of.votes.counts))
    if groups < 2:
        return np.asarray(errors)
    moved = information.solve(_slopes(point, groups)) * groups / (groups - 1)
    spread = moved - moved.mean(axis=1, keepdims=True)
    jackknife = np.sqrt((groups - 1) / groups * (spread * spread).sum(axis=1))
    return np.asarray(np.maximum(errors, jackknife * (stdtrit(groups - 1, 0.95) / ndtri(0.95))))


def _information(point: CrowdPoint) -> Curvature:
    """Louis' information; with shares known, where it is not positive definite."""
    weight = point.weights()
    try:
        return point.curvature(weight, less=_doubt(point))
    except np.linalg.LinAlgError:  # far from a maximum, or votes that hardly tell anything
        return point.curvature(np.maximum(weight, 0.0))


def _doubt(point: CrowdPoint) -> Array:
    """Variance of the slope over workers' shares, summed over workers, shape (items, items)."""
    votes, items = point.of.votes, point.of.pairs.items
    belief = point.said.belief
    open_ = np.flatnonzero(belief.max(axis=1) < 1 - _RARE)  # workers whose share is not settled
    owner = np.repeat(np.arange(len(belief)), votes.counts)
    some = np.flatnonzero(np.isin(owner, open_))
    place = np.searchsorted(open_, owner[some])
    d = point.theta[votes.winner[some]] - point.theta[votes.loser[some]]
    p, spread = expit(d), votes.weight[some] * expit(d) * expit(-d)
    found = np.zeros((items, items))
    for k, share in enumerate(SHARES):
        chance = belief[open_, k]
        if not (chance > _RARE).any():
            continue
        slope = spread * (2 * share - 1) / ((1 - share) + (2 * share - 1) * p)
        off = np.sqrt(chance)[place] * (slope - point.said.slope[some])
        cells = np.concatenate([place, place]), np.concatenate([votes.winner[some], votes.loser[some]])
        rows = sp.csr_array(sp.coo_array((np.concatenate([off, -off]), cells), shape=(len(open_), items)))[
            chance > _RARE
        ]
        if rows.nnz < _DENSE * rows.shape[0] * items:
            found += (rows.T @ rows).toarray()
        else:
            for begin in range(0, rows.shape[0], _ROWS):
                block = rows[begin : begin + _ROWS].toarray()
                found += block.T @ block
    return found


def _slopes(point: CrowdPoint, groups: int) -> Array:
    """Slope of the loss by group of workers, dealt out in order of their votes, shape (items, groups)."""
    votes, items = point.of.votes, point.of.pairs.items
    counts = votes.counts
    group = np.empty(len(counts), dtype=np.int64)
    group[np.argsort(-counts, kind="stable")] = np.arange(len(counts)) % groups
    of_vote = np.repeat(group, counts)
    size = items * groups
    won = np.bincount(votes.winner * groups + of_vote, point.said.slope, size)
    lost = np.bincount(votes.loser * groups + of_vote, point.said.slope, size)
    return np.asarray((lost - won).reshape(items, groups))
