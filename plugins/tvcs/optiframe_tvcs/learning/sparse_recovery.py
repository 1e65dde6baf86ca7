"""Minimisation over sparse points, judged against a known true point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Minimize
from optiframe.records.fields import AnyArray, Array


class SparseRecovery(Minimize):
    """Minimise an objective over sparse points; the true point is known and only judges.

    Every solver of `minimize` takes it. The metrics are

    - ``recall``: share of the true support that is found (the paper's selection recall);
    - ``recovered``: 1 when the support is exactly the true one, else 0 (its mean over repeats is
      the paper's successful recovery rate);
    - ``error``: distance to the true point over the length of that point;
    - ``misclassified``: chance that the signs of <X, x> and <X, truth> differ for a sample X of
      independent Gaussian entries: their angle over pi (the paper's classification error,
      without the noise of a test set). It does not depend on the scale, which labels do not
      tell.
    """

    name = "sparse-recovery"
    reference = "Yang et al., Sec. 5.1"
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "recall": "higher",
        "recovered": "higher",
        "error": "lower",
        "misclassified": "lower",
    }

    truth: AnyArray = Field(description="the true point, of the objective's shape; not zero everywhere")

    @model_validator(mode="after")
    def _truth_fits(self) -> Self:
        if self.truth.shape != self.function.shape:
            raise InvalidInput(
                f"truth has shape {self.truth.shape}, the objective takes {self.function.shape}"
            )
        if not self.truth.any():
            raise InvalidInput("truth is zero everywhere; there is nothing to find")
        return self

    def baseline_metrics(self) -> dict[str, float]:
        """`misclassified` 1/2, that of a point at a right angle to the truth."""
        return {"misclassified": 0.5}

    def metrics(self, solution: Array) -> dict[str, float]:
        found, true = solution != 0, self.truth != 0
        length, size = float(np.linalg.norm(self.truth)), float(np.linalg.norm(solution))
        cosine = float(np.vdot(solution, self.truth)) / (size * length) if size else 0.0
        return {
            "recall": float(np.count_nonzero(found & true) / np.count_nonzero(true)),
            "recovered": float(np.array_equal(found, true)),
            "error": float(np.linalg.norm(solution - self.truth)) / length,
            "misclassified": float(np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi),
        }
