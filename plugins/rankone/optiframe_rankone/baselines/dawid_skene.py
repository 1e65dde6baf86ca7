"""EM for full confusion matrices, from the majority vote."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.sizes import too_large_for_confusion
from optiframe_rankone.vote import first_vote


class DawidSkene(Solver[LabelAggregation, Aggregation, None]):
    """EM for the Dawid-Skene model: a full confusion matrix for each worker.

    Needs several labels of each worker for each class; with few, the one-coin model has
    fewer parameters to get wrong. Started at the vote shares of the majority, with gold at a vote
    weighted by it (or at the posteriors of a given start), it alternates

    - confusion[j, l, k] = expected share of label l among the labels of worker j on tasks of
      class k, and the prior = mean posterior (M step);
    - posterior of class k of task t proportional to prior[k] times the product of
      confusion[j, l, k] over the labels l of workers j (E step).

    The maximum-likelihood estimates of 1979 are 0 for what was never seen, and one such
    label would rule a class out for ever. No probability is therefore below `floor`; the M
    step is the exact one under that bound, so the likelihood never falls. The trace has it
    as `log_likelihood`. It ends (status `finished`) where a step raises that by less than `gain` a
    label, and after `steps` steps, sooner where the residual is within the tolerance; more steps seldom
    make a better answer. Skills are those of the
    accuracy prior-weighted over classes.

    One iteration is two products with the labels, 2 M operations each, M classes; memory is
    12 bytes a label and 24 M^2 bytes a worker.
    """

    name = "labels.dawid-skene"
    solves = LabelAggregation
    label_weights: ClassVar[bool] = True
    accepts_start = True
    # The last iterate has the highest likelihood, whatever the least-squares objective says.
    monotone = True
    residual_meaning = "largest change of a task's posterior probability in the last iteration"
    reference = "Dawid and Skene 1979"

    prior: Literal["estimated", "equal"] = Field(
        default="estimated", description="chances of the classes: estimated with the rest, or all equal"
    )
    floor: float = Field(
        default=1e-6, gt=0, lt=0.5, description="least probability in a confusion matrix and in the prior"
    )

    steps: confusion.Steps = confusion.STEPS
    gain: float = Field(
        default=1e-6,
        ge=0,
        description="EM ends where a step raises the log-likelihood by less than so much (nats) a label; "
        "0: it goes on to the tolerance or the last of `steps`",
    )

    def unsuited(self, problem: LabelAggregation) -> str | None:
        return too_large_for_confusion(len(problem.labels.worker_ids), len(problem.classes))

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        given = confusion.one_hot(problem)
        estimate = self.prior == "estimated"
        if run.start is None:
            first = first_vote(problem.crowd)
        else:
            problem.check(run.start)
            first = run.start
        model = confusion.m_step(given, first.probabilities, self.floor, estimate_prior=estimate)
        return (
            yield from confusion.em(
                problem,
                given,
                model,
                self.floor,
                estimate_prior=estimate,
                steps=self.steps,
                gain=self.gain,
            )
        )
