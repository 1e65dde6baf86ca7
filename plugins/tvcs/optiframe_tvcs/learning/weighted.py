"""Linear models whose rows have weights, and whose l2 term may spare the intercept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.normal_equations import HessianRows
from optiframe.records.fields import Array, read_only

_Alike = tuple[NDArray[np.intp], Array] | None


def weighted(loss: type[LinearModel]) -> type[LinearModel]:
    """The loss with a weight for each row and an l2 term that spares the entry `free`.

    The weights' mean is 1, so that the mean of the weighted losses is their weighted mean; None: no weights.
    Do not give weights to least squares, which methods recognise by its class: multiply rows and targets by
    the roots of the weights instead. A loss has one such class, by which methods know it, in all threads.
    """
    return _made.get(loss) or _made.setdefault(loss, _weighted(loss))


_made: dict[type[LinearModel], type[LinearModel]] = {}


def _weighted(loss: type[LinearModel]) -> type[LinearModel]:
    class Weighted(loss):  # type: ignore[misc, valid-type]  # whichever loss it is
        weights: Any = None
        free: int = -1

        def losses(self, z: Array) -> Array:
            return self._times_weights(super().losses(z))

        def slopes(self, z: Array) -> Array:
            return self._times_weights(super().slopes(z))

        def bends(self, z: Array) -> Array:
            return self._times_weights(super().bends(z))

        def _times_weights(self, each: Array) -> Array:
            return each if self.weights is None else self.weights * each

        def offers(self, operation: Callable[..., Any]) -> bool:
            unweighted = operation.__name__ in ("conjugates", "proximals", "as_cvxpy")
            return not (unweighted and self.weights is not None) and bool(super().offers(operation))

        @cached_property
        def ridge(self) -> Array:
            ridge = np.full(self.shape, self.l2)
            if self.free >= 0:
                ridge[self.free] = 0.0
            return ridge

        def steepest_hessian(self) -> HessianRows:
            steepest = self._times_weights(np.full(len(self), self.most_bend / len(self)))
            return HessianRows(self._columns, steepest, self.ridge)

        @cached_property
        def _largest_eigenvalue(self) -> float:
            if self.weights is None:
                return float(super()._largest_eigenvalue)
            plain = dict(self, matrix=scaled_rows(self.matrix, np.sqrt(self.weights)), weights=None)
            return float(type(self).model_construct(**plain)._largest_eigenvalue)

        def rows_alike(self, indices: NDArray[np.intp]) -> _Alike:
            alike: _Alike = self._columns.alike(indices, self.target, self.weights)
            if alike is None or self.weights is None:
                return alike
            rows, sums = alike
            return rows, sums / self.weights[rows]  # the row that stands for others has its own weight

        def take(self, indices: Any) -> Self:
            fields = dict(super().take(indices))
            fields["weights"] = None if self.weights is None else self.weights[indices]
            return self._with(fields)

        def on_columns(self, indices: NDArray[np.intp]) -> Self:
            fields = dict(super().on_columns(indices))
            fields["free"] = int(np.argmax(indices == self.free)) if self.free in indices else -1
            return self._with(fields)

        def _with(self, fields: dict[str, Any]) -> Self:
            found: Self = type(self).model_construct(**fields)
            return found

        def __reduce__(self) -> tuple[Any, ...]:
            return _new, (loss,), self.__getstate__()  # pickle finds no class that a function made

    Weighted.__name__ = Weighted.__qualname__ = loss.__name__  # what messages call it
    return Weighted


def _new(loss: type[LinearModel]) -> LinearModel:
    return object.__new__(weighted(loss))


def scaled_rows(matrix: Any, factors: Array) -> Any:
    """A copy that may not be written to, with each row times its factor."""
    if sp.issparse(matrix):
        return read_only(sp.csr_array(sp.diags_array(factors) @ matrix))
    return read_only(matrix * factors[:, np.newaxis])
