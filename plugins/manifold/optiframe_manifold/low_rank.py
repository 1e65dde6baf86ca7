"""Matrices of low rank, kept as two factors, and the sets they live in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record

_BLOCK = 1 << 16  # entries computed at a time: a few megabytes for ranks up to fifty
_DENSE = 300  # up to this smaller side a full SVD takes some tens of milliseconds; ARPACK needs a wider one


@dataclass(frozen=True, eq=False)
class LowRank:
    """The matrix ``left @ right.T``, kept as its factors: memory 8 (m + n) r bytes.

    Equal when the factors are, entry for entry; other factors of the same matrix are another
    point (``Rank.distance`` tells how far apart two matrices are). Nothing makes an array of it
    unasked: `dense` does when called. The factors are not copied; do not change them.

    Parameters
    ----------
    left
        Shape (m, r).
    right
        Shape (n, r).

    Raises
    ------
    InvalidInput
        When the factors are not matrices of numbers with the same number of columns.
    """

    left: Array
    right: Array

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            try:
                factor = np.asarray(getattr(self, name))
            except ValueError:  # rows of different lengths
                raise InvalidInput(f"the {name} factor must be a matrix; its rows differ in length") from None
            if factor.ndim != 2 or factor.dtype.kind not in "fiu":
                raise InvalidInput(
                    f"the {name} factor must be a matrix of real numbers, got {factor.dtype} of shape "
                    f"{factor.shape}"
                )
            object.__setattr__(self, name, factor.astype(np.float64, copy=False))
        if self.left.shape[1] != self.right.shape[1]:
            raise InvalidInput(
                f"the factors have {self.left.shape[1]} and {self.right.shape[1]} columns; "
                "left @ right.T needs the same number"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return len(self.left), len(self.right)

    @property
    def rank(self) -> int:
        """Columns of the factors: the rank of the matrix is this or less."""
        return int(self.left.shape[1])

    def at(self, rows: ArrayLike, columns: ArrayLike) -> Array:
        """The entries at ``(rows[e], columns[e])``: O(r) time each, no m x n array."""
        row, column = np.asarray(rows), np.asarray(columns)
        found = np.empty(len(row))
        for block in blocks(len(row), _BLOCK):
            found[block] = np.einsum("er,er->e", self.left[row[block]], self.right[column[block]])
        return found

    def row(self, i: int) -> Array:
        """Row i, shape (n,)."""
        return np.asarray(self.right @ self.left[i])

    def dense(self) -> Array:
        """The matrix as an array: 8 m n bytes."""
        return np.asarray(self.left @ self.right.T)

    def largest(self) -> float:
        """Largest magnitude of an entry, by blocks of rows: O(m n r) time, no m x n array."""
        rows = blocks(len(self.left), max(1, _BLOCK // max(len(self.right), 1)))
        return max(float(np.abs(self.left[part] @ self.right.T).max()) for part in rows)

    def norm(self) -> float:
        """Frobenius norm, from triangles of the size of the rank."""
        return float(np.linalg.norm(triangle(self.left) @ triangle(self.right).T))

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a LowRank matrix does not become an array by itself; call dense() if it is small")

    __array_ufunc__ = None  # so that array + point is a TypeError and not an array of objects

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LowRank):
            return NotImplemented
        return self is other or fingerprint(self) == fingerprint(other)

    def __hash__(self) -> int:
        return hash(fingerprint(self))

    def __repr__(self) -> str:
        return f"<{self.shape[0]} x {self.shape[1]} matrix of rank {self.rank}>"


class Rank(ConstraintSet):
    """Matrices of a given size and at most a given rank, as pairs of factors.

    ``Rank(m, n, r)``. Points are `LowRank`, never a dense matrix. The projection keeps the
    largest singular values (Eckart and Young) and takes an array, a SciPy sparse matrix (by
    Lanczos: O(nnz r) a step), or longer factors (O((m + n) k^2) for k columns). Its answer is
    balanced, left' left = right' right = diagonal; factors that are short enough stay as they are.
    """

    name = "rank"
    reference = "Dong et al., Eqs. 5 and 10"
    convex = False
    point_type = LowRank

    rows: PositiveInt = Field(description="rows of the matrix, m")
    columns: PositiveInt = Field(description="columns of the matrix, n")
    rank: PositiveInt = Field(description="greatest rank, r")

    def __init__(
        self, rows: int | None = None, columns: int | None = None, rank: int | None = None, **unknown: Any
    ) -> None:
        given = {"rows": rows, "columns": columns, "rank": rank}
        Record.__init__(self, **{k: v for k, v in given.items() if v is not None}, **unknown)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.rank > min(self.rows, self.columns):
            raise InvalidInput(
                f"rank {self.rank} is more than a {self.rows} x {self.columns} matrix can have; "
                f"give at most {min(self.rows, self.columns)}"
            )
        return self

    @property
    def freedom(self) -> int:
        """Dimension of the manifold of matrices of exactly this rank: r (m + n - r)."""
        return self.rank * (self.rows + self.columns - self.rank)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != (self.rows, self.columns):
            raise InvalidInput(f"the set holds {self.rows} x {self.columns} matrices, the point is {shape}")

    def project(self, v: Any) -> LowRank:
        """The nearest matrix of the set, always with `rank` columns in its factors.

        Raises
        ------
        InvalidInput
            When `v` has another size or an entry that is not finite.
        """
        self.check_shape(v.shape)
        if not finite(v):
            raise InvalidInput("a matrix with entries that are not finite has no nearest one of low rank")
        if not isinstance(v, LowRank):
            return self._truncated(*leading(v, self.rank))
        if v.rank <= self.rank:  # of the set already: the factors stay, bit for bit
            missing = ((0, 0), (0, self.rank - v.rank))
            return LowRank(np.pad(v.left, missing), np.pad(v.right, missing))
        left, turn_left = np.linalg.qr(v.left)
        right, turn_right = np.linalg.qr(v.right)
        u, values, w = leading(turn_left @ turn_right.T, self.rank)
        return self._truncated(left @ u, values, right @ w)

    def _truncated(self, u: Array, values: Array, w: Array) -> LowRank:
        root = np.sqrt(values)
        return LowRank(u * root, w * root)

    def distance(self, x: LowRank, v: Any) -> float:
        """Frobenius distance of a point to a point, an array or a sparse matrix; no m x n array is made."""
        if isinstance(v, LowRank):
            # |AB' - CD'| from triangles of the size of the ranks.
            left, right = np.hstack([x.left, -v.left]), np.hstack([x.right, v.right])
            return float(np.linalg.norm(triangle(left) @ triangle(right).T))
        v = sp.csr_array(v) if sp.issparse(v) else np.asarray(v)
        part = [
            float(np.linalg.norm(x.left[block] @ x.right.T - _array(v[block])))
            for block in blocks(len(x.left), max(1, _BLOCK // len(x.right)))
        ]
        return float(np.linalg.norm(part))

    def violation(self, x: LowRank) -> float:
        if not finite(x):
            return float("inf")
        return 0.0 if x.rank <= self.rank else self.distance(self.project(x), x)

    def origin(self, shape: tuple[int, ...]) -> LowRank:
        return LowRank(np.zeros((self.rows, self.rank)), np.zeros((self.columns, self.rank)))


def leading(v: Any, rank: int) -> tuple[Array, Array, Array]:
    """The `rank` largest singular triplets of an array or sparse matrix: u (m, r), values falling, w (n, r).

    A sparse matrix whose smaller side is above three hundred goes to ARPACK, from a fixed start.
    """
    short = min(v.shape)
    if not sp.issparse(v) or short <= max(_DENSE, 2 * rank):
        u, values, wt = np.linalg.svd(_array(v), full_matrices=False)
        return u[:, :rank], values[:rank], wt[:rank].T
    if not v.count_nonzero():  # ARPACK takes no matrix of zeros; any directions are its leading ones
        return np.eye(v.shape[0], rank), np.zeros(rank), np.eye(v.shape[1], rank)
    from scipy.sparse.linalg import svds

    # A fixed start gives the same bits each time; ones could be orthogonal to what is sought.
    first = np.random.default_rng(0).standard_normal(short)
    u, values, wt = svds(v.astype(np.float64), k=rank, v0=first)
    falling = np.argsort(values)[::-1]
    return u[:, falling], np.maximum(values[falling], 0.0), wt[falling].T


def triangle(factor: Array) -> Array:
    """R of factor = Q R, without Q."""
    return np.asarray(np.linalg.qr(factor, mode="r"))


def finite(x: Any) -> bool:
    """Whether every entry of an array, sparse matrix or pair of factors is finite."""
    parts: tuple[NDArray[Any], ...]
    parts = (x.left, x.right) if isinstance(x, LowRank) else (x.data if sp.issparse(x) else np.asarray(x),)
    return all(bool(np.isfinite(part).all()) for part in parts)


def blocks(length: int, size: int) -> Iterator[slice]:
    """``range(length)`` in slices of at most `size`."""
    return (slice(first, min(first + size, length)) for first in range(0, length, size))


def _array(v: Any) -> Array:
    return np.asarray(v.toarray() if sp.issparse(v) else v)
