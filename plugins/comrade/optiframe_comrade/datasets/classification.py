"""Classification data by name: two LIBSVM files, and generators of the shapes of two more."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from scipy.special import expit

from optiframe.problems.datasets import DataFile, DataSet
from optiframe.records.fields import Array
from optiframe.tables.libsvm import read_libsvm

_SOURCE = "the LIBSVM data page (Chang and Lin), binary classification"


class _Classification(DataSet):
    """What all data sets here share: the L2 term goes with the data, since it changes the objective."""

    problem = "linear-classification"

    l2: NonNegativeFloat | None = Field(
        default=None, description="weight of half the squared norm, Eq. 1's lambda; none: 1/n"
    )

    @abstractmethod
    def rows(self) -> dict[str, Any]:
        """Matrix and target, and test rows where there are some."""

    def inputs(self) -> dict[str, Any]:
        """The rows, and l2 where it is given."""
        return self.rows() | ({} if self.l2 is None else {"l2": self.l2})


class _Libsvm(_Classification):
    training: ClassVar[DataFile]
    testing: ClassVar[DataFile]

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        return ((cls.training, cls.testing),)

    def rows(self) -> dict[str, Any]:
        """Both files, sparse."""
        paths = self.files()
        matrix, target = read_libsvm(paths[self.training.path])
        test_matrix, test_target = read_libsvm(paths[self.testing.path])
        return {"matrix": matrix, "target": target, "test_matrix": test_matrix, "test_target": test_target}


class A9a(_Libsvm):
    """Census income (Adult): 32,561 rows of 123 binary features, 24 % positive; 16,281 test rows."""

    name = "libsvm.a9a"
    reference = "Ghosh et al., Sec. 6; Platt 1998"
    training = DataFile("libsvm/a9a.gz", _SOURCE + ": a9a, compressed by gzip")
    testing = DataFile("libsvm/a9a.t.gz", _SOURCE + ": a9a.t, compressed by gzip")


class W5a(_Libsvm):
    """Web pages: 9,888 rows of 300 binary features, 2.8 % positive; 39,861 test rows."""

    name = "libsvm.w5a"
    reference = "Ghosh et al., Sec. 6; Platt 1998"
    training = DataFile("libsvm/w5a.gz", _SOURCE + ": w5a, compressed by gzip")
    testing = DataFile(
        "libsvm/w5a.t.derived.gz", _SOURCE + ": the rows of w8a that are not in w5a, compressed by gzip"
    )


class _Shape(_Classification):
    """Gaussian rows, with columns of unequal size and correlated, and labels drawn from a logistic model.

    Row i is C z, where z is standard Gaussian and C mixes neighbouring columns and scales column
    j so that the largest column is `spread` times the smallest. The label is 1 with chance
    sigmoid(margin x'w / |x'w|) where |x'w| is the root mean square over rows.
    """

    reference = "of the shape used by Ghosh et al., Sec. 6; the data are not theirs"

    spread: PositiveFloat = Field(default=10.0, description="largest over smallest scale of a column")
    margin: PositiveFloat = Field(default=2.0, description="root mean square of the true scores")
    test_rows: NonNegativeInt = Field(default=0, description="test rows drawn on top")
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def rows(self) -> dict[str, Any]:
        """Dense rows and labels; costs one array of them."""
        rows, columns = self.shape
        of_rows, of_labels, of_truth = (
            np.random.default_rng(one) for one in np.random.SeedSequence(self.seed).spawn(3)
        )
        matrix = of_rows.standard_normal((rows + self.test_rows, columns))
        # Each column takes on half of its left neighbour's, which correlates them by about .45.
        for column in range(1, columns):
            matrix[:, column] += 0.5 * matrix[:, column - 1]
        matrix *= np.geomspace(1.0, 1.0 / self.spread, columns) / np.sqrt(columns)
        scores = matrix @ of_truth.standard_normal(columns)
        scores *= self.margin / np.sqrt(np.mean(scores**2))
        target = np.where(of_labels.random(len(scores)) < expit(scores), 1.0, -1.0)
        found = {"matrix": _ours(matrix[:rows]), "target": _ours(target[:rows])}
        if self.test_rows:
            found |= {"test_matrix": _ours(matrix[rows:]), "test_target": _ours(target[rows:])}
        return found


def _ours(part: Array) -> Array:
    """Read-only, with what it is a view of, so that a problem need not copy it."""
    part.flags.writeable = False
    if isinstance(part.base, np.ndarray):
        part.base.flags.writeable = False
    return part


class CovtypeShape(_Shape):
    """Generated rows of covtype's shape: 581,012 x 54 (251 MB)."""

    name = "synthetic.covtype-shape"

    terms: PositiveInt = Field(default=581_012, description="training rows")
    columns: PositiveInt = Field(default=54, description="features")

    @property
    def shape(self) -> tuple[int, int]:
        return self.terms, self.columns


class EpsilonShape(_Shape):
    """Generated rows of epsilon's width: 40,000 x 2,000 (640 MB), a tenth of its 400,000 rows."""

    name = "synthetic.epsilon-shape"

    terms: PositiveInt = Field(default=40_000, description="training rows")
    columns: PositiveInt = Field(default=2_000, description="features")

    @property
    def shape(self) -> tuple[int, int]:
        return self.terms, self.columns
