"""Label aggregation: the true labels of tasks, and the skills of workers, from crowd labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PlainValidator, PositiveFloat, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe.records.record import Record
from optiframe.solving import sources
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids
from optiframe_rankone import metrics, vote
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.answer_tables import further_tables
from optiframe_rankone.completion.skill_model import WANTED, SkillModel
from optiframe_rankone.data import Crowd, LabelTable, Policy, SkillTable, TruthTable
from optiframe_rankone.read.sizes import recommended, refuse_ids_as_labels
from optiframe_rankone.read.tables import read_columns, read_labels, read_truth, refuse_contradictions
from optiframe_rankone.read.true_skills import read_skills, refuse_low_skills
from optiframe_rankone.trust import findings, groups, intervals
from optiframe_rankone.worker_graph import WorkerGraph

_TABLE = "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns "


class LabelAggregation(Problem[Aggregation]):
    """Find the true labels of tasks from what workers of unknown skill said.

    Labels have the columns `task, worker, label`, one row for each task and worker, and may have a column
    `weight`: how many times the label counts, such as how sure its worker was. The classes are the labels
    that workers gave, and those of the gold, whatever their ids; a true label that is none of them is no
    class, since no solver sees the truth, and counts as missed.

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
    is the correlation with gold on N_i of its tasks. For more than two classes the box reaches
    further up than down, so a reversed skill may leave it and is then clipped: the fit there is no
    longer the least-squares one. Where skills cancel (two workers who mostly disagree), nothing says
    who is right: their skills are set to 0, and a finding names them.

    **Nobody to compare with.** The skill of a worker who shares no task cannot be estimated;
    it stays where the solver started (1/2, within the box), which a finding says.

    **Weights** are counts: of a label of weight w every sum over labels has w times its part. Solvers that
    cannot do that are `Unsuited` to labels with weights (those that can say so by `label_weights`), and
    `rankone.*` are among them: they count pairs of labels. Labels of weight 0 are left out. Findings about
    how often workers agree count each label once.

    **Gold** is certain in the answer, and its tasks are left out of the metrics. It teaches skills: in
    the least squares it is one more worker, whose skill is 1, and EM takes the class of its tasks as known.
    """

    name = "label-aggregation"
    formulated_as = "rank-one-completion"
    reference = "Ma et al., Secs. 3, 4 and 6"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = dict.fromkeys(
        ("error", "error_resolved", "balanced_error", "regret", "skill_error_l2", "skill_error_max"), "lower"
    )

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[
        dict[str, str],
        PlainValidator(read_columns),
        Accepts("maps our column names to yours; `truth` and `gold` name their label columns"),
    ] = Field(default_factory=dict, description="names of the columns where they differ from ours")
    duplicates: Policy = Field(
        default="error",
        description="what to do with several rows of one task and worker; agreeing: merge rows that agree, "
        "refuse others; majority, drop: leave out what is not settled",
    )
    copies: Literal["keep", "share"] = Field(
        default="keep",
        description="workers who agree far more often than their accuracy explains, as if they copied: keep: "
        "each has a vote; share: one vote for a group of them, under the name of one. A warning names them",
    )
    labels: Annotated[
        LabelTable,
        PlainValidator(read_labels),
        Accepts(_TABLE + "task, worker, label, and weight if labels have weights"),
    ] = Field(description="what each worker said about each task; weight: how many times the label counts")
    truth: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "task, label")] = Field(
        default=None, description="known true labels, for the metrics only; an empty label is not known"
    )
    gold: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "task, label")] = Field(
        default=None, description="true labels to build on: certain in the answer, teach skills, not scored"
    )
    skills: Annotated[SkillTable | None, PlainValidator(read_skills), Accepts(_TABLE + "worker, skill")] = (
        Field(default=None, description="known true skills, for the metrics and the oracle vote only")
    )
    weights: Literal["count", "count-squared", "binary"] = Field(
        default="count", description="weight of a pair of workers, from the number of tasks they share"
    )
    cutoff: NonNegativeFloat | None = Field(
        default=None,
        description="leave out pairs of workers whose correlation is smaller than this in size; "
        "who has no pair left is taken for guessing; none: keep all (after Theorem 12)",
    )
    cutoff_noise: NonNegativeFloat = Field(
        default=0.0, description="with a cutoff: so many times sqrt(log(workers)/shared tasks) is added to it"
    )
    orientation: Literal["labels", "workers"] = Field(
        default="labels",
        description="which sum of skills is positive in each group of workers who share tasks, and so says "
        "who is right: labels: each skill times the worker's number of labels; workers: the plain sum, as "
        "in the paper",
    )
    tau: PositiveFloat = Field(
        default=1.0, description="how far skills stay inside the box, over sqrt(tasks)"
    )
    tie_seed: NonNegativeInt = Field(default=0, description="resolves ties for the metric error_resolved")

    @model_validator(mode="after")
    def _more_than_one_class(self) -> Self:
        if len(self.classes) < 2:
            but = "; what only the truth names is no class" if len(self.crowd.true_classes) > 1 else ""
            raise InvalidInput(f"only one label value occurs ({self.classes[0]}), nothing to aggregate{but}")
        refuse_ids_as_labels(self.labels, self.classes)
        refuse_low_skills(self.true_skills, self.labels.worker_ids, len(self.classes))
        refuse_contradictions(
            self.truth_codes, self.gold_codes, self.labels.task_ids, self.crowd.true_classes
        )
        return self

    @cached_property
    def crowd(self) -> Crowd:
        """The labels with the true labels and skills that are known."""
        return Crowd(self.labels, self.truth, self.gold, self.skills)

    @cached_property
    def model(self) -> SkillModel:
        """How skills follow from the labels."""
        return SkillModel(
            crowd=self.crowd,
            weights=self.weights,
            cutoff=self.cutoff,
            cutoff_noise=self.cutoff_noise,
            orientation=self.orientation,
            tau=self.tau,
        )

    @property
    def classes(self) -> Ids:
        """Every label that occurs in the labels or the gold, sorted; those of the truth change nothing."""
        return self.crowd.classes

    @property
    def label_codes(self) -> NDArray[Any]:
        """Index into `classes` of each label, shape (labels,)."""
        return self.crowd.label_codes

    @property
    def truth_codes(self) -> NDArray[np.int64]:
        """Index into `crowd.true_classes` of each task's true label, -1 where not known, shape (tasks,)."""
        return self.crowd.truth_codes

    @property
    def gold_codes(self) -> NDArray[np.int64]:
        """Index into `classes` of each task's gold label, -1 where there is none, shape (tasks,)."""
        return self.crowd.gold_codes

    @property
    def true_skills(self) -> Array | None:
        """Known true skill of each worker, nan where not known, shape (workers,); None without any."""
        return self.crowd.true_skills

    @property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """Number of tasks of each worker, N_i, shape (workers,)."""
        return self.labels.per_worker

    @property
    def worker_graph(self) -> WorkerGraph:
        """Who shares tasks with whom; with a cutoff, whose correlations are kept."""
        return self.model.worker_graph

    @property
    def box(self) -> tuple[Array, Array]:
        """Least and largest skill of each worker, each of shape (workers,)."""
        return self.model.box

    def refuses(self, solver: Record) -> str | None:
        if self.labels.weight is None or getattr(solver, "label_weights", False):
            return None
        return (
            "its labels have weights, and this method counts each label once; labels.crowd, "
            "labels.dawid-skene and labels.majority count weights. To count each label once, leave the "
            'column out: columns = { weight = "" }'
        )

    def formulate(self) -> Formulation:
        return Formulation(self.model.with_gold.completion, interpret=self._from_rows, encode=self._to_rows)

    def _from_rows(self, rows: Array) -> Aggregation:
        return self.from_skills(rows[: len(self.labels.worker_ids)])  # without the gold's

    def _to_rows(self, solution: Aggregation) -> Array | None:
        skills = self.to_skills(solution)
        return skills if skills is None or self.gold is None else np.append(skills, 1.0)

    def from_skills(self, skills: Array) -> Aggregation:
        """The answer that estimated skills stand for: signs settled, then the weighted vote."""
        return replace(self.weighted_vote(self.with_positive_sums(skills)), fitted=True, oriented=True)

    def to_skills(self, solution: Aggregation) -> Array | None:
        """The skills of an answer to this problem; None when it has none."""
        vote.check_ids(self.crowd, solution)  # not whether it is finite: any iterate is judged by them
        return solution.skills

    def with_positive_sums(self, skills: Array) -> Array:
        """Skills with the sign of each component settled, as by `SkillModel.with_positive_sums`."""
        return self.model.with_positive_sums(skills)

    def weighted_vote(self, skills: Array) -> Aggregation:
        """The vote in which every label counts the log-odds of its worker."""
        return vote.weighted_vote(self.crowd, skills)

    def vote(
        self, weight: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
    ) -> Aggregation:
        """The vote in which a label of worker i counts ``weight[i]``, shape (workers,)."""
        return vote.vote(self.crowd, weight, scale, skills)

    def from_scores(
        self, scores: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
    ) -> Aggregation:
        """The answer with these scores, shape (tasks, classes); gold is certain in it."""
        return vote.from_scores(self.crowd, scores, scale, skills)

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (recommended(len(self.labels.worker_ids), len(self.classes)),)

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these tasks, workers and classes, and finite."""
        vote.check(self.crowd, solution)

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
        error of the skills; `lemma_3_bound`: what Lemma 3 promises of the vote with the true
        skills, mean over the tasks.
        """
        return {
            **metrics.label_errors(self.crowd, solution, self.tie_seed),
            **metrics.regret(self.crowd, solution),
            **metrics.skill_errors(self.crowd, solution),
            **metrics.lemma_3_bound(self.crowd),
        }

    def baseline_metrics(self) -> dict[str, float]:
        """`error` of one label for every task, the most frequent among the true ones."""
        return metrics.error_of_chance(self.crowd)

    def diagnose(self, solution: Aggregation) -> tuple[Finding, ...]:
        return tuple(findings.report(self.model, solution))

    def to_tables(self, solution: Aggregation) -> dict[str, Columns]:
        """Tables `labels` (task, label, confidence, tied), `workers` (worker, labels, skills) and `groups`.

        Further `classes`, `probabilities` and `confusion` (`answer_tables.further_tables`).
        With skills, `skill_low`, `skill_high`, `accuracy_low` and `accuracy_high` are the ends of 90%
        intervals (`intervals`; nan where the answer is not finite). `confidence_valid` in the first table and
        `intervals_valid` in the second are false where a finding says that the method's assumptions do not
        hold. `groups` is there for skills fitted to correlations, for up to 300 workers and 200,000 labels
        (`worker_groups`).
        """
        valid = intervals.assumptions_hold(self.model, solution)
        tables: dict[str, Columns] = {
            "labels": {**solution.columns(), "confidence_valid": np.full(len(solution.task_ids), valid)}
        }
        workers: dict[str, Any] = {"worker": solution.worker_ids, "labels": self.labels_per_worker}
        if solution.skills is not None:
            workers |= {"skill": solution.skills, "accuracy": solution.accuracies}
            workers |= intervals.interval_columns(self.model, solution)
            workers["intervals_valid"] = np.full(len(solution.worker_ids), valid)
        tables["workers"] = workers
        if solution.fitted and intervals.is_finite(solution) and groups.counted_in_time(self.labels):
            tables["groups"] = groups.worker_groups(self.model, solution)
        return tables | further_tables(self.crowd, solution)


def problem_of(source: object) -> LabelAggregation:
    """The problem of a result or of a fitted `LabelAggregator`; `InvalidInput` without one."""
    return sources.part_of(source, LabelAggregation, "problem", wanted=WANTED)
