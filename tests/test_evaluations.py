"""A budget of evaluations: counted for every solver of an objective, and never exceeded."""

from __future__ import annotations

import numpy as np
import pytest

import optiframe as of
from optiframe import Budget, Composite, Minimize, Status
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.solving.counting import counted

made: list[str] = []


class Rosenbrock(of.Objective):
    """Rosenbrock's function, which notes how often it is asked."""

    @property
    def shape(self):
        return (2,)

    def value(self, x):
        made.append("value")
        return float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)

    def gradient(self, x):
        made.append("gradient")
        inner = x[1] - x[0] ** 2
        return np.array([-2 * (1 - x[0]) - 400 * x[0] * inner, 200 * inner])


SOLVERS = ["scipy.lbfgs", "scipy.trust-constr", "gradient.projected", "gradient.proximal"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_more_evaluations_are_made_than_the_budget_has(solver: str) -> None:
    before = np.inf
    for limit in (1, 5, 40):
        made.clear()
        problem = Minimize(Rosenbrock(), start=[-1.2, 1.0])
        with pytest.warns(of.NotConverged, match=f"stopped after {limit} evaluations"):
            result = of.solve(problem, solver, budget=Budget(evaluations=limit), trace=False, progress=False)
        assert result.status is Status.EVALUATION_LIMIT
        by_the_core = 2 + result.iterations  # the answer, and what is compared with it; off the count
        assert len(made) <= limit + by_the_core
        assert result.objective <= before
        before = result.objective


def test_the_trace_counts_them() -> None:
    problem = Minimize(Rosenbrock(), start=[-1.2, 1.0])
    result = of.solve(problem, "scipy.lbfgs", budget=Budget(evaluations=500), progress=False)
    assert result.status is Status.CONVERGED
    counts = result.trace["evaluations"]
    assert counts == sorted(counts)
    assert 20 < counts[-1] <= 500


class Wandering(of.Solver[Minimize, np.ndarray, None]):
    """Asks for values at points of which the best lies outside the set, and never yields."""

    name = "test.wandering"
    solves = Minimize

    def iterates(self, problem, run):
        point = np.zeros(2)
        for entry in (3.0, 2.0, 0.9, 5.0, 0.5):
            point[:] = entry  # the same array again: what is kept must be a copy
            problem.function.value(point)
        problem.function.value(np.zeros(2))
        yield of.Iterate(np.zeros(2))


def test_the_best_feasible_point_is_the_answer_of_a_solver_that_was_stopped_before_its_first() -> None:
    fit = LeastSquares(matrix=np.eye(2), target=[2.0, 2.0])
    problem = Minimize(fit, over={"name": "box", "upper": 1.0})
    with pytest.warns(of.NotConverged, match="with the best point of them"):
        result = of.solve(problem, Wandering(), budget=Budget(evaluations=5), progress=False)
    np.testing.assert_array_equal(result.solution, [0.9, 0.9])
    assert result.status is Status.EVALUATION_LIMIT


class Careless(of.Solver[Minimize, np.ndarray, None]):
    """Writes to the point it has yielded while it looks for the next."""

    name = "test.careless"
    solves = Minimize

    def iterates(self, problem, run):
        point = np.ones(2)
        problem.function.value(point)
        yield of.Iterate(point)
        point[:] = np.nan
        problem.function.value(point)
        yield of.Iterate(point)


def test_the_last_iterate_is_kept_as_it_was_yielded() -> None:
    problem = Minimize(LeastSquares(matrix=np.eye(2), target=[2.0, 2.0]))
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, Careless(), budget=Budget(evaluations=1), progress=False)
    np.testing.assert_array_equal(result.solution, [1.0, 1.0])


def test_regularizers_count_towards_the_best_point() -> None:
    fit = LeastSquares(matrix=np.eye(2), target=[2.0, 2.0])
    problem = Composite(fit, plus={"name": "l1", "weight": 0.3})
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, "gradient.proximal", budget=Budget(evaluations=1), progress=False)
    assert result.objective == pytest.approx(problem.objective(result.solution))


def test_a_problem_without_an_objective_to_count_is_refused() -> None:
    votes = of.problem(dataset={"name": "pairwise.random-order", "items": 4, "comparisons": 30})
    with pytest.raises(
        of.InvalidInput, match="whose evaluations are not counted; only those of an objective are"
    ):
        of.solve(votes, "hodge.l2", budget={"evaluations": 10})


class Within(of.Solver):
    """Solves the problem by another solver, again and again."""

    name = "test.within"
    solves = Minimize
    by: str

    def iterates(self, problem, run):
        while True:
            yield of.Iterate(run.solve(of.solver(self.by), problem).solution)


@pytest.mark.parametrize("by", ["scipy.lbfgs", "gradient.proximal"])
def test_the_budget_ends_a_solver_inside_a_solver(by: str) -> None:
    problem = Minimize(Rosenbrock(), start=[-1.2, 1.0])
    with pytest.warns(of.NotConverged, match="stopped after 3 evaluations"):
        result = of.solve(problem, Within(by=by), budget=Budget(evaluations=3), progress=False)
    assert result.status is Status.EVALUATION_LIMIT
    assert problem.objective(result.solution) <= problem.objective(np.array([-1.2, 1.0]))


class Wordy(of.Solver):
    """Yields what is no iterate."""

    name = "test.wordy"
    solves = Minimize

    def iterates(self, problem, run):
        yield "hello"


def test_what_is_no_iterate_is_named_with_a_budget_of_evaluations_too() -> None:
    with pytest.raises(of.BrokenPlugin, match="yielded a str"):
        of.solve(Minimize(Rosenbrock()), Wordy(), budget=Budget(evaluations=3), progress=False)


@pytest.mark.parametrize(
    "solver", ["scipy.nelder-mead", "scipy.dual-annealing", "scipy.cobyqa", "scipy.powell"]
)
def test_the_answer_is_no_worse_than_the_best_point_that_was_asked_for(solver: str) -> None:
    seen: list[float] = []

    def cost(x):
        value = float(np.sum((x - [0.3, -0.4]) ** 2) + np.sin(20 * x[0]))
        seen.append(value)
        return value

    problem = Minimize(of.from_function(cost, 2), over={"name": "box", "lower": -2.0, "upper": 2.0})
    for limit in (7, 30):
        seen.clear()
        with pytest.warns(of.NotConverged):
            result = of.solve(problem, solver, budget=Budget(evaluations=limit), trace=False, progress=False)
        assert result.objective <= min(seen) + 1e-12


def test_a_solver_that_never_asks_the_objective_is_named() -> None:
    problem = Minimize(LeastSquares(matrix=np.eye(2), target=[2.0, 2.0]))
    result = of.solve(problem, "cvxpy", budget=Budget(evaluations=3), progress=False)
    assert "never asks the objective" in result.findings[0].text
    asked = of.solve(problem, "scipy.lbfgs", budget=Budget(evaluations=30), progress=False)
    assert not any("never asks" in finding.text for finding in asked.findings)


class Together(Rosenbrock):
    """Both in one call, too."""

    def value_and_gradient(self, x):
        made.append("both")
        return Rosenbrock.value(self, x), Rosenbrock.gradient(self, x)


@pytest.mark.parametrize("solver", ["scipy.lbfgs", "scipy.tnc"])
def test_a_value_and_a_gradient_in_one_call_count_and_run_as_two(solver: str) -> None:
    runs = []
    for objective in (Rosenbrock(), Together()):
        made.clear()
        problem, counts = counted(Minimize(objective, start=[-1.2, 1.0]))
        result = of.solve(problem, solver, progress=False)
        runs.append((dict(counts), result.solution.tolist(), result.iterations))
        assert ("both" in made) is isinstance(objective, Together)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("limit", [1, 2, 19, 20])
def test_a_limit_falls_between_a_value_and_its_gradient_as_it_does_for_two_calls(limit: int) -> None:
    runs = []
    for objective in (Rosenbrock(), Together()):
        problem = Minimize(objective, start=[-1.2, 1.0])
        with pytest.warns(of.NotConverged):
            result = of.solve(problem, "scipy.lbfgs", budget=Budget(evaluations=limit), progress=False)
        runs.append((list(result.history["evaluations"]), result.solution.tolist()))
    assert runs[0] == runs[1]
