"""Prices for a given support: exact ones that prove it best, or good ones that bound what it loses.

`exact_prices` needs nothing but the support, so every solver can have its answer proved, also
those that return no dual values or only rounded ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.program.conditions import NOBODY, WHOLE_VECTOR, Conditions
from optiframe_tvcs.program.support_program import SupportProgram
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.selection import Selection


def prove(
    program: SupportProgram, support: NDArray[np.bool_], near: Prices | None = None, rounds: int | None = None
) -> Selection:
    """The support with exact prices where it is best, else with prices that bound its loss."""
    start = descend(program, sweeps=3) if near is None else near
    exact = exact_prices(program, support, start, rounds)
    if exact is not None:
        return program.selection(support, exact)
    return program.selection(support, descend(program, start, sweeps=10))


def prove_solution(program: SupportProgram, x: Array, duals: Array) -> Selection:
    """The support of a solution of the linear program, proved; rounded where `x` is not 0 or 1.

    Parameters
    ----------
    program
        The instance, with something to choose.
    x
        Shares of the elements, shape (p,).
    duals
        Dual values of the bounds for the relative worths, in the order of `SupportProgram.bounds`.
    """
    support = (x > 0.5) & (program.whole > 0)
    if program.over.excess(support):
        shares = np.where(program.whole > 0, x, 0.0)
        support = fill(program, np.argsort(-shares, kind="stable")[: np.count_nonzero(program.whole)])
    near = program.prices(duals, per_unit=float(program.whole.max()))
    return prove(program, completed(program, support), near)


def exact_prices(
    program: SupportProgram, support: NDArray[np.bool_], start: Prices, rounds: int | None = None
) -> Prices | None:
    """Whole-number prices in complementary slackness with a feasible support; None if there are none.

    Every condition bounds a difference of two unknowns (an element chosen asks ``a - b <= q``,
    one not chosen ``a - b >= q``), so that Bellman and Ford's sweeps decide: they settle within
    as many rounds as there are unknowns, or there is a cycle along which the support improves.
    Exact in int64.

    Parameters
    ----------
    program, support
        The instance and a feasible support of positive worths.
    start
        Where to begin; near an answer a few rounds do.
    rounds
        Give up after so many; None: decide. A round costs O(p + groups).
    """
    conditions = Conditions.of(program.whole, program.views, support)
    left, right, most = conditions.left, conditions.right, conditions.most
    begins = np.flatnonzero(np.r_[True, left[1:] != left[:-1]])
    bounded = left[begins]
    every_row, every_column = conditions.rows, conditions.columns
    unknowns = conditions.unknowns
    unknown = np.zeros(unknowns, dtype=np.int64)
    unknown[WHOLE_VECTOR] = start.total
    unknown[every_row] = start.total + start.rows
    unknown[every_column] = -start.columns
    for _ in range(unknowns + 1 if rounds is None else rounds):
        lowered = np.minimum(unknown[bounded], np.minimum.reduceat(unknown[right] + most, begins))
        if np.array_equal(lowered, unknown[bounded]):
            base, top = unknown[NOBODY], unknown[WHOLE_VECTOR]
            return Prices(
                float(top - base),
                (unknown[every_row] - top).astype(np.float64),
                (base - unknown[every_column]).astype(np.float64),
            )
        unknown[bounded] = lowered
    return None


def descend(program: SupportProgram, start: Prices | None = None, sweeps: int = 10) -> Prices:
    """Prices of low dual worth, by minimising over the total's, the rows' and the columns' in turn.

    Each block has a closed form: the price of a group is the largest reduced worth that no
    longer fits. Blocks in turn need not reach the minimum, but each sweep lowers the bound.
    A sweep costs O(p log p).
    """
    rows, columns, whole = program.rows, program.columns, program.whole
    total = 0.0 if start is None else start.total
    u = np.zeros(len(rows) + 1)  # the last entry, zero, is what label -1 reads
    w = np.zeros(len(columns) + 1)
    if start is not None:
        u[:-1], w[:-1] = start.rows, start.columns
    everything = np.zeros(len(whole), dtype=np.int32)
    limit = np.array([program.over.limit])
    for _ in range(sweeps):
        before = total, u.copy(), w.copy()
        u[:-1] = _first_left_out(whole - total - w[columns.labels], rows.labels, rows.caps)
        w[:-1] = _first_left_out(whole - total - u[rows.labels], columns.labels, columns.caps)
        rest = whole - u[rows.labels] - w[columns.labels]
        total = float(_first_left_out(rest, everything, limit)[0])
        if total == before[0] and np.array_equal(u, before[1]) and np.array_equal(w, before[2]):
            break
    return Prices(total, u[:-1], w[:-1])


def _first_left_out(worth: Array, labels: NDArray[np.int32], caps: NDArray[np.int64]) -> Array:
    """For each group the largest positive worth beyond its cap-th; 0 where all fit."""
    held = np.flatnonzero((labels >= 0) & (worth > 0))
    order = held[np.lexsort((-worth[held], labels[held]))]
    counts = np.bincount(labels[order], minlength=len(caps))
    begins = np.cumsum(counts) - counts
    price = np.zeros(len(caps))
    crowded = counts > caps
    price[crowded] = worth[order[begins[crowded] + caps[crowded]]]
    return price


def fill(program: SupportProgram, order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The support that takes elements in this order wherever all their bounds still have room.

    A loop in Python: about 0.3 microseconds an element.
    """
    rows, columns = program.rows, program.columns
    room_row, room_column = [*rows.caps.tolist(), 0], [*columns.caps.tolist(), 0]
    left, chosen = program.over.limit, []
    row_of, column_of = rows.labels[order].tolist(), columns.labels[order].tolist()
    for element, row, column in zip(order.tolist(), row_of, column_of, strict=True):
        if left == 0:
            break
        if (row < 0 or room_row[row]) and (column < 0 or room_column[column]):
            room_row[row] -= 1
            room_column[column] -= 1
            left -= 1
            chosen.append(element)
    support = np.zeros(len(program.whole), dtype=np.bool_)
    support[chosen] = True
    return support


def completed(program: SupportProgram, support: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A feasible support with what still fits, largest worths first.

    Methods in floating point take worths below their tolerance, relative to the largest, for nothing.
    """
    rows, columns = program.rows, program.columns
    room_row = np.append(rows.counts(support) < rows.caps, True)  # the last is what label -1 reads
    room_column = np.append(columns.counts(support) < columns.caps, True)
    free = ~support & (program.whole > 0) & room_row[rows.labels] & room_column[columns.labels]
    if not free.any() or int(np.count_nonzero(support)) >= program.over.limit:
        return support
    either = np.flatnonzero(support | free)
    return fill(program, either[np.lexsort((-program.whole[either], free[either]))])
