"""Scores, workers' shares and effects of covariates together: CrowdBT whose votes lean by covariates, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.records.fields import Array
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.graph.laplacian import Components
from optiframe_hodgerank.kernels.reference_votes import SETTLED
from optiframe_hodgerank.kernels.shares import SHARES, ratios
from optiframe_hodgerank.votes.covariates import CovariateVotes
from optiframe_hodgerank.votes.crowd import RARE, CrowdLikelihood
from optiframe_hodgerank.votes.curvature import JointCurvature
from optiframe_hodgerank.votes.reading import rows_by_worker
from optiframe_hodgerank.votes.tally import Tally
from optiframe_hodgerank.votes.workers import Posterior, WorkerVotes

_BLOCK = 100_000  # votes whose numbers are held at a time: 11 of each


@dataclass(frozen=True, eq=False)
class CovariateCrowd(CrowdLikelihood):
    """As `CrowdLikelihood`, with the effects of covariates after the scores, in units of 1/`scale`.

    Each vote has a lead of its own: its winner's score less its loser's, and what covariates add. So the
    passes over votes see an item for each vote, ahead of one more by its lead, and `design` leads back.

    Parameters
    ----------
    design
        Each vote's row: 1 at its winner, -1 at its loser, then its covariates, winner minus loser, shape
        (votes, items + covariates).
    """

    design: Any = None

    @classmethod
    def of(
        cls, comparisons: Comparisons, pairs: Tally, votes: WorkerVotes, rows: CovariateVotes
    ) -> CovariateCrowd:
        """That of comparisons, their decided votes in order of workers, and the scale of covariates."""
        covariates, many = comparisons.covariates, len(votes.winner)
        assert covariates is not None
        row = rows_by_worker(comparisons)
        z = covariates.values[row] * np.sign(comparisons.margin[row])[:, None] / rows.scale
        each, one = np.arange(many), np.ones(many)
        cells = np.append(one, -one), (np.tile(each, 2), np.append(votes.winner, votes.loser))
        items = sp.coo_array(cells, shape=(many, pairs.items))
        design = sp.hstack([items, sp.coo_array(z)], format="csr")
        leads = votes._replace(winner=each, loser=np.full(many, many), pair=each)
        return cls(pairs, leads, design=design)

    def leads(self, theta: Array) -> Array:
        return np.append(self.design @ theta, 0.0)

    def of_parameters(self, slope: Array) -> Array:
        return np.asarray(self.design.T @ slope[:-1])

    def derivatives(self, workers: Posterior, group: NDArray[np.int64], groups: int) -> tuple[Array, Array]:
        votes = self.votes
        many = len(votes.winner)
        slope, curve = np.zeros((1, many + 1)), np.zeros(many)
        workers.derivatives(np.zeros(len(votes.counts), np.int64), slope, curve)
        column = np.repeat(group, votes.counts)
        cells = slope[0, :many], (np.arange(many), column)
        return np.asarray((self.design.T @ sp.csr_array(cells, shape=(many, groups))).toarray()), curve

    def usual(self, theta: Array) -> Array:
        p = expit(self.design @ theta)
        return np.asarray(self.votes.weight * p * (1 - p))

    def curvature(self, weight: Array, less: Array | None = None) -> JointCurvature:
        matrix = (self.design.T @ (sp.diags_array(weight) @ self.design)).toarray()
        matrix[np.diag_indices_from(matrix)] += self.precision
        if less is not None:
            matrix -= less
        return JointCurvature(matrix, Components(self.pairs.component), self.precision)

    def doubt(self, workers: Posterior) -> Array:
        votes, belief = self.votes, workers.belief
        unsure = (belief.max(axis=1) < 1.0 - SETTLED)[:, None]
        root = np.sqrt(np.where((belief > RARE) & unsure, belief, 0.0))
        size = self.design.shape[1]
        found, ends = np.zeros((size, size)), votes.first
        first = 0
        while first < len(votes.counts):
            last = max(first + 1, int(np.searchsorted(ends, ends[first] + _BLOCK, side="right")) - 1)
            some, counts = slice(ends[first], ends[last]), votes.counts[first:last]
            worker, p = np.repeat(np.arange(first, last), counts), workers.chance[some]
            each = ratios(p) * (votes.weight[some] * p * (1.0 - p))[:, None]
            each = (each - (each * belief[worker]).sum(axis=1, keepdims=True)) * root[worker]
            for k in range(len(SHARES)):
                cells = each[:, k], (worker - first, np.arange(len(p)))
                pull = sp.csr_array(cells, shape=(last - first, len(p))) @ self.design[some]
                found += (pull.T @ pull).toarray()
            first = last
        return found
