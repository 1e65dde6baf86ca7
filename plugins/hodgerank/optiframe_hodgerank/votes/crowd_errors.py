"""How sure the scores of a crowd are: from what votes tell, and from leaving groups of workers out."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from optiframe.records.fields import Array
from optiframe_hodgerank.votes.crowd import CrowdPoint
from optiframe_hodgerank.votes.curvature import Curvature, JointCurvature

_GROUPS = 20  # of workers
_TINY = 1e-150  # an error that is as good as none
_FLAT = 1e-9  # an information, relative to the largest, that is as good as none


def standard_errors(point: CrowdPoint) -> Array:
    """Of the scores of `point.whole`, shape (items,), and of effects after them: the larger of two.

    Louis 1982: the information of the votes is that of the votes with workers' shares known, less the
    variance of the slope over what the shares may be. The delete-a-group jackknife: each of 20 groups of
    workers is left out in turn, which moves the scores by one Newton step each; it also sees that a
    worker's votes hang together in ways the model has no words for. Its errors are multiplied by the
    ratio of Student's to the normal quantile, so that 1.645 of them make a 90% interval. Of fewer than 20
    workers it tells too little item by item: Louis' errors are then all multiplied by the root mean square
    of the ratios of both, where that is above 1 (of two workers, intervals are a third as wide). Added to
    either is what is not known of how reliable the crowd is as a whole, which stretches all scores alike.

    Memory: a matrix of items x items, a second one for the variance of the slope.
    """
    information = _information(point)
    errors = np.sqrt(np.maximum(information.inverse_diagonal(), 0.0))
    groups = min(_GROUPS, len(point.of.votes.counts))
    moved = information.solve(_slopes(point, groups)) * groups / (groups - 1)
    spread = moved - moved.mean(axis=1, keepdims=True)
    jackknife = np.sqrt((groups - 1) / groups * (spread * spread).sum(axis=1))
    if groups == _GROUPS:
        errors = np.maximum(errors, jackknife * (stdtrit(groups - 1, 0.95) / ndtri(0.95)))
    else:
        errors *= max(1.0, float(np.sqrt(np.mean((jackknife / np.maximum(errors, _TINY)) ** 2))))
    return np.asarray(point.scale * np.sqrt(errors**2 + _of_scale(point, information)))


def _of_scale(point: CrowdPoint, information: Curvature | JointCurvature) -> Array:
    """Variance of the scores, shape (items,), since the distribution of the shares is estimated too."""
    slope, own = point.workers.of_distribution(len(point.of.leads(point.theta)))
    slope = point.of.of_parameters(slope)
    follow = information.solve(slope)  # how scores follow the distribution
    size, directions = np.linalg.eigh(own - point.of.evidence * (slope.T @ follow))
    known = size > _FLAT * max(float(size.max()), 0.0)
    spread = (follow @ directions[:, known]) ** 2 / size[known]
    return np.asarray(spread.sum(axis=1))


def _information(point: CrowdPoint) -> Curvature | JointCurvature:
    """Louis' information; with shares known, where it is not positive definite."""
    weight = point.weights
    try:
        return point.of.curvature(weight, less=point.of.evidence * point.of.doubt(point.workers))
    except np.linalg.LinAlgError:  # far from a maximum, or votes that hardly tell anything
        return point.of.curvature(np.maximum(weight, 0.0))


def _slopes(point: CrowdPoint, groups: int) -> Array:
    """Slope of the loss by group of workers, dealt out in order of their votes, shape (items, groups)."""
    counts = point.of.votes.counts
    group = np.empty(len(counts), dtype=np.int64)
    group[np.argsort(-counts, kind="stable")] = np.arange(len(counts)) % groups
    return point.of.derivatives(point.workers, group, groups)[0]
