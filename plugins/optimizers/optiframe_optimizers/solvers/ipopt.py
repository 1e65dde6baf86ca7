"""Ipopt through cyipopt: an interior point for smooth problems with bounds and constraints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from optiframe.methods.scipy_base import Posed, steps, unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import absent, library

_FINEST = 1e-12  # Ipopt ends by itself a little below the budget's tolerance
_MOST_PRODUCTS = 300  # entries up to which a Hessian is made of products, one for each
_SOLVED = (0, 1)  # Ipopt's numbers for how it ended
_LIMITS = {-1: Status.ITERATION_LIMIT, -4: Status.TIME_LIMIT, -5: Status.TIME_LIMIT}


class Ipopt(Solver[Minimize, Array, None]):
    """Ipopt: an interior point with a filter, from gradients, with bounds and constraints.

    Second derivatives are used where the objective has Hessian products and the constraints are linear; else
    they are approximated from gradients. One iteration factorizes one sparse system.
    """

    name = "ipopt"
    solves = Minimize
    requires = ("cyipopt",)
    uses = (Objective.gradient,)
    accepts_start = True
    monotone = False
    residual_meaning = "largest of Ipopt's primal and dual infeasibility and its barrier parameter"
    reference = "Waechter and Biegler 2006, On the implementation of an interior-point filter method"

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "constraints") or absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        cyipopt = library("cyipopt")
        posed = Posed(problem, run)
        options: dict[str, Any] = {
            "print_level": 0,
            "sb": "yes",
            "max_iter": steps(run),
            "bound_relax_factor": 0.0,  # bounds hold
            "tol": max(run.budget.tolerance / 10, _FINEST),
        }
        if run.time_left() < np.inf:
            options["max_wall_time"] = max(run.time_left(), 1e-3)

        def work(emit: Emit) -> Ending:
            asked = _SecondOrder(posed, emit) if _second_order(problem, posed) else _FirstOrder(posed, emit)
            lower, upper = asked.sides()
            engine = cyipopt.Problem(
                n=posed.flat.size,
                m=len(lower),
                problem_obj=_Guarded(asked),
                lb=posed.box.lower,
                ub=posed.box.upper,
                cl=lower,
                cu=upper,
            )
            for key, value in options.items():
                engine.add_option(key, value)
            asked.engine = engine
            x, info = engine.solve(posed.start)
            if asked.raised is not None:
                raise asked.raised
            if asked.last is None or not np.array_equal(x, asked.last):
                emit(Iterate(posed.flat.point(x)))
            said = f"Ipopt: {info['status_msg'].decode(errors='replace').strip()}"
            if info["status"] in _SOLVED:
                return Status.FINISHED, said
            if info["status"] in _LIMITS:
                return _LIMITS[info["status"]], said
            return Status.STALLED, said

        return iterates_from_callback(work, name=self.name)


class _FirstOrder:
    """The problem as Ipopt asks for it, without second derivatives."""

    def __init__(self, posed: Posed, emit: Emit) -> None:
        self.posed, self.flat, self.emit = posed, posed.flat, emit
        self.engine: Any = None
        self.raised: BaseException | None = None
        self.last: Array | None = None
        self._at, self._rows = posed.start, posed.rows(posed.start)
        lower, upper = self.sides()
        bounds = np.concatenate([posed.box.lower, posed.box.upper])
        # Without inequalities there is no barrier, whatever its parameter.
        self._told = slice(3, 6 if np.isfinite(bounds).any() or (lower < upper).any() else 5)

    def sides(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the constraints."""
        lower, upper = (_joined(row[which] for row in self._rows) for which in (1, 2))
        return lower, upper

    def objective(self, x: Array) -> float:
        return float(_finite(self.flat.value(x)))

    def gradient(self, x: Array) -> Any:
        return _finite(self.flat.gradient(x))

    def constraints(self, x: Array) -> Any:
        return _finite(_joined(row[0] for row in self._rows_at(x)))

    def jacobian(self, x: Array) -> Any:
        return _finite(_joined(row[3].ravel() for row in self._rows_at(x)))

    def intermediate(self, *told: Any) -> bool:
        """What Ipopt calls once an iteration: with its infeasibilities and the barrier fourth to sixth."""
        self.last = np.array(self.engine.get_current_iterate()["x"])
        self.emit(Iterate(self.flat.point(self.last), residual=max(told[self._told])))
        return True

    def _rows_at(self, x: Array) -> Any:
        if not np.array_equal(x, self._at):
            self._at, self._rows = x.copy(), self.posed.rows(x)
        return self._rows


class _SecondOrder(_FirstOrder):
    """The same with the Hessian of the objective, which is the Lagrangian's where constraints are linear."""

    def hessianstructure(self) -> Any:
        return np.tril_indices(self.flat.size)

    def hessian(self, x: Array, multipliers: Array, factor: float) -> Any:
        return factor * _finite(self.flat.hessian_matrix(x)[np.tril_indices(self.flat.size)])


class _Guarded:
    """Keeps what a call raises: Ipopt calls from C, and would swallow it or go on."""

    def __init__(self, asked: _FirstOrder) -> None:
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        call, asked = getattr(self._asked, name), self._asked
        failed = library("cyipopt").CyIpoptEvaluationError

        def guarded(*given: Any) -> Any:
            if asked.raised is None:
                try:
                    return call(*given)
                except failed:  # not finite: Ipopt shortens its step
                    raise
                except BaseException as error:
                    asked.raised = error
            if name == "intermediate":
                return False
            raise failed

        return guarded


def _second_order(problem: Minimize, posed: Posed) -> bool:
    """Whether the Hessian of the objective is known and is all there is to second derivatives."""
    function = problem.function
    known = function.offers(Objective.hessian) or (
        function.offers(Objective.hessian_product) and posed.flat.size <= _MOST_PRODUCTS
    )
    return known and all(isinstance(each, LinearConstraint) for each in posed.others)


def _finite(values: Any) -> Any:
    if np.isfinite(values).all():
        return values
    raise library("cyipopt").CyIpoptEvaluationError


def _joined(parts: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
