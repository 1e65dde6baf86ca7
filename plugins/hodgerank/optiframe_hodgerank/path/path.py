"""The regularization path: when each comparison was taken for an outlier, and the scores along it."""

from __future__ import annotations

import math
from array import array
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.numbers import percent
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph

NEAR = 1e-10
"""Misfits within this much of lambda, relative to the largest margin, are at the threshold: a
hundred times the rounding of a least-squares fit, and nothing a score is wanted to."""
_TABLE = 50_000
"""A table of scores has at most about so many rows, a file of two megabytes: of a longer path, knots evenly
spread among all, the first and the last with them."""


class Path:
    """Knots of a path and what happened at them, in merged rows (expand with `Merged`).

    Grows while a solver runs. Knots are values of t, which rise along the path, or of lambda,
    which fall; t is about 1/lambda. A knot's values hold on arriving there: a row that
    enters at it has the outlier 0 still.

    Parameters
    ----------
    graph
        The comparison graph whose rows are meant.
    count
        How many of the caller's rows each merged row stands for, shape (rows,).
    parameter
        What a knot is.
    between
        How the path runs from a knot to the next: "linear", or "constant" (as at the later one).
    exact
        Whether it runs exactly like that. Else scores and outliers between two knots (`at`, `outliers_at`)
        are interpolated.
    items
        What the codes of items stand for, shape (items,), for `tables`; None: the codes.

    Notes
    -----
    Memory: ``8 * items`` bytes a knot, 16 bytes an outlier at a knot of a path in t (in lambda
    outliers follow from the scores), about 35 bytes an entry.
    """

    def __init__(
        self,
        graph: ComparisonGraph,
        count: NDArray[np.int64],
        parameter: Literal["t", "lambda"],
        between: Literal["linear", "constant"] = "linear",
        *,
        exact: bool = True,
        items: NDArray[Any] | None = None,
    ) -> None:
        self._items = np.arange(graph.items) if items is None else items
        self.graph = graph
        self.parameter = parameter
        self.between = between
        self.exact = exact
        self.more: int | None = None
        """How many of the caller's rows would be flagged just beyond the last knot, where the path ended
        because that is more than was asked for; None: it ended otherwise."""
        self.flagged = np.zeros(graph.rows, dtype=bool)
        self._count = count
        self.rows = int(count.sum())
        """How many of the caller's rows there are."""
        self._flagged_count = 0
        self._knots: list[float] = []
        self._scores: list[Array] = []
        self._active: list[float] = []
        self._outliers: list[tuple[NDArray[np.int64], Array]] = []
        self._entered = np.zeros(graph.rows, dtype=bool)
        # Of the rows that entered, in their order.
        self._row, self._knot = array("q"), array("q")
        self._sign, self._strength = array("d"), array("d")

    def __repr__(self) -> str:
        how = "" if self.exact else ", interpolated between knots"
        return f"<path of {len(self)} knots in {self.parameter}, {len(self._row)} entries{how}>"

    def __len__(self) -> int:
        return len(self._knots)

    def record(self, knot: float, scores: Array, outliers: Array | None = None) -> None:
        """Add a knot, with what holds on arriving there; a path in t needs the outliers too."""
        self._knots.append(knot)
        self._scores.append(np.array(scores))
        self._active.append(self.share)
        if outliers is not None:
            rows = np.flatnonzero(outliers)
            self._outliers.append((rows, outliers[rows]))

    def flag(self, row: int, sign: float, strength: float, *, ahead: bool = False) -> None:
        """Take a row for an outlier from the last recorded knot on; `ahead`: from the next to be recorded.

        `strength` is lambda, or 1/t, where its threshold was crossed, as exactly as is known.
        """
        self.flagged[row] = True
        self._flagged_count += int(self._count[row])
        if not self._entered[row]:
            self._entered[row] = True
            self._row.append(row)
            self._knot.append(len(self) - (not ahead))
            self._sign.append(sign)
            self._strength.append(strength)

    def flag_all(self, rows: NDArray[np.int64], sign: Array, strength: Array, *, ahead: bool = False) -> None:
        """`flag` each of these rows, which enter at one knot, in their order."""
        self.flagged[rows] = True
        self._flagged_count += int(self._count[rows].sum())
        new = ~self._entered[rows]
        self._entered[rows[new]] = True
        self._row.frombytes(rows[new].tobytes())
        self._knot.extend(repeat(len(self) - (not ahead), int(new.sum())))
        self._sign.frombytes(sign[new].tobytes())
        self._strength.frombytes(strength[new].tobytes())

    def unflag(self, rows: int | NDArray[np.int64]) -> None:
        """Believe a row, or several, again; their entries stay on record."""
        self.flagged[rows] = False
        self._flagged_count -= int(self._count[rows].sum())

    def stands_for(self, merged: NDArray[np.bool_] | NDArray[np.int64]) -> int:
        """How many of the caller's rows these merged rows stand for."""
        return int(self._count[merged].sum())

    @property
    def flagged_rows(self) -> int:
        """How many of the caller's rows are flagged now."""
        return self._flagged_count

    @property
    def share(self) -> float:
        """Share of the caller's rows that are flagged now."""
        return self._flagged_count / max(self.rows, 1)

    def most(self, share: float) -> int:
        """How many of the caller's rows may be flagged for this share."""
        return number_of(share, self.rows)

    def reached(self, share: float) -> bool:
        """Whether as many of the caller's rows are flagged now as may be for this share."""
        return self._flagged_count >= self.most(share)

    def first_over(self, fresh: NDArray[np.int64], share: float) -> int:
        """Which of the rows `fresh`, as they enter one after another beside those flagged, is too many."""
        found = self._flagged_count + np.cumsum(self._count[fresh])
        return int(np.searchsorted(found, self.most(share), side="right"))

    def first_enough(self, flagged: NDArray[np.bool_], fresh: NDArray[np.int64], share: float) -> int | None:
        """Which of the rows `fresh`, as they enter one after another, makes up the share; None: none."""
        enough = np.flatnonzero(self.stands_for(flagged) + np.cumsum(self._count[fresh]) >= self.most(share))
        return int(enough[0]) if len(enough) else None

    @property
    def knots(self) -> Array:
        """Values of the parameter, in the order of the path, shape (knots,)."""
        return np.array(self._knots)

    @property
    def scores(self) -> Array:
        """Scores at each knot, shape (knots, items)."""
        return np.array(self._scores).reshape(len(self), self.graph.items)

    def tables(self) -> dict[str, Columns]:
        """Tables of the path by name; none of an empty one.

        `path`: of each knot its `lambda` or `t`, `active`, the share of the comparisons that are outliers
        on arriving there, and `entered`, how many different comparisons became outliers at it.
        `path_scores`: `lambda` or `t`, `item` and `score`, knot by knot; not all knots of a long path.
        """
        if not len(self):
            return {}
        knots, items = self.knots, self._items
        entered = np.bincount(self.knot[self.knot < len(self)], minlength=len(self))
        most = min(len(self), max(2, _TABLE // len(items)))
        shown = np.unique(np.linspace(0, len(self) - 1, most).round().astype(np.int64))
        return {
            "path": {self.parameter: knots, "active": self.active, "entered": entered},
            "path_scores": {
                self.parameter: np.repeat(knots[shown], len(items)),
                "item": np.tile(items, len(shown)),
                "score": np.concatenate([self._scores[knot] for knot in shown.tolist()]),
            },
        }

    @property
    def active(self) -> Array:
        """Share of the caller's rows that are outliers at each knot, shape (knots,)."""
        return np.array(self._active)

    @property
    def row(self) -> NDArray[np.int64]:
        """Merged rows in the order in which they first became outliers, shape (entries,)."""
        return np.array(self._row)

    @property
    def knot(self) -> NDArray[np.int64]:
        """Index of the knot at which each of `row` entered, shape (entries,)."""
        return np.array(self._knot)

    @property
    def sign(self) -> NDArray[np.int64]:
        """Sign of the outlier each of `row` entered as, shape (entries,)."""
        return np.sign(self._sign).astype(np.int64)

    def at(self, value: float) -> Array:
        """Scores at a value of the parameter, shape (items,).

        Exact where `exact` is true: on the paths of `hodge.iss` and of `hodge.hlasso` from knot to knot.
        Else, for `hodge.lbi` and on a grid of lambda, exact at knots and a linear interpolation between.

        Raises
        ------
        InvalidInput
            When the path was not followed so far, and below 0.
        """
        return self._between(self._place(value))

    def outliers_at(self, value: float) -> Array:
        """Outliers, gamma, of the merged rows at a value of the parameter, shape (rows,); exact as `at`."""
        place = self._place(value)
        if self.parameter == "lambda":
            return shrink(self.graph.margin - self.graph.differences(self._between(place)), value)
        before, share = int(place), place - int(place)
        found = np.zeros(self.graph.rows)
        for knot, part in ((before, 1 - share), (before + 1, share)):
            if part > 0:
                rows, outliers = self._outliers[knot]
                found[rows] += part * outliers
        return found

    def at_fraction(self, share: float) -> Array:
        """Scores where a solver given this share stops: at most so many of the caller's rows are outliers."""
        return np.array(self._scores[self.knot_at(share)])

    def knot_at(self, share: float) -> int:
        """Index of the knot where a solver given this share stops.

        It is the first at which as many of the caller's rows are outliers as may be, or just beyond which
        there would be more.

        Raises
        ------
        InvalidInput
            For a share not within [0, 1], and when the path was not followed so far.
        """
        if not 0 <= share <= 1:
            raise InvalidInput(f"a share of the comparisons is within [0, 1], not {share:g}")
        most = self.most(share)
        found = np.round(self.active * self.rows).astype(np.int64)
        beyond = np.append(found[1:], 0 if self.more is None else self.more)
        ends = np.flatnonzero((found >= most) | (beyond > most))
        if not len(ends):
            raise InvalidInput(
                f"on this path at most {percent(self.active.max(initial=0.0), 3)} of the comparisons are "
                f"outliers, not {percent(share, 3)}; follow it further"
            )
        return int(ends[0])

    def entries(self) -> NDArray[np.int64]:
        """Place in the order of entry of each merged row, shape (rows,); -1 where it never entered.

        Rows that entered at the same knot with the same strength share a place.
        """
        place = np.full(self.graph.rows, -1, dtype=np.int64)
        if len(self._row):
            knot, strength = self.knot, np.array(self._strength)
            order = np.lexsort((-strength, knot))
            differs = (np.diff(knot[order]) != 0) | (np.diff(strength[order]) != 0)
            place[self.row[order]] = np.concatenate([[0], np.cumsum(differs)])
        return place

    def strength(self, never: Array) -> Array:
        """How much each merged row looks like an outlier, shape (rows,), in units of lambda.

        Lambda, or 1/t, at entry; for rows that never entered `never`, of shape (rows,), which is to
        be no larger than that at the end of the path.
        """
        found = np.array(never, dtype=np.float64)
        found[self.row] = np.array(self._strength)
        return found

    def _place(self, value: float) -> float:
        """Index of a value among the knots, with a fraction between two."""
        if not self._knots:
            raise InvalidInput("the path is empty")
        if not value >= 0:
            raise InvalidInput(f"{self.parameter} is not negative along a path, {value:g} is not on it")
        rising = self.knots if self.parameter == "t" else -self.knots
        wanted = value if self.parameter == "t" else -value
        if wanted > rising[-1]:
            raise InvalidInput(
                f"the path was followed to {self.parameter} = {self._knots[-1]:g}, not to {value:g}"
            )
        # Before the first knot nothing is an outlier, and the scores do not change.
        if self.between == "constant":
            return float(np.searchsorted(rising, wanted))
        return float(np.interp(wanted, rising, np.arange(len(self), dtype=np.float64)))

    def _between(self, place: float) -> Array:
        before, share = int(place), place - int(place)
        if share == 0:
            return np.array(self._scores[before])
        return np.asarray((1 - share) * self._scores[before] + share * self._scores[before + 1])


def number_of(share: float, rows: int) -> int:
    """How many rows a share of them is: three of ten for 0.3, whatever 0.3 * 10 rounds to."""
    return math.floor(share * rows + 1e-9)


def shrink(values: Array, by: float) -> Array:
    """Soft thresholding: every entry moved towards 0 by at most `by`."""
    return np.asarray(values - np.clip(values, -by, by))
