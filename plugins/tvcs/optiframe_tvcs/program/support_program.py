"""What the solvers of the support program share: the instance, quantised, and the certified answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates
from optiframe_tvcs.kernels.numbers import quantise
from optiframe_tvcs.projection.certificate import compare
from optiframe_tvcs.projection.closed import open_values
from optiframe_tvcs.projection.judged import relative_gap
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView


def why_not(problem: Projection) -> str | None:
    """Why a solver of the support program cannot take this problem."""
    if isinstance(problem.onto, ThreeView):
        return None
    return f"it projects onto the set {problem.onto.name!r}, and this solver onto 'three-view' sets only"


@dataclass(frozen=True, eq=False)
class SupportProgram:
    """The program ``max <whole, x>, A x <= s, 0 <= x <= 1`` of a projection (Eq. 5).

    Parameters
    ----------
    point
        What is projected.
    over
        The set.
    whole
        The squares of the point rounded to whole numbers up to 2**50, 0 where no support can hold an element,
        shape (p,).
    rows, columns
        The groups of the two views.
    matrix, bounds
        A and s of Eq. 4.
    """

    point: Array
    over: ThreeView
    whole: Array
    rows: Groups
    columns: Groups
    matrix: sp.csc_array
    bounds: Array

    @classmethod
    def of(cls, problem: Projection) -> SupportProgram:
        """The program of a projection onto a three-view set."""
        over, point = problem.onto, problem.point
        assert isinstance(over, ThreeView)  # else `unsuited` said so
        whole, _ = quantise(open_values(point.reshape(-1), over.plan.closed), squared=True)
        return cls(point, over, whole, *over.views, *over.incidence)

    @cached_property
    def best(self) -> Selection:
        """The best support and its proof, by the exact projection: what every other is judged by."""
        return self.over.select_for(self.point)

    @property
    def relative(self) -> Array:
        """The rounded worths divided by the largest, for methods in floating point."""
        return self.whole / max(float(self.whole.max(initial=0.0)), 1.0)

    def selection(self, support: NDArray[np.bool_]) -> Selection:
        """The support, judged without rounding, with the prices of the best one."""
        flat = self.point.reshape(-1)
        found = compare(flat, self.over.plan.bounds, support, self.best.support, squared=True)
        return Selection(support, self.best.prices, found, self.over.plan.bounds)

    def iterate(self, selection: Selection, steps: int = 1) -> Iterate:
        """The projection that a selection stands for."""
        support = selection.support.reshape(self.point.shape)
        return Iterate(
            np.where(support, self.point, 0.0),
            residual=relative_gap(selection.certificate),
            steps=steps,
            detail=selection,
        )

    def last(self, support: NDArray[np.bool_]) -> Iterates:
        """The only iterate of a run."""
        yield self.iterate(self.selection(support))


def perturbed(worth: Array, size: float, rng: np.random.Generator) -> Array:
    """Worths moved at random by at most `size`, so that the best support is unique (footnote 1)."""
    return worth if size == 0 else np.where(worth > 0, worth + size * rng.random(len(worth)), worth)
