"""The local methods of `scipy.optimize.minimize`; L-BFGS-B and trust-constr are in `reference`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from optiframe.methods.scipy_base import MANY, Posed, ending, fixed_entries, steps, unsuited, without_hessian
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_FINEST, _COARSEST = 1e-14, 0.1  # a radius is positive, and the first one, 1, is larger
_ANY = "not computed: the method's own tolerance is the budget's"
_GRADIENT = "infinity norm of the gradient"
_BOUNDED = "infinity norm of the projected gradient x - P(x - g)"
_KKT = "largest of the violation and of what estimated multipliers leave of the gradient"


class _Local(Solver[Minimize, Array, None]):
    """One method of `scipy.optimize.minimize`; the rows below say what it needs and takes.

    `method` is SciPy's name, `takes` the constraints it can be told ("nothing", "bounds", "constraints"),
    `own` its options that get the budget's tolerance, `off` those that are set to 0 since the residual
    decides, and `most` its options for evaluations, which the budget limits. One that does not count
    `iterations` has no option for these.
    """

    solves = Minimize
    requires = ("scipy",)
    accepts_start = True
    method: ClassVar[str]
    takes: ClassVar[str] = "nothing"
    own: ClassVar[tuple[str, ...]] = ()
    off: ClassVar[tuple[str, ...]] = ()
    most: ClassVar[tuple[str, ...]] = ()
    iterations: ClassVar[bool] = True
    both: ClassVar[bool] = False  # it asks for the gradient wherever it asks for the value

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, self.takes)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        posed = Posed(problem, run)
        flat, smooth = posed.flat, Objective.gradient in self.uses
        tolerance = run.budget.tolerance
        options: dict[str, Any] = dict.fromkeys(self.own, min(max(tolerance, _FINEST), _COARSEST))
        options |= dict.fromkeys(self.off, 0.0) | dict.fromkeys(self.most, MANY)
        if "maxiter" not in self.most and self.iterations:
            options["maxiter"] = steps(run)
        told: dict[str, Any] = {"jac": flat.gradient} if smooth else {}
        if Objective.hessian_product in self.uses:
            told["hess"] = flat.hessian_matrix
        if self.takes != "nothing" and posed.bounds is not None:
            told["bounds"] = posed.bounds
        if posed.others:
            told["constraints"] = [without_hessian(each) for each in posed.others]

        def iterate(x: Array) -> Iterate:
            return Iterate(flat.point(x), residual=posed.optimality(x) if smooth else float("nan"))

        def work(emit: Emit) -> Ending:
            last: list[Array] = []

            def seen(x: Array, *_: Any) -> None:  # what all versions of SciPy give all methods
                last[:] = [np.array(x)]
                emit(iterate(x))

            with np.errstate(invalid="ignore", over="ignore"):  # of steps whose length is zero
                found = minimize(
                    flat.value_before_gradient if self.both else flat.value,
                    posed.start,
                    method=self.method,
                    callback=seen,
                    options=options,
                    **told,
                )
            if not last or not np.array_equal(last[0], found.x):
                emit(iterate(found.x))
            return ending(found, run)

        return iterates_from_callback(work, name=f"scipy.optimize.minimize ({self.method})")


class NelderMead(_Local):
    """Nelder and Mead's simplex: values only, with bounds; for a few entries."""

    name = "scipy.nelder-mead"
    method, takes, own = "Nelder-Mead", "bounds", ("xatol", "fatol")
    uses = ()
    residual_meaning = _ANY
    reference = "Nelder and Mead 1965; Gao and Han 2012"


class Powell(_Local):
    """Powell's conjugate directions: values only, with bounds."""

    name = "scipy.powell"
    method, takes, own = "Powell", "bounds", ("xtol", "ftol")
    uses = ()
    residual_meaning = _ANY
    reference = "Powell 1964"


class Cobyla(_Local):
    """COBYLA: linear models from values only, with bounds and constraints."""

    name = "scipy.cobyla"
    method, takes, own, most = "COBYLA", "constraints", ("tol",), ("maxiter",)
    uses = ()
    monotone = False
    residual_meaning = _ANY
    reference = "Powell 1994"

    def unsuited(self, problem: Minimize) -> str | None:
        return super().unsuited(problem) or fixed_entries(problem)


class Cobyqa(_Local):
    """COBYQA: quadratic models from values only, with bounds and constraints."""

    name = "scipy.cobyqa"
    method, takes, own, most = "COBYQA", "constraints", ("final_tr_radius",), ("maxfev",)
    uses = ()
    monotone = False
    residual_meaning = _ANY
    reference = "Ragonneau and Zhang 2022"


class ConjugateGradients(_Local):
    """Nonlinear conjugate gradients by Polak and Ribiere: a gradient, no constraints."""

    name = "scipy.cg"
    method, off = "CG", ("gtol",)
    uses = (Objective.gradient,)
    residual_meaning = _GRADIENT
    reference = "Nocedal and Wright 2006, Section 5.2"


class Bfgs(_Local):
    """BFGS with a dense inverse Hessian: a gradient, no constraints, up to some thousand entries."""

    name = "scipy.bfgs"
    method, off = "BFGS", ("gtol",)
    uses = (Objective.gradient,)
    residual_meaning = _GRADIENT
    reference = "Nocedal and Wright 2006, Section 6.1"


class NewtonCg(_Local):
    """Truncated Newton by conjugate gradients: second derivatives, no constraints."""

    name = "scipy.newton-cg"
    method, off = "Newton-CG", ("xtol",)
    uses = (Objective.gradient, Objective.hessian_product)
    residual_meaning = _GRADIENT
    reference = "Nocedal and Wright 2006, Section 7.1"


class Tnc(_Local):
    """Truncated Newton with bounds, from gradients."""

    name = "scipy.tnc"
    method, takes, most, iterations = "TNC", "bounds", ("maxfun",), False
    both = True
    off = ("ftol", "gtol", "xtol")
    uses = (Objective.gradient,)
    residual_meaning = _BOUNDED
    reference = "Nash 1984"


class Slsqp(_Local):
    """Sequential quadratic programming: gradients, bounds and constraints, up to some hundred entries."""

    name = "scipy.slsqp"
    method, takes, off = "SLSQP", "constraints", ("ftol",)
    uses = (Objective.gradient,)
    monotone = False
    residual_meaning = _KKT
    reference = "Kraft 1988"


class Dogleg(_Local):
    """Trust region with dogleg steps: a positive definite Hessian, no constraints."""

    name = "scipy.dogleg"
    method, off = "dogleg", ("gtol",)
    uses = (Objective.gradient, Objective.hessian_product)
    residual_meaning = _GRADIENT
    reference = "Nocedal and Wright 2006, Section 4.1"


class TrustNcg(_Local):
    """Trust region with conjugate gradients: second derivatives, no constraints."""

    name = "scipy.trust-ncg"
    method, off = "trust-ncg", ("gtol",)
    uses = (Objective.gradient, Objective.hessian_product)
    residual_meaning = _GRADIENT
    reference = "Nocedal and Wright 2006, Section 7.1"


class TrustExact(_Local):
    """Trust region with nearly exact steps: second derivatives, up to some hundred entries."""

    name = "scipy.trust-exact"
    method, off = "trust-exact", ("gtol",)
    uses = (Objective.gradient, Objective.hessian_product)
    residual_meaning = _GRADIENT
    reference = "Conn, Gould and Toint 2000, Section 7.3"
