"""crowd-kit's M-MSR, as it is and with a vote that heeds signs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from optiframe_rankone.problem import LabelAggregation
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.sparse.linalg import eigs
from scipy.special import expit

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, by_shares, skills_of
from optiframe_peers.libraries import at_most, library, seed


class Mmsr(CrowdKit):
    """Robust rank-one matrix completion (M-MSR) by crowd-kit.

    Any number of classes; needs every worker to share tasks with at least two others, since it trims
    floor(least number of partners/2) - 1 values from either end. A correlation of exactly 0 may stop it:
    it divides by estimates, and ends as diverged where they are no numbers. Memory is
    O(workers^2 + workers tasks), and it loops over pairs of workers in Python.

    Notes
    -----
    **The vote.** Workers worse than chance get negative weights, so the weights of a task may sum
    to less than 0. crowd-kit divides a task's scores by their sum, which then turns the
    order round: the worst label wins (`vote = "normalized"`, as it is), and
    shares may lie outside 0 to 1. `vote = "signed"` uses the same weights without the division.

    **Who is right.** With `vote = "signed"` it is settled by gold or else by the problem's `orientation`,
    separately for each group of workers who share tasks; reversed skills are clipped to the problem's
    box. crowd-kit's own vote leaves it open, and a finding says so.

    **Signs** are read from an eigenvector that crowd-kit has SciPy start at random, without a seed; where
    that vector is not unique, its runs differ. Here the start is drawn from the run's generator.
    """

    name = "crowdkit.mmsr"
    reference = "Ma, Olshevsky 2020"

    vote: Literal["normalized", "signed"] = Field(
        default="normalized",
        description="divide a task's scores by their sum, as crowd-kit does, or leave their signs",
    )
    rounds: PositiveInt = Field(default=10_000, description="sweeps over the workers at most")
    change: NonNegativeFloat = Field(
        default=1e-10, description="stop when the completed matrix changes by less"
    )

    def unsuited(self, problem: LabelAggregation) -> str | None:
        if len(problem.labels.label_ids) < 2:
            return "the workers gave one label only, and crowd-kit's M-MSR takes two at least"
        lonely = np.flatnonzero(_partners(problem) < 2)
        if len(lonely):
            who = ", ".join(str(name) for name in problem.labels.worker_ids[lonely[:5]].tolist())
            more = f" and {len(lonely) - 5} more" if len(lonely) > 5 else ""
            return (
                f"crowd-kit's M-MSR needs every worker to share tasks with two others at least, and "
                f"{who}{more} do not; leave them out, or take rankone.pgd"
            )
        return super().unsuited(problem)

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        try:
            return (yield from super().iterates(problem, run))
        except ValueError as error:  # pandas finds no best label among scores that are no numbers
            return Status.DIVERGED, f"crowd-kit's M-MSR: ValueError: {error}"

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        limit = at_most(self.rounds, run)
        with _seeded_eigenvectors(run):
            model = kit.MMSR(n_iter=limit, tol=self.change, random_state=seed(run)).fit(table)
        # Its "skills" are the weights of the vote: the log-odds of the accuracy, plus log(M - 1).
        others = model.skills_ - np.log(len(problem.labels.label_ids) - 1)
        skills = skills_of(problem, others.map(expit))
        if self.vote == "signed":
            answer = problem.weighted_vote(problem.with_positive_sums(skills))
            signed = problem.model.signs_of(skills) * skills  # the box may have clipped the others
            answer = replace(answer, oriented=True, signed=(signed,))
        else:
            answer = replace(by_shares(problem, model.predict_score(table), skills), unsettled=True)
        return Fit(answer, len(model.loss_history_), limit)


def _partners(problem: LabelAggregation) -> Array:
    """How many others each worker shares a task with, shape (workers,)."""
    labels = problem.labels
    given = sp.csr_array((np.ones(len(labels.task)), (labels.worker, labels.task)))
    return np.asarray(np.diff((given @ given.T).tocsr().indptr) - 1)


@contextmanager
def _seeded_eigenvectors(run: Run) -> Iterator[None]:
    """While crowd-kit works, its eigenvectors start from vectors of the run's generator."""

    def seeded(matrix: Any, *options: Any, **named: Any) -> Any:
        return eigs(matrix, *options, v0=run.rng.standard_normal(len(matrix)), **named)

    module: Any = library("crowdkit.aggregation.classification.m_msr")
    before = module.sla
    module.sla = SimpleNamespace(eigs=seeded)
    try:
        yield
    finally:
        module.sla = before
