"""Label aggregation: the true labels of tasks, and the skills of workers, from crowd labels."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PlainValidator, PositiveFloat, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.problem import Columns, Finding, Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe_rankone import metrics
from optiframe_rankone.answer import Aggregation, log_odds
from optiframe_rankone.completion import from_labels as correlations
from optiframe_rankone.completion import orientation
from optiframe_rankone.kernels import passes as kernels
from optiframe_rankone.read import gold
from optiframe_rankone.read.duplicates import Policy
from optiframe_rankone.ids import Ids, positions, union
from optiframe_rankone.read.tables import (
    LabelTable,
    TruthTable,
    read_columns,
    read_labels,
    read_truth,
    refuse_contradictions,
)
from optiframe_rankone.read.true_skills import SkillTable, read_skills, refuse_low_skills
from optiframe_rankone.trust import findings as trust
from optiframe_rankone.trust import groups
from optiframe_rankone.trust import intervals as uncertainty
from optiframe_rankone.worker_graph import WorkerGraph

_CANCEL = 1e-6
"""Skills cancel when their sum is at most this share of the sum of their sizes: the default
tolerance of a run is 1e-6 in units of skill, so a smaller sum has no sign of its own."""

_TABLE = "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns "


class LabelAggregation(Problem[Aggregation]):
    """Find the true labels of tasks from what workers of unknown skill said.

    Labels have the columns `task, worker, label`, one row for each task and worker. The
    classes are the labels that workers gave, and those of the gold, whatever their ids; a true label
    that is none of them is no class, since no solver sees the truth, and counts as missed.

    Formulates to rank-one completion: under the one-coin model, where worker i is right
    with chance p_i and wrong in every other way with equal chance, the correlation of two
    workers' labels is the product of their skills s_i = (M p_i - 1)/(M - 1) (Lemma 7; for
    two classes it is the mean of Y_i Y_j, Eq. 3). Tasks are then labelled by the vote
    weighted with log((M - 1) p/(1 - p)).

    Notes
    -----
    **The box.** Skill i lies within [-1/(M-1) + tau/sqrt(N_i), 1 - tau/sqrt(N_i)], widened
    to hold 0, where N_i is the number of tasks of worker i: what N_i tasks cannot tell from
    a perfect worker gets no infinite weight. A worker with at most tau^2 labels (with the
    default: one label) has the box {0}, so no weight in the vote; a finding names such workers.

    **The sign.** Correlations do not say who is right. In each connected component of the
    worker graph separately, the sum of N_i s_i over the workers is taken to be positive; where
    it is negative the skills are reversed. With ``orientation = "workers"`` it is the plain sum of
    s_i, as in the paper: many workers with few labels each can then outvote a few who label
    everything. A finding warns where the two sums disagree. Where gold was labelled by a
    component, it decides instead: the sum of N_i C_i s_i over the workers is positive, where C_i
    is the correlation with gold on N_i of its tasks, as if gold were a worker of skill 1. For
    more than two classes the box reaches further up than down, so a reversed skill may leave it and is
    then clipped: the fit there is no longer the least-squares one. Where skills cancel (two
    workers who mostly disagree), nothing says who is right: their skills are set to 0, and a
    finding names them.

    **Nobody to compare with.** The skill of a worker who shares no task cannot be estimated;
    it stays where the solver started (1/2, within the box), which a finding says.

    **Gold** also counts as certain in the answer, and its tasks are left out of the metrics.
    It is not part of the least squares.
    """

    name = "label-aggregation"
    counted: ClassVar[bool] = True  # correlations come from the labels, which then tell how sure they are
    reference = "Ma et al., Secs. 3, 4 and 6"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = dict.fromkeys(
        ("error", "error_resolved", "balanced_error", "regret", "skill_error_l2", "skill_error_max"), "lower"
    )

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[
        dict[str, str],
        PlainValidator(read_columns),
        Accepts("table of our column name to yours; `truth` and `gold` are their label columns"),
    ] = Field(default_factory=dict, description="names of the columns where they differ from ours")
    duplicates: Policy = Field(
        "error",
        description="what to do with several rows of one task and worker; agreeing: merge rows that agree, "
        "refuse others; majority, drop: leave out what is not settled",
    )
    labels: Annotated[LabelTable, PlainValidator(read_labels), Accepts(_TABLE + "task, worker, label")] = (
        Field(description="what each worker said about each task")
    )
    truth: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "task, label")] = Field(
        None, description="known true labels, for the metrics only; an empty label is not known"
    )
    gold: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "task, label")] = Field(
        None, description="true labels to build on: certain in the answer, fix the sign, not scored"
    )
    skills: Annotated[SkillTable | None, PlainValidator(read_skills), Accepts(_TABLE + "worker, skill")] = (
        Field(None, description="known true skills, for the metrics and the oracle vote only")
    )
    weights: Literal["count", "count-squared", "binary"] = Field(
        "count", description="weight of a pair of workers, from the number of tasks they share"
    )
    cutoff: NonNegativeFloat | None = Field(
        None,
        description="leave out pairs of workers whose correlation is smaller than this in size; "
        "who has no pair left is taken for guessing; none: keep all (after Theorem 12)",
    )
    cutoff_noise: NonNegativeFloat = Field(
        0.0, description="with a cutoff: so many times sqrt(log(workers)/shared tasks) is added to it"
    )
    orientation: Literal["labels", "workers"] = Field(
        "labels",
        description="which sum of skills is positive in each group of workers who share tasks, and so says "
        "who is right: labels: each skill times the worker's number of labels; workers: the plain sum, as "
        "in the paper",
    )
    tau: PositiveFloat = Field(1.0, description="how far skills stay inside the box, over sqrt(tasks)")
    tie_seed: NonNegativeInt = Field(0, description="resolves ties for the metric error_resolved")

    @model_validator(mode="after")
    def _more_than_one_class(self) -> Self:
        if len(self.classes) < 2:
            but = "; what only the truth names is no class" if len(self.true_classes) > 1 else ""
            raise InvalidInput(f"only one label value occurs ({self.classes[0]}), nothing to aggregate{but}")
        refuse_low_skills(self.true_skills, self.labels.worker_ids, len(self.classes))
        refuse_contradictions(self.truth_codes, self.gold_codes, self.labels.task_ids, self.true_classes)
        return self

    @cached_property
    def classes(self) -> Ids:
        """Every label that occurs in the labels or the gold, sorted; those of the truth change nothing."""
        given = self.labels.label_ids
        return given if self.gold is None else union(given, self.gold.label_ids)

    @cached_property
    def true_classes(self) -> Ids:
        """What `truth_codes` stand for: `classes`, then the true labels that are none of them."""
        return self.classes if self.truth is None else self.truth.classes_after(self.classes)

    @cached_property
    def label_codes(self) -> NDArray[Any]:
        """Index into `classes` of each label, shape (labels,)."""
        place = positions(self.classes, self.labels.label_ids)
        return self.labels.label if len(place) == len(self.classes) else place[self.labels.label]

    @cached_property
    def truth_codes(self) -> NDArray[np.int64]:
        """Index into `true_classes` of each task's true label, -1 where not known, shape (tasks,)."""
        return self._codes(self.truth, self.true_classes)

    @cached_property
    def gold_codes(self) -> NDArray[np.int64]:
        """Index into `classes` of each task's gold label, -1 where there is none, shape (tasks,)."""
        return self._codes(self.gold, self.classes)

    def _codes(self, known: TruthTable | None, classes: Ids) -> NDArray[np.int64]:
        if known is None:
            return np.full(len(self.labels.task_ids), -1, dtype=np.int64)
        return known.codes_in(classes)

    @property
    def true_skills(self) -> Array | None:
        """Known true skill of each worker, nan where not known, shape (workers,); None without any."""
        return None if self.skills is None else self.skills.skill

    @cached_property
    def gold_agreement(self) -> Array:
        """N_i C_i of each worker with the gold, shape (workers,); 0 for who labelled none of it."""
        labels = self.labels
        return gold.agreement(
            labels.task,
            labels.worker,
            self.label_codes,
            self.gold_codes,
            workers=len(labels.worker_ids),
            classes=len(self.classes),
        )

    @property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """Number of tasks of each worker, N_i, shape (workers,)."""
        return self.labels.per_worker

    @cached_property
    def sign_weights(self) -> Array:
        """What each worker's skill counts in the sum that is positive (`orientation`), shape (workers,)."""
        counts = self.labels_per_worker
        return np.ones(len(counts)) if self.orientation == "workers" else counts.astype(np.float64)

    @cached_property
    def worker_graph(self) -> WorkerGraph:
        """Who shares tasks with whom; with a cutoff, whose correlations are kept."""
        if self.cutoff is not None:
            return correlations.graph_of_kept(self)
        return WorkerGraph.of_labels(self.labels.task, self.labels.worker, len(self.labels.worker_ids))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and largest skill of each worker, each of shape (workers,)."""
        margin = self.tau / np.sqrt(self.labels_per_worker)
        lower = np.minimum(margin - 1.0 / (len(self.classes) - 1), 0.0)
        return lower, np.maximum(1.0 - margin, 0.0)

    def formulate(self) -> Formulation:
        completion = correlations.formulated(self)
        return Formulation(completion, interpret=self.from_skills, encode=self.to_skills)

    def from_skills(self, skills: Array) -> Aggregation:
        """The answer that estimated skills stand for: signs settled, then the weighted vote."""
        return replace(self.weighted_vote(self.with_positive_sums(skills)), fitted=True, oriented=True)

    def to_skills(self, solution: Aggregation) -> Array | None:
        """The skills of an answer to this problem; None when it has none."""
        self._check_ids(solution)  # not whether it is finite: the objective asks for these of any iterate
        return solution.skills

    def with_positive_sums(self, skills: Array) -> Array:
        """Skills with the sign of each component settled.

        Reversed, and clipped to the box, where they contradict the gold or, without gold, where
        their sum (`orientation`) is below 0; all zero where that cancels, since then nothing
        says which side is right.
        """
        component = self.worker_graph.component
        by_gold = () if self.gold is None else (self.gold_agreement * skills,)
        signs = orientation.of_groups(component, *by_gold, self.sign_weights * skills, cancel=_CANCEL)
        sign = signs[component]
        settled = np.where(sign < 0, np.clip(-skills, *self.box), skills)
        return np.where(sign == 0, 0.0, settled)

    def weighted_vote(self, skills: Array) -> Aggregation:
        """The vote in which every label counts the log-odds of its worker."""
        answer = self.vote(log_odds(skills, len(self.classes)), "log-odds", skills)
        return replace(answer, reverses=True)

    def vote(
        self, weight: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
    ) -> Aggregation:
        """The vote in which a label of worker i counts ``weight[i]``, shape (workers,)."""
        labels = self.labels
        tasks, classes = len(labels.task_ids), len(self.classes)
        if np.shape(weight) != labels.worker_ids.shape:
            wanted = f"{len(labels.worker_ids)} numbers, one for each worker"
            raise InvalidInput(f"weight must be {wanted}, got shape {np.shape(weight)}")
        scores = kernels.vote(
            labels.task, labels.worker, self.label_codes, weight, tasks=tasks, classes=classes
        )
        return self.from_scores(scores, scale, skills)

    def from_scores(
        self, scores: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
    ) -> Aggregation:
        """The answer with these scores, shape (tasks, classes); gold is certain in it."""
        wanted = len(self.labels.task_ids), len(self.classes)
        if getattr(scores, "shape", None) == wanted:  # `check` refuses others
            scores = gold.settle(scores, self.gold_codes, scale)
        labels = self.labels
        return Aggregation(
            labels.task_ids, labels.worker_ids, self.classes, scores, scale, skills, labels.backend
        )

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these tasks, workers and classes, and finite."""
        self._check_ids(solution)
        solution.check_numbers()

    def _check_ids(self, solution: Any) -> None:
        if not isinstance(solution, Aggregation):
            raise InvalidInput(
                f"an answer to label-aggregation is an Aggregation, such as the solution of an earlier "
                f"run, not a {type(solution).__name__}"
            )
        for what, theirs, ours in (
            ("tasks", solution.task_ids, self.labels.task_ids),
            ("workers", solution.worker_ids, self.labels.worker_ids),
            ("classes", solution.classes, self.classes),
        ):
            if theirs is not ours and not np.array_equal(theirs, ours):
                raise InvalidInput(f"this answer is for other {what} than the problem's")

    def objective(self, solution: Aggregation) -> float:
        # Asked first, so that other methods never count pairs of workers.
        return super().objective(solution) if solution.fitted else float("nan")

    def metrics(self, solution: Aggregation) -> dict[str, float]:
        """Scores against the true labels and the true skills; empty when neither is known.

        Labels, over the tasks with a known truth and without gold. `error`: share of wrong
        labels, a tie of k labels counting 1 - 1/k when the truth is among them;
        `error_resolved`: with ties resolved by `tie_seed`; `balanced_error`: the mean over true
        classes (also those nobody gave) of the error within the class; `regret`: `error` minus that
        of the vote with the true skills. Skills: `skill_error_l2`, `skill_error_max`, norms of the
        error of the skills; `error_bound`: what Lemma 3 promises of the vote with the true skills.
        """
        return {
            **metrics.label_errors(self, solution),
            **metrics.regret(self, solution),
            **metrics.skill_errors(self, solution),
            **metrics.promised_error(self),
        }

    def chance(self) -> dict[str, float]:
        """`error` of one label for every task, the most frequent among the true ones."""
        return metrics.error_of_chance(self)

    def diagnose(self, solution: Aggregation) -> tuple[Finding, ...]:
        return (*correlations.cut_off(self, solution), *trust.report(self, solution))

    def answer(self, solution: Aggregation) -> dict[str, Columns]:
        """Tables `labels` (task, label, confidence, tied), `workers` (worker, labels, skills) and `groups`.

        With skills, `error_bound` is Lemma 3's bound for each task (`error_bounds`), 0 for gold;
        `skill_low` and `skill_high` are the ends of 90% intervals; and `groups` is there for up to
        300 workers and 200,000 labels (`worker_groups`).
        """
        tables: dict[str, Columns] = {"labels": solution.columns()}
        workers: dict[str, Any] = {"worker": solution.worker_ids, "labels": self.labels_per_worker}
        if solution.skills is not None:
            workers |= {"skill": solution.skills, "accuracy": solution.accuracies}
            low, high = uncertainty.skill_intervals(self, solution)
            workers |= {"skill_low": low, "skill_high": high}
            tables["labels"] = {
                **tables["labels"],
                "error_bound": metrics.expected_errors(self, solution.skills),
            }
        tables["workers"] = workers
        if solution.skills is not None and self.counted and groups.counted_in_time(self):
            tables["groups"] = groups.worker_groups(self, solution)
        return tables
