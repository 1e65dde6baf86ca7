"""Labels whose workers' correlations are given instead of counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Matrix
from optiframe.tables.columns import Columns
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust import findings, input_warnings
from optiframe_rankone.trust.worker_findings import negative
from optiframe_rankone.worker_graph import WorkerGraph

_ROUNDING = 1e-12  # of correlations, numbers up to 1, that were computed in two orders


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenModel(SkillModel):
    """The least squares of correlations that are given for some pairs of workers, all with one weight.

    Parameters
    ----------
    pairs
        1 where the correlation of two workers is given, shape (workers, workers).
    correlations
        Only looked at on `pairs`.
    """

    counted = False

    pairs: sp.csr_array
    correlations: Any

    @cached_property
    def worker_graph(self) -> WorkerGraph:
        """Whose correlations are given; not who shares tasks."""
        return WorkerGraph(self.pairs)

    @cached_property
    def completion(self) -> RankOneCompletion:
        lower, upper = self.box
        return RankOneCompletion(
            weights=self.pairs,
            values=self.correlations,
            lower=lower,
            upper=upper,
            sign_weights=self.sign_weights,
        )


class KnownCorrelations(LabelAggregation):
    """Find the true labels of tasks when products of workers' skills are given, not counted.

    Skills are estimated from `correlations` alone, with equal weights; the labels are only
    voted on. For experiments in which the noise of the correlations must not depend on the
    number of tasks, and for correlations known from elsewhere.

    Solvers that look at labels only, such as majority and EM, do so here too.
    """

    name = "label-aggregation-by-correlations"
    reference = "Ma et al., Sec. 6, Influence of Graph Size"

    weights: Literal["binary"] = Field("binary", description="nothing else: all correlations count alike")
    pairs: Matrix = Field(
        description="symmetric; not zero where the correlation of two workers is given. Rows and columns "
        "stand for the workers in the order of their sorted ids"
    )
    correlations: Matrix = Field(description="symmetric; s_i s_j plus noise; only looked at on `pairs`")

    @model_validator(mode="after")
    def _one_row_for_each_worker(self) -> Self:
        if self.cutoff is not None or self.cutoff_noise:
            text = "means nothing where correlations are given; leave pairs out of `pairs` instead"
            raise InvalidInput(f"cutoff: {text}", [(("cutoff",), text)])
        workers = len(self.labels.worker_ids)
        for key in ("pairs", "correlations"):
            rows, columns = getattr(self, key).shape
            if (rows, columns) != (workers, workers):
                raise InvalidInput(
                    f"{key} must be {workers} x {workers}, a row for each worker, got {rows} x {columns}"
                )
        if (self._weights != self._weights.T).nnz:
            raise InvalidInput("pairs must be symmetric: where i meets j, j meets i")
        given = sp.csr_array(self._weights.multiply(sp.csr_array(self.correlations)))
        if abs(given - given.T).max() > _ROUNDING:
            raise InvalidInput("correlations must be symmetric wherever `pairs` is not zero")
        return self

    @cached_property
    def model(self) -> GivenModel:
        """How skills follow from the given correlations; not from the labels."""
        return GivenModel(
            crowd=self.crowd,
            weights=self.weights,
            cutoff=None,
            cutoff_noise=0.0,
            orientation=self.orientation,
            tau=self.tau,
            pairs=self._weights,
            correlations=self.correlations,
        )

    @cached_property
    def _weights(self) -> sp.csr_array:
        given = sp.coo_array(self.pairs)
        rows, columns = given.coords
        keep = (given.data != 0) & (rows != columns)
        return sp.csr_array((np.ones(keep.sum()), (rows[keep], columns[keep])), shape=given.shape)

    def diagnose(self, solution: Aggregation) -> tuple[Finding, ...]:
        """As for any labels, without what would follow from counting them: intervals and the like."""
        found = [*findings.ties(solution), *input_warnings.left_out(self.crowd)]
        if solution.skills is not None:
            ids, graph = self.labels.worker_ids, self.worker_graph
            if solution.oriented:
                found += findings.signs(self.model, solution.skills)
            found += findings.unidentified(graph, ids)
            found += findings.weightless(solution.skills, ids, self.labels_per_worker, graph, self.tau)
            found += negative(solution)
        return tuple(found)

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("rankone.pgd", "it uses the correlations that are given, which a model of labels does not"),)

    def to_tables(self, solution: Aggregation) -> dict[str, Columns]:
        """As for any labels, without intervals, which would follow from counting them."""
        tables = super().to_tables(solution)
        workers = {k: v for k, v in tables["workers"].items() if k not in ("skill_low", "skill_high")}
        return {**tables, "workers": workers}
