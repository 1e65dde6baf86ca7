"""What the known entries of a matrix leave open about its completion, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.ids import about
from optiframe_rankone.worker_graph import WorkerGraph


def report(
    fit: PairwiseLeastSquares, uncompared: NDArray[np.bool_], bounds: tuple[Array, Array]
) -> Iterator[Finding]:
    """Every finding on the known entries: none, all 0, rows without any, groups, bipartite groups.

    Rows are named by their index, from 0. About the data alone, so the same for every solver.
    ``uncompared`` and ``bounds`` are those of `RankOneFit`.
    """
    rows = np.arange(fit.shape[0])
    if fit.known.nnz == 0:
        yield Finding(
            "error",
            "nothing is estimated, and the answer is only the solver's start or assumption: no entry off the "
            "diagonal is known (every weight is 0); give some entries a weight above 0",
            identifier="completion.no-known-entry",
        )
        return
    graph = WorkerGraph.of_pairs(fit.known)
    if not fit.targets.data.any():
        yield Finding(
            "error",
            "every known value is 0: x = 0 fits them all, and nothing tells how large any x_i is",
            identifier="completion.all-values-zero",
        )
    yield from about(
        "warning",
        "row",
        rows[graph.isolated],
        "without a known entry: nothing to compare with, so x_i there is assumed, not estimated",
        identifier="completion.isolated-row",
    )
    only = uncompared & ~graph.isolated
    yield from about(
        "warning",
        "row",
        rows[only],
        "known only together with rows that the bounds hold at 0: x_i there is assumed, not estimated",
        identifier="completion.uncompared-row",
    )
    sizes = np.bincount(graph.component)
    groups = int((sizes > 1).sum())
    if groups > 1:
        outside = (graph.component != int(sizes.argmax())) & ~graph.isolated
        yield from about(
            "warning",
            "row",
            rows[outside],
            f"outside the largest of {groups} groups of rows without a known entry between them: each group "
            "has a sign of its own, which the values do not tell",
            identifier="completion.separate-groups",
        )
    yield from about(
        "warning",
        "row",
        rows[graph.bipartite],
        "in a bipartite group (known entries only join its two sides, as in a ring of even length): one "
        "side can be multiplied and the other divided by the same number, so sizes depend on the start",
        identifier="completion.bipartite-group",
    )
    lower, upper = bounds
    if fit.targets.data.any() and (lower < 0).any() and (upper > 0).any():
        yield Finding(
            "note",
            "x and -x fit the values equally well: the sign is that of the start, unless bounds tell",
            identifier="completion.sign-undetermined",
        )
