"""The exact path of Huber-LASSO in lambda, knot by knot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.inlier_graph import InlierGraph
from optiframe_hodgerank.path.path import NEAR, Path

_LEVEL = 1e-9  # slopes that agree to so much are equal: lambda changes by at most its own size


class Loose(NamedTuple):
    """Where the minimizer is not unique: below which lambda, which parts of the items may move, and
    whether the path ends there, since only rows that make it so would reach the share asked for."""

    level: float
    parts: NDArray[np.int64]
    stopped: bool


class Homotopy:
    """Follows the minimizer of sum w (r - gamma)^2/2 + lambda sum w |gamma| as lambda falls.

    With r = y - X theta, gamma is r shrunk by lambda; rows with |r| > lambda are flagged. Among
    the others theta is the least-squares fit to w y, pulled by the flagged rows with the constant
    force lambda w sign(r), so theta = a + lambda d and r = rho - lambda delta are straight lines
    until the next row reaches its threshold. Rows at the threshold are flagged, or believed again,
    one at a time, least index first, until every one of them is about to move to the side on which
    it is counted (Murty's rule, which ends also when many arrive at once).

    Where from some lambda on only rows at their threshold hold parts of the items together, these
    rows are flagged too, and the parts stay, against each other, where the rows last held them: all
    positions within an interval are minimizers then, and any other would depend on the order of rows.

    An event costs O(rows + items^2); memory is 8 items^2 + O(rows).
    """

    def __init__(self, graph: ComparisonGraph, share: float | None = None) -> None:
        self.graph = graph
        self._share = share
        self.inliers = InlierGraph(graph)
        self._components = self.inliers.number
        # Each row stands here twice, as s = 1 and as s = -1, so that one expression serves both ends.
        self._from = np.concatenate([graph.left, graph.right])
        self._to = np.concatenate([graph.right, graph.left])
        self._margin = np.concatenate([graph.margin, -graph.margin])
        self._side = np.ones(2 * graph.rows)
        """1: believed, within lambda of this end; -1: flagged, beyond this end; 0: beyond the other end."""
        # What pulls at the items: w y of the believed rows, and w sign(r) of the flagged ones.
        self._forces = np.stack([graph.divergence(graph.weight * graph.margin), np.zeros(graph.items)])
        self._rests = np.zeros(graph.items)  # where parts stay that nothing holds
        self._near = NEAR * float(np.abs(graph.margin).max(initial=0.0))
        self._coming = np.zeros(0)  # how far each end is past its threshold, on the side it is not counted on
        self.loose: Loose | None = None
        """Where the minimizer was found not to be unique; None: nowhere yet."""

    def run(self, path: Path, down_to: float) -> Iterator[tuple[float, Array, bool]]:
        """Yield lambda and the scores on arriving at each knot down to `down_to`, and whether it is the last.

        Rows that arrive there are entered into `path` when the generator resumes. With a `share`, the last
        knot is the first at which so many are flagged, or where more would be, or where only rows that leave
        parts of the items loose would make it up; `path.more` then says how many.
        """
        level = np.inf
        self._lines()
        while True:
            level = min(level, max(self._next(level), down_to))
            if level <= self._near:  # the last line leads straight to the end
                level = down_to
            here = self._theta[0] + level * self._theta[1]
            if level <= down_to or (self._share is not None and path.reached(self._share)):
                yield level, here, True
                return
            parts = self.inliers.number
            self._settle(level, here)
            apart = self.inliers.number > parts
            last = self._share is not None and self._too_many(path, self._share, apart)
            if apart:
                above = self.loose.level if self.loose is not None else level
                self.loose = Loose(above, self.inliers.parts, last)
            yield level, here, last
            if last:
                return
            self._enter(level, path)

    def _too_many(self, path: Path, share: float, apart: bool) -> bool:
        """Whether the rows that arrived exceed the share, or make it up where they leave parts loose."""
        flagged = path.stands_for(self.inliers.flagged)
        if flagged <= path.most(share) - apart:
            return False
        path.more = flagged
        return True

    def _enter(self, level: float, path: Path) -> None:
        """Note in the path what has become of the rows that were at the threshold."""
        flagged = self.inliers.flagged
        for row in (flagged != path.flagged).nonzero()[0].tolist():
            if flagged[row]:
                path.flag(row, -1.0 if self._side[row] == 0 else 1.0, level)
            else:
                path.unflag(row)

    def _lines(self) -> None:
        """a and d; and for both ends of each row s rho, 1 + s delta, and whether it may arrive there."""
        self._theta = self.inliers.solve(self._forces)
        self._theta[0] += self._rests
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
        coming = self._coming
        on_its_way = coming < -self._near
        on_its_way &= self._arrives
        coming.fill(0.0)
        np.divide(self._rho, self._rate, out=coming, where=on_its_way)
        return float(coming.max(initial=0.0))

    def _settle(self, level: float, here: Array) -> None:
        """Flag and believe rows at the threshold until each is about to move to its side of it."""
        there = (np.abs(self._beyond(level)) <= self._near).nonzero()[0]
        there = self._sort_out(there, level, here)
        if all(abs(rate) > _LEVEL for rate in self._rate[there].tolist()):
            return
        idle = there[(self._side[there] == 1) & (np.abs(self._rate[there]) <= _LEVEL)]
        near = np.zeros(self.graph.rows, dtype=bool)
        near[idle % self.graph.rows] = True
        parts = self.inliers.parts_without(near) if len(idle) else None
        if parts is None:
            return
        loose = idle[parts[self._from[idle]] != parts[self._to[idle]]]
        for end in loose.tolist():
            self._move(end % self.graph.rows, 1 if end < self.graph.rows else -1, into_fit=-1)
        self.inliers.split(loose % self.graph.rows)
        self._rest(level, here)
        self._sort_out(there, level, here)

    def _sort_out(self, there: NDArray[np.int64], level: float, here: Array) -> NDArray[np.int64]:
        """Murty's rule on the ends of rows at the threshold, until none is wrong; which ends those are.

        Scores at this lambda are the same on either side of the threshold but for what rows there are off
        it, which may bring others there, or past it.
        """
        while True:
            self._put_right(there, level, here)
            self._coming = self._beyond(level)
            self._coming *= self._side
            wrong = (self._arrives & (self._coming >= -self._near)).nonzero()[0]
            if not len(wrong) or np.isin(wrong, there).all():
                return there
            there = np.union1d(there, wrong)

    def _put_right(self, there: NDArray[np.int64], level: float, here: Array) -> None:
        """Flag or believe the first of these ends that is wrong, until none is."""
        rows = self.graph.rows
        while True:
            wrong = there[self._arrives[there]].tolist()
            if not wrong:
                return
            row = min(end % rows for end in wrong)
            s = -1 if rows + row in wrong else 1
            if self.inliers.flagged[row]:
                self._move(row, -s, into_fit=1)
                self.inliers.unflag(row)
            elif not self.inliers.flag(row):
                return  # cannot be: its residual is then a fixed multiple of lambda; rounding said so
            else:
                self._move(row, s, into_fit=-1)
            self._rest(level, here)

    def _rest(self, level: float, here: Array) -> None:
        """New lines, which begin where the scores are, `here`, also for parts that nothing holds."""
        self._rests[:] = 0.0
        self._lines()
        if self.inliers.number > self._components:
            of = self.inliers.parts
            apart = here - self._theta[0] - level * self._theta[1]
            self._rests = (np.bincount(of, apart) / np.bincount(of))[of]
            self._lines()

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
