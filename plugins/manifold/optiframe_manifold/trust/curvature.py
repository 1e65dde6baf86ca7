"""The curvature of the objective around an answer, by the factors: what it says of the scores' errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_manifold.answer import FactorPrior, chances
from optiframe_manifold.geometry.fixed_rank import balanced, stacked
from optiframe_manifold.low_rank import LowRank, blocks
from optiframe_manifold.objective.btl import BtlObjective

_DENSE = 1500  # numbers in the factors up to which the Hessian is inverted whole: 18 MB, a second or two
_FLAT = 1e-10  # curvature below this share of the largest is none: rewriting the factors moves no score
_BLOCK = 1 << 16  # comparisons whose r x r matrices are held at a time
_NO_VARIANCE = 1e-12  # of a number held fixed; what is estimated from votes varies by 1e-6 and more
_STEPS = 2000  # of conjugate gradients at most
_SOLVED = 1e-6  # relative residual at which a solution is good for six digits of a variance


@dataclass(frozen=True)
class Blocks:
    """Covariances of each user's and each item's factors, all others held fixed.

    The comparisons' information and the penalty's curvature (its first term, a ridge on X) add
    up to the precision. Without a penalty users and items have no bound on what they could be; then
    their factors are taken to spread as those of all others do.

    Parameters
    ----------
    factors
        Balanced.
    users, items
        Shapes (users, r, r) and (items, r, r).
    unit
        sigma, in which scores are measured.
    """

    factors: LowRank
    users: Array
    items: Array
    unit: float

    @classmethod
    def of(cls, objective: BtlObjective, x: LowRank, prior: FactorPrior | None = None) -> Blocks:
        """At the scores `x`. Memory: 8 (users + items) r^2 bytes.

        With a `prior` of the factors as they are, in the place of the penalty; see `information_of`.
        """
        x, count = x if prior is not None else balanced(x), len(objective.winner)
        weight = np.ones(count) if objective.weight is None else objective.weight
        user = np.repeat(np.arange(objective.users), np.diff(objective.pointer))
        prior_user, prior_item = _priors(objective, x) if prior is None else _given(prior, objective.sigma)
        users = np.tile(prior_user, (len(x.left), 1, 1))
        items = np.tile(prior_item, (len(x.right), 1, 1))
        centre = x.right.mean(axis=0)
        for part in blocks(count, max(1, _BLOCK // x.rank)):
            u, j, k = user[part], objective.winner[part], objective.loser[part]
            gap = x.right[j] - x.right[k]
            bend = weight[part] * information(np.einsum("er,er->e", x.left[u], gap), objective.sigma)
            np.add.at(users, u, bend[:, None, None] * gap[:, :, None] * gap[:, None, :])
            outer = bend[:, None, None] * x.left[u][:, :, None] * x.left[u][:, None, :]
            np.add.at(items, j, outer)
            np.add.at(items, k, outer)
        return cls(LowRank(x.left, x.right - centre), _inverse(users), _inverse(items), objective.sigma)

    def errors(self, user: int) -> Array:
        """Standard errors of a user's scores, relative to their average."""
        right, mine = self.factors.right, self.factors.left[user]
        taste = np.einsum("jr,rs,js->j", right, self.users[user], right)
        place = np.einsum("r,jrs,s->j", mine, self.items, mine)
        count = len(place)
        # Of a score less the mean of all, the scores being independent given the taste.
        place = place * (1 - 2 / count) + place.sum() / count**2
        return np.asarray(np.sqrt(taste + place))


class Joint:
    """The inverse of the objective's Hessian by all factors, which are of the balanced kind."""

    def __init__(self, objective: BtlObjective, x: LowRank, prior: FactorPrior | None = None) -> None:
        self.objective, self.x = objective, x if prior is not None else balanced(x)
        self.blocks = Blocks.of(objective, x, prior)
        self._precision: Array | None = None
        if prior is not None:
            users, items = np.append(np.inf, prior.tastes), prior.items / objective.sigma**2
            self._precision = np.concatenate([np.tile(users, len(x.left)), np.tile(items, len(x.right))])

    def errors(self, user: int) -> Array:
        """Standard errors of a user's scores, relative to their average."""
        m, (n, rank) = len(self.x.left), self.x.right.shape
        centred = self.x.right - self.x.right.mean(axis=0)
        # How each centred score changes with the factors: this user's, and all items' alike.
        slopes = np.zeros((n, (m + n) * rank))
        slopes[:, user * rank : (user + 1) * rank] = centred
        spread = (np.eye(n) - 1 / n)[:, :, None] * self.x.left[user]
        slopes[:, m * rank :] = spread.reshape(n, n * rank)
        if (m + n) * rank <= _DENSE:
            values, vectors = self._spectrum
            seen = slopes @ vectors
            variance = (seen**2 / values).sum(axis=1)
        else:
            if self._precision is not None:
                slopes[:, ~np.isfinite(self._precision)] = 0.0  # what is held fixed does not vary
            variance = np.array([slope @ self._solve(slope) for slope in slopes])
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues of the Hessian that are not zero, and their vectors.

        Raises
        ------
        InvalidInput
            Where the answer is no minimum.
        """
        size = self.x.left.size + self.x.right.size
        matrix = np.column_stack([self._times(e) for e in np.eye(size)])
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        _check_minimum(float(values[0]), float(values[-1]))
        kept = values > _FLAT * values[-1]
        return values[kept], vectors[:, kept]

    def _times(self, v: Array) -> Array:
        if self._precision is None:
            return stacked(self.objective.hessian_product(self.x, self._factors(v))).ravel()
        free = np.isfinite(self._precision)
        v = np.where(free, v, 0.0)
        product = stacked(self.objective.hessian_product(self.x, self._factors(v))).ravel()
        return np.where(free, product + np.where(free, self._precision, 0.0) * v, 0.0)

    def _scaled(self, v: Array) -> Array:
        """Through the covariances of the single factors, the blocks of the Hessian's diagonal inverted."""
        x = self._factors(v)
        users = np.einsum("urs,us->ur", self.blocks.users, x.left)
        items = np.einsum("jrs,js->jr", self.blocks.items, x.right)
        return stacked(LowRank(users, items)).ravel()

    def _factors(self, v: Array) -> LowRank:
        return LowRank(*np.split(v.reshape(-1, self.x.rank), [len(self.x.left)]))

    def _solve(self, right: Array) -> Array:
        """Conjugate gradients for Hessian z = right.

        `right` is orthogonal to what moves no score, so that the zero eigenvalues do no harm.
        """
        z, residual = np.zeros_like(right), right.copy()
        scaled = self._scaled(residual)
        direction, size = scaled, float(residual @ scaled)
        enough = _SOLVED * float(np.linalg.norm(right))
        for _ in range(_STEPS):
            if np.linalg.norm(residual) <= enough:
                break
            product = self._times(direction)
            curvature = float(direction @ product)
            _check_minimum(curvature, abs(float(direction @ direction)))
            z += (size / curvature) * direction
            residual -= (size / curvature) * product
            scaled = self._scaled(residual)
            size, before = float(residual @ scaled), size
            direction = scaled + (size / before) * direction
        return z


def information_of(
    objective: BtlObjective, x: LowRank, prior: FactorPrior | None, reliability: Array | None
) -> tuple[BtlObjective, LowRank, FactorPrior | None]:
    """What `Blocks.of` and `Joint` take for an answer: whose curvature counts, where, and the prior.

    Parameters
    ----------
    objective
        The problem's.
    x
        The scores, in its sigma.
    prior
        Of a solver with priors of its own: they take the place of the penalty.
    reliability
        Chance that each user chooses by the scores, shape (users,); None: 1. A choice of chance
        P = q s + (1 - q)(1 - s) tells ((2 q - 1) s (1 - s))^2 / (P (1 - P)) of its log-odds, which becomes
        its weight beside s (1 - s).
    """
    if prior is not None:
        objective = objective.unpenalized()
    if reliability is not None:
        user = np.repeat(np.arange(objective.users), np.diff(objective.pointer))
        gap = x.at(user, objective.winner) - x.at(user, objective.loser)
        share, chosen = expit(gap / objective.sigma), chances(gap / objective.sigma, reliability[user])
        told = (2 * reliability[user] - 1) ** 2 * share * (1 - share) / (chosen * (1 - chosen))
        weight = told if objective.weight is None else told * objective.weight
        objective = objective.model_copy(update={"weight": weight})
    return objective, x, prior


def information(margin: Array, sigma: float) -> Array:
    """Fisher information of one comparison on its margin: P(1 - P)/sigma^2."""
    chance = expit(margin / sigma)
    return np.asarray(chance * (1 - chance) / sigma**2)


def _priors(objective: BtlObjective, x: LowRank) -> tuple[Array, Array]:
    """What is known of a user's and of an item's factors without a comparison: precisions, r x r."""
    users, items = x.shape
    left, right = x.left.T @ x.left, x.right.T @ x.right
    if objective.first_ridge > 0:
        return objective.first_ridge * right, objective.first_ridge * left
    return _inverse(left / users), _inverse(right / items)


def _given(prior: FactorPrior, sigma: float) -> tuple[Array, Array]:
    """The same of a prior: precisions, r x r. What is held fixed gets a variance that is nothing."""
    return np.diag(np.append(1 / _NO_VARIANCE, prior.tastes)), np.diag(prior.items / sigma**2)


def _inverse(matrices: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise InvalidInput(
            "the answer's factors are of a lower rank than they have columns, and their spread is not known; "
            "where all scores are equal give comparisons that are not ties, else solve with a lower rank"
        ) from None


def _check_minimum(lowest: float, largest: float) -> None:
    if not lowest > -1e-6 * largest:
        raise InvalidInput(
            "the objective has a direction of negative curvature here, so this is no minimum and has no "
            "standard errors; solve to a smaller tolerance, or look at `second_order`"
        )
