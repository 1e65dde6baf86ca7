"""Which pairs to compare next: those that make the scores surer, one after the other."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.sources import Source
from optiframe.tables.read import to_frame
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.laplacian import DENSE, invert
from optiframe_hodgerank.problem import answer_of, problem_of
from optiframe_hodgerank.solvers.thresholding import without

_SAME = 1e-9  # gains within this of the largest are equal but for rounding


def suggest(
    problem: Source,
    solution: Ranking | Result[Any, Any] | None = None,
    n: int = 10,
    *,
    measure: Literal["variance", "volume"] = "variance",
    weight: float = 1.0,
) -> Any:
    """The comparisons that would most reduce the uncertainty of the scores, the best first.

    Least-squares scores have the covariance sigma^2 L^+; a further comparison of i and j adds
    (e_i - e_j)(e_i - e_j)' to L. Pairs are chosen one by one, each as if those before it had been made
    (greedily), among all pairs of items:

    - "variance" (A-optimal): by how much the mean variance of a difference of two scores falls,
      which is the trace of L^+;
    - "volume" (D-optimal): by how much the logarithm of the volume of the scores' confidence region
      falls, log(1 + weight R_ij), with R_ij the effective resistance; it asks for the pair whose
      difference is least known.

    Items that no chain of comparisons joins come first: joining two groups gains infinitely.

    Parameters
    ----------
    problem, solution
        The comparisons so far, and an answer to them; or the result of a solver, or a fitted
        `RobustRanker`, alone. Comparisons that the answer takes for outliers are not counted as known;
        without an answer all are.
    n
        How many to suggest; a pair may come more than once.
    measure
        What is to fall.
    weight
        What one comparison weighs.

    Returns
    -------
    frame
        Columns `left, right, gain, resistance` of the kind of the comparisons' frame. `gain` is relative:
        the share of the trace, or the fall of the logarithm, each infinite where groups are joined;
        `resistance` is R_ij before the comparison, the variance of the difference in units of sigma^2.

    Raises
    ------
    InvalidInput
        For an n or weight that is not positive, or more than 2,000 items.

    Notes
    -----
    It does not matter what the answers will be, nor how far apart the scores are: a pair whose
    order is plain but whose distance is not is as good as any. Each suggestion costs items^2;
    memory is 32 items^2 bytes.
    """
    if isinstance(n, bool) or n < 1:
        raise InvalidInput(f"n must be at least 1, got {n}")
    if not (weight > 0 and np.isfinite(weight)):
        raise InvalidInput(f"weight must be a positive number, got {weight}")
    if measure not in ("variance", "volume"):
        raise InvalidInput(f"measure must be 'variance' or 'volume', got {measure!r}")
    known = problem_of(problem)
    graph, merged = known.graph, known.merged
    if graph.items > DENSE:
        raise InvalidInput(
            f"all pairs of items are looked at, of at most {DENSE:,} items; here are {graph.items:,}"
        )
    if solution is not None or problem is not known:
        answer = answer_of(problem, solution)
        if answer.outliers is not None:
            each = np.ones(known.rows) if known.comparisons.weight is None else known.comparisons.weight
            kept = np.where(answer.outliers == 0, each, 0.0)
            graph = without(graph, np.bincount(merged.inverse, kept, len(merged)) / merged.weight)
    component = graph.components.copy()
    covariance = invert(graph.laplacian, component, "dense").solve(np.eye(graph.items))
    chosen: list[tuple[int, int, float, float]] = []
    for _ in range(n):
        if component.any():
            i, j = _joining(covariance, component)
            covariance = _joined(covariance, component, i, j, weight)
            component[component == component[j]] = component[i]
            component = np.unique(component, return_inverse=True)[1]
            chosen.append((i, j, np.inf, np.inf))
            continue
        resistance, gain = gains(covariance, measure, weight)
        i, j = (
            int(at) for at in np.unravel_index(int(np.argmax(gain >= (1 - _SAME) * gain.max())), gain.shape)
        )
        chosen.append((i, j, float(gain[i, j]), float(resistance[i, j])))
        column = covariance[:, i] - covariance[:, j]
        covariance = covariance - np.outer(column, column) * (weight / (1 + weight * resistance[i, j]))
    codes = np.array([pair[:2] for pair in chosen])
    columns = {
        "left": known.item_ids[codes[:, 0]],
        "right": known.item_ids[codes[:, 1]],
        "gain": np.array([pair[2] for pair in chosen]),
        "resistance": np.array([pair[3] for pair in chosen]),
    }
    return to_frame(columns, known.comparisons.backend)


def gains(covariance: Array, measure: str, weight: float) -> tuple[Array, Array]:
    """Resistance and gain of every pair, shape (items, items); for a connected graph.

    By Sherman and Morrison L^+ falls by weight c c'/(1 + weight R) with c = L^+ (e_i - e_j), whose
    trace is weight |c|^2/(1 + weight R).
    """
    resistance = _differences(covariance)
    if measure == "volume":
        return resistance, np.log1p(weight * resistance)
    squared = _differences(covariance @ covariance)
    return resistance, weight * squared / (1 + weight * resistance) / np.trace(covariance)


def _differences(matrix: Array) -> Array:
    """(e_i - e_j)' M (e_i - e_j) for all i and j."""
    diagonal = matrix.diagonal()
    return np.asarray(diagonal[:, None] + diagonal[None, :] - 2 * matrix)


def _joining(covariance: Array, component: NDArray[np.int64]) -> tuple[int, int]:
    """The best known item of the largest group, and of the next one."""
    size = np.bincount(component)
    largest = np.argsort(-size, kind="stable")[:2]
    variance = covariance.diagonal()
    i, j = (
        int(members[np.argmin(variance[members])])
        for members in map(np.flatnonzero, component == largest[:, None])
    )
    return i, j


def _joined(covariance: Array, component: NDArray[np.int64], i: int, j: int, weight: float) -> Array:
    """L^+ once the groups of i and j are joined by a comparison of the two.

    The difference of i and j has the variance 1/weight. Within each group nothing changes; the
    other group's items all move with it, and the sum is zero over both.
    """
    first, second = component == component[i], component == component[j]
    # Hold i at zero in one group and j in the other, then add the step between the groups.
    held = covariance.copy()
    for item, group in ((i, first), (j, second)):
        inside = np.ix_(group, group)
        column = covariance[group, item]
        held[inside] = covariance[inside] - column[:, None] - column[None, :] + covariance[item, item]
    held[np.ix_(second, second)] += 1 / weight
    both = first | second
    centre = np.eye(len(component))
    centre[np.ix_(both, both)] -= 1 / both.sum()
    return np.asarray(centre @ held @ centre)
