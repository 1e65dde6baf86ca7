"""What every solver must keep, as a class that a test inherits.

::

    from optiframe.testing import SolverContract

    class TestMine(SolverContract):
        solver = "mine.newton"                  # or Newton(step=.5)
        problem = make_problem()                # a small one

Without `problem` the solver meets small problems with known answers. The same checks, one
by one and without pytest: `optiframe.testing.run_checks(Case(solver, problem))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import ClassVar

from optiframe.problems.problem import Problem
from optiframe.solving.budget import Budget
from optiframe.solving.chain import why_unsuited
from optiframe.solving.solver import Solver
from optiframe.testing.cases import (
    AnyProblem,
    AnySolver,
    Case,
    NotApplicable,
    is_ill_conditioned,
    known_optimum,
    small_problems,
    special_problems,
)
from optiframe.testing.solvers import checks


class SolverContract:
    """Inherit this in a test to hold a solver to the contract.

    Give `solver` (an object, or a registered name) and, unless the solver takes a `Minimize`,
    `problem`: a small one, or a function without arguments that makes it
    (`staticmethod(make)`). Several: override `instances`. Where the lowest objective is known,
    override `optimum`. A method that need not beat chance on its instances says why in
    `no_better_than_chance`.

    A check that no instance has anything to look at for (no known optimum, say) passes here;
    `optiframe check` and `run_checks` call it not applicable, and say why.
    """

    solver: ClassVar[str | AnySolver]
    problem: ClassVar[AnyProblem | Callable[[], AnyProblem] | None] = None
    tolerance: ClassVar[float] = 1e-4
    budget: ClassVar[Budget] = Budget()
    seconds: ClassVar[float] = 1.0
    no_better_than_chance: ClassVar[str] = ""

    def instances(self) -> Iterable[AnyProblem]:
        """Small problems; `problem` if given, else those of `small_problems` that suit, newly built."""
        given = type(self).problem
        if given is not None:
            return [given if isinstance(given, Problem) else given()]
        solver = self._solver()
        several = (small_problems(), special_problems())
        suited = ([p for p in some if why_unsuited(p, solver) is None] for some in several)
        found = next(filter(None, suited), [])
        if not found:
            raise AssertionError(
                f"{solver.name} suits none of the built-in small problems; give one in the test class: "
                "problem = ..."
            )
        return found

    def optimum(self, problem: AnyProblem) -> float | None:
        """The lowest objective of an instance; None when not known."""
        return known_optimum(problem)

    def cases(self) -> Iterator[Case]:
        """The instances with all that is known about them."""
        solver, problems = self._solver(), list(self.instances())
        for problem in problems:
            yield Case(
                solver,
                problem,
                optimum=self.optimum(problem),
                tolerance=self.tolerance,
                budget=self.budget,
                may_run_out=is_ill_conditioned(problem),
                others=tuple(p for p in problems if p is not problem),
                seconds=self.seconds,
                no_better_than_chance=self.no_better_than_chance,
            )

    def _solver(self) -> AnySolver:
        solver = getattr(self, "solver", None)
        if not isinstance(solver, str | Solver):
            raise AssertionError(
                f"{type(self).__name__} needs the solver it tests: solver = MySolver() or its name"
            )
        if isinstance(self.solver, str):
            from optiframe.registry.registry import build

            built: AnySolver = build("solver", self.solver)
            return built
        return self.solver

    def _each(self, check: checks.Check) -> None:
        for case in self.cases():
            with suppress(NotApplicable):
                check(case)


def _test_of(check: checks.Check) -> Callable[[SolverContract], None]:
    def test(self: SolverContract) -> None:
        self._each(check)

    test.__doc__ = check.__doc__
    return test


for _check in checks.CHECKS:
    setattr(SolverContract, _check.__name__.replace("check_", "test_", 1), _test_of(_check))
