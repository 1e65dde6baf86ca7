"""The manifold of matrices of a fixed rank, as pairs of factors up to a change of basis.

A matrix X = L R' has many factorizations: (L M^-1, R M') for every invertible M. The manifold
is the set of pairs with all of these taken as one point. What follows is written in plain
arrays: a point is `Factors` (with what its metric needs worked out once), a tangent vector
is one array of shape (m + n, r), the part of L above the part of R, so that the algebra of
an algorithm is NumPy's own. The method names are those of pymanopt's manifolds, so that an
algorithm over one runs over the other; pymanopt is not needed here.

Everything costs O((m + n) r^2) time and O((m + n) r) memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optiframe.records.fields import Array
from optiframe_manifold.low_rank import LowRank

_EPS = float(np.finfo(np.float64).eps)
_LEAST = (
    1e-100  # an eigenvalue of a matrix of zeros counts as this: its inverse and that's square stay finite
)


class Factors:
    """A point: a matrix by its factors, with the Gram matrices and what is derived from them.

    Where the rank of the matrix is less than r (to rounding), the smallest eigenvalues of the
    Gram matrices are taken to be the rounding unit times the largest, so that nothing here
    becomes infinite.
    """

    def __init__(self, matrix: LowRank) -> None:
        self.matrix = matrix

    @property
    def left(self) -> Array:
        """L, shape (m, r)."""
        return self.matrix.left

    @property
    def right(self) -> Array:
        """R, shape (n, r)."""
        return self.matrix.right

    @cached_property
    def grams(self) -> tuple[Array, Array]:
        """L'L and R'R."""
        return _gram(self.left), _gram(self.right)

    @cached_property
    def inverses(self) -> tuple[Array, Array]:
        """The inverses of the Gram matrices."""
        left, right = self.grams
        return _power(left, -1.0), _power(right, -1.0)

    @cached_property
    def lyapunov(self) -> tuple[Array, Array, Array]:
        """Eigenvectors S, their inverse, and eigenvalues d of the Gram matrices' product R'R L'L.

        The product is similar to a symmetric positive matrix: with the root C of L'L it is
        C^-1 (C R'R C) C. Its eigenvalues are the squared singular values of X.
        """
        left, right = self.grams
        root, inverse = _power(left, 0.5), _power(left, -0.5)
        values, vectors = _eigh(root @ right @ root)
        floor = _EPS * max(float(values[-1]), _LEAST)
        return inverse @ vectors, vectors.T @ root, np.maximum(values, floor)

    @property
    def singular_values(self) -> Array:
        """Those of the matrix, falling."""
        return np.sqrt(self.lyapunov[2])[::-1]


@dataclass(frozen=True)
class FixedRank:
    """The quotient manifold (L, R)/GL(r) of m x n matrices of rank r, dimension r (m + n - r).

    With the metric of Dong et al., Eq. 12, which no change of basis M alters::

        g(a, b) = tr((L'L)^-1 a_L' b_L) + tr((R'R)^-1 a_R' b_R).

    A tangent vector is represented by its horizontal lift: the one vector, of all that move X
    the same way, that is orthogonal to the movements which leave X where it is.

    Parameters
    ----------
    rows, columns, rank
        m, n and r.
    """

    rows: int
    columns: int
    rank: int

    @property
    def dim(self) -> int:
        """Dimension of the manifold."""
        return self.rank * (self.rows + self.columns - self.rank)

    @property
    def typical_dist(self) -> float:
        """Length of a point's own coordinates in its metric, which is sqrt(2 r) everywhere.

        A step of that length could turn L and R to zero, so it bounds how far a quadratic
        model may be trusted.
        """
        return float(np.sqrt(2.0 * self.rank))

    def split(self, v: Array) -> tuple[Array, Array]:
        """The parts of a vector that belong to L and R (views)."""
        return v[: self.rows], v[self.rows :]

    def inner_product(self, point: Factors, a: Array, b: Array) -> float:
        """The metric, Eq. 12."""
        left, right = point.inverses
        one, other = self.split(a), self.split(b)
        return float(np.vdot(left, one[0].T @ other[0]) + np.vdot(right, one[1].T @ other[1]))

    def norm(self, point: Factors, v: Array) -> float:
        """Length in the metric."""
        return float(np.sqrt(max(self.inner_product(point, v, v), 0.0)))

    def zero_vector(self, point: Factors) -> Array:
        """No movement."""
        return np.zeros((self.rows + self.columns, self.rank))

    def vertical(self, point: Factors, change: Array) -> Array:
        """The movement (-L C, R C') within the factorizations of one matrix, for any r x r matrix C."""
        return np.concatenate([-point.left @ change, point.right @ change.T])

    def projection(self, point: Factors, v: Array) -> Array:
        """The horizontal part of a vector: `v` less its vertical part.

        Horizontal means R'R L'v_L = v_R'R L'L. What has to be taken away is the C of
        (R'R L'L) C + C (R'R L'L) = v_R'R L'L - R'R L'v_L, a Lyapunov equation that is solved
        in the eigenvectors of R'R L'L.
        """
        (along, across), (gram_left, gram_right) = self.split(v), point.grams
        vectors, inverse, rates = point.lyapunov
        defect = (across.T @ point.right) @ gram_left - gram_right @ (point.left.T @ along)
        turned = (inverse @ defect @ vectors) / (rates[:, None] + rates)
        return np.asarray(v - self.vertical(point, vectors @ turned @ inverse))

    to_tangent_space = projection

    def euclidean_to_riemannian_gradient(self, point: Factors, gradient: Array) -> Array:
        """(G R L'L, G'L R'R) from the derivatives (G R, G'L) by the factors (Table I).

        Horizontal already, since an objective of X does not change along the fibre.
        """
        return self._times(gradient, *point.grams)

    def euclidean_to_riemannian_hessian(
        self, point: Factors, gradient: Array, product: Array, v: Array
    ) -> Array:
        """The Riemannian Hessian applied to `v`: the horizontal part of the connection (Eqs. 17 and 18).

        Parameters
        ----------
        point
            Where.
        gradient, product
            The derivatives by the factors, and how they change along `v`.
        v
            Horizontal.

        The metric's own change adds three terms for each factor. For L, with e the
        derivative, h its change, x the part of v, S(.) the symmetric part, they combine to
        h L'L + e S(L'x) - x (L'L)^-1 S(L'e L'L) + L (L'L)^-1 S(x'e L'L).
        """
        parts = zip(
            (point.left, point.right),
            point.grams,
            point.inverses,
            self.split(gradient),
            self.split(product),
            self.split(v),
            strict=True,
        )
        curved = [
            h @ gram
            + e @ _symmetric(factor.T @ x)
            - x @ (inverse @ _symmetric(factor.T @ e @ gram))
            + factor @ (inverse @ _symmetric(x.T @ e @ gram))
            for factor, gram, inverse, e, h, x in parts
        ]
        return self.projection(point, np.concatenate(curved))

    def retraction(self, point: Factors, v: Array) -> Factors:
        """(L + v_L, R + v_R), then rescaled so that the factors balance (Eq. 26).

        Balanced: L'L = R'R = diag(singular values). The matrix is not changed by it.
        """
        along, across = self.split(v)
        return Factors(balanced(LowRank(point.left + along, point.right + across)))

    def transport(self, point: Factors, other: Factors, v: Array) -> Array:
        """A tangent vector carried to another point: the matrix it moves X by, made tangent there.

        It does not depend on the factorization of either point.
        """
        along, across = self.split(v)
        left, right = other.inverses
        # The movement is v_L R' + L v_R'; at the other point it becomes a R' + L b'.
        onto_rows = along @ (point.right.T @ other.right) + point.left @ (across.T @ other.right)
        onto_columns = across @ (point.left.T @ other.left) + point.right @ (along.T @ other.left)
        middle = other.left.T @ onto_rows  # counted in both; taken from the second
        moved_right = onto_columns @ left - other.right @ (right @ middle.T @ left)
        return self.projection(other, np.concatenate([onto_rows @ right, moved_right]))

    def precondition(self, point: Factors, v: Array) -> Array:
        """The Gram preconditioner: a tangent vector through the inverse of a Hessian like this one's.

        Of half the squared distance |X - Y|^2 near Y, whose Hessian turns a movement into
        the movement's own square, the Gram matrices are all there is; their effect is undone
        exactly. For other objectives it undoes what the size of the factors does to the
        Hessian and leaves the data's part. Scaled by the mean squared singular value, so that
        lengths keep their unit.
        """
        (along, across), (left, right) = self.split(v), point.inverses
        down, over = along @ left, across @ right  # what v is in the derivatives by the factors
        down, over = down @ right, over @ left
        # Both factors can make the movement within the row and column space: each does half.
        down = down - point.left @ (0.5 * left @ (point.left.T @ down))
        over = over - point.right @ (0.5 * right @ (point.right.T @ over))
        return self.projection(point, np.concatenate([down, over])) * float(np.mean(point.lyapunov[2]))

    def _times(self, v: Array, left: Array, right: Array) -> Array:
        along, across = self.split(v)
        return np.concatenate([along @ left, across @ right])


def stacked(x: LowRank) -> Array:
    """Two factors as one array, the left above the right."""
    return np.concatenate([x.left, x.right])


def balanced(x: LowRank) -> LowRank:
    """The same matrix with L'L = R'R = diag(singular values): two QR and one small SVD.

    Factors of nan where the matrix is not finite, so that its value is not either.
    """
    left, turn_left = np.linalg.qr(x.left)
    right, turn_right = np.linalg.qr(x.right)
    small = turn_left @ turn_right.T
    if not np.isfinite(small).all():
        return LowRank(np.full(left.shape, np.nan), np.full(right.shape, np.nan))
    u, values, wt = np.linalg.svd(small)
    root = np.sqrt(values)
    return LowRank(left @ (u * root), right @ (wt.T * root))


def _eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors, nan where an entry is not finite: a step that overflowed is then refused."""
    if not np.isfinite(matrix).all():
        return np.full(len(matrix), np.nan), np.full(matrix.shape, np.nan)
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


def _gram(factor: Array) -> Array:
    return np.asarray(factor.T @ factor)


def _power(gram: Array, exponent: float) -> Array:
    """A power of a symmetric positive matrix, by its eigenvalues; see `Factors` for the smallest."""
    values, vectors = _eigh(gram)
    floor = _EPS * max(float(values[-1]), _LEAST)
    return np.asarray((vectors * np.maximum(values, floor) ** exponent) @ vectors.T)


def _symmetric(square: Array) -> Array:
    return (square + square.T) / 2
