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
    force lambda w sign(r), so theta = a + lambda d and r = rho - lambda delta are straight lines
    until the next row reaches its threshold. Rows at the threshold are flagged, or believed again,
    one at a time, least index first, until every one of them is about to move to the side on which
    it is counted (Murty's rule, which ends also when many arrive at once).

    An event costs O(rows + items^2); memory is 8 items^2 + O(rows).
    """

    def __init__(self, graph: ComparisonGraph) -> None:
        self.graph = graph
        self.unflagged = UnflaggedGraph(graph)
        # Each row stands here twice, as s = 1 and as s = -1, so that one expression serves both ends.
        self._from = np.concatenate([graph.left, graph.right])
        self._to = np.concatenate([graph.right, graph.left])
        self._margin = np.concatenate([graph.margin, -graph.margin])
        self._side = np.ones(2 * graph.rows)
        """1: believed, within lambda of this end; -1: flagged, beyond this end; 0: beyond the other end."""
        # What pulls at the items: w y of the believed rows, and w sign(r) of the flagged ones.
        self._forces = np.stack([graph.divergence(graph.weight * graph.margin), np.zeros(graph.items)])
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
            yield level, self._theta[0] + level * self._theta[1]
            if level <= down_to:
                return
            self._settle(level, path)

    def _lines(self) -> None:
        """a and d; and for both ends of each row s rho, 1 + s delta, and whether it may arrive there."""
        self._theta = self.unflagged.solve(self._forces)
        lines = self._theta.take(self._from, axis=1)
        lines -= self._theta.take(self._to, axis=1)
        self._rho = self._margin - lines[0]
        self._rate = 1.0 + lines[1]
        self._arrives = self._side * self._rate > _LEVEL

    def _beyond(self, level: float) -> Array:
        """s r - lambda of both ends of each row: 0 at the threshold."""
        beyond: Array = level * self._rate
        np.subtract(self._rho, beyond, out=beyond)
        return beyond

    def _next(self, level: float) -> float:
        """The next lambda at which a row arrives at its threshold; 0.0 when none does.

        A row on its way to the end s has s rho - lambda s delta = lambda, so lambda = s rho/(1 + s delta);
        a believed row comes nearer while 1 + s delta > 0, a flagged one while that is negative.
        """
        if not np.isfinite(level):
            return float(np.abs(self._rho).max(initial=0.0))
        coming = self._beyond(level)
        coming *= self._side
        on_its_way = coming < -self._near
        on_its_way &= self._arrives
        coming.fill(0.0)
        np.divide(self._rho, self._rate, out=coming, where=on_its_way)
        return float(coming.max(initial=0.0))

    def _settle(self, level: float, path: Path) -> None:
        """Flag and believe rows at the threshold until each is about to move to its side of it."""
        rows = self.graph.rows
        while True:
            there = (np.abs(self._beyond(level)) <= self._near).nonzero()[0]
            wrong = there[self._arrives[there]].tolist()
            if not wrong:
                break
            row = min(end % rows for end in wrong)
            s = -1 if rows + row in wrong else 1
            if self.unflagged.flagged[row]:
                self._move(row, -s, into_fit=1)
                self.unflagged.unflag(row)
                path.unflag(row)
            elif not self.unflagged.flag(row):
                break  # cannot be: its residual is then a fixed multiple of lambda; rounding said so
            else:
                self._move(row, s, into_fit=-1)
                path.flag(row, s, level)
            self._lines()
        if self.loose is None and len(there):
            self.loose = self._look_for_loose_parts(level, there)

    def _move(self, row: int, pull: int, into_fit: int) -> None:
        """Take a row out of the fit (-1) and let it pull, or take it in (1) and let its pull go."""
        graph, (fit, pulls) = self.graph, self._forces
        i, j, w = graph.left[row], graph.right[row], graph.weight[row]
        change = into_fit * w * graph.margin[row]
        fit[i] += change
        fit[j] -= change
        pulls[i] += w * pull
        pulls[j] -= w * pull
        believed = into_fit == 1
        self._side[row] = 1.0 if believed else -1.0 if pull == 1 else 0.0
        self._side[graph.rows + row] = 1.0 if believed else -1.0 if pull == -1 else 0.0

    def _look_for_loose_parts(
        self, level: float, there: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.int64]] | None:
        """Parts of the items that may move against each other from here on; None where none may.

        They may where only rows at their threshold hold parts together: the objective does not
        change while such a row goes beyond it.
        """
        near = np.zeros(self.graph.rows, dtype=bool)
        near[there[self._side[there] == 1] % self.graph.rows] = True
        parts = self.unflagged.parts_without(near) if near.any() else None
        return None if parts is None else (level, parts)
