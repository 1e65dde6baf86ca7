"""Linear classification: a finite sum with an L2 term, judged by accuracy and by the gap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, NonNegativeFloat, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import Labels, LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Array, Matrix
from optiframe_comrade.local.newton import minimum

LossName: TypeAlias = Literal["logistic", "least-squares", "squared-hinge"]
"""The losses of a row, by the names that `LinearClassification` takes."""
LOSSES: dict[str, type[LinearModel]] = {loss.name: loss for loss in (Logistic, LeastSquares, SquaredHinge)}


class LinearClassification(Problem[Array]):
    """Fit a linear classifier: mean loss of the rows plus l2/2 |w|^2, with test rows to judge it by.

    One parameter for the L2 term: `l2` is the lambda of the paper's Eq. 1. The lambda of its
    experiments, lambda/(2n) |w|^2, is n times that. Labels 0 and 1 are read as -1 and 1; the
    prediction is the sign of x'w.

    The metrics are the accuracies and, unless `gap` is false, the objective gap f(w) - min f,
    which tells apart what accuracy does not. It costs one exact Newton solve for each problem object.
    """

    name = "linear-classification"
    formulated_as = "minimize"
    reference = "Ghosh et al., Eq. 1 and Sec. 6"
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = MappingProxyType(
        {"accuracy": "higher", "test_accuracy": "higher", "gap": "lower"}
    )

    matrix: Matrix = Field(description="training rows, n x d")
    target: Labels = Field(description="label of each training row")
    test_matrix: Matrix | None = Field(default=None, description="test rows, up to d columns")
    test_target: Labels | None = Field(default=None, description="label of each test row")
    l2: NonNegativeFloat | None = Field(
        default=None, description="weight of half the squared norm, Eq. 1's lambda; none: 1/n"
    )
    loss: LossName = Field(default="logistic", description="loss of a row")
    gap: bool = Field(default=True, description="report the objective gap, by one exact solve")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.test_matrix is None) != (self.test_target is None):
            raise InvalidInput("give test_matrix and test_target together, or neither")
        if self.test_matrix is not None and self.test_target is not None:
            rows, columns = self.test_matrix.shape
            if rows != len(self.test_target):
                raise InvalidInput(f"test_matrix has {rows} rows, test_target {len(self.test_target)} labels")
            if columns > self.matrix.shape[1]:
                raise InvalidInput(
                    f"test_matrix has {columns} columns and matrix {self.matrix.shape[1]}; "
                    "a test row cannot have features that no training row has"
                )
        self.function  # noqa: B018  # checks the training rows, now and not at the first use
        return self

    @cached_property
    def function(self) -> LinearModel:
        """The objective: the mean loss with its L2 term."""
        l2 = 1 / max(1, len(self.target)) if self.l2 is None else self.l2
        return LOSSES[self.loss](matrix=self.matrix, target=self.target, l2=l2)

    def formulate(self) -> Formulation:
        return Formulation(Minimize(self.function), interpret=np.asarray, encode=np.asarray)

    @cached_property
    def lowest(self) -> float:
        """The least objective, by Newton's method; computed once."""
        return self.function.value(minimum(self.function))

    def accuracy(self, solution: Array, test: bool = False) -> float:
        """Share of rows whose label is the sign of their score; a score of zero counts as wrong.

        nan where the solution is not finite.
        """
        matrix, target = (self.test_matrix, self.test_target) if test else (self.matrix, self.target)
        if matrix is None:
            raise InvalidInput("there are no test rows; give test_matrix and test_target")
        if not np.isfinite(solution).all():
            return math.nan
        scores = matrix @ solution[: matrix.shape[1]]
        return float(np.mean(scores * target > 0))

    def metrics(self, solution: Array) -> dict[str, float]:
        found = {"accuracy": self.accuracy(solution)}
        if self.test_matrix is not None:
            found["test_accuracy"] = self.accuracy(solution, test=True)
        if self.gap:
            found["gap"] = self._gap(solution)
        return found

    def baseline_metrics(self) -> dict[str, float]:
        """`accuracy` of always answering the commoner label; empty where there is only one."""
        positive = float(np.mean(self.target > 0))
        return {} if positive in (0.0, 1.0) else {"accuracy": max(positive, 1 - positive)}

    def trace_metrics(self, solution: Array) -> dict[str, float]:
        """The training accuracy, in the trace of every solver: one pass over the rows."""
        return {"accuracy": self.accuracy(solution)}

    def _gap(self, solution: Array) -> float:
        if not np.isfinite(solution).all():
            return math.nan
        return max(0.0, self.function.value(solution) - self.lowest)

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (
            (
                "newton.exact",
                "all data are in one place, where Newton steps are the quickest",
            ),
        )

    def check(self, solution: Any) -> None:
        Minimize(self.function).check(solution)

    def diagnose(self, solution: Array) -> tuple[Finding, ...]:
        positive = float(np.mean(self.target > 0))
        majority = max(positive, 1 - positive)
        reached = self.accuracy(solution)
        if math.isnan(reached) or reached > majority + 0.01 or majority < 0.6:
            return ()
        text = (
            f"the accuracy, {percent(reached, 3)}, is no better than always answering the commoner label "
            f"({percent(majority, 3)}); look at the gap"
        )
        return (Finding("warning", text, identifier="training.no-better-than-commoner-label"),)
