"""NLopt's algorithms by name: a row for each says what it needs and takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import Field, PositiveInt
from scipy.optimize import LinearConstraint

from optiframe.methods.scipy_base import MANY, Posed, finite_bounds, steps, unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import NO_RESIDUAL, Watched, absent, library, seed, two_entries

Rows: TypeAlias = Callable[[Array], Array]
_ACCURACY = 1e-9  # to which NLopt keeps constraints: below what counts as feasible
_FINEST = 1e-14  # NLopt takes 0 for no tolerance
_KKT = "largest of the violation and of what estimated multipliers leave of the gradient"
_BOUNDED = "infinity norm of the projected gradient x - P(x - g)"


class _Nlopt(Solver[Minimize, Array, None]):
    """One algorithm of NLopt. An iteration is an evaluation, since NLopt shows nothing else.

    `algorithm` is NLopt's name and `takes` the constraints it can be told ("nothing", "bounds",
    "constraints"). One that `searches` needs finite bounds; one that `draws` is seeded by the run.
    """

    solves = Minimize
    requires = ("nlopt",)
    accepts_start = True
    uses: ClassVar[tuple[Callable[..., Any], ...]] = ()
    residual_meaning = NO_RESIDUAL
    algorithm: ClassVar[str]
    takes: ClassVar[str] = "bounds"
    searches: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    least_two: ClassVar[bool] = False  # whether it needs two free entries

    def unsuited(self, problem: Minimize) -> str | None:
        reason = unsuited(problem, self.takes) or (finite_bounds(problem) if self.searches else None)
        return reason or (two_entries(problem) if self.least_two else None) or absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        nlopt = library("nlopt")
        posed = Posed(problem, run)
        smooth = Objective.gradient in self.uses
        engine = nlopt.opt(getattr(nlopt, self.algorithm), posed.flat.size)
        engine.set_lower_bounds(posed.box.lower)
        engine.set_upper_bounds(posed.box.upper)
        engine.set_maxeval(steps(run))
        if not smooth:
            tolerance = min(run.budget.tolerance, 1.0)
            engine.set_xtol_rel(max(tolerance, _FINEST))
            engine.set_ftol_rel(max(tolerance**2, _FINEST))  # a value is flat at its minimum
        if math.isfinite(run.time_left()):
            engine.set_maxtime(max(run.time_left(), 1e-6))
        _constrain(engine, posed)
        self.set_up(nlopt, engine)
        start = seed(run) if self.draws else 0

        def work(emit: Emit) -> Ending:
            watched = Watched(posed, emit, constrained=bool(posed.others))
            nlopt.srand(start)  # each thread has a generator of its own

            raised: list[BaseException] = []

            def function(x: Array, gradient: Array) -> float:
                try:
                    value = watched.value(x, smooth=bool(gradient.size))
                    if gradient.size:
                        gradient[:] = posed.flat.gradient(x)
                except BaseException as error:
                    raised.append(error)  # some algorithms end with an error of their own
                    raise
                return value

            engine.set_min_objective(function)
            try:
                engine.optimize(posed.start)
            except Exception as error:  # NLopt's errors changed their types between versions
                if raised:
                    raise raised[0] from None
                if watched.best is None:
                    watched.value(posed.start)
                return Status.STALLED, f"NLopt: {_said(nlopt, engine, error)}"
            if engine.last_optimize_result() in (nlopt.MAXEVAL_REACHED, nlopt.MAXTIME_REACHED):
                timed = engine.last_optimize_result() == nlopt.MAXTIME_REACHED
                return (
                    Status.TIME_LIMIT if timed else Status.ITERATION_LIMIT
                ), "NLopt: its limit was reached"
            return Status.FINISHED, "NLopt: its tolerance was reached"

        return iterates_from_callback(work, name=self.name)

    def set_up(self, nlopt: Any, engine: Any) -> None:
        """What an algorithm needs besides; nothing by default."""


def _constrain(engine: Any, posed: Posed) -> None:
    """Tell NLopt the rows of constraints, equations apart."""
    for each in posed.others:
        values, jacobian = _functions(each)
        shape = np.shape(values(posed.start))
        lower, upper = (np.broadcast_to(side, shape) for side in (each.lb, each.ub))
        equal = lower == upper
        above, below = ~equal & np.isfinite(upper), ~equal & np.isfinite(lower)
        for which, side, sign, add in (
            (np.flatnonzero(equal), upper, 1.0, engine.add_equality_mconstraint),
            (np.flatnonzero(above), upper, 1.0, engine.add_inequality_mconstraint),
            (np.flatnonzero(below), lower, -1.0, engine.add_inequality_mconstraint),
        ):
            if len(which):
                add(_rows(values, jacobian, which, side, sign), np.full(len(which), _ACCURACY))


def _functions(constraint: Any) -> tuple[Rows, Rows]:
    """Values and Jacobian of SciPy's constraint."""
    if isinstance(constraint, LinearConstraint):
        given = constraint.A
        matrix = np.atleast_2d(given.toarray() if hasattr(given, "toarray") else given)
        return lambda x: matrix @ x, lambda x: matrix
    return lambda x: np.atleast_1d(constraint.fun(x)), lambda x: np.atleast_2d(constraint.jac(x))


def _rows(values: Rows, jacobian: Rows, which: Any, side: Array, sign: float) -> Callable[..., None]:
    """Some rows as NLopt asks for them: what must not be positive, written to its first argument."""

    def told(result: Array, x: Array, gradient: Array) -> None:
        result[:] = sign * (values(x)[which] - side[which])
        if gradient.size:
            gradient[:] = sign * np.asarray(jacobian(x))[which]

    return told


def _said(nlopt: Any, engine: Any, error: Exception) -> str:
    if isinstance(error, nlopt.RoundoffLimited):
        return "rounding ends the progress"
    return str(error) or engine.get_errmsg() or "it failed without a reason"


class Bobyqa(_Nlopt):
    """BOBYQA: quadratic models from values only, within bounds."""

    name = "nlopt.bobyqa"
    algorithm, least_two = "LN_BOBYQA", True
    reference = "Powell 2009"


class Newuoa(_Nlopt):
    """NEWUOA: quadratic models from values only, no constraints."""

    name = "nlopt.newuoa"
    algorithm, takes, least_two = "LN_NEWUOA", "nothing", True
    reference = "Powell 2004"


class Cobyla(_Nlopt):
    """COBYLA: linear models from values only, with bounds and constraints."""

    name = "nlopt.cobyla"
    algorithm, takes = "LN_COBYLA", "constraints"
    monotone = False
    reference = "Powell 1994"


class NelderMead(_Nlopt):
    """Nelder and Mead's simplex: values only, within bounds."""

    name = "nlopt.nelder-mead"
    algorithm = "LN_NELDERMEAD"
    reference = "Nelder and Mead 1965; Box 1965"


class Sbplx(_Nlopt):
    """Subplex: Nelder and Mead's simplex on a sequence of subspaces; values only, within bounds."""

    name = "nlopt.sbplx"
    algorithm = "LN_SBPLX"
    reference = "Rowan 1990"


class Praxis(_Nlopt):
    """PRAXIS: Brent's principal axes; values only, no constraints."""

    name = "nlopt.praxis"
    algorithm, takes, draws, least_two = "LN_PRAXIS", "nothing", True, True
    reference = "Brent 1972"


class Lbfgs(_Nlopt):
    """Limited-memory BFGS by Luksan, within bounds."""

    name = "nlopt.lbfgs"
    algorithm = "LD_LBFGS"
    uses = (Objective.gradient,)
    residual_meaning = _BOUNDED
    reference = "Nocedal 1980; Liu and Nocedal 1989"

    memory: PositiveInt = Field(default=10, description="number of past steps that approximate the Hessian")

    def set_up(self, nlopt: Any, engine: Any) -> None:
        engine.set_vector_storage(min(self.memory, MANY))


class TruncatedNewton(_Nlopt):
    """Preconditioned truncated Newton with restarts by Luksan, within bounds, from gradients."""

    name = "nlopt.tnewton"
    algorithm = "LD_TNEWTON_PRECOND_RESTART"
    uses = (Objective.gradient,)
    residual_meaning = _BOUNDED
    reference = "Dembo and Steihaug 1983"


class Slsqp(_Nlopt):
    """Sequential quadratic programming: gradients, bounds and constraints."""

    name = "nlopt.slsqp"
    algorithm, takes = "LD_SLSQP", "constraints"
    uses = (Objective.gradient,)
    monotone = False
    residual_meaning = _KKT
    reference = "Kraft 1994"


class Mma(_Nlopt):
    """Moving asymptotes: separable convex models from gradients; bounds and inequalities."""

    name = "nlopt.mma"
    algorithm, takes = "LD_MMA", "constraints"
    uses = (Objective.gradient,)
    monotone = False
    residual_meaning = _KKT
    reference = "Svanberg 2002"

    def unsuited(self, problem: Minimize) -> str | None:
        return super().unsuited(problem) or _equations(problem)


class Ccsaq(_Nlopt):
    """Conservative convex separable quadratic models from gradients; bounds and inequalities."""

    name = "nlopt.ccsaq"
    algorithm, takes = "LD_CCSAQ", "constraints"
    uses = (Objective.gradient,)
    monotone = False
    residual_meaning = _KKT
    reference = "Svanberg 2002"

    def unsuited(self, problem: Minimize) -> str | None:
        return super().unsuited(problem) or _equations(problem)


def _equations(problem: Minimize) -> str | None:
    told = problem.over.as_scipy(problem.function.shape)
    if told is None or not any(np.any(np.equal(each.lb, each.ub)) for each in told.others):
        return None
    return f"the set {problem.over.name!r} has equations, and the method takes inequalities only"


class Direct(_Nlopt):
    """DIRECT-L: divides a box into ever smaller ones; global, values only."""

    name = "nlopt.direct"
    algorithm, searches = "GN_DIRECT_L", True
    accepts_start = False
    reference = "Jones, Perttunen and Stuckman 1993; Gablonsky and Kelley 2001"


class Crs(_Nlopt):
    """Controlled random search with local mutation: a population in a box; global, values only."""

    name = "nlopt.crs"
    algorithm, searches, draws = "GN_CRS2_LM", True, True
    reference = "Kaelo and Ali 2006"


class Isres(_Nlopt):
    """Improved stochastic ranking evolution: global, values only, bounds and constraints."""

    name = "nlopt.isres"
    algorithm, takes, searches, draws = "GN_ISRES", "constraints", True, True
    monotone = False
    reference = "Runarsson and Yao 2005"


class Esch(_Nlopt):
    """An evolution strategy in a box: global, values only."""

    name = "nlopt.esch"
    algorithm, searches, draws = "GN_ESCH", True, True
    reference = "da Silva Santos, Goncalves and Hernandez-Figueroa 2010"
