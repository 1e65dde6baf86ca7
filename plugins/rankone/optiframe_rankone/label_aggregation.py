"""Label aggregation: the true labels of tasks, and the skills of workers, from crowd labels."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveFloat, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems import Columns, Finding, Formulation, Problem
from optiframe.values import Accepts, Array
from optiframe_rankone import kernels, trust
from optiframe_rankone.aggregation import Aggregation, log_odds
from optiframe_rankone.ids import Ids, positions, union
from optiframe_rankone.rank_one import RankOneCompletion
from optiframe_rankone.tables import LabelTable, TruthTable, read_columns, read_labels, read_truth
from optiframe_rankone.worker_graph import WorkerGraph

_CANCEL = 1e-6
"""Skills cancel when their sum is at most this share of the sum of their sizes: the default
tolerance of a run is 1e-6 in units of skill, so a smaller sum has no sign of its own."""

_TABLE = "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns "


class LabelAggregation(Problem[Aggregation]):
    """Find the true labels of tasks from what workers of unknown skill said.

    Labels have the columns `task, worker, label`, one row for each task and worker. The
    classes are the labels that occur, in `labels` or in `truth`, whatever their ids.

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
    worker graph separately, skills are taken to sum to something positive; where the sum
    is negative they are reversed. For more than two classes the box reaches further up
    than down, so a reversed skill may leave it and is then clipped: the fit there is no
    longer the least-squares one. Where skills cancel (two workers who mostly disagree),
    nothing says who is right: their skills are set to 0, and a finding names them.

    **Nobody to compare with.** The skill of a worker who shares no task cannot be estimated;
    it stays where the solver started (1/2, within the box), which a finding says.
    """

    name = "label-aggregation"
    reference = "Ma et al., Secs. 3, 4 and 6"

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[
        dict[str, str],
        PlainValidator(read_columns),
        Accepts("table of our column name to yours; `truth` is the label column of the truth"),
    ] = Field(default_factory=dict, description="names of the columns where they differ from ours")
    labels: Annotated[LabelTable, PlainValidator(read_labels), Accepts(_TABLE + "task, worker, label")] = (
        Field(description="what each worker said about each task")
    )
    truth: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "task, label")] = Field(
        None, description="known true labels, for the metrics only; an empty label is not known"
    )
    weights: Literal["count", "count-squared", "binary"] = Field(
        "count", description="weight of a pair of workers, from the number of tasks they share"
    )
    tau: PositiveFloat = Field(1.0, description="how far skills stay inside the box, over sqrt(tasks)")
    tie_seed: NonNegativeInt = Field(0, description="resolves ties for the metric error_resolved")

    @model_validator(mode="after")
    def _more_than_one_class(self) -> Self:
        if len(self.classes) < 2:
            raise InvalidInput(f"only one label value occurs ({self.classes[0]}), nothing to aggregate")
        return self

    @cached_property
    def classes(self) -> Ids:
        """Every label that occurs, in the labels or in the truth; sorted."""
        seen = self.labels.label_ids
        return seen if self.truth is None else union(seen, self.truth.label_ids)

    @cached_property
    def label_codes(self) -> NDArray[Any]:
        """Index into `classes` of each label, shape (labels,)."""
        place = positions(self.classes, self.labels.label_ids)
        return self.labels.label if len(place) == len(self.classes) else place[self.labels.label]

    @cached_property
    def truth_codes(self) -> NDArray[np.int64]:
        """Index into `classes` of each task's true label, -1 where not known, shape (tasks,)."""
        if self.truth is None:
            return np.full(len(self.labels.task_ids), -1, dtype=np.int64)
        place = np.append(positions(self.classes, self.truth.label_ids), -1)
        return np.asarray(place[self.truth.label])

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """Number of tasks of each worker, N_i, shape (workers,)."""
        return np.bincount(self.labels.worker, minlength=len(self.labels.worker_ids))

    @cached_property
    def worker_graph(self) -> WorkerGraph:
        """Who shares tasks with whom."""
        return WorkerGraph.of_labels(self.labels.task, self.labels.worker, len(self.labels.worker_ids))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and largest skill of each worker, each of shape (workers,)."""
        margin = self.tau / np.sqrt(self.labels_per_worker)
        lower = np.minimum(margin - 1.0 / (len(self.classes) - 1), 0.0)
        return lower, np.maximum(1.0 - margin, 0.0)

    def formulate(self) -> Formulation:
        labels, m = self.labels, len(self.classes)
        shared, agreed = kernels.co_occurrence(
            labels.task,
            labels.worker,
            self.label_codes,
            tasks=len(labels.task_ids),
            workers=len(labels.worker_ids),
            classes=m,
        )
        correlation = (m / (m - 1.0)) * agreed / shared.data - 1.0 / (m - 1.0)
        weight = {"count": shared.data, "count-squared": shared.data**2, "binary": np.ones(shared.nnz)}
        lower, upper = self.box
        completion = RankOneCompletion(
            weights=sp.csr_array((weight[self.weights], shared.indices, shared.indptr), shared.shape),
            values=sp.csr_array((correlation, shared.indices, shared.indptr), shared.shape),
            lower=lower,
            upper=upper,
        )
        return Formulation(completion, interpret=self.from_skills, encode=self.to_skills)

    def from_skills(self, skills: Array) -> Aggregation:
        """The answer that estimated skills stand for: signs settled, then the weighted vote."""
        return self.weighted_vote(self.with_positive_sums(skills))

    def to_skills(self, solution: Aggregation) -> Array | None:
        """The skills of an answer to this problem; None when it has none."""
        self.check(solution)
        return solution.skills

    def with_positive_sums(self, skills: Array) -> Array:
        """Skills with the sign of each component settled.

        Reversed, and clipped to the box, where they sum to less than 0; all zero where they
        cancel, since then nothing says which side is right.
        """
        graph = self.worker_graph
        total, size = graph.sums(skills), graph.sums(np.abs(skills))
        settled = np.where((total < 0)[graph.component], np.clip(-skills, *self.box), skills)
        return np.where((np.abs(total) <= _CANCEL * size)[graph.component], 0.0, settled)

    def weighted_vote(self, skills: Array) -> Aggregation:
        """The vote in which every label counts the log-odds of its worker."""
        return self.vote(log_odds(skills, len(self.classes)), "log-odds", skills)

    def vote(
        self, weight: Array, scale: Literal["votes", "log-odds"], skills: Array | None = None
    ) -> Aggregation:
        """The vote in which a label of worker i counts ``weight[i]``, shape (workers,)."""
        labels = self.labels
        tasks, classes = len(labels.task_ids), len(self.classes)
        scores = kernels.vote(
            labels.task, labels.worker, self.label_codes, weight, tasks=tasks, classes=classes
        )
        return Aggregation(
            labels.task_ids, labels.worker_ids, self.classes, scores, scale, skills, labels.backend
        )

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these tasks, workers and classes."""
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
        # Asked first, so that methods without skills never count pairs of workers.
        return float("nan") if solution.skills is None else super().objective(solution)

    def metrics(self, solution: Aggregation) -> dict[str, float]:
        """Errors over the tasks with a known truth; empty when there is none.

        `error`: share of wrong labels, a tie of k labels counting 1 - 1/k when the truth is
        among them; `error_resolved`: with ties resolved by `tie_seed`; `balanced_error`: the
        mean over true classes of the error within the class.
        """
        known = np.flatnonzero(self.truth_codes >= 0)
        if len(known) == 0:
            return {}
        truth, winners = self.truth_codes[known], solution.winners[known]
        wrong = 1.0 - winners[np.arange(len(known)), truth] / winners.sum(axis=1)
        size = np.bincount(truth, minlength=len(self.classes))
        per_class = np.bincount(truth, weights=wrong, minlength=len(self.classes))[size > 0] / size[size > 0]
        return {
            "error": float(wrong.mean()),
            "error_resolved": float((solution.predicted_codes(self.tie_seed)[known] != truth).mean()),
            "balanced_error": float(per_class.mean()),
        }

    def diagnose(self, solution: Aggregation) -> tuple[Finding, ...]:
        ignored = () if self.truth is None else self.truth.ignored
        findings = [*trust.ties(solution), *trust.ignored_truth(ignored)]
        if solution.skills is not None:
            findings += trust.graph(self.worker_graph, self.labels.worker_ids)
            findings += trust.skills(
                solution.skills,
                self.labels.worker_ids,
                self.labels_per_worker,
                workers=self.worker_graph,
                tau=self.tau,
            )
        return tuple(findings)

    def answer(self, solution: Aggregation) -> dict[str, Columns]:
        """Tables `labels` (task, label, confidence, tied) and `workers` (worker, labels, and skills)."""
        workers: dict[str, Any] = {"worker": solution.worker_ids, "labels": self.labels_per_worker}
        if solution.skills is not None:
            workers |= {"skill": solution.skills, "accuracy": solution.accuracies}
        return {"labels": solution.columns(), "workers": workers}
