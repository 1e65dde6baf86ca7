"""Where a search over low-rank matrices begins."""

from __future__ import annotations

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.solving.solver import Run
from optiframe_manifold.geometry.fixed_rank import balanced
from optiframe_manifold.low_rank import LowRank, Rank

LARGEST = 0.95
"""Largest entry in size of a random start (Dong et al., Sec. VI)."""

_EXTRA, _ROUNDS = 5, 3  # columns beyond the rank, and passes: enough for a start (Halko et al. 2011)
_EPS = float(np.finfo(np.float64).eps)
_NEWTON, _NEAR = 5, 0.05  # steps along the ray, and how near is enough: the search itself does the rest
_LARGEST_START = 1e300  # entries of the matrix beyond may not be numbers, nor their sums
_FILL = 1e-3  # missing directions of a start, relative to its largest singular value


def first_factors(problem: Minimize, run: Run, init: str) -> LowRank:
    """Where a search over the set `Rank` begins: the caller's start, else as `init` says.

    A start far away, also where the objective overflows, is brought nearer, which a finding says.
    """
    over, given = problem.over, problem.start if run.start is None else run.start
    assert isinstance(over, Rank)
    if given is not None:
        start, present = completed(given, over.rank, run.rng)
        start = _nearer(problem.function, start, run)
        if present == over.rank:
            return start
        if present > 0:
            run.warn(
                f"small random directions were added to the start, because it has rank {present} and the set "
                f"holds matrices of rank {over.rank}; to avoid this, give a start of rank {over.rank}",
                identifier="collaborative.lower-rank-start",
            )
            return start
        text = f"the start is zero, where the gradient by the factors vanishes: began {init} instead"
        run.warn(text, identifier="collaborative.zero-start")
    if init == "spectral":
        with np.errstate(all="ignore"):
            found = spectral_start(problem.function, over.rank)
        if found is not None:
            return found
    return random_start((over.rows, over.columns), over.rank, run.rng)


def _nearer(objective: Objective, start: LowRank, run: Run) -> LowRank:
    """A start at which the objective is above that of zero, at the best multiple of it; any other as it is.

    Far away a penalty such as log-sum-exp is about its largest entry alone: a search would bring one entry
    after the other down, in hundreds of steps. Along the ray to zero all come down together.
    """
    with np.errstate(all="ignore"):
        nothing = LowRank(np.zeros_like(start.left), np.zeros_like(start.right))
        reached, at_zero = objective.value(start), objective.value(nothing)
        if not reached > at_zero:  # True for nan, too: left to the solver, which says so
            return start
        size = start.largest()
        # From a unit length, so that Newton's first step along the ray is of a usual size.
        found = best_along(objective, LowRank(start.left / size, start.right))
    if found is None:
        found = LowRank(start.left * np.sqrt(_FILL / size), start.right * np.sqrt(_FILL / size))
    run.warn(
        f"the solver began at {number(found.largest() / size)} times the start, because the objective at the "
        "start is higher than at zero",
        identifier="collaborative.far-start",
    )
    return found


def random_start(shape: tuple[int, int], rank: int, rng: np.random.Generator) -> LowRank:
    """Factors of standard normal numbers, scaled so that the largest entry of the matrix is .95."""
    left, right = (rng.standard_normal((size, rank)) for size in shape)
    scale = np.sqrt(LARGEST / LowRank(left, right).largest())
    return balanced(LowRank(left * scale, right * scale))


def spectral_start(objective: Objective, rank: int) -> LowRank | None:
    """The best multiple of the gradient at zero, cut to the rank; None where that gradient vanishes.

    At X = 0 the objective falls fastest towards -G(0); of the matrices of this rank its
    leading singular directions are nearest to it. How far to go is decided by a few Newton
    steps along that ray. The matrix G(0) is never formed: the derivatives by the factors
    (0, V) of zero are (G(0) V, 0), which is all that a block power iteration needs. Costs
    about a dozen evaluations; always gives the same bits. An objective that knows its gradient
    at zero as a sparse matrix says so by a method ``spectral_start(rank)``, and is asked instead.
    """
    own = getattr(objective, "spectral_start", None)
    if callable(own):
        found: LowRank | None = own(rank)
        return found
    rows, columns = objective.shape
    width = min(rank + _EXTRA, rows, columns)
    nothing = LowRank(np.zeros((rows, width)), np.zeros((columns, width)))
    right = np.linalg.qr(np.random.default_rng(0).standard_normal((columns, width)))[0]
    for _ in range(_ROUNDS):
        left = objective.gradient(LowRank(nothing.left, right)).left
        left = np.linalg.qr(left)[0]
        product = objective.gradient(LowRank(left, nothing.right)).right
        right = np.linalg.qr(product)[0]
    u, values, wt = np.linalg.svd(product.T, full_matrices=False)  # of left' G(0)
    if not values[0] > 0:
        return None
    # Where the gradient has fewer directions, chance ones, small, take the place of the rest.
    kept = np.maximum(values[:rank], _FILL * values[0])
    return best_along(objective, LowRank(-(left @ u[:, :rank]), wt[:rank].T * kept))


def best_along(objective: Objective, ray: LowRank) -> LowRank | None:
    """The positive multiple of a matrix at which the objective is least, by Newton's method from zero.

    None where the objective does not fall along it. Of the multiples visited the best is
    taken, so that a function that is not convex does no harm.
    """
    best, lowest, length = 0.0, np.inf, 0.0
    # With the right factor fixed, moving the left one moves the matrix along the ray itself.
    direction = LowRank(ray.left, np.zeros_like(ray.right))
    for _ in range(_NEWTON):
        at = LowRank(length * ray.left, ray.right)
        slope = float(np.vdot(objective.gradient(at).left, ray.left))
        value = objective.value(at)
        if not value < lowest:
            break
        best, lowest = length, value
        bend = float(np.vdot(objective.hessian_product(at, direction).left, ray.left))
        step = -slope / bend if bend > 0 else 0.0
        if abs(step) <= _NEAR * length:
            break
        length = length + step if length + step > 0 else length / 2
    return balanced(LowRank(best * ray.left, ray.right)) if best > 0 else None


def completed(start: LowRank, rank: int, rng: np.random.Generator) -> tuple[LowRank, int]:
    """Balanced factors with `rank` columns, and how many singular values of the start are not zero.

    A start of a lower rank is not a point of the manifold. What is missing is filled with
    small random directions: a thousandth of its largest singular value.

    Raises
    ------
    InvalidInput
        When an entry is not finite, or so large that the matrix is not.
    """
    if not (np.isfinite(start.left).all() and np.isfinite(start.right).all()):
        raise InvalidInput("start: every entry of the factors must be finite")
    with np.errstate(over="ignore"):
        largest = np.abs(start.left).max(initial=0.0) * np.abs(start.right).max(initial=0.0)
    if largest > _LARGEST_START:
        raise InvalidInput(
            f"start: the matrix of these factors has entries of some {number(largest)}, beyond all numbers; "
            "give a smaller one"
        )
    missing = ((0, 0), (0, max(rank - start.rank, 0)))
    even = balanced(LowRank(np.pad(start.left, missing), np.pad(start.right, missing)))
    left, right = even.left[:, :rank], even.right[:, :rank]  # the largest singular values
    sizes = np.einsum("ij,ij->j", left, left)
    floor = _EPS * len(even.left) * sizes[0]
    present = int(np.count_nonzero(sizes > floor))
    if present in (rank, 0):
        return LowRank(left, right), present
    fill = random_start(start.shape, rank - present, rng)
    scale = np.sqrt(_FILL * sizes[0] / np.einsum("ij,ij->j", fill.left, fill.left).max())
    whole = LowRank(
        np.hstack([left[:, :present], scale * fill.left]), np.hstack([right[:, :present], scale * fill.right])
    )
    return balanced(whole), present
