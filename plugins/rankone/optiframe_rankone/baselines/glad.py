"""GLAD: EM for the ability of workers and the difficulty of tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.vote import first_vote

_MEAN = 1.0  # of the normal priors of abilities and of the logarithms of easiness, whose variance is 1
_LARGEST = 30.0  # log easiness in an exponential, so that a long step of the search cannot overflow
_SEARCH = 10  # steps of L-BFGS in an M step: they continue where the last one ended


@dataclass(frozen=True, eq=False)
class Difficulty:
    """What GLAD says of tasks and workers.

    Parameters
    ----------
    task_ids, worker_ids
        Shapes (tasks,) and (workers,).
    difficulty
        1/beta of each task, shape (tasks,); a label is right with chance 1/(1 + exp(-ability/difficulty)).
    ability
        alpha of each worker, shape (workers,); 0 guesses evenly between right and wrong.
    """

    task_ids: Ids
    worker_ids: Ids
    difficulty: Array
    ability: Array

    def tables(self) -> dict[str, Columns]:
        """Tables `difficulty` (task, difficulty) and `ability` (worker, ability)."""
        return {
            "difficulty": {"task": self.task_ids, "difficulty": self.difficulty},
            "ability": {"worker": self.worker_ids, "ability": self.ability},
        }


class Glad(Solver[LabelAggregation, Aggregation, Difficulty]):
    """EM for one ability a worker and one difficulty a task (GLAD), classes equally likely.

    Needs several labels of each task: with fewer than some five its difficulty is mostly the prior's.
    Worker i is right on task t with chance 1/(1 + exp(-alpha_i beta_t)), beta_t > 0 being one over the
    difficulty, and otherwise gives each of the other M - 1 labels with equal chance. Abilities alpha and
    log beta have normal priors of mean 1 and variance 1. Started at the vote shares of the majority (or at
    the posteriors of a given start), it alternates

    - alpha and beta towards the largest expected log-posterior, by ten steps of L-BFGS (M step);
    - posterior of class k of task t proportional to exp(sum of alpha_i beta_t + log(M - 1) over the
      workers i who said k) (E step).

    An M step never lowers what it maximizes, so the log-posterior of the labels, which the trace has as
    `log_posterior`, never falls. It ends after `steps` steps (status `finished`), sooner where the residual
    is within the tolerance. Skills are those of the mean chance of being right on a worker's own tasks.
    `Result.detail` has difficulties and abilities, which are tables of the answer as well.

    An iteration is some dozen passes over the labels; memory is 40 bytes a label besides the scores.
    """

    name = "labels.glad"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    accepts_start = True
    monotone = True  # the last iterate has the highest posterior
    residual_meaning = "largest change of a task's posterior probability in the last iteration"
    reference = "Whitehill, Ruvolo, Wu, Bergsma, Movellan 2009"

    steps: confusion.Steps = Field(default=30, ge=1, description="EM steps; after these the run is finished")

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        labels, classes = problem.labels, len(problem.classes)
        workers, tasks = len(labels.worker_ids), len(labels.task_ids)
        if run.start is None:
            posterior = first_vote(problem.crowd).probabilities.copy()
        else:
            problem.check(run.start)
            posterior = run.start.probabilities
        counts = problem.crowd.votes(np.ones(workers))
        at, before = np.full(workers + tasks, _MEAN), np.full_like(posterior, np.nan)
        others, fixed = np.log(classes - 1.0), -counts.sum() * np.log(classes - 1.0) - tasks * np.log(classes)
        for _ in range(self.steps):
            at = self._m_step(problem, posterior, at)
            ability, easiness = at[:workers], np.exp(np.minimum(at[workers:], _LARGEST))
            odds = ability[labels.worker] * easiness[labels.task]
            scores = easiness[:, None] * problem.crowd.votes(ability) + others * counts
            right = np.bincount(labels.worker, weights=labels.weighted(expit(odds)), minlength=workers)
            skills = (classes * right / labels.counted_per_worker - 1.0) / (classes - 1)
            answer = replace(problem.from_scores(scores, "log-odds", skills), reverses=True)
            posterior = answer.probabilities
            wrong = float(labels.weighted(log_expit(-odds)).sum()) - float(((at - _MEAN) ** 2).sum()) / 2
            yield Iterate(
                answer,
                residual=float(np.abs(posterior - before).max()),
                info={"log_posterior": confusion.log_likelihood(answer.scores) + wrong + fixed},
                detail=Difficulty(labels.task_ids, labels.worker_ids, 1.0 / easiness, ability),
            )
            before = posterior
        return confusion.all_taken(self.steps)

    @staticmethod
    def _m_step(problem: LabelAggregation, posterior: Array, at: Array) -> Array:
        """Abilities, then log easiness, that raise the expected log-posterior from where they are at."""
        labels = problem.labels
        workers, tasks = len(labels.worker_ids), len(labels.task_ids)
        right = posterior[labels.task, problem.label_codes]

        def loss(x: Array) -> tuple[float, Array]:
            ability, easiness = x[:workers], np.exp(np.minimum(x[workers:], _LARGEST))
            a, b = ability[labels.worker], easiness[labels.task]
            odds = a * b
            gap = labels.weighted(right - expit(odds))
            ascent = np.concatenate(
                [
                    np.bincount(labels.worker, weights=gap * b, minlength=workers),
                    np.bincount(labels.task, weights=gap * odds, minlength=tasks),
                ]
            )
            value = float(labels.weighted(right * odds + log_expit(-odds)).sum())  # log s(x) = x + log s(-x)
            return float(((x - _MEAN) ** 2).sum()) / 2 - value, (x - _MEAN) - ascent

        found = minimize(loss, at, jac=True, method="L-BFGS-B", options={"maxiter": _SEARCH})
        return np.asarray(found.x, dtype=np.float64)
