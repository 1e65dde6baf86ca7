"""What the adapters to crowd-kit share: labels in as its data frame, its shares out as an answer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.problem import LabelAggregation

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent, library, visiting


class Fit(NamedTuple):
    """What crowd-kit found, in how many iterations, and how many it was allowed (0: it does not count)."""

    answer: Aggregation
    iterations: int = 1
    limit: int = 0


class CrowdKit(Solver[LabelAggregation, Aggregation, None]):
    """One of crowd-kit's aggregators.

    A black box: one iterate, at the end; an iteration budget goes to the library, a time budget
    does not. Tasks, workers and labels go in as codes. Ties stay ties here, where crowd-kit takes the
    first label; tasks with gold are settled afterwards.
    """

    solves = LabelAggregation
    requires = ("crowd-kit:crowdkit.aggregation", "pandas", "scikit-learn:sklearn", "scipy")
    one_shot = True
    residual_meaning = "not computed; crowd-kit decides when it is done"

    @abstractmethod
    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        """Run `kit`, which is `crowdkit.aggregation`, on a frame with the columns task, worker, label."""

    def unsuited(self, problem: LabelAggregation) -> str | None:
        return absent(self)

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        with visiting(run, "crowd-kit", identifier="labels.library-warning"):
            kit = library("crowdkit.aggregation")
            found = self.fit(kit, problem, frame(problem), run)
        if not np.isfinite(found.answer.scores).all():
            return Status.DIVERGED, "crowd-kit's scores are not all numbers"
        yield Iterate(found.answer, steps=max(1, found.iterations))
        if found.limit and found.iterations >= found.limit:
            return Status.ITERATION_LIMIT, f"crowd-kit made all {found.limit} iterations"
        return None


def frame(problem: LabelAggregation) -> Any:
    """The labels as crowd-kit takes them, a pandas frame of codes."""
    pandas, labels = library("pandas"), problem.labels
    return pandas.DataFrame({"task": labels.task, "worker": labels.worker, "label": problem.label_codes})


def by_shares(problem: LabelAggregation, shares: Any, skills: Array | None) -> Aggregation:
    """The answer with crowd-kit's frame of shares: a row a task, a column a label."""
    rows, columns = range(len(problem.labels.task_ids)), range(len(problem.classes))
    scores = shares.reindex(index=rows, columns=columns, fill_value=0.0).to_numpy(dtype=np.float64)
    return problem.from_scores(scores, "votes", skills)


def skills_of(problem: LabelAggregation, accuracy: Any) -> Array:
    """(M p - 1)/(M - 1) from crowd-kit's series of the workers' chances p of being right."""
    p = accuracy.reindex(range(len(problem.labels.worker_ids))).to_numpy(dtype=np.float64)
    classes = len(problem.classes)
    return np.asarray((classes * p - 1.0) / (classes - 1))
