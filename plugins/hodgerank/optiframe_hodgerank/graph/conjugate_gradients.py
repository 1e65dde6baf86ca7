"""Conjugate gradients on Laplacians of some of the rows of a graph, with the preconditioner it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.laplacian import DENSE

if TYPE_CHECKING:
    from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

Operator = Callable[[Array], Array]
Preconditioner = Literal["diagonal", "multigrid", "whole inverse"]

_A_DIGIT = 5
"""Conjugate-gradient steps that the diagonal may take for a digit: a product with the whole inverse costs as
much as some ten with the Laplacian, and takes a third of the steps."""
_AT_LEAST = 20  # steps it may take in all: the first digit is often the slowest
_LEAST = 1e-300  # a number to divide by
_CYCLES = 100  # steps that multigrid may take; 10 to 30 are usual
_INNER = 200  # steps with the whole inverse; 5 to 30 are usual
_GLANCE = 5
"""After every so many steps it is seen whether they go on fast enough: five of the diagonal's on an image
tell that hundreds would be needed."""


class Rows(Protocol):
    """Some rows of a graph, which may change from solve to solve: their Laplacian."""

    @property
    def degree(self) -> Array:
        """Diagonal of the Laplacian, shape (items,)."""

    def product(self, v: Array) -> Array:
        """The Laplacian times v."""


class Systems:
    """Solves with the Laplacian of the rows last passed over, by the least preconditioner that will do.

    The diagonal, as on random graphs, whose items are all a few comparisons from each other. Where that
    takes many steps, from then on a multigrid cycle of the whole Laplacian, for graphs of more than
    2,000 items whose neighbours form groups (images). Else the inverse of the whole Laplacian, which is
    factored once: with a share q of flagged rows spread evenly the condition is then about 1/(1 - q).
    """

    def __init__(self, graph: ComparisonGraph, rows: Rows, method: Preconditioner) -> None:
        self.graph, self.rows, self.method = graph, rows, method

    def solve(self, b: Array, enough: float) -> Array:
        """x with L x = b but for `enough` at each item; or as near as the last resort comes."""
        x, left = np.zeros_like(b), np.array(b)  # each way goes on from where the one before gave up
        if self.method == "diagonal":
            degree = self.rows.degree
            scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
            digits = np.log10(max(float(np.abs(b).max(initial=0.0)), enough, _LEAST) / max(enough, _LEAST))
            most = max(_AT_LEAST, round(_A_DIGIT * digits))
            if self._run(lambda r: scale * r, x, left, enough, most):
                return x
            grouped = self.graph.items > DENSE and self.graph.multigrid is not None
            self.method = "multigrid" if grouped else "whole inverse"
        if self.method == "multigrid" and self.graph.multigrid is not None:
            if self._run(self.graph.multigrid, x, left, enough, _CYCLES):
                return x
            self.method = "whole inverse"
        self._run(self.graph.solve, x, left, enough, _INNER)
        return x

    def _run(self, inverse: Operator, x: Array, left: Array, enough: float, most: int) -> bool:
        return conjugate_gradients(self.rows.product, inverse, x, left, enough, most=most)


def conjugate_gradients(
    matrix: Operator, inverse: Operator, x: Array, r: Array, enough: float, *, most: int
) -> bool:
    """Move x until what is left, ``r = b - matrix(x)``, is at most `enough` in each entry.

    Both are changed in place; `inverse` is the preconditioner. Returns whether it came so near in at
    most `most` steps; it gives up early where those will not do.
    """
    size = float(np.abs(r).max(initial=0.0))
    z = inverse(r)
    p, rz = z, float(r @ z)
    for step in range(1, most + 1):
        ap = matrix(p)
        curvature = float(p @ ap)
        if curvature <= 0:  # rounding, at full accuracy
            return True
        x += (rz / curvature) * p
        r -= (rz / curvature) * ap
        left = float(np.abs(r).max())
        if left <= enough:
            return True
        if step % _GLANCE == 0 and left > (enough / size) ** (step / most) * size:
            return False
        z = inverse(r)
        rz, before = float(r @ z), rz
        if rz <= 0:  # what is left is a constant, which no differences of scores feel
            return True
        p = z + (rz / before) * p
    return False
