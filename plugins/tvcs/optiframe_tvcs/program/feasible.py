"""From a solution of the linear program in floating point to a feasible support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.program.support_program import SupportProgram


def support_of(program: SupportProgram, x: Array) -> NDArray[np.bool_]:
    """The support of a solution, rounded where `x` is not 0 or 1.

    Parameters
    ----------
    program
        The instance.
    x
        Shares of the elements, shape (p,).
    """
    support = (x > 0.5) & (program.whole > 0)
    if program.over.excess(support):
        shares = np.where(program.whole > 0, x, 0.0)
        support = fill(program, np.argsort(-shares, kind="stable")[: np.count_nonzero(program.whole)])
    return completed(program, support)


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
