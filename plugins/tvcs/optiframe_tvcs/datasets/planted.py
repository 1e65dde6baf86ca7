"""The synthetic regression and classification of Sec. 5.1: a planted matrix with a three-view support."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from optiframe.problems.datasets import DataSet
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.records.fields import Array
from optiframe_tvcs.sets.caps import total_of
from optiframe_tvcs.sets.three_view import ThreeView


class Planted(DataSet):
    """Gaussian samples of a true matrix whose support fits a three-view set.

    Bounds of rows and columns are uniform whole numbers from 1 to `side`; the bound on the
    total is `share` of the smaller of their sums, rounded down. The support is that of a Gaussian
    matrix projected onto the set; the entries on it are standard normal. Points are vectors of
    side^2 entries, row by row. Same fields, same bits; bounds and truth, samples, and noise have
    separate streams, so that more samples are the same ones and further ones.
    """

    reference = "Yang et al., Sec. 5.1"
    problem = "sparse-recovery"

    side: PositiveInt = Field(default=20, description="rows and columns of the true matrix; p = side^2")
    samples: PositiveInt = Field(default=300, description="number of samples n")
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="bound on the total over the smaller sum of the row and the column bounds"
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @abstractmethod
    def objective(self, matrix: Array, signal: Array, rng: np.random.Generator) -> LinearModel:
        """The loss for samples `matrix` (n x p) whose products with the truth are `signal`."""

    def inputs(self) -> dict[str, Any]:
        plan, samples, noise = (
            np.random.default_rng(stream) for stream in np.random.SeedSequence(self.seed).spawn(3)
        )
        over, truth = self._plant(plan)
        matrix = samples.standard_normal((self.samples, self.side**2))
        signal = matrix @ truth
        matrix.flags.writeable = False  # ours alone: need not be copied
        return {"objective": self.objective(matrix, signal, noise), "over": over, "truth": truth}

    def _plant(self, rng: np.random.Generator) -> tuple[ThreeView, Array]:
        per_row, per_column = rng.integers(1, self.side, size=(2, self.side), endpoint=True)
        total = total_of(self.share, per_row, per_column)
        over = ThreeView.of_matrix((self.side, self.side), total, per_row, per_column)
        kept = over.project(rng.standard_normal(self.side**2)) != 0
        return over, np.where(kept, rng.standard_normal(self.side**2), 0.0)


class PlantedRegression(Planted):
    """Linear regression: targets <X, truth> and Gaussian noise, loss least squares.

    The loss is the mean of half squared residuals; the paper's is the sum of squares.
    """

    name = "sparse.planted-regression"

    noise: NonNegativeFloat = Field(
        default=0.01, description="standard deviation of the noise on the targets"
    )

    def objective(self, matrix: Array, signal: Array, rng: np.random.Generator) -> LinearModel:
        return LeastSquares(matrix=matrix, target=signal + self.noise * rng.standard_normal(self.samples))


class PlantedClassification(Planted):
    """Classification: labels sign <X, truth>, loss squared hinge (the paper's) or logistic.

    Labels do not tell the scale of the truth, and where a plane separates them the logistic loss
    has no minimum unless `l2` is positive.
    """

    name = "sparse.planted-classification"

    loss: Literal["squared-hinge", "logistic"] = Field(
        default="squared-hinge", description="squared-hinge or logistic"
    )
    l2: NonNegativeFloat = Field(default=0.0, description="weight of half the squared norm in the loss")

    def objective(self, matrix: Array, signal: Array, rng: np.random.Generator) -> LinearModel:
        model = SquaredHinge if self.loss == "squared-hinge" else Logistic
        return model(matrix=matrix, target=np.where(signal > 0, 1.0, -1.0), l2=self.l2)
