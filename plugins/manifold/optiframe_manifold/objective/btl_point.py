"""The collaborative-ranking objective at one point, with what its derivatives there share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_manifold.low_rank import LowRank, finite
from optiframe_manifold.objective import penalties
from optiframe_manifold.objective.btl_terms import Terms

if TYPE_CHECKING:
    from optiframe_manifold.objective.single_passes import SinglePasses

_FAINT = 1e-30  # a penalty this weak is left to double precision: single ends at 1e-38
_LARGEST = math.exp(32.0)  # up to exponents of 32 a rounded one changes exp by 2e-6 at most


class BtlPoint:
    """`BtlObjective` at one point: each of its derivatives is computed once, when first asked for.

    It keeps the first and second derivative of the loss by every comparison's margin, 16 bytes a
    comparison, and some arrays of the factors' size; no m x n array. Take it from
    `BtlObjective.at`. Beyond the range of floats the value is inf and the derivatives are not
    finite, without a warning.
    """

    def __init__(self, terms: Terms, x: LowRank) -> None:
        self._terms = terms
        # Copies, so that nobody changes the point under what was computed for it.
        self.x = LowRank(np.array(x.left, order="C"), np.array(x.right, order="C"))
        self._derivatives: tuple[Array, Array] | None = None
        self._value: float | None = None
        self._gradient: LowRank | None = None
        # Of the log-sum-exp penalty: the shift, N = sum exp(X^2 - shift), the gradient of log N.
        self._exponents: tuple[float, float, LowRank] | None = None
        self._single: SinglePasses | None = None

    def holds(self, x: LowRank) -> bool:
        """Whether this is the point `x`, entry for entry: O((m + n) r)."""
        return (
            isinstance(x, LowRank)
            and np.array_equal(self.x.left, x.left)
            and np.array_equal(self.x.right, x.right)
        )

    @property
    def value(self) -> float:
        """The objective."""
        if self._value is None:
            with np.errstate(all="ignore"):
                self._value = self._evaluate()
        return self._value

    @property
    def gradient(self) -> LowRank:
        """Gradient by the factors, G right and G' left; do not change it."""
        if self._gradient is None:
            with np.errstate(all="ignore"):
                self._value, self._gradient = self._differentiate()
        return self._gradient

    def rough_hessian_product(self, v: LowRank) -> LowRank:
        """`hessian_product` to about six digits: in single precision where that is faster and enough.

        That is by passes over all entries, where the digits of X_ij^2 suffice for exp(X_ij^2).
        """
        self._check(v)
        f, _ = self._terms, self.gradient
        shift, total = self._exponents[:2] if self._exponents else (0.0, math.inf)
        _, scale, growth = self._exponents_along(v)
        # The sum of exp(X^2) bounds each of them.
        if not (shift == 0.0 and total <= _LARGEST and scale >= _FAINT):
            return self.hessian_product(v)
        assert self._derivatives is not None
        with np.errstate(all="ignore"):
            if self._single is None:
                from optiframe_manifold.objective.single_passes import SinglePasses

                self._single = SinglePasses(f.row_passes, self.x, scale, *self._derivatives)
            found = self._single.hessian_product(v, growth)
        return found if finite(found) else self.hessian_product(v)

    def hessian_product(self, v: LowRank) -> LowRank:
        """The derivative of `gradient` along `v`."""
        self._check(v)
        _ = self.gradient
        assert self._derivatives is not None
        slope, bend = self._derivatives
        f, x = self._terms, self.x
        v = LowRank(np.ascontiguousarray(v.left), np.ascontiguousarray(v.right))
        with np.errstate(all="ignore"):
            if f.by_rows:
                found = f.row_passes.hessian_product(x, v, self._exponents_along(v), slope, bend)
            else:
                found = f.entry_passes.hessian_product(x, v, slope, bend)
            if f.ridge:
                left, right = penalties.ridge_hessian_product(x, v, f.ridge)
                return LowRank(found.left + left, found.right + right)
            return found

    def _check(self, v: LowRank) -> None:
        if v.left.shape != self.x.left.shape or v.right.shape != self.x.right.shape:
            raise InvalidInput(
                f"the direction has factors {v.left.shape} and {v.right.shape}, "
                f"the point {self.x.left.shape} and {self.x.right.shape}"
            )

    def _exponents_along(self, v: LowRank) -> tuple[float, float, float]:
        """The shift, 2 lambda / N, and the derivative of log N along `v`."""
        if self._exponents is None:
            return 0.0, 0.0, 0.0
        shift, total, of_log = self._exponents
        growth = float(np.sum(of_log.left * v.left) + np.sum(of_log.right * v.right))
        return shift, 2 * self._terms.strength / total, growth

    def _evaluate(self) -> float:
        f, x = self._terms, self.x
        slope, bend = self._room()
        if not f.by_rows:
            return f.entry_passes.value(x, slope, bend) + penalties.ridge_value(x, f.ridge)
        shift = self._shift()
        loss, total = f.row_passes.value(x, shift, slope, bend)
        return loss + self._penalty(shift, total)

    def _differentiate(self) -> tuple[float, LowRank]:
        f, x = self._terms, self.x
        if f.by_rows:
            slope, bend = self._room()
            shift = self._shift()
            loss, total, found, pulls = f.row_passes.gradient(x, shift, slope, bend)
            value = loss + self._penalty(shift, total)
            if f.exponents:
                of_log = LowRank(pulls.left * (2 / total), pulls.right * (2 / total))
                self._exponents = shift, total, of_log
                left, right = f.strength * of_log.left, f.strength * of_log.right
                return value, LowRank(found.left + left, found.right + right)
        else:
            value = self.value  # which keeps the slopes
            assert self._derivatives is not None
            found = f.entry_passes.gradient(x, self._derivatives[0])
        if f.ridge:
            left, right = penalties.ridge_gradient(x, f.ridge)
            return value, LowRank(found.left + left, found.right + right)
        return value, found

    def _room(self) -> tuple[Array, Array]:
        if self._derivatives is None:
            count = len(self._terms.comparisons.winner)
            self._derivatives = np.empty(count), np.empty(count)
        return self._derivatives

    def _shift(self) -> float:
        if not (self._terms.exponents and penalties.needs_shift(self.x)):
            return 0.0
        return self._terms.row_passes.greatest_square(self.x)

    def _penalty(self, shift: float, total: float) -> float:
        f = self._terms
        if not f.exponents:
            return penalties.ridge_value(self.x, f.ridge)
        if math.isinf(shift):
            return math.inf
        return f.strength * (float(np.log(total)) + shift)
