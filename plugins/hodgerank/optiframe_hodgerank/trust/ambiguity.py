"""What comparisons leave undecided, in words naming the items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe.tables.ids import listed
from optiframe_hodgerank.data import Comparisons

_NEARLY = 0.9  # of the comparisons that may be outliers: with so many, one need not be warned
EQUAL = 1e-9  # of the largest: misfits that differ by less are equal but for rounding


class View(NamedTuple):
    """A way to group comparisons: the group of each (-1: none), and how many of any group there may be."""

    labels: NDArray[np.int64]
    most: int


def loose_items(component: NDArray[np.int64], part: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which items are not in the largest part of their component; all of one that fell into single items.

    Parameters
    ----------
    component, part
        Labels 0, 1, ... of each item, shape (items,); each part lies in one component.
    """
    size, of = np.bincount(part), np.empty(part.max() + 1, dtype=np.int64)
    of[part] = component
    order = np.lexsort((np.arange(len(size)), -size, of))
    largest = order[np.diff(of[order], prepend=-1) > 0]  # the first part of each component
    held = (size[largest] > 1) | (np.bincount(of)[of[largest]] == 1)
    return ~np.isin(part, largest[held])


def say_loose(
    comparisons: Comparisons, run: Run, where: str, part: NDArray[np.int64], *, stopped: bool
) -> None:
    """Warn that parts of the items may move against each other, and name the items that may.

    `stopped`: the path was ended there, since only the comparisons between these parts would make up
    the share asked for.
    """
    items = comparisons.item_ids[loose_items(comparisons.graph.components, part)]
    text = (
        f"{where} the scores are not unique: only comparisons at or beyond the threshold hold "
        f"{part.max() + 1} parts of the items together, and how these items rank against the others is not "
        f"decided: {listed(items)}"
    )
    if stopped:
        text += "; the share asked for could only be reached by flagging these comparisons, so none is"
    run.warn(text, tuple(items.tolist()), identifier="ranking.scores-not-unique")


def not_reached(
    words: str,
    taken: int,
    most: int,
    rows: int,
    more: int | None,
    *,
    by_share: bool = True,
    ended: str = "",
) -> Finding | None:
    """That fewer comparisons are outliers than may be, and why; None where as many are.

    Parameters
    ----------
    words
        What settled how many may be, such as "share = 0.05".
    taken, most
        How many of the comparisons are outliers, and how many may be.
    rows
        How many comparisons there are.
    more
        How many would be outliers with the next ones, which look equally wrong; None: no further ones look
        wrong.
    by_share
        Whether a larger share would take these.
    ended
        Why there are no further ones, where that is not because no other looks wrong.
    """
    name = "ranking.share-not-reached"
    if most < 1:
        words += "," if "," in words else ""  # the default,
        text = f"{words} of {rows} comparisons is less than one, so none is taken for an outlier"
        return Finding("warning", f"{text}; set share to {_up(1, rows)} or more", identifier=name)
    if taken >= most:
        return None
    text = f"{taken} of at most {most} comparisons taken for outliers ({words})"
    if ended:
        return Finding("warning", f"{text}: {ended}", identifier=name)
    if more is None:
        return Finding("note", f"{text}: no other comparison stands out from the scores", identifier=name)
    if more == taken + 1:  # which a path would have taken, but that items would fall apart
        text += ": the next one alone holds items together, so it is not taken"
    else:
        text += f": the next {more - taken} look equally wrong, so none of them is taken"
    if by_share and more < rows:
        text += f"; a share above {_up(more, rows)} takes the next ones"
    return Finding("note" if taken >= _NEARLY * most else "warning", text, identifier=name)


def _up(part: int, whole: int) -> str:
    """A share, rounded up to three digits after the point."""
    return f"{math.ceil(1000 * part / whole - 1e-9) / 1000:g}"


class TiedAtTheCut:
    """The warning that fewer comparisons are outliers than may be, as of the last step (`not_reached`).

    Parameters
    ----------
    run
        Where it is reported.
    words, most, rows, by_share
        As for `not_reached`.
    """

    def __init__(self, run: Run, words: str, most: int, rows: int, *, by_share: bool = True) -> None:
        self._run, self._words, self._most, self._rows = run, words, most, rows
        self._by_share = by_share
        self._said: Finding | None = None

    def say(self, taken: int, tied: int) -> None:
        """How many are outliers now, and how many more are equally far off where their number ends."""
        if self._said is not None:
            self._run.findings.remove(self._said)
            self._said = None
        if tied or (self._by_share and not self._most):
            self._said = not_reached(
                self._words, taken, self._most, self._rows, taken + tied, by_share=self._by_share
            )
        if self._said is not None:
            self._run.findings.append(self._said)


def tied_at_the_cut(
    size: Array, count: NDArray[np.int64], taken: NDArray[np.int64], nothing: float
) -> NDArray[np.bool_]:
    """Which classes are of one size, of which some comparisons but not all are taken.

    It does not matter which are taken of those whose size is at most `nothing`.
    """
    none = np.zeros(len(size), dtype=bool)
    left = np.flatnonzero(taken < count)
    if not len(left):
        return none
    cut = float(size[left].max())
    if cut <= nothing:
        return none
    equal = np.abs(size - cut) <= EQUAL * float(size.max(initial=0.0))
    return equal if taken[equal].any() else none


def exchangeable(
    gain: Array, classes: NDArray[np.int64], chosen: NDArray[np.int64], views: Sequence[View], nothing: float
) -> NDArray[np.int64]:
    """Which chosen rows might as well have been others of the same gain, within the same caps.

    Where the cap of a group leaves out some rows of one class, which of them does not matter.

    Parameters
    ----------
    gain
        Of each row, shape (rows,).
    classes
        Label of each row, shape (rows,): those with one label have the same margin and weight.
    chosen
        Rows that were chosen, as many as the caps allow.
    views
        The caps on groups of rows: a row not chosen may take the place of one in a group that is full.
    nothing
        It does not matter which rows with a gain up to this are chosen.
    """
    order = np.argsort(-gain, kind="stable")
    steps = np.diff(gain[order], prepend=np.inf) < -EQUAL * float(gain.max(initial=0.0))
    level = np.empty(len(gain), dtype=np.int64)
    level[order] = np.cumsum(steps)
    inside = np.zeros(len(gain), dtype=bool)
    inside[chosen] = True
    number, some = int(level.max(initial=0)) + 1, gain > nothing
    cut = (np.bincount(level[inside & some], minlength=number) > 0) & (
        np.bincount(level[~inside & some], minlength=number) > 0
    )
    full = [np.isin(view.labels, _full(view, chosen)) for view in views]
    doubtful: list[int] = []
    rows = np.flatnonzero(cut[level] & some)
    rows = rows[np.argsort(level[rows], kind="stable")]
    for equal in np.split(rows, np.flatnonzero(np.diff(level[rows])) + 1):
        # A place is the full groups that a row not chosen would have to find room in.
        kinds: dict[tuple[int, ...], set[int]] = {}
        for row in equal[~inside[equal]].tolist():
            place = tuple(int(v.labels[row]) if f[row] else -1 for v, f in zip(views, full, strict=True))
            kinds.setdefault(place, set()).add(int(classes[row]))
        leaving: dict[tuple[int, ...], list[int]] = {}
        for row in equal[inside[equal]].tolist():
            for place in product(*((-1, int(v.labels[row])) if v.labels[row] >= 0 else (-1,) for v in views)):
                if place in kinds:
                    kinds[place].add(int(classes[row]))
                    leaving.setdefault(place, []).append(row)
        for place, found in leaving.items():
            if len(kinds[place]) > 1 or all(group < 0 for group in place):  # or it is the total that cuts
                doubtful += found
    return np.unique(np.array(doubtful, dtype=np.int64))


def _full(view: View, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups of which as many rows are chosen as may be."""
    known = view.labels[chosen]
    return np.flatnonzero(np.bincount(known[known >= 0], minlength=view.labels.max() + 1) >= view.most)
