"""What the solvers of the support program share: the instance, quantised, and the certified answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_tvcs.kernels.projection import quantise
from optiframe_tvcs.projection.certificate import Bounds, Prices, check
from optiframe_tvcs.projection.closed import open_worths, with_closed
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.projection.worths import squares
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
    worths
        The squares of the point in `unit`, shape (p,).
    opened
        The same, 0 where no support can hold an element.
    whole, scale
        The worths quantised: ``whole / scale`` is about ``worths``, and 0 where no support can hold
        an element.
    rows, columns
        The groups of the two views.
    matrix, bounds
        A and s of Eq. 4.
    """

    point: Array
    over: ThreeView
    worths: Array
    opened: Array
    whole: Array
    scale: float
    unit: float
    rows: Groups
    columns: Groups
    matrix: sp.csc_array
    bounds: Array

    @classmethod
    def of(cls, problem: Projection) -> SupportProgram:
        """The program of a projection onto a three-view set."""
        over, point = problem.onto, problem.point
        assert isinstance(over, ThreeView)  # else `unsuited` said so
        worths, unit = squares(point, over.plan.closed)
        opened = open_worths(worths, over.plan.closed)
        whole, scale = quantise(opened)
        return cls(point, over, worths, opened, whole, scale, unit, *over.views, *over.incidence)

    @property
    def views(self) -> Bounds:
        """The bounds view by view."""
        return self.over.plan.bounds

    @property
    def relative(self) -> Array:
        """The quantised worths divided by the largest, for methods in floating point."""
        return self.whole / max(float(self.whole.max(initial=0.0)), 1.0)

    def prices(self, y: Array, per_unit: float = 1.0) -> Prices:
        """Dual values of the bounds, in the order of `bounds`, as whole numbers of quantised units.

        Negative noise is cut off. An optimal dual has whole-number vertices, so that rounding
        is exact where `y` is accurate to half a unit.
        """
        units = np.maximum(np.rint(y * per_unit), 0.0)
        groups = 1 + len(self.rows)
        return Prices(float(units[0]), units[1:groups], units[groups:])

    def selection(self, support: NDArray[np.bool_], prices: Prices) -> Selection:
        """Support, prices and the check of both, in the units of the point squared."""
        found = check(self.whole, self.views, support, prices, self.scale, worths=self.opened)
        prices = with_closed(prices.times(1 / self.scale), self.views, self.over.plan.closed, self.worths)
        return Selection(support, prices, found, self.views).times(self.unit)

    def iterate(self, selection: Selection, residual: float, steps: int = 1) -> Iterate:
        """The projection that a selection stands for."""
        support = selection.support.reshape(self.point.shape)
        return Iterate(np.where(support, self.point, 0.0), residual=residual, steps=steps, detail=selection)

    def last(self, selection: Selection, run: Run, steps: int = 1) -> Iterates:
        """The last iterate of a run, and its ending; see `left_open`."""
        ending = left_open(selection, run)
        yield self.iterate(selection, relative_gap(selection), steps)
        return ending


def relative_gap(selection: Selection) -> float:
    """The certificate's gap relative to the worth of the support; 0.0 when it holds.

    It is nan where the gap is 0 and rounding leaves the proof open, and the certificate's loss where
    the worth of the support is beyond float64.
    """
    found = selection.certificate
    if found.exact:
        return 0.0 if found.holds else math.nan
    return found.gap / found.primal if 0 < found.primal < math.inf else found.loss


def left_open(selection: Selection, run: Run) -> tuple[Status, str] | None:
    """The ending of a run whose support is best for the quantised worths and not proved so for the real.

    The core then cannot say `converged`: the residual is nan. None, a plain ending, otherwise.
    """
    found = selection.certificate
    if found.holds or not found.exact:
        return None
    text = f"the projection is not proved: {found.reason}"
    run.warn(text, identifier="projection.open-by-rounding")
    return Status.STALLED, text


def perturbed(worth: Array, size: float, rng: np.random.Generator) -> Array:
    """Worths moved at random by at most `size`, so that the best support is unique (footnote 1)."""
    return worth if size == 0 else np.where(worth > 0, worth + size * rng.random(len(worth)), worth)
