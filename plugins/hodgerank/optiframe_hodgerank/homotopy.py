"""The exact path of Huber-LASSO in lambda, knot by knot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.values import Array
from optiframe_hodgerank.graph import ComparisonGraph
from optiframe_hodgerank.path import Path
from optiframe_hodgerank.unflagged import UnflaggedGraph

_NEAR = 1e-10
"""Residuals within this much of lambda, relative to the largest margin, are at the threshold: a
hundred times the rounding of a least-squares fit, and nothing a score is wanted to."""
_LEVEL = 1e-9  # slopes that agree to so much are equal: lambda changes by at most its own size


class Homotopy:
    """Follows the minimizer of sum w (r - gamma)^2/2 + lambda sum w |gamma| as lambda falls.

    With r = y - X theta, gamma is r shrunk by lambda; rows with |r| > lambda are flagged. Among
    the others theta is the least-squares fit to w y, pulled by the flagged rows with the constant
    force lambda w sign(r), so theta = a - lambda d and r = rho + lambda delta are straight lines
    until the next row reaches its threshold. Rows at the threshold are flagged, or believed again,
    one at a time, least index first, until every one of them is about to move to the side on which
    it is counted (Murty's rule, which ends also when many arrive at once).

    An event costs O(rows + items^2); memory is 8 items^2 + O(rows).
    """

    def __init__(self, graph: ComparisonGraph) -> None:
        self.graph = graph
        self.unflagged = UnflaggedGraph(graph)
        self.sign = np.zeros(graph.rows, dtype=np.int64)
        self._fit = graph.divergence(graph.weight * graph.margin)
        self._pull = np.zeros(graph.items)
        self._near = _NEAR * float(np.abs(graph.margin).max(initial=0.0))
        self.loose: tuple[float, NDArray[np.int64]] | None = None
        """From which lambda on the minimizer is not unique, and the parts that may move; None: never yet."""

    def run(self, path: Path, down_to: float) -> Iterator[tuple[float, Array]]:
        """Yield lambda and the scores on arriving at each knot, down to `down_to`.

        Rows that arrive there are entered into `path` when the generator resumes.
        """
        level = np.inf
        self._lines()
        while True:
            level = min(level, max(self._next(level), down_to))
            if level <= self._near:  # the last line leads straight to the end
                level = down_to
            yield level, self._scores - level * self._slope
            if level <= down_to:
                return
            self._settle(level, path)
            self.loose = self.loose or self._look_for_loose_parts(level)

    def _lines(self) -> None:
        """theta = scores - lambda slope and r = rho + lambda delta, from here on."""
        graph = self.graph
        self._scores = self.unflagged.solve(self._fit)
        self._slope = -self.unflagged.solve(self._pull)
        self._rho = graph.margin - graph.differences(self._scores)
        self._delta = graph.differences(self._slope)

    def _misfit(self, level: float) -> Array:
        """r at this lambda."""
        return self._rho + level * self._delta

    def _next(self, level: float) -> float:
        """The next lambda at which a row arrives at its threshold; 0.0 when none does.

        A row on its way at sign s has s rho + lambda s delta = lambda, so lambda = s rho/(1 - s delta);
        a believed row comes nearer while 1 - s delta > 0, a flagged one while that is negative.
        """
        if not np.isfinite(level):
            return float(np.abs(self._rho).max(initial=0.0))
        r, found = self._misfit(level), 0.0
        for s, before in ((1.0, r < level - self._near), (-1.0, r > self._near - level)):
            rate = 1 - s * self._delta
            coming = before & (rate > _LEVEL) & (self.sign == 0)
            outside = (self.sign == s) & (rate < -_LEVEL)
            if outside.any():
                coming |= outside & (s * r > level + self._near)
            if coming.any():
                found = max(found, float((s * self._rho[coming] / rate[coming]).max()))
        return found

    def _settle(self, level: float, path: Path) -> None:
        """Flag and believe rows at the threshold until each is about to move to its side of it."""
        while True:
            row, s = self._wrong(level)
            if row < 0:
                return
            if self.unflagged.flagged[row]:
                self._move(row, -s, into_fit=1)
                self.unflagged.unflag(row)
                path.unflag(row)
                self.sign[row] = 0
            elif self.unflagged.holds_together(row):
                return  # cannot be: its residual is then a fixed multiple of lambda; rounding said so
            else:
                self._move(row, s, into_fit=-1)
                self.unflagged.flag(row)
                self.sign[row] = s
                path.flag(row, s, level)
            self._lines()

    def _move(self, row: int, pull: int, into_fit: int) -> None:
        """Take a row out of the fit (-1) and let it pull, or take it in (1) and let its pull go."""
        graph = self.graph
        i, j, w = graph.left[row], graph.right[row], graph.weight[row]
        fit = into_fit * w * graph.margin[row]
        self._fit[i] += fit
        self._fit[j] -= fit
        self._pull[i] += w * pull
        self._pull[j] -= w * pull

    def _wrong(self, level: float) -> tuple[int, int]:
        """The first row at the threshold about to cross it, and its sign; (-1, 0) when there is none."""
        r = self._misfit(level)
        for row in np.flatnonzero(np.abs(np.abs(r) - level) <= self._near).tolist():
            s = 1 if r[row] > 0 else -1
            rate = 1 - s * self._delta[row]
            if rate < -_LEVEL if self.unflagged.flagged[row] else rate > _LEVEL:
                return row, s
        return -1, 0

    def _look_for_loose_parts(self, level: float) -> tuple[float, NDArray[np.int64]] | None:
        """Parts of the items that may move against each other from here on; None where none may.

        They may where only rows at their threshold hold parts together: the objective does not
        change while such a row goes beyond it.
        """
        near = ~self.unflagged.flagged & (np.abs(self._misfit(level)) >= level - self._near)
        parts = self.unflagged.parts_without(near) if near.any() else None
        return None if parts is None else (level, parts)
