"""Ratios of eigenvectors, after Dalvi, Dasgupta, Kumar and Rastogi."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import binary_tasks
from optiframe_rankone.completion import orientation
from optiframe_rankone.completion.counts import co_occurrence
from optiframe_rankone.completion.spectral import leading
from optiframe_rankone.data import agreement_with
from optiframe_rankone.problem import LabelAggregation

_GAP = 1e-9
"""Gap of eigenvalues, over the largest, below which the leading eigenvector is anyone's guess:
an eigenvector is known to about 1e-16 over this."""
_CANCEL = 1e-9  # skills that sum to no more than this share of their sizes have no sign: rounding
_ROUNDING = 1e-12  # entries of unit eigenvectors are exact to about 1e-16 and must leave some digits
_ALONE = 0.5  # where nobody can be compared with: the skill at which the other solvers leave such a worker


class EigenvectorRatio(Solver[LabelAggregation, Aggregation, None]):
    """Skills as the ratio of two leading eigenvectors (ER in the paper's tables), then a linear vote.

    Needs a connected worker graph that is far from sparse: both eigenvectors are taken as if
    it were an expander. C holds the correlations of workers, N how many tasks they share.
    Where C_ij = s_i s_j, the matrix W * C is diag(s) W diag(s) for any weights W, and s is
    about v(W * C)/v(W) in every entry, v being leading eigenvectors.

    - "eigenvectors-of-ratio" (default): W = 1 where workers met, the variant that the name
      ER stands for: the ratio C is taken first, entry by entry.
    - "ratio-of-eigenvectors": W = N.

    Diagonals are those of C_ii = 1. The ratio is scaled by the root of the ratio of the
    eigenvalues, which makes it s itself for one skill s. A label counts s_i, as in that paper
    (not log-odds); scores are reported as M s_i, the log-odds to first order.

    Costs two leading eigenvectors for each binary problem; memory is 32 bytes for each ordered
    pair of workers who met, and at most 400 x 400 numbers besides.

    Notes
    -----
    Each connected component is solved by itself: the whole matrix would give all weight to
    the largest. Gold is one more worker; where there is some it decides the sign, else the problem's
    `orientation`. Where they cancel, or no eigenvalue leads, skills are 0 and a warning says so.
    Who shares no task has skill 1/2. Ratios beyond the range of a skill count in full in the
    vote; the skills of the answer are clipped to the range.

    The paper of 2013 is for two classes. `multiclass`: "thresholds" on the order of the
    classes, as for KOS in the same comparisons; "one-vs-rest"; or "correlations": one
    skill a worker from the multi-class correlations (Ma et al., Lemma 7), free of order. With two
    classes all are the same. Only "correlations" and two classes give skills.
    """

    name = "labels.ratio"
    solves = LabelAggregation
    residual_meaning = "0: eigenvectors are computed to rounding"
    reference = "Dalvi, Dasgupta, Kumar, Rastogi 2013; Ma et al., Sec. 6"

    form: Literal["eigenvectors-of-ratio", "ratio-of-eigenvectors"] = Field(
        default="eigenvectors-of-ratio", description="which of the two methods of that paper"
    )
    multiclass: Literal["thresholds", "one-vs-rest", "correlations"] = Field(
        default="thresholds", description="how a method for two classes takes more"
    )

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        classes = len(problem.classes)
        if self.multiclass == "correlations" or classes == 2:
            ratio = self._skills(problem, problem.label_codes, problem.gold_codes, classes, run)
            skills = np.clip(ratio, -1.0 / (classes - 1), 1.0)
            answer = problem.vote(classes * ratio, "log-odds")
            answer = problem.from_scores(answer.scores, "log-odds", skills)
            answer = replace(answer, oriented=True, reverses=True)
        else:
            answer = self._by_binary_tasks(problem, self.multiclass, run)
        yield Iterate(answer, residual=0.0)
        return None

    def _by_binary_tasks(
        self, problem: LabelAggregation, multiclass: binary_tasks.Multiclass, run: Run
    ) -> Aggregation:
        labels, classes = problem.labels, len(problem.classes)
        margins, splits = [], []
        for codes, known in zip(
            binary_tasks.split(problem.label_codes, classes, multiclass),
            binary_tasks.split(problem.gold_codes, classes, multiclass),
            strict=True,
        ):
            skills = self._skills(problem, codes, known, 2, run)
            splits.append(skills)
            weight = (2.0 * codes - 1.0) * skills[labels.worker]
            margins.append(np.bincount(labels.task, weights=weight, minlength=len(labels.task_ids)))
        answer = binary_tasks.answer(problem, np.column_stack(margins), multiclass)
        return replace(answer, signed=tuple(splits))

    def _skills(
        self,
        problem: LabelAggregation,
        codes: NDArray[Any],
        known: NDArray[np.int64],
        classes: int,
        run: Run,
    ) -> Array:
        """Signed ratios, shape (workers,)."""
        given, model = problem.labels, problem.model.with_gold
        labels, workers = model.crowd.labels, len(model.crowd.labels.worker_ids)
        told = agreement_with(known, given.task, given.worker, codes, workers=workers, classes=classes)
        if labels is not given:  # the last worker gave the gold
            own_codes, codes = codes, known[labels.task]
            codes[labels.worker < workers - 1] = own_codes
        shared, agreed = co_occurrence(labels.first, labels.worker, codes, workers)
        correlation = (classes * agreed / shared.data - 1.0) / (classes - 1)
        by_count = self.form == "ratio-of-eigenvectors"
        weight = shared.data if by_count else np.ones(shared.nnz)
        own = labels.per_worker.astype(np.float64) if by_count else np.ones(workers)
        pattern = shared.indices, shared.indptr
        ratio = sp.csr_array((weight * correlation, *pattern), shape=shared.shape) + sp.diags_array(own)
        count = sp.csr_array((weight, *pattern), shape=shared.shape) + sp.diags_array(own)

        skills = np.full(workers, _ALONE)
        component = model.worker_graph.component
        for group in np.flatnonzero(np.bincount(component) > 1):
            members = np.flatnonzero(component == group)
            one = leading(ratio[members][:, members], run.rng)
            all_alike = leading(count[members][:, members], run.rng)
            found = np.sqrt(one.value / all_alike.value) * _divided(one.vector, np.abs(all_alike.vector))
            criteria = told[members] * found, model.sign_weights[members] * found
            sign = orientation.of_groups(np.zeros_like(members), *criteria, cancel=_CANCEL)[0]
            if one.gap <= _GAP * one.value or sign == 0:
                ids = given.worker_ids[members[members < len(given.worker_ids)]]
                run.warn(
                    "the labels of a group of workers have no weight: the group has no leading eigenvector, "
                    "or its skills cancel, and nothing shows who is right; give known labels (`gold`), or "
                    "use labels.crowd",
                    tuple(ids.tolist()),
                    identifier="labels.undecided-group",
                )
                found, sign = np.zeros(len(members)), 1.0
            skills[members] = sign * found
        return skills[: len(given.worker_ids)]


def _divided(vector: Array, by: Array) -> Array:
    """The ratio; 0 where both are rounding, as far out on a long chain of workers."""
    return np.divide(vector, by, out=np.zeros_like(vector), where=by > _ROUNDING)
