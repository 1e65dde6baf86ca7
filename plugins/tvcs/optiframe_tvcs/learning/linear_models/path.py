"""The best fits of all sizes, each from the one before, and the choice of a size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.registry.registry import build
from optiframe.solving import construct
from optiframe.solving.result import Result, Status
from optiframe.solving.solve import NotConverged, solve
from optiframe_tvcs.learning.best_subset.all_supports import AllSupports
from optiframe_tvcs.learning.best_subset.splicing import Splicing
from optiframe_tvcs.learning.linear_models.l1_path import l1_path
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.with_intercept import WithIntercept
from optiframe_tvcs.sets.sparse_sets import digest, support
from optiframe_tvcs.sets.three_view import ThreeView
from optiframe_tvcs.sets.without_groups import deviance

_BEYOND = 4  # times the size: an l1 penalty shrinks true entries, and needs others in their place
_TRIED = 5  # points of the l1 path, for each size
_STARTS = 2  # of them, from which a fit begins
_SMALL = 20  # sizes up to which these are always taken: such fits cost little, and lead on to larger ones
_MANY = 2000  # samples below which they are always taken, too: fits of few samples are harder, and cheap
_VAIN = 5  # sizes in a row that none of them improved: every other one is then spared them
_TIE = 1e-9  # relative; what is lower by less is as good

Criterion = Literal["bic", "ebic", "sic"]

Objective = Callable[[Any, Array, Array], LinearModel]
"""The loss for a matrix of samples, their targets and their weights."""


def bounded(over: ConstraintSet | None, size: int) -> ConstraintSet:
    """The set with at most `size` nonzeros in all; of any entries where there is no set."""
    if over is None:
        return Cardinality(size=size)
    assert isinstance(over, ThreeView)  # the estimators refuse any other
    return over.model_copy(update={"total": min(size, over.limit)})


@dataclass(frozen=True, eq=False)
class Fit:
    """What a path keeps of a fit; a `Result` has the same, and more."""

    solution: Array
    objective: float
    iterations: int
    proved: bool = False  # that none of this size is better


class SizePath:
    """Fits of rising sizes: from the one before or from an l1 path, whichever ends lower.

    A fit that is proved the best needs no other start; after the first that is not, no proof is tried. With
    2,000 samples or more, every other size above 20 is fitted only from the one before while starts from the
    l1 path do not win.

    Parameters
    ----------
    function
        The loss; its last entry is a free intercept where `intercept`.
    over
        The set that supports come from besides their size; None: any.
    solver, budget, seed
        Of each single fit, as for `optiframe.solve`.
    asked
        A size that is fitted from all starts in any case.
    """

    def __init__(
        self,
        function: LinearModel,
        over: ConstraintSet | None,
        *,
        intercept: bool,
        solver: Any,
        budget: Any,
        seed: int,
        asked: int | None = None,
    ) -> None:
        self.function, self._over, self._intercept = function, over, intercept
        if isinstance(solver, str | Mapping):
            solver = construct.solver(solver) if isinstance(solver, str) else build("solver", solver)
        self._solver = solver
        self._budget, self._seed, self._asked = budget, seed, asked
        self._vain, self._spared = 0, False
        free = np.zeros(function.shape, dtype=bool)
        free[-1:] = intercept
        self._penalised = l1_path(function, free)
        self._shrunk: list[Array] = []
        self._search: tuple[Minimize, AllSupports] | None = None  # of the last problem
        self._provable = True  # whether all fits so far were proved the best
        self._found: dict[int, Result[Array, Any] | Fit] = {}

    def result(self, size: int) -> Result[Array, Any]:
        """The fit of this size as a solver's result."""
        found = self.at(size)
        if isinstance(found, Result):
            return found
        solver = self._solver if found.proved else self._solver.model_copy(update={"proof": 0})
        return self._solve(self._problem(size), found.solution, solver)

    def at(self, size: int) -> Result[Array, Any] | Fit:
        """The fit of this size, which is kept; sizes may come in any order."""
        if size in self._found:
            return self._found[size]
        below = [each for each in self._found if each < size]
        start = self._found[max(below)].solution if below else np.zeros(self.function.shape)
        problem = self._problem(size)
        result = self._fit(problem, start)
        if self._proved(result):
            self._found[size] = result
            return result
        small = size <= _SMALL or len(self.function) < _MANY
        if small or size == self._asked or self._vain < _VAIN or self._spared:
            further = self._further(problem, size, result)
            won = further.objective < result.objective * (1.0 - _TIE)
            self._vain, self._spared, result = 0 if won else self._vain + 1, False, further
        else:
            self._spared = True
        self._found[size] = result
        return result

    def _problem(self, size: int) -> Minimize:
        inside = bounded(self._over, size)
        return Minimize(self.function, over=WithIntercept(over=inside) if self._intercept else inside)

    def _further(
        self, problem: Minimize, size: int, result: Result[Array, Any] | Fit
    ) -> Result[Array, Any] | Fit:
        """The best of this fit and those from points of the l1 path."""
        met = {digest(support(result.solution))}
        for other in self._best_of_penalised(problem.over, size):
            if digest(support(other)) not in met:
                another = self._fit(problem, other)
                met |= {digest(support(other)), digest(support(another.solution))}
                result = min(result, another, key=lambda each: each.objective)
        return result

    def _fit(self, problem: Minimize, start: Array) -> Result[Array, Any] | Fit:
        splicing = self._solver
        if not isinstance(splicing, Splicing) or splicing.unsuited(problem):
            return self._solve(problem, start, splicing)
        if self._budget is not None:
            result = self._solve(problem, start, splicing if self._provable else _without_proof(splicing))
            self._provable = self._proved(result)
            return result
        # Around a small fit, what a run checks and records takes three times as long as the fit.
        if self._search is None or self._search[0] is not problem:
            self._search = problem, splicing.search(problem, lambda: np.inf, prove=self._provable)
        search, inside = self._search[1], np.asarray(problem.over.project(start))
        *before, (x, value) = splicing.fits(problem, inside, search)
        self._provable = search.proved
        return Fit(x, value, 1 + len(before), search.proved)

    def _proved(self, result: Result[Array, Any] | Fit) -> bool:
        """Whether no fit of this size is better; of a method other than splicing, `converged` says less."""
        if isinstance(result, Fit):
            return result.proved
        return isinstance(self._solver, Splicing) and result.status is Status.CONVERGED

    def _solve(self, problem: Minimize, start: Array, solver: Any) -> Result[Array, Any]:
        with warnings.catch_warnings():
            # Matching pursuits end in a circle where samples are few; the status says so.
            warnings.simplefilter("ignore", NotConverged)
            result = solve(
                problem,
                solver,
                start=start,
                budget=self._budget,
                seed=self._seed,
                progress=False,
                trace=False,
            )
        if result.status is Status.CANCELLED:
            raise KeyboardInterrupt  # a path has no answer before its end
        return result

    def _best_of_penalised(self, over: ConstraintSet, size: int) -> list[Array]:
        """Of points with `size` entries or a few times as many, cut to the set, those that fit best."""
        if not size:
            return []
        most = _BEYOND * size + 1
        while not self._shrunk or np.count_nonzero(self._shrunk[-1]) <= most:
            if (point := next(self._penalised, None)) is None:
                break
            self._shrunk.append(point)
        near = [x for x in self._shrunk if size <= np.count_nonzero(x) <= most]
        cut: dict[bytes, Array] = {}
        for x in near[:: len(near) // _TRIED + 1]:
            kept = np.asarray(over.project(x))
            cut.setdefault(digest(support(kept)), kept)
        fits = [minimise_on(self.function, support(kept), kept) for kept in cut.values()]
        return sorted(fits, key=self.function.value)[:_STARTS]


def _without_proof(splicing: Splicing) -> Splicing:
    """The same method, which compares supports near by and not all."""
    return splicing.model_copy(update={"proof": min(splicing.proof, 1)})


def criterion(kind: Criterion, function: LinearModel, x: Array, used: int, shape: tuple[float, int]) -> float:
    """An information criterion of a fit with `used` nonzero coefficients; lower is better.

    `shape` is how many samples and features there are.

    To the deviance "bic" adds used log n; "ebic" that and 2 used log features (Chen, Chen 2008); "sic" used
    log features log log n (Zhu et al. 2020, abess).
    """
    n, features = shape
    each = {
        "bic": np.log(n),
        "ebic": np.log(n) + 2 * np.log(features),
        "sic": np.log(max(features, 2)) * np.log(max(np.log(n), 1.0 + 1e-9)),  # above 0 for few samples
    }
    return float(deviance(function, x, n) + used * each[kind])
