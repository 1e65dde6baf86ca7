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

from optiframe.records.fields import Array
from optiframe_rankone.completion import orientation
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.completion.problem import RankOneCompletion


def fixed_by_bounds(problem: RankOneFit) -> Array:
    """The sign of each entry that its bounds leave: 1, -1, or 0 where both are possible, shape (size,)."""
    lower, upper = problem.bounds
    return np.asarray((lower >= 0).astype(np.float64) - (upper <= 0))


def products_of_sizes(problem: RankOneFit) -> Array:
    """What |x_i||x_j| should be, in the order of the targets: |C_ij|, or s_i s_j C_ij where bounds fix signs.

    Where they do, an entry of the wrong sign is a product that is too small, not one whose sign was lost.
    """
    data, sign = problem.least_squares.targets.data, _fixed_of_pairs(problem)
    return np.asarray(np.abs(data) if sign is None else np.where(sign == 0.0, np.abs(data), sign * data))


def _fixed_of_pairs(problem: RankOneFit) -> Array | None:
    """The sign of each pair's product, in the order of the targets, 0 where free; None where all are."""
    targets, signs = problem.least_squares.targets, fixed_by_bounds(problem)
    if not signs.any():
        return None
    rows = np.repeat(np.arange(targets.shape[0]), np.diff(targets.indptr))
    return np.asarray(signs[rows] * signs[targets.indices])


def of_absolute_values(problem: RankOneFit) -> RankOneCompletion:
    """The same problem for |x|: `products_of_sizes`, from the least size within the bounds to the largest."""
    fit = problem.least_squares
    lower, upper = problem.bounds
    known, targets = fit.known, fit.targets
    largest = np.maximum(np.abs(lower), np.abs(upper))
    return RankOneCompletion(
        weights=known,
        values=sp.csr_array((products_of_sizes(problem), targets.indices, targets.indptr), targets.shape),
        lower=np.maximum(np.maximum(lower, -upper), 0.0),  # not 0 only where the sign is fixed
        upper=largest,
        # Sizes begin at 1/2 whatever the signs; a start of the problem's own is kept.
        start=None if problem.start is None else np.abs(problem.start),
    )


def recovered(problem: RankOneFit, sizes: Array) -> Array:
    """`sizes` with signs, within the bounds of `problem`.

    In each connected component the first entry is taken as positive and the others follow
    breadth-first by the signs of C, or by their bounds where these fix the signs of two neighbours; then
    all are reversed where their sum, weighted by `sign_weights`, is below 0, or, where the bounds of
    some exclude 0, where the sum over these contradicts their bounds. Entries of C that are 0 say
    nothing and are left out, which may part a component. Signs that contradict each other, such as
    those of three who always disagree, are not
    noticed: each is read from one entry. Time and memory are linear in the known entries.
    """
    lower, upper = problem.bounds
    decided, orienting = (lower > 0).astype(np.float64) - (upper < 0), problem.orienting
    telling, fixed = sp.csr_array(problem.least_squares.targets, copy=True), _fixed_of_pairs(problem)
    if fixed is not None:
        telling.data = np.where(fixed == 0.0, telling.data, fixed)
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
        wanted = decided[reached] if decided[reached].any() else orienting[reached]
        signs[reached] *= orientation.of_group(wanted * signs[reached] * sizes[reached])
    return problem.clip(signs * sizes)
