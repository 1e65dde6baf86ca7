"""The route of Sec. 5.2: fit the sizes |x| to |C|, then read the signs along the graph.

Exact for values that are exactly of rank one. With noise it is not: |C| is never below 0
on the average, so noise does not cancel. Where a pair shares one task, |C_ij| is 1 whatever
the skills, and in general it is too large by about 1/sqrt(N_ij) where skills are small. And
a sign is read from one entry of a noisy matrix, so that one unlucky pair turns everybody
behind it. With 1,000 workers, 100,000 tasks and 10 labels each, skills from -.3 to .8, the
error of the labels was .185 on this route and .084 with signs fitted along (.083 with true
skills); with skills from 0 to .8, .135 and .055 (.054). `examples/bench/rankone_absolute.py`
measures it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from optiframe.values import Array
from optiframe_rankone.rank_one import RankOneCompletion, RankOneFit


def of_absolute_values(problem: RankOneFit) -> RankOneCompletion:
    """The same problem for |x|: the values |C|, from 0 to the larger size of the two bounds."""
    fit = problem.least_squares
    lower, upper = problem.bounds
    known, targets = fit.known, fit.targets
    largest = np.maximum(np.abs(lower), np.abs(upper))
    return RankOneCompletion(
        weights=known,
        values=sp.csr_array((np.abs(targets.data), targets.indices, targets.indptr), targets.shape),
        lower=np.zeros(len(largest)),
        upper=largest,
        # Sizes begin at 1/2 whatever the signs; a start of the problem's own is kept.
        start=None if problem.start is None else np.abs(problem.start),
    )


def recovered(problem: RankOneFit, sizes: Array) -> Array:
    """`sizes` with signs, within the bounds of `problem`.

    In each connected component the first entry is taken as positive and the others follow
    breadth-first by the signs of C; then all are turned over where they sum to less than 0.
    Entries of C that are 0 say nothing and are left out, which may part a component.
    Time and memory are linear in the known entries.
    """
    targets = problem.least_squares.targets
    telling = sp.csr_array(targets, copy=True)
    telling.eliminate_zeros()
    signs = np.zeros(len(sizes))
    for first in range(len(sizes)):
        if signs[first]:
            continue
        reached, before = breadth_first_order(telling, first, directed=False)
        signs[first] = 1.0
        if len(reached) == 1:
            continue
        links = np.sign(telling[before[reached[1:]], reached[1:]])
        for entry, link in zip(reached[1:].tolist(), links.tolist(), strict=True):
            signs[entry] = link * signs[before[entry]]
        if np.dot(signs[reached], sizes[reached]) < 0:
            signs[reached] *= -1.0
    return problem.clip(signs * sizes)
