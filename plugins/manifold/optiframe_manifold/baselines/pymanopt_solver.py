"""pymanopt's own optimizers on the same manifold: the yardstick for the trust region."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import Field

from optiframe.errors import require
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_manifold.baselines.lbfgs import unsuited_to_factors
from optiframe_manifold.geometry.fixed_rank import FixedRank, stacked
from optiframe_manifold.geometry.objective_adapters import OfFactors
from optiframe_manifold.geometry.quotient_manifold import quotient_manifold
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.solvers.starts import first_factors
from optiframe_manifold.solvers.trust_region_loop import NO_PLACE_TO_BEGIN

_ENDLESS = 10**9  # pymanopt wants a number; the core keeps the limits


class Pymanopt(Solver[Minimize, LowRank, None]):
    """pymanopt's TrustRegions, ConjugateGradient or SteepestDescent on the fixed-rank quotient manifold.

    Runs the library's own code over our manifold. With derivatives by autograd, of the
    objective written naively with the whole m x n matrix, it is what a user of the library
    would write; with ours it differs from `manifold.trust-region` in the loop only. Iterates
    come after every outer step; pymanopt looks at the clock between them, too.
    """

    name = "manifold.pymanopt"
    requires = ("pymanopt", "autograd")
    reference = "Townsend, Koep, Weichwald (2016), Pymanopt"
    solves = Minimize
    former_names = (("begin", "init"),)
    accepts_start = True
    residual_meaning = "norm of the Riemannian gradient, as for manifold.trust-region"
    point_type = LowRank

    optimizer: Literal["trust-region", "conjugate-gradient", "steepest-descent"] = Field(
        default="trust-region", description="which of pymanopt's optimizers"
    )
    derivatives: Literal["ours", "autograd"] = Field(
        default="ours", description="the objective's own, or by autograd through the dense matrix"
    )
    init: Literal["spectral", "random"] = Field(
        default="spectral", description="where to begin without a start, as for manifold.trust-region"
    )
    precondition: bool = Field(default=False, description="hand pymanopt the Gram preconditioner")

    def unsuited(self, problem: Minimize) -> str | None:
        if self.precondition and self.optimizer == "steepest-descent":
            return "pymanopt's SteepestDescent takes no preconditioner"
        if self.derivatives == "ours":
            return unsuited_to_factors(problem, Objective.gradient, Objective.hessian_product)
        without = unsuited_to_factors(problem)
        if without is None and getattr(problem.function, "naive", None) is None:
            return f"the objective {problem.function.name!r} is not written for autograd; take ours"
        return without

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return iterates_from_callback(lambda emit: self._work(problem, run, emit), name="pymanopt")

    def _work(self, problem: Minimize, run: Run, emit: Emit) -> Ending:
        pymanopt = require("pymanopt", "pymanopt")
        over = problem.over
        assert isinstance(over, Rank)  # else `unsuited` said so
        manifold = quotient_manifold(over.rows, over.columns, over.rank)
        begin = stacked(first_factors(problem, run, self.init))
        watch = _Watch(emit, manifold.geometry, skip=self.optimizer != "trust-region")
        functions = self._functions(pymanopt, manifold, problem.function, watch)
        preconditioner = manifold.preconditioner if self.precondition else None
        task = pymanopt.Problem(manifold, **functions, preconditioner=preconditioner)
        optimizer = _watched(pymanopt, self.optimizer)(
            watch,
            max_time=run.time_left(),
            max_iterations=_ENDLESS,
            min_gradient_norm=run.budget.tolerance,
            verbosity=0,
        )
        with np.errstate(all="ignore"):  # a trial step may overflow; pymanopt then shortens it
            norm = float(manifold.norm(begin, task.riemannian_gradient(begin)))
            if not math.isfinite(float(task.cost(begin)) + norm):
                return Status.DIVERGED, NO_PLACE_TO_BEGIN
            if norm <= run.budget.tolerance:  # pymanopt would divide by a norm of zero
                watch.last(begin, norm)
                return Status.FINISHED, "the start is the answer"
            found = optimizer.run(task, initial_point=begin)
        watch.last(found.point, found.gradient_norm)
        timed_out = "max time" in found.stopping_criterion
        return Status.TIME_LIMIT if timed_out else Status.STALLED, f"pymanopt: {found.stopping_criterion}"

    def _functions(self, pymanopt: Any, manifold: Any, objective: Objective, watch: _Watch) -> dict[str, Any]:
        """Cost and derivatives in pymanopt's form; each tells the watch."""
        if self.derivatives == "autograd":
            naive: Callable[[Any], Any] = objective.naive  # type: ignore[attr-defined]  # `unsuited` looked

            def dense(point: Any) -> Any:
                left, right = manifold.geometry.split(point)
                return naive(left @ right.T)

            cost = pymanopt.function.autograd(manifold)(dense)
            gradient, product = cost.get_gradient_operator(), cost.get_hessian_operator()
            wrap = pymanopt.function.numpy(manifold)
            return {
                "cost": cost,
                "euclidean_gradient": wrap(watch.gradients(gradient)),
                "euclidean_hessian": wrap(watch.products(product)),
            }
        ours = pymanopt.function.numpy(manifold)
        of, at = OfFactors(objective, manifold.geometry), manifold.factors
        last: list[Array] = []

        def slope(point: Array) -> Array:
            # pymanopt asks for it again with every Hessian product.
            if not last or last[0] is not point:
                last[:] = point, of.gradient(at(point))
            return last[1]

        return {
            "cost": ours(lambda point: of.value(at(point))),
            "euclidean_gradient": ours(watch.gradients(slope)),
            "euclidean_hessian": ours(watch.products(lambda point, v: of.hessian_product(at(point), v))),
        }


class _Watch:
    """Where pymanopt is, which has no callback: it takes gradients only at points it has accepted."""

    def __init__(self, emit: Emit, geometry: FixedRank, *, skip: bool) -> None:
        self._emit, self._geometry = emit, geometry
        self._skip = skip  # the others look at their limits, and tell their point, at the start, too
        self._at: Array | None = None
        self._products, self._any = 0, False

    def gradients(self, gradient: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def watched(point: Array) -> Array:
            self._at = point
            return gradient(point)

        return watched

    def products(self, product: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
        def watched(point: Array, v: Array) -> Array:
            self._products += 1
            return product(point, v)

        return watched

    def step(self, gradient_norm: float) -> None:
        """pymanopt has finished an outer step."""
        if self._skip:
            self._skip = False
            return
        assert self._at is not None
        self._send(self._at, gradient_norm)

    def last(self, point: Array, gradient_norm: float) -> None:
        """pymanopt has ended; where it made no step, its point has not been told yet."""
        if not self._any:
            self._send(point, gradient_norm)

    def _send(self, point: Array, gradient_norm: float) -> None:
        self._any = True
        info = {"products": float(self._products)}
        self._products = 0
        self._emit(Iterate(LowRank(*self._geometry.split(point)), residual=float(gradient_norm), info=info))


def _watched(pymanopt: Any, which: str) -> Any:
    """One of pymanopt's optimizers that tells a watch of every outer step."""
    base: Any = {
        "trust-region": pymanopt.optimizers.TrustRegions,
        "conjugate-gradient": pymanopt.optimizers.ConjugateGradient,
        "steepest-descent": pymanopt.optimizers.SteepestDescent,
    }[which]

    class Watched(base):  # type: ignore[misc]  # pymanopt has no types
        def __init__(self, watch: _Watch, **limits: Any) -> None:
            super().__init__(**limits)
            self._watch = watch

        def _check_stopping_criterion(self, **state: Any) -> Any:
            self._watch.step(state["gradient_norm"])
            return super()._check_stopping_criterion(**state)

    return Watched
