"""CVXPY's engines by name: convex programs, each with its own tolerances set from the budget."""

from __future__ import annotations

from typing import Any, ClassVar

from optiframe.problems.problem import Problem
from optiframe.reference.cvxpy_solver import CvxpyDetail, cvxpy_iterates, why_no_program
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import NO_RESIDUAL, absent

_FINEST = 1e-14


class _Engine(Solver[Problem[Any], Any, CvxpyDetail]):
    """One engine of CVXPY; `tolerances` and `most` are its options for tolerances and iterations.

    `programs` says what it takes: "linear" and quadratic ones, or "cone" programs; `whole` whether
    variables may have to be whole numbers.
    """

    solves = Problem
    uses = ()  # the program says it all
    one_shot = True
    point_type = object  # the program's `read` makes the point, whatever it is
    residual_meaning = NO_RESIDUAL
    engine: ClassVar[str]
    tolerances: ClassVar[tuple[str, ...]]
    most: ClassVar[str] = ""
    programs: ClassVar[str] = "cone"
    whole: ClassVar[bool] = False

    def iterates(self, problem: Problem[Any], run: Run) -> Iterates:
        options: dict[str, Any] = dict.fromkeys(self.tolerances, min(max(run.budget.tolerance, _FINEST), 0.1))
        if self.most and run.budget.iterations is not None:
            options[self.most] = run.budget.iterations
        return cvxpy_iterates(problem, run, self.engine, options)

    def unsuited(self, problem: Problem[Any]) -> str | None:
        reason = absent(self) or why_no_program(problem)
        if reason is not None:
            return reason
        program = problem.as_cvxpy()
        assert program is not None  # else it was refused
        if program.program.is_mixed_integer() and not self.whole:
            return f"{self.engine} takes no whole numbers"
        if self.programs == "linear" and not program.program.is_qp():
            return f"its program is neither linear nor quadratic, and {self.engine} takes no other"
        return None


class Clarabel(_Engine):
    """Clarabel: an interior point for linear, quadratic and cone programs; accurate."""

    name = "cvxpy.clarabel"
    requires = ("cvxpy", "clarabel")
    engine, most = "CLARABEL", "max_iter"
    tolerances = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    reference = "Goulart and Chen 2024"


class Scs(_Engine):
    """SCS: operator splitting for cone programs; large ones to a moderate accuracy."""

    name = "cvxpy.scs"
    requires = ("cvxpy", "scs")
    engine, most = "SCS", "max_iters"
    tolerances = ("eps_abs", "eps_rel")
    reference = "O'Donoghue, Chu, Parikh and Boyd 2016"


class Osqp(_Engine):
    """OSQP: operator splitting for quadratic programs; large ones to a moderate accuracy."""

    name = "cvxpy.osqp"
    requires = ("cvxpy", "osqp")
    engine, most, programs = "OSQP", "max_iter", "linear"
    tolerances = ("eps_abs", "eps_rel")
    reference = "Stellato, Banjac, Goulart, Bemporad and Boyd 2020"


class Highs(_Engine):
    """HiGHS: simplex and branch and bound for linear and convex quadratic programs."""

    name = "cvxpy.highs"
    requires = ("cvxpy", "highspy")
    engine, programs, whole = "HIGHS", "linear", True
    tolerances = ()
    residual_meaning = "not computed: HiGHS's own tolerances decide"
    reference = "Huangfu and Hall 2018"
