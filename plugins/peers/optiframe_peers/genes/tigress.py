"""Networks by stability selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from optiframe_tvcs.networks.problem import NetworkIdentification
from pydantic import Field, PositiveInt

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import EdgeScores, regulators, standardised
from optiframe_peers.libraries import library


class Tigress(EdgeScores):
    """TIGRESS: how early least angle regression takes a source, over random halves and random scales.

    Each split cuts the transitions in two halves; in each the levels are multiplied by random factors and
    least angle regression makes `steps` steps towards each gene's changes. A source taken at
    step l counts 1 - (l - 1)/steps, which averaged over halves is the area under its frequency of
    selection. A gene's own level is a candidate where the problem has `own_effects`. All
    targets meet the same halves and factors. An iterate is one split.
    """

    name = "genes.tigress"
    reference = "Haury, Mordelet, Vera-Licona, Vert 2012, BMC Systems Biology 6, 145 (area score)"
    requires = ("scikit-learn:sklearn.linear_model",)

    splits: PositiveInt = Field(
        default=500, description="cuts into two halves: half the number of resamplings"
    )
    steps: PositiveInt = Field(default=5, description="L: steps of least angle regression")
    smallest: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.2, description="alpha: factors are uniform from it to 1"
    )

    def unsuited(self, problem: NetworkIdentification) -> str | None:
        transitions = problem.expression.states.shape[1]
        if transitions < 3:  # halves of at most one, in which nothing varies
            return f"it cuts the steps in time in two halves, and there are {transitions}; give 3 at least"
        return super().unsuited(problem)

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        levels = problem.expression.states
        states = standardised(levels, levels)
        changes = standardised(problem.expression.changes, levels)
        genes, transitions = states.shape
        total = np.zeros((genes, genes))
        for split in range(1, self.splits + 1):
            order = run.rng.permutation(transitions)
            for half in (order[: transitions // 2], order[transitions // 2 :]):
                factors: Array = run.rng.uniform(self.smallest, 1.0, (genes, 1))
                total += self._steps(problem, factors * _centred(states, half), _centred(changes, half))
            yield total / (2 * split), split == self.splits

    def _steps(self, problem: NetworkIdentification, states: Array, changes: Array) -> Array:
        """What each pair counts in one half."""
        lars = library("sklearn.linear_model").lars_path_gram
        gram, along = states @ states.T, states @ changes.T
        counts = np.zeros(gram.shape)
        for gene in range(len(gram)):
            candidates = regulators(problem, gene)
            candidates = candidates[gram[candidates, candidates] > 0]
            if not along[candidates, gene].any():
                continue
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # it ends early where levels depend on each other, and says so
                taken = lars(
                    along[candidates, gene],
                    gram[np.ix_(candidates, candidates)],
                    n_samples=states.shape[1],
                    max_iter=self.steps,
                    method="lar",
                )[1]
            early = 1.0 - np.arange(len(taken)) / self.steps
            counts[gene, candidates[taken]] = np.maximum(early, 0.0)
        return counts


def _centred(rows: Array, half: NDArray[np.int64]) -> Array:
    chosen = rows[:, half]
    return np.asarray(chosen - chosen.mean(axis=1, keepdims=True))
