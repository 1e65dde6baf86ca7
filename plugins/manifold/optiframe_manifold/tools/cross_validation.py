"""What a rank predicts of comparisons held out: folds, and a run for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.budget import Budget
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver
from optiframe_manifold.answer import Rankings
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.metrics import of_held_out
from optiframe_manifold.population import pooled_scores
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.solvers.rank_increment import increment_rank


@dataclass(frozen=True)
class Tried:
    """What one rank and multiplier predicted: the loss of each fold, and the accuracy over all."""

    rank: int
    multiplier: float
    losses: Array  # of each fold
    accuracy: float

    @property
    def loss(self) -> float:
        return float(self.losses.mean())

    @property
    def error(self) -> float:
        return float(self.losses.std(ddof=1) / np.sqrt(len(self.losses)))


class Search:
    """Ranks one after the other at one multiplier, each fold from its answer of the rank before."""

    def __init__(
        self,
        problem: CollaborativeRanking,
        parts: Sequence[tuple[ChoiceTable, ChoiceTable]],
        multiplier: float,
        *,
        solver: Solver[Any, Any, Any],
        budget: Budget,
        seed: int,
    ) -> None:
        self.problem, self.parts, self.multiplier = problem, parts, multiplier
        self.solver, self.budget, self.seed = solver, budget, seed
        self.answers: list[Rankings | None] = [None] * len(parts)
        self.unfinished = 0

    def at(self, rank: int) -> Tried:
        judged = []
        for k, (train, test) in enumerate(self.parts):
            part = self.problem.like(train, rank=rank, multiplier=self.multiplier)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)  # counted, and said once
                result = solve(
                    part,
                    self.solver,
                    seed=self.seed,
                    budget=self.budget,
                    start=self._start(part, k),
                    trace=False,
                    progress=False,
                )
            self.unfinished += not result.status.complete
            if result.solution is None:
                raise InvalidInput(f"{self.solver.name} found no answer at rank {rank}: {result.message}")
            self.answers[k] = result.solution
            judged.append(of_held_out(test, result.solution.served, result.solution.sigma))
        return Tried(rank, self.multiplier, *_losses(judged, self.parts))

    def _start(self, part: CollaborativeRanking, k: int) -> Rankings | None:
        before = self.answers[k]
        if before is None or not self.solver.accepts_start:
            return None
        factors = before.factors
        while factors.rank < part.factor_rank:
            factors = increment_rank(part.likelihood, factors)
        return part.from_factors(factors)


def _losses(
    judged: Sequence[dict[str, float]], parts: Sequence[tuple[ChoiceTable, ChoiceTable]]
) -> tuple[Array, float]:
    size = np.array([len(test) if test.weight is None else test.weight.sum() for _, test in parts])
    accuracy = np.array([one["held_out_accuracy"] for one in judged])
    return np.array([one["held_out_loss"] for one in judged]), float(np.average(accuracy, weights=size))


def pooled(
    problem: CollaborativeRanking, parts: Sequence[tuple[ChoiceTable, ChoiceTable]]
) -> tuple[Array, float]:
    """What one ranking for all would predict."""
    judged = []
    for train, test in parts:
        part = problem.like(train, rank=1)
        scores = pooled_scores(part.likelihood)
        judged.append(of_held_out(test, LowRank(np.ones((part.shape[0], 1)), scores[:, None]), part.sigma))
    return _losses(judged, parts)
