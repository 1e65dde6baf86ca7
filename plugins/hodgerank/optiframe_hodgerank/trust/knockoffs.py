"""Annotators who click one side: found with a bound on the share of false accusations.

Each annotator may have a position bias, y = X theta + Z beta + noise with Z the indicator of who
compared. A knockoff of an annotator is an invented one, correlated with all others just as the real
one is but without any part in y; whoever enters a LASSO path well before the own knockoff is
accused, as many as the knockoffs that enter before their real ones allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.data import Source, comparisons_of

_LEVELS, _LAST = 60, 0.02
"""Values of lambda, down to this share of the largest: 7% apart, closer than knockoffs of like
annotators are; below, what enters is noise."""
_SWEEPS, _STILL = (
    100,
    1e-7,
)  # coordinate descent at one lambda: 5 to 20 sweeps to this share of the first lambda
_ROOM = 1e-9  # relative, kept from the largest correlation possible, where a matrix would be singular
_SEPARATE = 1e-8
"""Least eigenvalue of the annotators' correlations, below which one of them cannot be told from the
others (or from the scores), and no knockoff differs from its original."""


@dataclass(frozen=True, eq=False)
class PositionBias:
    """Position bias of each annotator, and who is accused of it.

    Parameters
    ----------
    workers
        Annotator ids, shape (workers,).
    bias
        Least-squares beta, in units of y: how much y leans to the left item, shape (workers,).
    statistic
        Value of lambda at entry, negative where the knockoff entered first, shape (workers,); a
        large value is strong evidence.
    accused
        Whose statistic is at least `threshold`, shape (workers,).
    threshold
        inf where nobody can be accused at this level.
    """

    workers: NDArray[Any]
    bias: Array
    statistic: Array
    accused: NDArray[np.bool_]
    threshold: float

    def columns(self) -> Columns:
        """Columns `worker, bias, statistic, accused`, the strongest evidence first."""
        order = np.lexsort((np.arange(len(self.bias)), -self.statistic))
        return {
            "worker": self.workers[order],
            "bias": self.bias[order],
            "statistic": self.statistic[order],
            "accused": self.accused[order],
        }


def position_bias(source: Source, level: float = 0.1, seed: int = 0) -> PositionBias:
    """Annotators who lean to one side, with at most the share `level` of false accusations expected.

    Fixed-X knockoffs (Barber and Candes 2015, the "+" threshold, equal correlations) after the scores
    are projected out, as Xu et al. (ICML 2016) use them for annotators. The level is guaranteed for
    normal noise of one size.

    For +-1 votes and other noise it is approximate. In simulations (16 items, 60 annotators of 40
    comparisons, 12 of them biased; 200 draws, standard errors below .011) the mean share of false
    accusations, and of the biased found, was at level .1 and at level .2

    ==============================================  ========  ========
    noise                                           .1        .2
    ==============================================  ========  ========
    normal, bias .6 standard deviations             .06, .72  .15, .94
    Student's t of 3 degrees                        .02, .07  .11, .33
    logistic +-1 votes, bias 1.8 in log-odds        .07, .88  .17, .98
    logistic +-1 votes, bias 0.9                    .03, .06  .11, .33
    +-1 votes, 60% of them clicks on the left       .05, .94  .15, .98
    normal, and annotators differ in taste          .06, .25  .14, .61
    ==============================================  ========  ========

    No such bound is offered for single comparisons: there are fewer cycles than comparisons, so that
    they have no such knockoffs, and a +-1 vote no distribution to test it by.

    Parameters
    ----------
    source
        A problem whose comparisons name their workers, the result of a run on it, or a fitted
        `RobustRanker`. Left and right must be as they were shown: where the winner is
        always put left, everybody seems to click left.
    level
        Expected share of false accusations, in (0, 1). With few annotators a small level accuses
        nobody: at least 1/level must stand out.
    seed
        Draws the knockoffs; the bound holds for each seed, who is accused may differ.

    Raises
    ------
    InvalidInput
        Without workers, with too few comparisons (2 workers + items needed), or with annotators who
        cannot be told apart.

    Notes
    -----
    Time: items solves of the Laplacian for every worker and rows workers^2; memory 24 rows workers bytes.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, got {level:g}")
    table = comparisons_of(source)
    rows = table.unmerged()
    workers, spare = len(table.worker_ids), rows.rows - rows.items + int(rows.components.max()) + 1
    if table.worker is None:
        raise InvalidInput("the comparisons name no worker, so nobody's position bias can be measured")
    if spare < 2 * workers:
        raise InvalidInput(
            f"{rows.rows} comparisons are too few for {workers} workers and {rows.items} items: "
            f"{2 * workers} more than it takes to connect the items are needed"
        )
    root = np.sqrt(rows.weight)

    def onto_cycles(columns: Array) -> Array:
        flows = np.stack([rows.divergence(root * one) for one in columns.T], axis=1)
        theta = rows.solve(flows)
        return np.asarray(columns - root[:, None] * (theta[rows.left] - theta[rows.right]))

    known = np.flatnonzero(table.worker >= 0)
    shown = np.zeros((rows.rows, workers))
    shown[known, table.worker[known]] = root[known]
    real = onto_cycles(shown)
    size = np.linalg.norm(real, axis=0)
    if (size <= _SEPARATE * np.sqrt(rows.rows)).any():
        alone = table.worker_ids[size.argmin()]
        raise InvalidInput(f"the comparisons of worker {alone} are in no cycle with others; leave them out")
    real /= size
    y = onto_cycles((root * rows.margin)[:, None])[:, 0]
    fake = _knockoffs(real, onto_cycles(np.random.default_rng(seed).standard_normal(real.shape)))
    both = np.hstack([real, fake])
    entry = _entries(both.T @ both, both.T @ y)
    first, second = entry[:workers], entry[workers:]
    statistic = np.where(first > second, first, -second)
    threshold = _threshold(statistic, level)
    bias = np.linalg.solve(real.T @ real, real.T @ y) / size
    return PositionBias(table.worker_ids, bias, statistic, statistic >= threshold, threshold)


def _knockoffs(real: Array, draws: Array) -> Array:
    """Columns with the correlations of `real`, each equally little correlated with its original.

    ``real (I - s G^-1) + U C`` with G = real'real, U orthonormal and orthogonal to real, and
    C'C = 2 s I - s^2 G^-1, for the largest s allowed.
    """
    gram = real.T @ real
    least = float(np.linalg.eigvalsh(gram)[0])
    if least < _SEPARATE:
        raise InvalidInput(
            "the position bias of some workers cannot be told from that of others or from the "
            "scores: collect more comparisons, with sides drawn at random for each worker"
        )
    s = min(1.0, 2 * least) * (1 - _ROOM)
    inverse, eye = np.linalg.inv(gram), np.eye(len(gram))
    beside = np.linalg.qr(draws - real @ (inverse @ (real.T @ draws)))[0]
    values, vectors = np.linalg.eigh(2 * s * eye - s * s * inverse)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(real - s * (real @ inverse) + beside @ root)


def _entries(gram: Array, b: Array) -> Array:
    """Lambda at which each variable first enters the LASSO path, on a grid; 0.0 where none does."""
    first = float(np.abs(b).max(initial=0.0))
    entry, beta, rest = np.zeros(len(b)), np.zeros(len(b)), np.array(b)
    for level in first * _LAST ** (np.arange(1, _LEVELS + 1) / _LEVELS):
        for _ in range(_SWEEPS):
            most = 0.0
            for j in np.flatnonzero((np.abs(rest) > level) | (beta != 0)).tolist():
                pull = rest[j] + gram[j, j] * beta[j]
                new = np.sign(pull) * max(abs(pull) - level, 0.0) / gram[j, j]
                rest -= gram[:, j] * (new - beta[j])
                most, beta[j] = max(most, abs(new - beta[j])), new
            if most <= _STILL * first:
                break
        entry[(beta != 0) & (entry == 0)] = level
    return entry


def _threshold(statistic: Array, level: float) -> float:
    """The least t with (1 + number at most -t)/(number at least t) <= level; inf where there is none."""
    for t in np.unique(np.abs(statistic[statistic != 0])).tolist():
        if (1 + np.sum(statistic <= -t)) / max(int(np.sum(statistic >= t)), 1) <= level:
            return float(t)
    return float("inf")
