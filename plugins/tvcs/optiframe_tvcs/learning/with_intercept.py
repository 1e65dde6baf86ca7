"""Sparse points with one further entry, the intercept, which counts against no bound."""

from __future__ import annotations

from typing import Self

import numpy as np

from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe_tvcs.sets.sparse_sets import Projector, enlarged, projector


class WithIntercept(ConstraintSet):
    """Points whose last entry is free and whose other entries lie in `over`."""

    name = "with-intercept"
    convex = False

    over: ConstraintSet

    def project(self, v: Array) -> Array:
        return np.append(self.over.project(v[:-1]), v[-1])

    def projector(self) -> Projector:
        """Projects a run of nearby points as the set within does."""
        return _Projector(projector(self.over))

    def check_shape(self, shape: tuple[int, ...]) -> None:
        self.over.check_shape((shape[0] - 1,))

    def enlarged(self, factor: int) -> Self:
        """The same with the bounds of the set within multiplied, which must offer that."""
        wider = enlarged(self.over, factor)
        assert wider is not None  # the estimators take sets of supports only
        return self.model_copy(update={"over": wider})


def without_intercept(over: ConstraintSet) -> tuple[ConstraintSet, bool]:
    """The set of the entries that count, and whether a free one follows them."""
    return (over.over, True) if isinstance(over, WithIntercept) else (over, False)


def counted(over: ConstraintSet) -> tuple[int, bool] | None:
    """How many entries the set allows, and whether the last is free besides; None where it says more."""
    inner, free = without_intercept(over)
    return (inner.size, free) if type(inner) is Cardinality else None


class _Projector:
    def __init__(self, inner: Projector) -> None:
        self._inner = inner

    def project(self, v: Array) -> Array:
        return np.append(self._inner.project(v[:-1]), v[-1])
