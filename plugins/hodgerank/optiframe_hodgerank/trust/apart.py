"""Which items can be told apart: pairs whose difference is beyond chance, ranks that remain, and groups."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from optiframe.records.fields import Array
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import DENSE

_EXACT = 1e-9  # errors of a difference below this share of the scores are rounding
_GRID = np.linspace(-9.0, 9.0, 3601)  # of the smallest of n normal numbers
_WIDEST = 20.0  # a range of normal numbers that no level in use reaches
_HALVINGS = 50  # of that, to find a quantile to rounding
_LETTERED = 100  # items up to which groups are found: of more, nobody can read them
_MOST = 26 + 26 * 26  # groups that have a name of one or two letters


def difference_errors(comparisons: Comparisons, solution: Ranking) -> Array | None:
    """Standard errors of all differences of two scores, shape (items, items); inf between components.

    The errors of the single scores are those of the answer's intervals. Errors of two scores are correlated
    as the information of the comparisons says: their Laplacian, each vote weighted by p (1 - p) where
    scores are log-odds. None without intervals, and beyond 2,000 items; memory is some matrices of items x
    items.
    """
    items = len(solution.items)
    if solution.low is None or solution.high is None or items > DENSE:
        return None
    rows = comparisons.merged
    weight = rows.weight
    if solution.scale == "log-odds":
        p = expit(solution.scores[rows.left] - solution.scores[rows.right])
        weight = np.maximum(weight * p * (1 - p), weight.max() * np.finfo(np.float64).eps)
    graph = ComparisonGraph(items, rows.left, rows.right, np.zeros(len(rows)), weight)
    return errors_of_differences(graph.laplacian_inverse.solve(np.eye(items)), solution)


def errors_of_differences(covariance: Array, solution: Ranking) -> Array:
    """The errors of an answer with intervals, given how its scores are correlated, shape (items, items)."""
    assert solution.low is not None  # the caller has looked
    assert solution.high is not None
    errors = (solution.high - solution.low) / (2 * ndtri((1 + solution.level) / 2))
    usual = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    scale = np.divide(errors, usual, out=np.zeros(len(errors)), where=usual > 0)
    covariance = covariance * scale[:, None] * scale[None, :]
    variance = covariance.diagonal()
    found = variance[:, None] + variance[None, :] - 2 * covariance
    found[solution.component[:, None] != solution.component[None, :]] = np.inf
    return np.sqrt(np.maximum(found, 0.0))


def surely_above(solution: Ranking, errors: Array, level: float) -> NDArray[np.bool_]:
    """Whether the row's item is above the column's beyond chance, shape (items, items).

    All pairs at once: with a chance of at least `level`, no pair is put in the wrong order (Tukey and
    Kramer).
    """
    difference = solution.scores[:, None] - solution.scores[None, :]
    least = tukey_kramer(level, len(solution.items)) * errors
    return np.asarray(difference > np.maximum(least, _EXACT * np.abs(solution.scores).max(initial=0.0)))


def tukey_kramer(level: float, items: int) -> float:
    """How many of its standard errors a difference of two of so many means must exceed, all pairs at once.

    The quantile of the range of independent normal numbers, divided by the root of 2; 1.645 for two items at
    90%. For means of unequal variance it is an upper bound (Hayter 1984), for others found to be one.
    """
    if items < 2:
        return 0.0
    density = np.exp(-_GRID * _GRID / 2) / np.sqrt(2 * np.pi)
    low, high = 0.0, _WIDEST
    for _ in range(_HALVINGS):
        span = (low + high) / 2
        within = items * np.trapezoid(density * (ndtr(_GRID + span) - ndtr(_GRID)) ** (items - 1), _GRID)
        low, high = (low, span) if within > level else (span, high)
    return float(high / np.sqrt(2))


def rank_intervals(
    above: NDArray[np.bool_], component: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Best and worst rank within its component that an item may have, shape (items,) each.

    One more than the items surely above it, and the size of the component less those surely below it
    (Mogstad, Romano, Shaikh and Wilhelm 2023): all ranks lie within with the chance that all pairs are in
    order.
    """
    return 1 + above.sum(axis=0), np.bincount(component)[component] - above.sum(axis=1)


def groups(above: NDArray[np.bool_], solution: Ranking) -> list[str] | None:
    """Letters of each item: two items share one if and only if they cannot be told apart.

    A letter is a largest group of items none of which is surely above another: a for the group of the best
    item (a compact letter display, Piepho 2004). Where there are more than 26 groups, blanks separate the
    letters, and later ones are aa, ab, ... None beyond 100 items or 702 groups.
    """
    best = solution.order
    found = largest_groups(told_apart(above, solution)[np.ix_(best, best)])
    if found is None:
        return None
    names = [_name(at) for at in range(len(found))]
    between = "" if len(found) <= len(ascii_lowercase) else " "
    letters = [""] * len(best)
    for at, item in enumerate(best.tolist()):
        letters[item] = between.join(
            name for name, group in zip(names, found, strict=True) if group >> at & 1
        )
    return letters


def told_apart(above: NDArray[np.bool_], solution: Ranking) -> NDArray[np.bool_]:
    """Pairs of which one item is surely above the other, or that nothing compares, shape (items, items)."""
    return np.asarray(above | above.T | (solution.component[:, None] != solution.component[None, :]))


def largest_groups(apart: NDArray[np.bool_]) -> list[int] | None:
    """Largest sets of items no two of which are apart, as bits, in the order of their first items.

    Items are added one by one: each joins what it is not apart from of every group found before. Where items
    were compared about equally often, there are at most as many groups as items. None beyond 100 items or 702
    groups.
    """
    if len(apart) > _LETTERED:
        return None
    found: list[int] = []
    for item, row in enumerate(apart):
        near = _bits(~row)
        grown = {group & near | 1 << item for group in found} or {1 << item}
        found = [group for group in found if group & ~near] + list(grown)
        fresh = [group for group in found if group >> item & 1]
        found = [group for group in found if not any(group != one and group & ~one == 0 for one in fresh)]
        if len(found) > _MOST:
            return None
    return sorted(found, key=lambda group: [at for at in range(len(apart)) if group >> at & 1])


def _bits(items: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(items, bitorder="little").tobytes(), "little")


def _name(at: int) -> str:
    """a to z, then aa, ab, ...: numbers in letters."""
    letters = ascii_lowercase[at % 26]
    return letters if at < 26 else _name(at // 26 - 1) + letters
