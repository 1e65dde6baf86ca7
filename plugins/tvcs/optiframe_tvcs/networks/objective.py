"""Least squares for a network of effects, in matrix form."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.normal_equations import solved
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import AnyArray, Array

_ALIKE = 1e-10  # of a source's squares: what is not along the target's own levels and is less, is rounding


class NetworkLeastSquares(Objective):
    """Mean over transitions of half the squared misfit |y_t - W x_t|^2, W without a diagonal (Sec. 5.3).

    A point is W row by row without its diagonal: N (N - 1) entries, W_ij the effect of gene j on gene i.
    The design is the same states for every gene, so that one product with the N x T states serves all:
    a value or gradient costs O(N^2 T), memory is O(N T + N^2), and no Kronecker product is built.

    With `own_effects` each gene also has an effect on itself (its decay) that is no edge. For given
    W it is fitted exactly: the misfit of a gene is taken orthogonal to its own states. The
    objective stays a quadratic of the same curvature bound.
    """

    name = "network-least-squares"
    reference = "Yang et al., Sec. 5.3"

    states: AnyArray = Field(description="x_t, genes x transitions")
    changes: AnyArray = Field(description="y_t = x_{t+1} - x_t, genes x transitions")
    own_effects: bool = Field(default=False, description="fit an effect of each gene on itself besides")

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        if self.states.ndim != 2 or self.states.shape != self.changes.shape or not self.states.size:
            raise InvalidInput(
                f"states have shape {self.states.shape}, changes {self.changes.shape}; both must be "
                "(genes, transitions) with at least one of each"
            )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        genes = len(self.states)
        return (genes * (genes - 1),)

    def matrix(self, x: Array) -> Array:
        """The point as an N x N matrix with a diagonal of zeros."""
        return filled(x, len(self.states))

    def value(self, x: Array) -> float:
        return float(np.sum(self._misfit(x) ** 2) / (2 * self.states.shape[1]))

    def gradient(self, x: Array) -> Array:
        return self._back(-self._misfit(x))

    def hessian_product(self, x: Array, v: Array) -> Array:
        return self._back(self._free(self.matrix(v) @ self.states))

    def minimizer_on(self, indices: NDArray[np.intp]) -> Array | None:
        """The minimizer among points that are zero outside these entries: its values there, in their order.

        Each gene by normal equations of its own. None where levels of the sources of a gene are nearly alike,
        or like its own where these have an effect.

        Parameters
        ----------
        indices
            Entries, ascending.
        """
        genes, transitions = self.states.shape
        target, source = np.divmod(indices, genes - 1)
        source += source >= target  # no entry for a gene itself
        levels, changes = self._products
        values = np.empty(len(indices))
        starts = np.flatnonzero(np.append(True, np.diff(target) != 0))
        for start, end in zip(starts, np.append(starts[1:], len(indices)), strict=True):
            gene, others = target[start], source[start:end]
            hessian, against = levels[np.ix_(others, others)], changes[gene, others]
            if self.own_effects:
                own = levels[gene, others] / self._energy[gene]
                hessian = hessian - np.outer(own, levels[gene, others])
                if (hessian.diagonal() <= _ALIKE * levels[others, others]).any():
                    return None  # what is left of a source is rounding
                against = against - own * changes[gene, gene]
            found = solved(hessian / transitions, against / transitions)
            if found is None:
                return None
            values[start:end] = found
        return values

    def curvature(self) -> float:
        """Largest eigenvalue of X X' / T; leaving out entries or directions does not raise it."""
        return self._curvature

    def scores(self, x: Array) -> Array:
        """A rank for every pair, of a point's shape: edges by the size of their effects, then all others.

        A pair that is no edge has the square root of what one step along it alone would gain, so pairs
        without an edge are not tied. Edges lie between 1 and 2, the others between 0 and 1.
        """
        genes = len(self.states)
        bends = np.broadcast_to(self._energy, (genes, genes))  # of the source
        if self.own_effects:  # what the target's own states leave of it; collinear ones gain nothing
            overlap = (self.states @ self.states.T) ** 2 / self._energy[:, np.newaxis]
            bends = np.maximum(bends - overlap, 1e-12 * bends)
        bends = bends / self.states.shape[1]
        gains = np.where(x != 0, 0.0, np.abs(self.gradient(x)) / np.sqrt(off_diagonal(bends)))
        effects, best = np.abs(x), float(gains.max(initial=0.0))
        # A little below 1, so that no other pair ties with an edge of a very small effect.
        others = gains / best * (1 - 1e-9) if best > 0 else gains
        return np.where(x != 0, 1.0 + effects / max(float(effects.max(initial=0.0)), 1e-300), others)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        genes, transitions = self.states.shape
        rows = []
        for gene in range(genes):
            others = np.delete(self.states, gene, axis=0)
            misfit = self.changes[gene] - x[gene * (genes - 1) : (gene + 1) * (genes - 1)] @ others
            own = self.states[gene]
            if self.own_effects and own.any():
                misfit = misfit - own * ((own / (own @ own)) @ misfit)
            rows.append(cp.sum_squares(misfit))
        return cp.sum(cp.hstack(rows)) / (2 * transitions)

    @cached_property
    def _curvature(self) -> float:
        flat = self.states if len(self.states) <= self.states.shape[1] else self.states.T
        gram = flat @ flat.T
        rounding: float = np.finfo(np.float64).eps * max(self.states.shape)
        return float(np.linalg.eigvalsh(gram)[-1] * (1 + rounding) / self.states.shape[1])

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        """Of the states with themselves, and of the changes with them; shape (genes, genes)."""
        return self.states @ self.states.T, self.changes @ self.states.T

    @cached_property
    def _energy(self) -> Array:
        energy = (self.states**2).sum(axis=1)
        return np.where(energy > 0, energy, 1.0)  # a gene that is always 0 has no effect on itself

    def _misfit(self, x: Array) -> Array:
        return self._free(self.changes - self.matrix(x) @ self.states)

    def _free(self, misfit: Array) -> Array:
        """The misfit that the genes' effects on themselves leave."""
        if not self.own_effects:
            return misfit
        own = (misfit * self.states).sum(axis=1) / self._energy
        return np.asarray(misfit - own[:, np.newaxis] * self.states)

    def _back(self, misfit: Array) -> Array:
        return np.asarray(off_diagonal(misfit @ self.states.T) / self.states.shape[1])


def off_diagonal(matrix: NDArray[Any]) -> NDArray[Any]:
    """The entries of a square matrix row by row, without the diagonal."""
    return np.asarray(matrix[~np.eye(len(matrix), dtype=bool)])


def filled(entries: NDArray[Any], size: int) -> NDArray[Any]:
    """The inverse of `off_diagonal`: zeros on the diagonal."""
    matrix = np.zeros((size, size), dtype=entries.dtype)
    matrix[~np.eye(size, dtype=bool)] = entries
    return matrix
