"""SciPy's global methods, each by name: they search a box and need values only."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt
from scipy import optimize

from optiframe.methods.scipy_base import (
    MANY,
    Posed,
    ending,
    finite_bounds,
    fixed_entries,
    steps,
    unsuited,
    without_hessian,
)
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_POINTS = 1_000_000  # of a grid, which SciPy keeps in memory; a minute at some 50 microseconds each
_NEVER = "not computed: a global search has none"


class _Global(Solver[Minimize, Array, None]):
    """A search of a box by values; `search` calls SciPy's function and tells of points."""

    solves = Minimize
    requires = ("scipy",)
    uses = ()
    monotone = False
    residual_meaning = _NEVER

    room: ClassVar[bool] = False  # whether lower bounds must be below upper ones

    def unsuited(self, problem: Minimize) -> str | None:
        reason = unsuited(problem, "bounds") or finite_bounds(problem)
        return reason or (fixed_entries(problem) if self.room else None)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        posed = Posed(problem, run)

        def work(emit: Emit) -> Ending:
            def seen(x: Array, *_: Any) -> None:
                emit(Iterate(posed.flat.point(x)))

            found = self.search(posed, run, seen)
            if found.x is not None:  # None where the search found no point at all
                seen(found.x)
            return ending(found, run)

        return iterates_from_callback(work, name=self.name)

    @abstractmethod
    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        """Run SciPy's function, telling `seen` of points."""


class DifferentialEvolution(_Global):
    """Differential evolution: a population that mutates; bounds and constraints."""

    name = "scipy.differential-evolution"
    reference = "Storn and Price 1997"

    population: PositiveInt = Field(default=15, description="members for each entry of a point")
    polish: bool = Field(default=True, description="whether L-BFGS-B (or trust-constr) betters the end")

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "constraints") or finite_bounds(problem)

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        def callback(intermediate_result: optimize.OptimizeResult) -> None:
            seen(intermediate_result.x)

        return optimize.differential_evolution(
            posed.flat.value,
            posed.bounds,
            maxiter=steps(run),
            popsize=self.population,
            polish=self.polish,
            constraints=tuple(without_hessian(each) for each in posed.others),
            rng=run.rng,
            callback=callback,
        )


class DualAnnealing(_Global):
    """Generalized simulated annealing with local searches."""

    name = "scipy.dual-annealing"
    room: ClassVar[bool] = True
    reference = "Xiang, Sun, Fan and Gong 1997"

    rounds: PositiveInt = Field(default=1000, description="iterations of annealing")
    local: bool = Field(default=True, description="whether local searches better what annealing finds")

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        try:
            return optimize.dual_annealing(
                posed.flat.value,
                posed.bounds,
                maxiter=min(self.rounds, steps(run)),
                maxfun=MANY,
                rng=run.rng,
                no_local_search=not self.local,
                callback=seen,
            )
        except ValueError as error:
            if "NaN" not in str(error):
                raise
            return optimize.OptimizeResult(x=None, message="the objective is not finite at any point tried")


class Shgo(_Global):
    """Simplicial homology: every local minimum of a sampled box, in order; bounds and constraints."""

    name = "scipy.shgo"
    reference = "Endres, Sandrock and Focke 2018"

    samples: PositiveInt = Field(
        default=128, description="points sampled in an iteration; a power of two for sobol"
    )
    rounds: PositiveInt = Field(default=1, description="iterations of sampling")
    sampling: Literal["simplicial", "sobol", "halton"] = Field(
        default="sobol", description="how the box is sampled"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "constraints") or finite_bounds(problem) or fixed_entries(problem)

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        return optimize.shgo(
            posed.flat.value,
            posed.bounds,
            constraints=tuple(without_hessian(each) for each in posed.others) or None,
            n=self.samples,
            iters=self.rounds,
            sampling_method=self.sampling,
            callback=seen,
        )


class Direct(_Global):
    """DIRECT: divides the box into ever smaller ones; the same answer every time."""

    name = "scipy.direct"
    room: ClassVar[bool] = True
    reference = "Jones, Perttunen and Stuckman 1993; Gablonsky and Kelley 2001"

    local: bool = Field(default=True, description="the variant that favours local search")

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        return optimize.direct(
            posed.flat.value,
            posed.bounds,
            maxiter=steps(run),
            maxfun=MANY // 100,
            locally_biased=self.local,
            len_tol=min(1.0, run.budget.tolerance),
            callback=seen,
        )


class BasinHopping(_Global):
    """Hops between local minima found by L-BFGS-B; needs a start and no box."""

    name = "scipy.basinhopping"
    accepts_start = True
    reference = "Wales and Doye 1997"

    hops: PositiveInt = Field(default=100, description="local searches")
    size: PositiveFloat = Field(default=0.5, description="largest change of an entry in a hop, at first")
    temperature: PositiveFloat = Field(default=1.0, description="rise of the objective that a hop may accept")

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "bounds")

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        flat = posed.flat
        told = {"jac": flat.gradient} if flat.objective.offers(Objective.gradient) else {}
        box = optimize.Bounds(posed.box.lower, posed.box.upper)

        def inside(**move: Any) -> bool:
            x = move["x_new"]
            return bool(((x >= box.lb) & (x <= box.ub)).all())

        return optimize.basinhopping(
            flat.value,
            posed.start,
            niter=min(self.hops, steps(run)),
            T=self.temperature,
            stepsize=self.size,
            minimizer_kwargs={"method": "L-BFGS-B", "bounds": box, **told},
            accept_test=inside,
            callback=seen,
            rng=run.rng,
        )


class Brute(_Global):
    """Every point of a grid, then Nelder and Mead from the best: for one to three entries."""

    name = "scipy.brute"
    reference = "grid search"

    grid: PositiveInt = Field(default=20, description="points along each entry")

    def unsuited(self, problem: Minimize) -> str | None:
        entries = math.prod(problem.function.shape)
        if entries * math.log(self.grid) > math.log(_POINTS):
            return f"{self.grid} points along each of {entries} entries are more than {_POINTS:_}"
        return super().unsuited(problem)

    def search(self, posed: Posed, run: Run, seen: Any) -> optimize.OptimizeResult:
        ranges = tuple(zip(posed.box.lower, posed.box.upper, strict=True))
        best, value, *_ = optimize.brute(
            posed.flat.value, ranges, Ns=self.grid, full_output=True, finish=None
        )
        best = np.atleast_1d(best)
        seen(best)
        better = optimize.minimize(
            posed.flat.value, best, method="Nelder-Mead", bounds=posed.bounds, tol=run.budget.tolerance
        )
        return better if better.fun < value else optimize.OptimizeResult(x=best, success=True, message="grid")
