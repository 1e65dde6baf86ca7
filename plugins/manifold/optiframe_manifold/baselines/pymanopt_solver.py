"""pymanopt's own optimizers on the same manifold: the yardstick for the trust region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from optiframe.errors import require
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_manifold.baselines.lbfgs import unsuited_to_factors
from optiframe_manifold.baselines.pymanopt_watch import Watch, Which, searched, watched_optimizer
from optiframe_manifold.geometry.fixed_rank import stacked
from optiframe_manifold.geometry.objective_adapters import OfFactors
from optiframe_manifold.geometry.quotient_manifold import quotient_manifold
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.solvers.starts import first_factors


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

    optimizer: Which = Field(default="trust-region", description="which of pymanopt's optimizers")
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
            return f"the objective {problem.function.known_as!r} is not written for autograd; take ours"
        return without

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return iterates_from_callback(lambda emit: self._work(problem, run, emit), name="pymanopt")

    def _work(self, problem: Minimize, run: Run, emit: Emit) -> Ending:
        pymanopt = require("pymanopt", "pymanopt")
        over = problem.over
        assert isinstance(over, Rank)  # else `unsuited` said so
        manifold = quotient_manifold(over.rows, over.columns, over.rank)
        begin = stacked(first_factors(problem, run, self.init))
        watch = Watch(emit, manifold.matrix, skip=self.optimizer != "trust-region")
        functions = self._functions(pymanopt, manifold, problem.function, watch)
        preconditioner = manifold.preconditioner if self.precondition else None
        task = pymanopt.Problem(manifold, **functions, preconditioner=preconditioner)
        optimizer = watched_optimizer(self.optimizer, watch, run)
        return searched(task, optimizer, begin, watch, run)

    def _functions(self, pymanopt: Any, manifold: Any, objective: Objective, watch: Watch) -> dict[str, Any]:
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
