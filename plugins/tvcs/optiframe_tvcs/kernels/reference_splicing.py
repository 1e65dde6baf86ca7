"""What the kernels for small dense tables are asked, and what answers where they were not built.

Fits on a support and searches for better ones have a general way besides, `learning.restricted` and
`learning.best_subset.search`, which a kernel may leave them to. Here all are left to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


class SmallSplicing:
    """Splicing over supports of at most `size` entries, and the last one besides where it is `free`.

    Parameters
    ----------
    matrix, turned
        Shape (n, p), in the order of C; or, `turned`, the transpose of a matrix that lies by columns.
    target, weights, ridge
        Of the linear model: shapes (n,), (n,) and (p,). The weights of rows sum to 1.
    loss
        Its place among `learning.dense.LOSSES`.
    table, place
        Of least squares: all rows of the Hessian, that of column j being ``table[place[j]]``; else None.
    size, free
        Entries of a support at most, and whether the last one belongs to it besides.
    pursuit, width
        As of `learning.best_subset.splicing.Splicing`.
    """

    def __init__(
        self,
        matrix: NDArray[np.float64],
        turned: bool,
        target: NDArray[np.float64],
        weights: NDArray[np.float64],
        loss: int,
        ridge: NDArray[np.float64],
        table: NDArray[np.float64] | None,
        place: NDArray[np.int64] | None,
        size: int,
        free: bool,
        pursuit: int,
        width: int,
    ) -> None:
        pass

    def improved(self, x: NDArray[np.float64], value: float, seconds: float) -> float:
        """Makes `x`, of this value, a better fit, and returns its value.

        The same value where none was found before so many seconds were over; nan where the general search is
        needed: by the kernel as columns are alike, here always.
        """
        return math.nan


def newton(
    matrix: NDArray[np.float64],
    turned: bool,
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    loss: int,
    ridge: NDArray[np.float64],
    at: NDArray[np.int64],
    x: NDArray[np.float64],
    accuracy: float,
    least: float,
    hessian: NDArray[np.float64] | None,
) -> bool:
    """Brings `x`, the entries of a point at the columns `at`, to the minimum over these.

    The first arguments are those of `SmallSplicing`, the last three those of `restricted.minimise_on`.

    Returns
    -------
    False where another method is needed and `x` is unchanged: by the kernel as the Hessian is nearly
    singular, here always.
    """
    return False


def lasso(
    table: NDArray[np.float64],
    place: NDArray[np.int64],
    right: NDArray[np.float64],
    penalty: NDArray[np.float64],
    x: NDArray[np.float64],
    close: float,
    passes: int,
) -> None:
    """Lowers ``x' H x / 2 - right' x + penalty' |x|`` by coordinate descent; row j of H is table[place[j]].

    A pass goes over the entries that are not zero or should not be. The last one is that in which no step,
    times its diagonal entry of H, is longer than `close`.
    """
    inside = np.flatnonzero(x)
    gradient = x[inside] @ table[place[inside]] - right
    diagonal = table[place, np.arange(len(x))]
    for _ in range(passes):
        longest = 0.0
        for j in np.flatnonzero(((x != 0) | (np.abs(gradient) > penalty)) & (diagonal > 0)).tolist():
            least = diagonal[j] * x[j] - gradient[j]
            step = np.copysign(max(abs(least) - penalty[j], 0.0), least) / diagonal[j] - x[j]
            x[j] += step
            gradient += step * table[place[j]]
            longest = max(longest, abs(step) * diagonal[j])
        if longest <= close:
            break


def best_support(
    table: NDArray[np.float64],
    place: NDArray[np.int64],
    right: NDArray[np.float64],
    size: int,
    free: bool,
    labels: NDArray[np.int64],
    room: NDArray[np.int64],
    gain: float,
    products: int,
    others: int,
    chosen: NDArray[np.bool_],
    time_left: Callable[[], float],
) -> bool:
    """Looks through all supports for the one on which ``right' x - x' H x / 2`` rises most.

    Parameters
    ----------
    table, place
        Row j of H is table[place[j]].
    size, free
        Entries of a support at most; whether the last one belongs to it besides.
    labels, room
        The group of each entry in two views, numbered together, and how many entries a group may hold; one
        that is the same group in both views counts twice.
    gain
        What a support must gain at least.
    products
        After how many multiplications to end.
    others
        -1, or how many entries besides `chosen` to look at: those that fit best in place of one of these.
    chosen
        Set to the best support that was found; to False where none gains more than `gain`.
    time_left
        Asked every 50 ms for the seconds that are left; with none, the search ends.

    Returns
    -------
    Whether no other support of what was looked at gains more: by the kernel where the search came to its end
    and no columns were alike, here never.
    """
    chosen[:] = False
    return False
