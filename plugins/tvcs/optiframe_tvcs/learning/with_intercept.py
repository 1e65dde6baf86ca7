"""Sparse points with one further entry, the intercept, which counts against no bound and costs nothing."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LinearModel
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


@cache
def free_intercept(loss: type[LinearModel]) -> type[LinearModel]:
    """The loss with an l2 term that spares the entry `free`, the intercept."""

    class FreeIntercept(loss):  # type: ignore[misc, valid-type]  # whichever loss it is
        free: int

        @cached_property
        def ridge(self) -> Array:
            ridge = np.full(self.shape, self.l2)
            if self.free >= 0:
                ridge[self.free] = 0.0
            return ridge

        def on_columns(self, indices: NDArray[np.intp]) -> Self:
            fields = dict(super().on_columns(indices))
            fields["free"] = int(np.argmax(indices == self.free)) if self.free in indices else -1
            found: Self = type(self).model_construct(**fields)
            return found

        def __reduce__(self) -> tuple[Any, ...]:
            return _restored, (loss, dict(self))  # pickle finds no class that a function made

    return FreeIntercept


def _restored(loss: type[LinearModel], fields: dict[str, Any]) -> LinearModel:
    return free_intercept(loss).model_construct(**fields)


def counted(over: ConstraintSet) -> tuple[int, bool] | None:
    """How many entries the set bounds, and whether the last is free besides; None where it says more."""
    free = isinstance(over, WithIntercept)
    inner = over.over if isinstance(over, WithIntercept) else over
    return (inner.size, free) if type(inner) is Cardinality else None


class _Projector:
    def __init__(self, inner: Projector) -> None:
        self._inner = inner

    def project(self, v: Array) -> Array:
        return np.append(self._inner.project(v[:-1]), v[-1])
