"""pymanopt's optimizers by name, over the sets that are manifolds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from optiframe.errors import require
from optiframe.methods.smooth_part import first_point
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_manifold.baselines.pymanopt_watch import Watch, Which, searched, watched_optimizer
from optiframe_manifold.sets.manifold_of import manifold_of, member, no_manifold


class PymanoptOptimizer(Solver[Minimize, Array, None]):
    """What pymanopt's optimizers share: an objective over a manifold, in pymanopt's form.

    The Riemannian gradient and Hessian come from the objective's own, by pymanopt's formulas. A trial point
    where the objective is nan counts as one where it is infinite, so that a step is shortened there. A start
    outside the set is projected onto it.
    """

    solves = Minimize
    requires = ("pymanopt",)
    uses: ClassVar[tuple[Callable[..., Any], ...]] = (Objective.gradient,)
    accepts_start = True
    residual_meaning = "norm of the Riemannian gradient, in the manifold's metric"

    optimizer: ClassVar[Which]

    def unsuited(self, problem: Minimize) -> str | None:
        return no_manifold(problem.over, problem.function.shape)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return iterates_from_callback(lambda emit: self._work(problem, run, emit), name=self.name)

    def _work(self, problem: Minimize, run: Run, emit: Emit) -> Ending:
        begin = member(problem.over, first_point(problem, run))
        manifold = manifold_of(problem.over, begin.shape)
        watch = Watch(emit, np.array, skip=self.optimizer != "trust-region")
        asked = _Asked(problem.function)
        task = require("pymanopt", "pymanopt").Problem(manifold, **asked.functions(manifold, watch))
        optimizer = watched_optimizer(self.optimizer, watch, run, **self._parameters())
        try:
            return searched(task, optimizer, begin, watch, run)
        except np.linalg.LinAlgError as error:
            if asked.raised is error:
                raise  # the objective's own, whose author knows what it means
            return (
                Status.STALLED,
                f"pymanopt cannot go on: its point is a singular matrix in effect ({error})",
            )

    def _parameters(self) -> dict[str, Any]:
        """The optimizer's own parameters, by pymanopt's names."""
        return {}


class SteepestDescent(PymanoptOptimizer):
    """pymanopt's gradient descent along the manifold, with a backtracking line search.

    One iteration costs one gradient and one or a few values. It is slow where the problem is badly scaled.
    """

    name = "pymanopt.steepest-descent"
    reference = "Townsend, Koep and Weichwald 2016, Pymanopt; Absil, Mahony and Sepulchre 2008, Section 4.2"
    optimizer = "steepest-descent"


class ConjugateGradient(PymanoptOptimizer):
    """pymanopt's nonlinear conjugate gradients along the manifold, with an adaptive line search.

    One iteration costs one gradient and one or a few values.
    """

    name = "pymanopt.conjugate-gradient"
    reference = "Townsend, Koep and Weichwald 2016, Pymanopt; Hager and Zhang 2006"
    optimizer = "conjugate-gradient"

    rule: Literal["HestenesStiefel", "PolakRibiere", "FletcherReeves", "HagerZhang", "LiuStorey"] = Field(
        default="HestenesStiefel", description="pymanopt's name of the rule that makes a direction conjugate"
    )
    restart: PositiveFloat | None = Field(
        default=None,
        description="restart where successive gradients are less orthogonal than this (Powell); None: never",
    )

    def _parameters(self) -> dict[str, Any]:
        return {"beta_rule": self.rule, "orth_value": math.inf if self.restart is None else self.restart}


class TrustRegions(PymanoptOptimizer):
    """pymanopt's trust region with truncated conjugate gradients: second order, from any start.

    One outer step costs one value, one gradient and a few to a few dozen Hessian products.
    """

    name = "pymanopt.trust-regions"
    uses = (Objective.gradient, Objective.hessian_product)
    reference = "Townsend, Koep and Weichwald 2016, Pymanopt; Absil, Baker and Gallivan 2007"
    optimizer = "trust-region"

    kappa: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.1, description="share of the gradient norm at which an inner loop ends, far from the answer"
    )
    theta: NonNegativeFloat = Field(default=1.0, description="near it, the order of convergence less one")
    accept: Annotated[float, Field(ge=0, lt=0.25)] = Field(
        default=0.1, description="least ratio of actual to predicted decrease of a step that is taken"
    )

    def _parameters(self) -> dict[str, Any]:
        return {"kappa": self.kappa, "theta": self.theta, "rho_prime": self.accept}


class _Asked:
    """An objective as pymanopt asks for it."""

    def __init__(self, function: Objective) -> None:
        self._function = function
        self._last: tuple[Array, Array] | None = None
        self.raised: BaseException | None = None

    def functions(self, manifold: Any, watch: Watch) -> dict[str, Any]:
        """Cost and derivatives in pymanopt's form; the derivatives tell the watch."""
        as_function = require("pymanopt", "pymanopt").function.numpy(manifold)
        functions: dict[str, Any] = {
            "cost": self._cost,
            "euclidean_gradient": watch.gradients(self._gradient),
        }
        if self._function.offers(Objective.hessian_product):
            functions["euclidean_hessian"] = watch.products(self._product)
        return {name: as_function(each) for name, each in functions.items()}

    def _cost(self, point: Array) -> float:
        with self._kept():
            value = float(self._function.value(point))
        return math.inf if math.isnan(value) else value

    def _gradient(self, point: Array) -> Array:
        # pymanopt asks for it again with every Hessian product.
        if self._last is None or self._last[0] is not point:
            with self._kept():
                self._last = point, np.asarray(self._function.gradient(point), dtype=np.float64)
        return self._last[1]

    def _product(self, point: Array, v: Array) -> Array:
        with self._kept():
            return np.asarray(self._function.hessian_product(point, v), dtype=np.float64)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Keeps what the objective raises, to be told from what pymanopt's own algebra does."""
        try:
            yield
        except BaseException as error:
            self.raised = error
            raise
