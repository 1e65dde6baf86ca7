"""LIBSVM files as regression and classification problems: logistic, Lasso, elastic net, support vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveFloat, field_validator

from optiframe import DataSet, InvalidInput
from optiframe.problems.collection import Collection
from optiframe.problems.datasets import DataFile, cache_folder, data_folders, find
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.regularizers.norms import L1, ElasticNet
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.tables.libsvm import read_libsvm
from optiframe_optimizers.collections.choosing import Several

Model = Literal["logistic", "logistic-l1", "lasso", "elastic-net", "svm"]
MODELS: tuple[Model, ...] = ("logistic", "logistic-l1", "lasso", "elastic-net", "svm")
_LOSSES: Mapping[str, type[LinearModel]] = {
    "logistic": Logistic,
    "logistic-l1": Logistic,
    "lasso": LeastSquares,
    "elastic-net": LeastSquares,
    "svm": SquaredHinge,
}
_SOURCE = "the LIBSVM data page (Chang and Lin)"
_ENDINGS = ("", ".gz", ".bz2")


class LibsvmProblem(DataSet):
    """A file of LIBSVM text with one of the usual objectives.

    `logistic` and `svm` (squared hinge) have an L2 term, `logistic-l1`, `lasso` and `elastic-net` (half of
    each) a regularizer. The file lies in the folder `libsvm` of a folder named in OPTIFRAME_DATA.
    """

    name = "libsvm.problem"
    problem = "composite"
    reference = "Chang and Lin 2011, LIBSVM: a library for support vector machines"

    file: str = Field(default="a9a", description="name of the file, with or without .gz or .bz2")
    model: Model = Field(default="logistic", description="objective")
    share: PositiveFloat = Field(
        default=0.01,
        description=(
            "weight of the regularizer, as a share of the smallest weight that makes the answer zero"
        ),
    )
    l2: PositiveFloat | None = Field(
        default=None,
        description="weight of the L2 term of logistic and svm; none: one over the number of rows",
    )

    @field_validator("file")
    @classmethod
    def _a_name(cls, given: str) -> str:
        if Path(given).name != given:
            raise InvalidInput(f"must be the name of a file in a folder libsvm, got {given!r}")
        return given

    def inputs(self) -> dict[str, Any]:
        matrix, target = read_libsvm(self._path())
        kind = _LOSSES[self.model]
        if self.model in ("logistic", "svm"):
            l2 = 1.0 / len(target) if self.l2 is None else self.l2
            return {"objective": kind(matrix=matrix, target=target, l2=l2)}
        objective = kind(matrix=matrix, target=target)
        steepest = float(np.abs(objective.gradient(np.zeros(objective.shape))).max())
        term: Regularizer
        if self.model == "elastic-net":
            ratio = 0.5
            term = ElasticNet(weight=self.share * steepest / ratio, ratio=ratio)
        else:
            term = L1(weight=self.share * steepest)
        return {"objective": objective, "plus": (term,)}

    def checksums(self) -> dict[str, str]:
        path = self._path()
        return {f"libsvm/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()}

    def _path(self) -> Path:
        for folder in (*data_folders(), cache_folder()):
            for ending in _ENDINGS:
                path = folder / "libsvm" / f"{self.file}{ending}"
                if path.is_file():
                    return path
        return find(DataFile(f"libsvm/{self.file}", _SOURCE))  # which says where it was looked for

    @classmethod
    def where(cls) -> str:
        return "files in the folder libsvm of OPTIFRAME_DATA"


class Libsvm(Collection):
    """LIBSVM files with logistic, Lasso, elastic net and support vector objectives."""

    name = "libsvm"
    problem = "composite"
    reference = LibsvmProblem.reference

    names: Annotated[tuple[str, ...], Several] = Field(default=("a9a", "w5a"), description="names of files")
    models: Annotated[tuple[Model, ...], Several] = Field(
        default=MODELS, description="objectives; default: all"
    )
    share: PositiveFloat = Field(
        default=0.01,
        description=(
            "weight of the regularizer, as a share of the smallest weight that makes the answer zero"
        ),
    )

    def members(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            f"{file} {model}": {
                "name": LibsvmProblem.name,
                "file": file,
                "model": model,
                "share": self.share,
            }
            for file, model in product(self.names, self.models)
        }

    @classmethod
    def where(cls) -> str:
        return LibsvmProblem.where()
