"""The objective of collaborative ranking: a Bradley-Terry-Luce likelihood of a low-rank score matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Accepts, Places, Vector, as_whole_numbers
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl_point import BtlPoint
from optiframe_manifold.objective.btl_start import spectral_start
from optiframe_manifold.objective.btl_terms import Terms
from optiframe_manifold.objective.row_passes import Comparisons

Penalty = Literal["log-sum-exp", "frobenius", "none"]
# Second derivatives go as its inverse square, and squares of these must be numbers still.
Scale = Annotated[float, Field(ge=1e-50, le=1e50)]

_KEPT = 2  # points whose derivatives are kept: where a solver stands, and where it tries to go
_CROWDED = 8  # entries for each comparison up to which passes by rows are faster (at rank 10)


Items = Annotated[
    NDArray[np.int32],
    PlainValidator(lambda value: as_whole_numbers(value, np.int32)),
    Accepts("vector of whole numbers from 0"),
]


class BtlObjective(Objective):
    """Negative log-likelihood of users' comparisons under Bradley-Terry-Luce, plus a penalty on the scores.

    Comparison e, of weight w_e, says that user u_e prefers item j_e (`winner`) to k_e (`loser`).
    The point is the m x n matrix X of scores, ``X = left @ right.T``, and::

        F(X) = sum_e w_e log(1 + exp(-(X[u_e, j_e] - X[u_e, k_e]) / sigma)) + penalty(X)

        log-sum-exp   lambda log sum_ij exp(X_ij^2)
        frobenius     2 lambda / (m n) * |X|_F^2 / 2
        none          0

    Sums, not means: the number of comparisons does not divide the loss. This is the paper's Eq. 9
    with the minus that its L_ijk lacks (log f of Eqs. 4 and 16 is the likelihood, to be maximized).
    `frobenius` is the first term of log-sum-exp (`optiframe_manifold.objective.penalties`): for |X| <= 1 the
    two give nearly the same answer, and it needs no pass over all entries. log-sum-exp is
    computed with a shift by the largest X_ij^2 where exp could overflow.

    Shifting a row of X does not change the loss. Gradients are by the factors, G right and G' left
    for G = dF/dX, and Hessian products are their derivatives; m x n arrays are never made.

    Time of a gradient or Hessian product: O(comparisons + m n r) with log-sum-exp or where there is
    a comparison for every eight entries, else O((comparisons + m + n) r). Memory beside the data: 16
    bytes for each comparison and 24 (m + n) r bytes at each of the last two points, and during a pass
    16 max(65536, n) + 48 (m + n) r bytes by rows, else 8 bytes for each comparison and 32 (m + n) r.

    Parameters
    ----------
    winner, loser
        Shape (comparisons,), places of items; grouped by user.
    pointer
        Shape (users + 1,): the comparisons of user u are ``pointer[u]`` to ``pointer[u + 1]``.

    Raises
    ------
    InvalidInput
        When lengths do not fit, an item is out of range, or a comparison is of an item with itself.
    """

    name = "bradley-terry-low-rank"
    reference = "Dong et al., Eqs. 4 and 9"
    point_type = LowRank

    users: PositiveInt = Field(description="rows of the score matrix, m")
    items: PositiveInt = Field(description="columns of the score matrix, n")
    winner: Items = Field(description="preferred item of each comparison, grouped by user")
    loser: Items = Field(description="the other item of each comparison")
    pointer: Places = Field(
        description="place of each user's first comparison, then the number of comparisons"
    )
    weight: Vector | None = Field(default=None, description="weight of each comparison, at least 0; None: 1")
    sigma: Scale = Field(default=0.18, description="scale of the logistic noise (Eq. 1)")
    penalty: Penalty = Field(default="log-sum-exp", description="log-sum-exp, frobenius or none")
    strength: NonNegativeFloat = Field(default=0.0, description="lambda, the whole factor of the penalty")

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        count = len(self.winner)
        if len(self.loser) != count:
            raise InvalidInput(
                f"{count} winners but {len(self.loser)} losers; each comparison has one of each"
            )
        p = self.pointer
        if len(p) != self.users + 1 or p[0] != 0 or p[-1] != count or (np.diff(p) < 0).any():
            raise InvalidInput(
                f"pointer must rise from 0 to {count} in {self.users + 1} numbers, one more than users"
            )
        for name in ("winner", "loser"):
            places = getattr(self, name)
            wrong = np.flatnonzero((places < 0) | (places >= self.items))
            if len(wrong):
                raise InvalidInput(
                    f"{name}: entry {wrong[0]} is {places[wrong[0]]}; items go from 0 to {self.items - 1}"
                )
        same = np.flatnonzero(self.winner == self.loser)
        if len(same):
            raise InvalidInput(
                f"comparison {same[0]} is of item {self.winner[same[0]]} with itself; leave it out"
            )
        if self.weight is not None:
            if len(self.weight) != count:
                raise InvalidInput(
                    f"{count} comparisons but {len(self.weight)} weights; give one a comparison"
                )
            wrong = np.flatnonzero(self.weight < 0)
            if len(wrong):
                raise InvalidInput(
                    f"weight: entry {wrong[0]} is {self.weight[wrong[0]]:g}; a weight is at least 0"
                )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.users, self.items

    def at(self, x: LowRank) -> BtlPoint:
        """The objective at `x`, prepared: repeated Hessian products there share what they need.

        The last two points are kept, so that `value`, `gradient` and `hessian_product` find them.
        """
        known: tuple[BtlPoint, ...] = self.__dict__.get("_points", ())
        for point in known:
            if point.holds(x):
                return point
        if not isinstance(x, LowRank) or x.shape != self.shape:
            got = f"{x.shape[0]} x {x.shape[1]}" if isinstance(x, LowRank) else type(x).__name__
            raise InvalidInput(f"{self.name} takes a LowRank point of {self.users} x {self.items}, got {got}")
        point = BtlPoint(self.terms, x)
        self.__dict__["_points"] = (point, *known)[:_KEPT]  # one assignment, so that threads may share it
        return point

    def value(self, x: LowRank) -> float:
        return self.at(x).value

    def gradient(self, x: LowRank) -> LowRank:
        return _copy(self.at(x).gradient)

    def value_and_gradient(self, x: LowRank) -> tuple[float, LowRank]:
        """Both, in one pass: about the time of the gradient alone."""
        point = self.at(x)
        gradient = _copy(point.gradient)
        return point.value, gradient

    def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
        return self.at(x).hessian_product(v)

    def rough_hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
        """`hessian_product` to about six digits, which with log-sum-exp takes half the time.

        For the directions of an inner loop; other passes give all digits. Memory beside that of
        `hessian_product`: 8 bytes for each comparison and 4 (m + n) r at each of the last two points.
        """
        return self.at(x).rough_hessian_product(v)

    def spectral_start(self, rank: int) -> LowRank:
        """Where to begin: see `optiframe_manifold.objective.btl_start.spectral_start`."""
        return spectral_start(self.terms, self.first_ridge, rank)

    def unpenalized(self) -> BtlObjective:
        """The likelihood alone: the same objective without its penalty."""
        return self.model_copy(update={"penalty": "none"})

    def as_cvxpy(self, x: Any) -> Any:
        """The objective of a whole m x n variable, of which it is convex; for small cases."""
        cp = require("cvxpy", "reference")
        row = np.repeat(np.arange(self.users), np.diff(self.pointer))
        expression: Any = 0.0
        if len(row):
            margin = x[row, self.winner] - x[row, self.loser]
            weight = np.ones(len(row)) if self.weight is None else self.weight
            expression = cp.sum(cp.multiply(weight, cp.logistic(-margin / self.sigma)))
        if self.exponents:
            expression += self.strength * cp.log_sum_exp(cp.square(x))
        elif self.ridge:
            expression += self.ridge / 2 * cp.sum_squares(x)
        return expression

    def naive(self, x: Any) -> Any:
        """The objective of a whole m x n array, as one would write it down for autograd."""
        anp = require("autograd.numpy", "autodiff")
        user = np.repeat(np.arange(self.users), np.diff(self.pointer))
        weight = 1.0 if self.weight is None else self.weight
        margin = x[user, self.winner] - x[user, self.loser]
        loss = anp.sum(weight * anp.logaddexp(0.0, -margin / self.sigma))
        if self.exponents:
            return loss + self.strength * anp.log(anp.sum(anp.exp(x**2)))
        return loss + self.ridge / 2 * anp.sum(x**2)

    @property
    def exponents(self) -> bool:
        """Whether the penalty takes a pass over all entries."""
        return self.penalty == "log-sum-exp" and self.strength > 0

    @property
    def ridge(self) -> float:
        """The factor of |X|_F^2 / 2 where the penalty is `frobenius`; else 0."""
        return self.first_ridge if self.penalty == "frobenius" else 0.0

    @property
    def first_ridge(self) -> float:
        """The factor of |X|_F^2 / 2 in the first term of the penalty (see `penalties`); 0 without one."""
        return 0.0 if self.penalty == "none" else 2 * self.strength / (self.users * self.items)

    @cached_property
    def terms(self) -> Terms:
        """The comparisons and the penalty, prepared for evaluations."""
        count = len(self.winner)
        weight = np.empty(0) if self.weight is None else self.weight
        return Terms(
            Comparisons(self.winner, self.loser, self.pointer, weight, self.sigma, self.items),
            strength=self.strength if self.exponents else 0.0,
            ridge=self.ridge,
            by_rows=self.exponents or self.users * self.items <= _CROWDED * count,
        )


def _copy(x: LowRank) -> LowRank:
    return LowRank(x.left.copy(), x.right.copy())
