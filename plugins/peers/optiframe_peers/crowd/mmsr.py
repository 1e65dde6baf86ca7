"""crowd-kit's M-MSR, as it is and with a vote that heeds signs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from optiframe_rankone.label_aggregation import LabelAggregation
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.sparse.linalg import eigs
from scipy.special import expit

from optiframe.solvers import Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, at_most, by_shares, skills_of
from optiframe_peers.libraries import library, seed


class Mmsr(CrowdKit):
    """Robust rank-one matrix completion (M-MSR) by crowd-kit.

    Any number of classes; needs every worker to share tasks with at least two others, since it trims
    floor(least number of partners/2) - 1 values from either end. Memory is O(workers^2 + workers tasks),
    and it loops over pairs of workers in Python.

    Notes
    -----
    **The vote.** Workers worse than chance get negative weights, so the weights of a task may sum
    to less than 0. crowd-kit divides a task's scores by their sum, which then turns the
    order round: the worst label wins (`vote = "normalized"`, as it is). `vote = "signed"` uses the same
    weights without the division.

    **Signs** are read from an eigenvector that crowd-kit has SciPy start at random, without a seed; where
    that vector is not unique, its runs differ. Here the start is drawn from the run's generator.
    """

    name = "crowdkit.mmsr"
    reference = "Ma, Olshevsky 2020"

    vote: Literal["normalized", "signed"] = Field(
        "normalized",
        description="divide a task's scores by their sum, as crowd-kit does, or leave their signs",
    )
    rounds: PositiveInt = Field(10_000, description="sweeps over the workers at most")
    change: NonNegativeFloat = Field(1e-10, description="stop when the completed matrix changes by less")

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        limit = at_most(self.rounds, run)
        with _seeded_eigenvectors(run):
            model = kit.MMSR(n_iter=limit, tol=self.change, random_state=seed(run)).fit(table)
        # Its "skills" are the weights of the vote: the log-odds of the accuracy, plus log(M - 1).
        others = model.skills_ - np.log(len(problem.labels.label_ids) - 1)
        skills = skills_of(problem, others.map(expit))
        if self.vote == "signed":
            weights = model.skills_.reindex(range(len(skills))).to_numpy(dtype=np.float64)
            answer = problem.vote(weights, "log-odds", skills)
        else:
            answer = by_shares(problem, model.predict_score(table), skills)
        return Fit(answer, len(model.loss_history_), limit)


@contextmanager
def _seeded_eigenvectors(run: Run) -> Iterator[None]:
    """While crowd-kit works, its eigenvectors start from vectors of the run's generator."""

    def seeded(matrix: Any, *options: Any, **named: Any) -> Any:
        return eigs(matrix, *options, v0=run.rng.standard_normal(len(matrix)), **named)

    module: Any = library("crowdkit.aggregation.classification.m_msr", "labels")
    before = module.sla
    module.sla = SimpleNamespace(eigs=seeded)
    try:
        yield
    finally:
        module.sla = before
