"""What the kernels for votes compute, in plain NumPy.

Votes of workers are in order of their workers: those of worker w are ``first[w]`` to ``first[w + 1]``. A
worker with share eta votes by the scores with chance eta, and the other way round otherwise; eta is one of
0, .1, ..., 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, xlog1py, xlogy

from optiframe.records.fields import Array
from optiframe_hodgerank.kernels.shares import SHARES, ratios

Codes = NDArray[np.int64]

_CLIP = 30.0  # differences of scores beyond are as good as infinite, and logarithms stay finite
SETTLED = 1e-3  # a chance of other shares that adds nothing to what is not known of a worker
_REACH = 40.0
"""Standard deviations (and as many units) from the mean within which chances are summed: all of them
up to 1,600 trials of a kind, and beyond what is left out is far below any chance that counts."""


def crowd_likelihoods(
    winner: Codes,
    loser: Codes,
    weight: Array,
    first: Codes,
    scores: Array,
    chance: Array,
    log_likelihood: Array,
) -> None:
    """Chances of votes by the scores, and the likelihood of each worker's votes given each share.

    Parameters
    ----------
    winner, loser
        Codes of the items, shape (votes,).
    weight
        How often each counts, shape (votes,).
    first
        Where each worker's votes begin, and the end, shape (workers + 1,).
    scores
        Shape (items,).
    chance
        Written: p = s(winner's score - loser's), s the logistic function, shape (votes,).
    log_likelihood
        Written: the sum of weight log(eta p + (1 - eta)(1 - p)), shape (workers, 11).

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    chance[:] = expit(np.clip(scores[winner] - scores[loser], -_CLIP, _CLIP))
    log_likelihood[:] = 0.0
    worker = np.repeat(np.arange(len(first) - 1), np.diff(first))
    for k, share in enumerate(SHARES):
        np.add.at(log_likelihood[:, k], worker, weight * np.log((1 - share) + (2 * share - 1) * chance))


def crowd_slopes(
    winner: Codes,
    loser: Codes,
    weight: Array,
    first: Codes,
    pair: Codes,
    group: Codes,
    chance: Array,
    belief: Array,
    least: float,
    slope: Array,
    curve: Array,
) -> None:
    """Add the derivatives of minus the log-likelihood of votes in the scores.

    With q = eta p + (1 - eta)(1 - p), that of log q in the difference winner minus loser is
    (2 eta - 1) p (1 - p)/q; the second with beliefs held is the square of that less the same times 1 - 2p.

    Parameters
    ----------
    winner, loser, weight, first, chance
        As of `crowd_likelihoods`.
    pair
        Which pair each vote is about, shape (votes,).
    group
        The row of `slope` of each worker's votes, shape (workers,).
    belief
        Chance of each share of each worker, shape (workers, 11).
    least
        A chance of a share that counts must be above.
    slope
        Added to: the slope in each score, shape (groups, items).
    curve
        Added to: the curvature in each pair's difference, shape (pairs,).

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    spread = chance * (1.0 - chance)
    worker = np.repeat(np.arange(len(first) - 1), np.diff(first))
    each, likely = ratios(chance), np.where(belief > least, belief, 0.0)[worker]
    pull = weight * spread * (likely * each).sum(axis=1)
    np.add.at(slope, (group[worker], winner), -pull)
    np.add.at(slope, (group[worker], loser), pull)
    bend = weight * spread * spread * (likely * each * each).sum(axis=1)
    np.add.at(curve, pair, bend - (1.0 - 2.0 * chance) * pull)


def crowd_doubt(
    winner: Codes,
    loser: Codes,
    weight: Array,
    first: Codes,
    chance: Array,
    belief: Array,
    least: float,
    matrix: Array,
) -> None:
    """Add the variance of the slope over what workers' shares may be, summed over workers.

    Only workers whose likeliest share has a chance below .999 count, and of these shares whose chance is
    above `least`; parameters as of `crowd_slopes`.

    Parameters
    ----------
    matrix
        Added to: the lower half, shape (items, items).

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    items = len(matrix)
    each = ratios(chance) * (weight * chance * (1.0 - chance))[:, None]
    for worker in np.flatnonzero(belief.max(axis=1, initial=0.0) < 1.0 - SETTLED).tolist():
        some = slice(first[worker], first[worker + 1])
        likely = belief[worker]
        off = each[some] - (each[some] @ likely)[:, None]
        pull = np.zeros((items, len(SHARES)))
        np.add.at(pull, winner[some], off)
        np.add.at(pull, loser[some], -off)
        matrix += np.tril((pull * np.where(likely > least, likely, 0.0)) @ pull.T)


def votes_by_worker(
    workers: int,
    worker: Codes,
    left: Codes,
    right: Codes,
    margin: Array,
    weight: Array | None,
    merged: Codes,
    pair: Codes,
) -> tuple[Codes, Codes, Array, Codes, Codes, Codes]:
    """Rows that are no ties as votes in order of their workers; those of nobody last, each as one of its own.

    Parameters
    ----------
    workers
        Number of workers, at most the number of rows.
    worker
        Code of each row's worker, below 0 for nobody, shape (rows,).
    left, right
        Codes of the items of each row, shape (rows,).
    margin
        Shape (rows,): above 0 where left won, 0 for a tie.
    weight
        How often each row counts, shape (rows,); None: once.
    merged
        Which merged row each row is of, shape (rows,).
    pair
        Which pair each merged row is of, shape (merged rows,).

    Returns
    -------
    winner, loser, weight, pair
        Of each vote.
    first, code
        Where the votes of each worker who cast one begin, and the end; and the codes of these workers, -1 for
        nobody.

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range; codes of items are not looked at.
    """
    decided = np.flatnonzero(margin)
    code = worker[decided]
    nobody = code < 0
    code[nobody] = workers + np.arange(nobody.sum())
    order = np.argsort(code, kind="stable")
    begins = np.flatnonzero(np.diff(code[order], prepend=-1))
    found, rows = code[order][begins], decided[order]
    ahead = margin[rows] > 0
    return (
        np.where(ahead, left[rows], right[rows]),
        np.where(ahead, right[rows], left[rows]),
        np.ones(len(rows)) if weight is None else weight[rows],
        pair[merged[rows]],
        np.append(begins, len(rows)),
        np.where(found < workers, found, -1),
    )


def bradley_terry_terms(
    left: Codes,
    right: Codes,
    won: Array,
    lost: Array,
    extra: float,
    scores: Array,
    slope: Array,
    curve: Array,
) -> float:
    """Minus the log-likelihood of Bradley-Terry with `extra` ties on each pair, and its derivatives.

    Parameters
    ----------
    left, right
        Codes of the items of each pair, shape (pairs,).
    won, lost
        How often the left and the right one won, shape (pairs,).
    extra
        Ties, each half a win of both.
    scores
        Shape (items,).
    slope
        Written: in each item's score, shape (items,).
    curve
        Written: the second derivative in each pair's difference of scores, shape (pairs,).

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    d = scores[left] - scores[right]
    wins, losses = won + extra / 2, lost + extra / 2
    pull = losses * expit(d) - wins * expit(-d)
    items = len(scores)
    slope[:] = np.bincount(left, pull, items) - np.bincount(right, pull, items)
    curve[:] = (wins + losses) * expit(d) * expit(-d)
    return float((losses * np.logaddexp(0.0, d) + wins * np.logaddexp(0.0, -d)).sum())


def laplacian_product(left: Codes, right: Codes, weight: Array, v: Array, product: Array) -> None:
    """The Laplacian of weighted pairs times a vector.

    Parameters
    ----------
    left, right, weight
        Codes of the items of each pair, and its weight, shape (pairs,).
    v
        Shape (items,).
    product
        Written, shape (items,).

    Raises
    ------
    ValueError
        When lengths disagree, or a code is out of range.
    """
    flow, items = weight * (v[left] - v[right]), len(v)
    product[:] = np.bincount(left, flow, items) - np.bincount(right, flow, items)


def sides_p(trials: Codes, share: Array, seen: Codes, p: Array) -> None:
    """Two-sided p of the sum of three binomial numbers, worker by worker.

    Parameters
    ----------
    trials, share, seen
        Number of trials, chance in each, above 0 and below 1, and successes, shape (workers, 3).
    p
        Written, shape (workers,): twice the smaller chance of so few and of so many, at most 1.

    Raises
    ------
    ValueError
        When shapes disagree, or a number is out of range.
    """
    for at, (count, chance) in enumerate(zip(trials, share, strict=True)):
        chances, first = np.ones(1), 0
        for many, each in zip(count.tolist(), chance.tolist(), strict=True):
            part, start = _binomial(many, each)
            chances, first = np.convolve(chances, part), first + start
        found = int(seen[at].sum()) - first
        fewer, more = chances[: max(found + 1, 0)], chances[max(found, 0) :]
        p[at] = min(1.0, 2 * min(float(fewer.sum()), float(more.sum())))


def _binomial(trials: int, share: float) -> tuple[Array, int]:
    """Chances of a binomial number, and the first number meant: all within reach of the mean."""
    reach = _REACH * math.sqrt(trials * share * (1 - share)) + _REACH
    first = max(0, math.ceil(trials * share - reach))
    k = np.arange(first, min(trials, math.floor(trials * share + reach)) + 1)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return np.exp(ways + xlogy(k, share) + xlog1py(trials - k, -share)), first
