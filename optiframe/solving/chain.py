"""From the problem as posed to the problem a solver takes, and back."""

from __future__ import annotations

import math
from typing import Any

from optiframe.errors import InvalidInput, Unsuited
from optiframe.problems.problem import Formulation, Problem
from optiframe.solving.evaluation import Evaluation, always_has_objective
from optiframe.solving.solver import Solver


class Chain:
    """The posed problem, then what it formulates to, up to the one the solver takes."""

    def __init__(
        self,
        problems: tuple[Problem[Any], ...],
        steps: tuple[Formulation, ...],
        evaluated_at: int | None = None,
    ) -> None:
        self.problems = problems
        self.steps = steps
        self._evaluated_at = evaluated_at

    @classmethod
    def reach(cls, problem: Problem[Any], solver: Solver[Any, Any, Any]) -> Chain:
        """Walk the formulations to the first problem that suits the solver.

        Raises
        ------
        Unsuited
            With the solver's reason for each problem of its kind on the way, or, if there
            was none, what it solves and what was met.
        """
        found = _walk(problem, solver)
        if isinstance(found, str):
            raise Unsuited(f"{solver.name} cannot take this problem: {found}")
        return found

    @classmethod
    def of_depth(cls, problem: Problem[Any], depth: int, evaluated_at: int) -> Chain:
        """The chain of a problem and so many formulations; its objective is that of problem `evaluated_at`.

        Raises
        ------
        InvalidInput
            Where there are fewer formulations.
        """
        problems: list[Problem[Any]] = [problem]
        steps: list[Formulation] = []
        while len(steps) < depth:
            formulation = problems[-1].formulation
            if formulation is None:
                raise InvalidInput(f"{problems[-1].name!r} has no formulation, and the answer is of one")
            problems.append(formulation.problem)
            steps.append(formulation)
        return cls(tuple(problems), tuple(steps), evaluated_at)

    @property
    def evaluated_at(self) -> int | None:
        """Which of the problems the objective is of; None before an answer was evaluated."""
        return self._evaluated_at

    @property
    def last(self) -> Problem[Any]:
        """The problem the solver takes."""
        return self.problems[-1]

    def encode(self, start: Any) -> Any:
        """Carry a start inward, from the domain's terms to the solver's."""
        for problem, step in zip(self.problems, self.steps, strict=False):
            encoded = None if step.encode is None else step.encode(start)
            if encoded is None:
                raise Unsuited(
                    f"a start for {problem.name!r} cannot be carried over to {step.problem.name!r}"
                )
            start = encoded
        return start

    def interpret(self, solution: Any) -> list[Any]:
        """The solution in the terms of every problem of the chain, the posed one first."""
        solutions = [solution]
        for step in reversed(self.steps):
            solutions.append(step.interpret(solutions[-1]))
        return solutions[::-1]

    def duality_gap(self, solution: Any) -> float | None:
        """`Problem.duality_gap` of the problem that the objective is of; an answer was evaluated before."""
        assert self._evaluated_at is not None
        problem = self.problems[self._evaluated_at]
        if type(problem).duality_gap is Problem.duality_gap:
            return None  # interpreting may cost as much as evaluating
        return problem.duality_gap(self.interpret(solution)[self._evaluated_at])

    def evaluate(self, solution: Any) -> Evaluation:
        """Objective of the outermost problem that has one, and the worst violation of the chain.

        The problem is settled by the first answer evaluated and then kept, so that a curve
        never changes its meaning half way.
        """
        solutions = self.interpret(solution)
        pairs = list(zip(self.problems, solutions, strict=True))
        violations = [float(problem.violation(answer)) for problem, answer in pairs]
        violation = math.inf if any(map(math.isnan, violations)) else max(violations)
        if self._evaluated_at is None:
            values = ((i, float(problem.objective(answer))) for i, (problem, answer) in enumerate(pairs))
            self._evaluated_at, objective = next(
                (
                    (i, value)
                    for i, value in values
                    if not math.isnan(value) or always_has_objective(self.problems[i])
                ),
                (0, math.nan),
            )
        else:
            problem, answer = pairs[self._evaluated_at]
            objective = float(problem.objective(answer))
        return Evaluation(
            solutions[0], objective, violation, self.problems[self._evaluated_at], given=solution
        )


def _wrong_points(problem: Problem[Any], solver: Solver[Any, Any, Any]) -> str | None:
    """Why the solver cannot calculate with the problem's points: said here, once for all solvers."""
    points = problem.point_type
    if points is None or issubclass(points, solver.point_type):
        return None
    return f"its points are {points.__name__}, the solver works with {solver.point_type.__name__}"


def why_unsuited(problem: Problem[Any], solver: Solver[Any, Any, Any]) -> str | None:
    """The reason this solver cannot take this problem, or None when it can."""
    found = _walk(problem, solver)
    return found if isinstance(found, str) else None


def _walk(problem: Problem[Any], solver: Solver[Any, Any, Any]) -> Chain | str:
    problems: list[Problem[Any]] = [problem]
    steps: list[Formulation] = []
    reasons: dict[str, list[str]] = {}  # reason -> names of the problems it was given for
    while True:
        last = problems[-1]
        refusal = last.refuses(solver)
        if refusal is not None:
            reasons.setdefault(refusal, []).append(last.name)
            break
        if isinstance(last, solver.solves):
            reason = _wrong_points(last, solver) or last.lacks(solver.uses) or solver.unsuited(last)
            if reason is None:
                return Chain(tuple(problems), tuple(steps))
            reasons.setdefault(reason, []).append(last.name)
        formulation = last.formulation
        if formulation is None:
            break
        problems.append(formulation.problem)
        steps.append(formulation)
    if reasons:
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    met = ", then ".join(repr(p.name) for p in problems)
    return f"it solves {(solver.solves.name or solver.solves.__name__)!r} problems; this one is {met}"
