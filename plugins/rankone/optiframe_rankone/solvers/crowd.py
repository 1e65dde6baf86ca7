"""The mean of three EM fits in which workers borrow strength from the crowd."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation, temperature
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.sizes import too_large_for_confusion
from optiframe_rankone.solvers.pooled_em import Fit, Member, Workers

MEMBERS = (
    Member(strength=None, shares=False, without_own=True),
    Member(strength=8.0, shares=True, without_own=False),
    Member(strength=10.0, shares=False, without_own=True),
)
_STEPS = 150  # of a member
_CLOSE = 1e-3  # largest change of a posterior at which a member ends
_COOLING = 0.1
_TINY = 1e-300  # of a posterior, so that its logarithm is finite


class CrowdMean(Solver[LabelAggregation, Aggregation, Workers]):
    """Mean of the posteriors of three EM fits whose workers borrow strength from the crowd.

    Workers with many labels get confusion matrices of their own, those with few are taken for what the
    crowd is like, and nothing has to be chosen for the data. The three fits (`pooled_em`) differ in what they
    assume, and none is best on all data:

    - one ability a worker, classes equally likely, each label left out of its own evidence;
    - a confusion matrix whose prior counts 8 labels, shares of the classes estimated;
    - a confusion matrix whose prior counts 10 labels, the classes' shares of the first two fits as far as
      these are uneven (`expected_tasks`), each label left out.

    All start from the vote shares, or with gold from a vote weighted by it, and end where no posterior
    changes by more than .001, or after 150 steps. Their mean is then tempered: the posterior of a task with
    c labels is raised to the power 1/(1 + (c - 1)/10), since labels of one task are wrong together more often
    than the models have it. Gold is certain throughout, and so tells skills. Tasks with a single label take
    no part in the fits and are judged by their outcome.

    `Result.detail` has the workers' accuracies and confusion matrices, of the third fit. A step of a fit
    takes two passes over the labels and three over the confusion matrices; memory is 16 M^2 bytes a worker
    and 16 M bytes a task for M classes, M rounded up to 2, 4 or a multiple of 8. An iterate is a fit, and
    stands for as many iterations as that took steps.
    """

    name = "labels.crowd"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    # Each fit is one part of the answer.
    monotone = True
    residual_meaning = "largest change of a task's posterior probability in the last step of a fit"
    reference = "Dawid and Skene 1979, with priors by empirical Bayes"

    def unsuited(self, problem: LabelAggregation) -> str | None:
        return too_large_for_confusion(len(problem.labels.worker_ids), len(problem.classes))

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        together = np.zeros((len(problem.labels.task_ids), len(problem.classes)))
        found = np.zeros(len(problem.classes))  # tasks in each class, without those of a single label
        late = 0
        for number, member in enumerate(MEMBERS, start=1):
            fit = Fit(member, problem.crowd, None if number < len(MEMBERS) else expected_tasks(found))
            steps, change = 0, np.inf
            while change > _CLOSE and steps < min(_STEPS, max(run.steps_left(), 1)):
                change, steps = fit.step(), steps + 1
                if run.stopping or run.time_left() <= 0:
                    break
            late += change > _CLOSE
            workers = fit.workers()
            found += fit.posterior.sum(axis=0) / (len(MEMBERS) - 1)
            fit.judge_single_labels()
            together += fit.posterior
            yield Iterate(
                self._answer(problem, together / number, workers),
                change if number == len(MEMBERS) else np.nan,  # nothing is done before the last fit
                steps,
                detail=workers,
            )
        if late:
            return Status.FINISHED, f"{late} of {len(MEMBERS)} fits took all {_STEPS} steps"
        return (
            Status.CONVERGED,
            f"in each of {len(MEMBERS)} fits no posterior changed by more than {_CLOSE:g}",
        )

    @staticmethod
    def _answer(problem: LabelAggregation, posterior: Array, workers: Workers) -> Aggregation:
        """The tempered answer; skills are those of the accuracies."""
        cooler = 1.0 / temperature(_COOLING, problem.labels.counted_per_task)
        scores = cooler[:, None] * np.log(np.maximum(posterior, _TINY))
        classes = len(problem.classes)
        skills = (classes * workers.accuracy - 1.0) / (classes - 1)
        answer = problem.from_scores(scores, "log-odds", skills)
        return replace(answer, confusion=workers.confusion, prior=workers.shares, cooling=_COOLING)


def expected_tasks(found: Array) -> Array:
    """Number of tasks to expect in each class, from the numbers found, shape (classes,).

    Shares s become s^(1 - e), where e is how even they are, (exp(entropy) - 1)/(M - 1): 1 where all classes
    are equally frequent, 0 where all tasks are in one. Shares that differ little may as well be errors, and
    EM would enlarge them; where most tasks are in one class, equal shares would move tasks out of it.
    """
    share = (found + 1.0) / (found + 1.0).sum()
    even = (np.exp(-(share * np.log(share)).sum()) - 1.0) / (len(share) - 1)
    share = share ** (1.0 - even)
    return np.asarray(found.sum() * share / share.sum())
