"""Task assignment: who is to answer which task, within caps, so that the labels come out right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveInt, model_validator
from scipy.special import expit

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import counted
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe.tables.ids import Ids, listed
from optiframe_tvcs.assignment.answer import Assignment
from optiframe_tvcs.assignment.data import QualityTable
from optiframe_tvcs.assignment.objective import AssignmentLoss, Judge
from optiframe_tvcs.assignment.read import COLUMNS, as_prior, priors_of, read_quality
from optiframe_tvcs.program.shadow_prices import shadow_prices
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.boxed_three_view import BoxedThreeView
from optiframe_tvcs.sets.caps import Cap, Total, caps_of, refuse_misfits, total_of
from optiframe_tvcs.sets.three_view import ThreeView

_FORMULATED = 256  # draws of the finite sum: a block of 64 of them is what tvcs.stochastic-iht takes
_JUDGING, _REPORTING, _LEARNING = 0, 1, 2  # streams of random numbers that do not overlap


class TaskAssignment(Problem[Assignment]):
    """Assign workers to tasks, within caps, for the greatest expected accuracy (Eq. 8).

    Each task has one of two labels. A worker assigned to it answers rightly with the chance
    `quality` says, whichever label it has, and Bayes' rule makes one label of the answers. The
    objective is the expected share of *wrong* labels.

    Caps: `per_worker` tasks for each worker (the paper's s^task), `per_task` workers for each task
    (s^worker) and a `total`. A whole number, or a ratio: of the number of tasks, of the number of
    workers, and of the smaller sum of the other two caps; rounded down and at least 1. Lists are in
    the order of `worker_ids` and `task_ids` (sorted); tables go by id.

    Notes
    -----
    **Judging.** A task with k workers is enumerated where 2^k is at most `samples`; otherwise `samples`
    draws of answers, the same for every assignment, estimate its accuracy. `Assignment.accuracy` comes
    from other draws than the objective, by which the best of several iterates is chosen.

    **As a minimisation.** It formulates to `AssignmentLoss`, the smoothed error over 256 draws,
    over matrices with entries in [0, 1] and a support within the caps (`BoxedThreeView`), whose
    projection is exact; entries above 0 are the assignment. Descent steps onto the plain three-view
    set would keep large negative entries, which stand for nothing here.

    Memory: 9 bytes a pair, and 8 times the workers of a task times `samples` while judging.
    """

    name = "task-assignment"
    reference = "Yang et al., Sec. 5.2, Eq. 8"
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {"accuracy": "higher"}

    # The order matters: reading the table looks at the field before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns where they differ from ours"
    )
    quality: Annotated[
        QualityTable,
        PlainValidator(read_quality),
        Accepts("data frame, mapping, CSV, Parquet or Excel file with worker, task, quality; or a matrix"),
    ] = Field(description="chance that a worker answers a task rightly; pairs left out are not assigned")
    per_worker: Cap = Field(
        default=None, description="tasks a worker may have; a ratio is of the tasks; none: no cap"
    )
    per_task: Cap = Field(
        default=None, description="workers a task may have; a ratio is of the workers; none: no cap"
    )
    total: Total = Field(
        default=None,
        description="pairs in all; a ratio is of the smaller sum of the other caps; none: no cap",
    )
    prior: Annotated[Any, PlainValidator(as_prior), Accepts("number, list, or table by task id")] = Field(
        default=0.5, description="chance that a task's label is 1"
    )
    samples: PositiveInt = Field(default=10_000, description="draws of answers that judge an assignment")
    seed: NonNegativeInt = Field(default=0, description="seed of these draws")

    @model_validator(mode="after")
    def _caps_fit(self) -> Self:
        refuse_misfits(
            self, {"per_worker": "per_worker_caps", "per_task": "per_task_caps", "prior": "priors"}
        )
        return self

    @property
    def worker_ids(self) -> Ids:
        """Ids of the workers, shape (workers,); rows of every matrix here."""
        return self.quality.worker_ids

    @property
    def task_ids(self) -> Ids:
        """Ids of the tasks, shape (tasks,); columns of every matrix here."""
        return self.quality.task_ids

    @cached_property
    def per_worker_caps(self) -> NDArray[np.int64]:
        """Tasks each worker may have; shape (workers,)."""
        return caps_of(self.per_worker, self.worker_ids, len(self.task_ids), "worker")

    @cached_property
    def per_task_caps(self) -> NDArray[np.int64]:
        """Workers each task may have; shape (tasks,)."""
        return caps_of(self.per_task, self.task_ids, len(self.worker_ids), "task")

    @cached_property
    def priors(self) -> Array:
        """Chance of label 1 of each task; shape (tasks,)."""
        return priors_of(self.prior, self.task_ids)

    @cached_property
    def over(self) -> ThreeView:
        """The caps as a three-view set of matrices, workers x tasks."""
        per_worker, per_task = self.per_worker_caps, self.per_task_caps
        total = total_of(self.total, per_worker, per_task)
        return ThreeView.of_matrix(self.quality.quality.shape, total, per_worker, per_task)

    @cached_property
    def relaxed(self) -> BoxedThreeView:
        """The same with entries from 0 to 1."""
        return BoxedThreeView(views=self.over)

    @cached_property
    def log_odds(self) -> Array:
        """L = log(Q / (1 - Q)), workers x tasks; 0 for pairs that are not known."""
        quality = self.quality.quality
        return np.asarray(np.log(quality) - np.log1p(-quality))

    @cached_property
    def first_slope(self) -> float:
        """Largest slope of the smoothed accuracy at the empty assignment: S'(r) (2 Q - 1) L / tasks."""
        against = np.log1p(-self.priors) - np.log(self.priors)
        slopes = expit(against) * expit(-against) * (2 * self.quality.quality - 1) * self.log_odds
        return float(slopes.max()) / len(self.task_ids)

    def loss(self, draws: int, rng: np.random.Generator) -> AssignmentLoss:
        """The smoothed error over new draws of answers."""
        return AssignmentLoss.drawn(self.quality.quality, self.priors, draws, rng)

    def choose(self, worths: Array) -> Selection:
        """The assignment of greatest total worth, its prices and the proof; only known pairs."""
        found = self.over.select(np.where(self.quality.known, worths, -1.0))
        return found.named(("worker", self.quality.worker_ids), ("task", self.quality.task_ids))

    def assignment(self, chosen: NDArray[np.bool_]) -> Assignment:
        """The answer with these pairs (workers x tasks); pairs that are not known are left out."""
        chosen = np.asarray(chosen, dtype=bool) & self.quality.known
        table = self.quality
        estimate = self._judge(_REPORTING).estimate(chosen)
        return Assignment(chosen, table.worker_ids, table.task_ids, table.quality, estimate, table.backend)

    def shadow_prices(self, solution: Assignment) -> Prices:
        """What one more unit of each cap would add to the mean expected accuracy, the others as they are.

        To first order: each pair is worth what it adds by itself to this assignment (or loses
        it), and the shadow price is that of the best assignment for these worths. A second answer to a task
        adds nothing by itself unless it can overturn the first, although a second and a third
        together do. Gains of less than 2^-26 of the largest count as 0. `rows` are the workers' caps,
        `columns` the tasks'.
        """
        worths = self._judge(_REPORTING).marginals(solution.chosen)
        # With smaller ones beside the largest all would count in Python's whole numbers, ten times as slowly.
        worths = np.where(worths * 2.0**26 >= worths.max(), worths, 0.0)
        return shadow_prices(self.over, np.where(self.quality.known, worths, -1.0))

    def objective(self, solution: Assignment) -> float:
        return 1.0 - self._judge(_JUDGING).estimate(solution.chosen).value

    def violation(self, solution: Assignment) -> float:
        return float(self.over.excess(solution.chosen.astype(np.float64)))

    def metrics(self, solution: Assignment) -> dict[str, float]:
        found = solution.accuracy
        return {
            "accuracy": found.value,
            "accuracy_low": found.low,
            "accuracy_high": found.high,
            "assigned": float(len(solution)),
        }

    def baseline_metrics(self) -> dict[str, float]:
        """`accuracy` when nobody is assigned."""
        return {"accuracy": self.assignment(np.zeros(self.quality.quality.shape, dtype=bool)).accuracy.value}

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("tvcs.assignment-iht", "it maximizes the expected accuracy itself and not a bound on it"),)

    def check(self, solution: Any) -> None:
        if not isinstance(solution, Assignment) or solution.chosen.shape != self.quality.quality.shape:
            raise InvalidInput("the solution must be an Assignment of this problem's workers and tasks")

    def formulate(self) -> Formulation:
        rng = np.random.default_rng([self.seed, _LEARNING])
        return Formulation(
            Minimize(self.loss(_FORMULATED, rng), over=self.relaxed),
            interpret=lambda x: self.assignment(x > 0),
            encode=lambda solution: solution.chosen.astype(np.float64),
        )

    def diagnose(self, solution: Assignment) -> tuple[Finding, ...]:
        findings = list(self.quality.remarks)
        alone = self.task_ids[~solution.chosen.any(axis=0)].tolist()
        if alone:
            tasks = counted(len(self.task_ids), "task")
            text = (
                f"no worker is assigned to {len(alone)} of {tasks}, whose label is a guess: {listed(alone)}"
            )
            findings.append(
                Finding("warning", text, tuple(alone), identifier="assignment.task-without-worker")
            )
        worse = self.worker_ids[((self.quality.quality < 0.5) & solution.chosen).any(axis=1)].tolist()
        if worse:
            text = (
                "some workers are assigned to tasks that they answer rightly less than half the time; Bayes' "
                f"rule turns these answers: {listed(worse)}"
            )
            findings.append(Finding("note", text, tuple(worse), identifier="assignment.mostly-wrong-worker"))
        if not solution.accuracy.exact:
            text = f"the expected accuracy is estimated from {self.samples:,} draws of answers"
            findings.append(Finding("note", text, identifier="assignment.estimated-accuracy"))
        return tuple(findings)

    def to_tables(self, solution: Assignment) -> dict[str, Columns]:
        accuracies = self._judge(_REPORTING).accuracies(solution.chosen)
        tasks = {
            "task": self.task_ids,
            "workers": solution.chosen.sum(axis=0),
            "accuracy": accuracies,
        }
        return {"assignment": solution.columns(), "tasks": tasks, "caps": self._caps_table(solution)}

    def _caps_table(self, solution: Assignment) -> Columns:
        """A row for each cap: of what, how much of it is used, and what one more would add."""
        more = self.shadow_prices(solution)
        workers, tasks = len(self.worker_ids), len(self.task_ids)
        owners = np.empty(1 + workers + tasks, dtype=object)
        owners[:] = ["", *self.worker_ids.tolist(), *self.task_ids.tolist()]
        return {
            "cap": np.repeat(["total", "worker", "task"], [1, workers, tasks]).astype(object),
            "id": owners,
            "limit": np.concatenate([[self.over.limit], self.per_worker_caps, self.per_task_caps]),
            "used": np.concatenate(
                [[len(solution)], solution.chosen.sum(axis=1), solution.chosen.sum(axis=0)]
            ),
            "one_more_adds": np.concatenate([[more.total], more.rows, more.columns]),
        }

    def _judge(self, stream: int) -> Judge:
        return Judge(self.quality.quality, self.priors, self.samples, self.seed, stream)
