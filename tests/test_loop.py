"""The loop: limits, recording, what is kept, how a run ends."""

from __future__ import annotations

import contextlib
import math
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import warnings
from importlib import metadata
from typing import Any

import numpy as np
import pytest

import optiframe as of
from optiframe import Budget, Iterate, Iterates, Minimize, NotConverged, Projection, Run, Solver, Status
from optiframe.errors import BrokenPlugin
from optiframe.findings import Finding
from optiframe.problems.problem import Formulation, Problem
from optiframe.problems.sets.constraint_set import WholeSpace


class Descent(Solver[Minimize, Any, None]):
    """Gradient descent."""

    name = "test.descent"
    solves = Minimize
    accepts_start = True
    step: float = 0.5

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = problem.initial() if run.start is None else np.array(run.start)
        while True:
            gradient = problem.function.gradient(x)
            x = x - self.step * gradient
            yield Iterate(x, residual=float(np.abs(gradient).max()))


class Scripted(Solver[Minimize, Any, Any]):
    """Yields the given points in turn, then ends as told."""

    name = "test.scripted"
    solves = Minimize
    points: tuple[float, ...]
    ending: str | None = None
    pause: float = 0.0
    steps: int = 1

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        for number, value in enumerate(self.points):
            time.sleep(self.pause)
            yield Iterate(np.array([value]), steps=self.steps, detail=number, info={"number": number})
        if self.ending is not None:
            return Status(self.ending), "as told"
        return None


class Wandering(Scripted):
    """The same, and says that its objective may rise."""

    name = "test.wandering"
    monotone = False


TARGET = Projection([3.0], onto=WholeSpace())


def test_a_converging_solver_ends_within_its_tolerance() -> None:
    result = of.solve(TARGET, Descent(), budget=Budget(tolerance=1e-3))
    assert result.status is Status.CONVERGED
    assert abs(result.solution[0] - 3) <= 1e-3
    assert result.solved == TARGET.fingerprint()


def test_the_iteration_budget_ends_the_run_with_a_warning() -> None:
    with pytest.warns(NotConverged, match="7 iterations"):
        result = of.solve(TARGET, Descent(step=1e-3), budget={"iterations": 7})
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 7


def test_a_limit_after_an_iterate_without_a_residual_says_that_of_it_alone() -> None:
    class Halting(Descent):
        """Gives a residual at first only."""

        name = "test.halting"

        def iterates(self, problem: Projection, run: Run) -> Iterates:
            yield Iterate(np.zeros(1), residual=1.0)
            yield Iterate(np.zeros(1))

    with pytest.warns(NotConverged, match="stopped after 2 iterations; its last iterate had no residual"):
        of.solve(TARGET, Halting(), budget={"iterations": 2})


def test_steps_of_a_block_count_against_the_budget() -> None:
    with pytest.warns(NotConverged):
        result = of.solve(TARGET, Scripted(points=(1,) * 9, steps=10), budget={"iterations": 25})
    assert result.iterations == 30


def test_the_time_budget_ends_the_run() -> None:
    with pytest.warns(NotConverged):
        result = of.solve(TARGET, Scripted(points=(1,) * 500, pause=0.01), budget={"time": 0.1})
    assert result.status is Status.TIME_LIMIT
    assert result.time >= 0.1
    assert result.iterations < 499


def test_the_clock_stands_still_while_iterates_are_judged() -> None:
    class SlowToJudge(Problem[Any]):
        """Judging takes 20 ms."""

        name = "slow-to-evaluate"

        def objective(self, solution: Any) -> float:
            time.sleep(0.02)
            return 1.0

    class Quick(Solver[Any, Any, None]):
        """Ten iterates at once."""

        name = "test.quick"
        solves = SlowToJudge

        def iterates(self, problem: Any, run: Run) -> Iterates:
            for _ in range(10):
                yield Iterate(0.0)

    began = time.perf_counter()
    result = of.solve(SlowToJudge(), Quick())
    whole = time.perf_counter() - began
    assert len(result.trace) == 10
    assert result.evaluation_time >= 10 * 0.02
    assert result.setup + result.time + result.evaluation_time <= whole


def test_a_plain_end_is_finished_and_the_last_iterate_is_the_answer() -> None:
    result = of.solve(TARGET, Scripted(points=(1, 2, 5)))
    assert (result.status, result.solution[0], result.detail) == (Status.FINISHED, 5, 2)


def test_a_solver_can_end_with_its_own_verdict() -> None:
    with pytest.warns(NotConverged, match="as told"):
        result = of.solve(TARGET, Scripted(points=(1,), ending="stalled"))
    assert (result.status, result.message) == (Status.STALLED, "as told")


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize("ending", ["infeasible", "diverged", "stalled", "time_limit", "iteration_limit"])
def test_a_black_box_may_end_without_a_solution(ending: str) -> None:
    result = of.solve(TARGET, Scripted(points=(), ending=ending))
    assert (result.status, result.solution, result.detail) == (Status(ending), None, None)
    assert result.to_tables() == {}


def test_a_detail_with_tables_adds_them_behind_the_problems_own() -> None:
    class Books:
        def tables(self) -> dict[str, Any]:
            return {"solution": {"index": [7]}, "pages": {"page": [1, 2]}}

    class Bookkeeper(Descent):
        """Keeps books."""

        name = "test.bookkeeper"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(np.zeros(1), detail=Books())

    result = of.solve(TARGET, Bookkeeper())
    assert list(result.to_tables()) == ["solution", "pages"]
    assert result.to_tables()["solution"]["value"].tolist() == [0.0]


def test_a_detail_that_diagnoses_adds_its_findings_to_the_result() -> None:
    class Doubtful:
        def diagnose(self) -> tuple[Finding, ...]:
            return (Finding("warning", "not proved", identifier="test.not-proved"),)

    class Doubter(Descent):
        """Doubts its answer."""

        name = "test.doubter"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(np.zeros(1), residual=0.0, detail=Doubtful())

    found = of.solve(TARGET, Doubter())
    assert "test.not-proved" in [each.identifier for each in found.findings]


def test_a_solver_without_any_answer_is_broken() -> None:
    with pytest.raises(of.BrokenPlugin, match="without an iterate"):
        of.solve(TARGET, Scripted(points=()))


class Overflowing(Scripted):
    """Turns 7 into nan; parameters themselves must be finite."""

    name = "test.overflowing"

    def finish(self, problem: Minimize, iterate: Iterate) -> Any:
        return np.where(iterate.x == 7, math.nan, iterate.x)


@pytest.mark.parametrize("bad", [1e200, 7])  # the square of the first is infinite
def test_an_objective_that_stops_being_finite_is_divergence(bad: float) -> None:
    with pytest.warns(NotConverged, match="no longer finite"):
        result = of.solve(TARGET, Overflowing(points=(1, 2, bad, 2)))
    assert result.status is Status.DIVERGED


def test_divergence_is_seen_when_nothing_was_recorded_on_the_way() -> None:
    with pytest.warns(NotConverged, match="no longer finite"):
        result = of.solve(TARGET, Scripted(points=(1, 1e200)), trace=False)
    assert result.status is Status.DIVERGED


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("solver", [Descent(), Wandering(points=(1, 2)), "scipy.lbfgs"])
def test_an_objective_that_is_nan_with_a_zero_gradient_is_divergence(
    solver: str | Solver[Any, Any, Any], trace: bool
) -> None:
    nowhere = of.from_function(lambda x: math.nan, 1, gradient=np.zeros_like)
    with pytest.warns(NotConverged, match="the objective is nan"):
        result = of.solve(Minimize(nowhere), solver, trace=trace)
    assert result.status is Status.DIVERGED
    assert math.isnan(result.objective)


class Tolerant(Problem[Any]):
    """Has no objective of its own, and the same answer as a problem that has one."""

    name = "test.tolerant"
    inner: Minimize

    def formulate(self) -> Formulation | None:
        return Formulation(self.inner, interpret=lambda x: x)


def test_a_problem_without_an_objective_is_judged_by_the_one_it_formulates() -> None:
    flat = Minimize(of.from_function(lambda x: math.nan, 1, gradient=np.zeros_like))
    with pytest.warns(NotConverged, match="the objective is nan"):
        assert of.solve(Tolerant(inner=flat), Descent()).status is Status.DIVERGED
    sound = Minimize(of.from_function(lambda x: float(x @ x), 1, gradient=lambda x: 2 * x))
    assert of.solve(Tolerant(inner=sound), Descent()).status is Status.CONVERGED


class Unjudged(Problem[Any]):
    """Has no objective at all."""

    name = "test.unjudged"


class Settling(Solver[Unjudged, Any, None]):
    """Is done at once."""

    name = "test.settling"
    solves = Unjudged

    def iterates(self, problem: Unjudged, run: Run) -> Iterates:
        yield Iterate(np.ones(1), residual=0.0)


def test_a_problem_without_any_objective_still_converges() -> None:
    result = of.solve(Unjudged(), Settling())
    assert result.status is Status.CONVERGED
    assert math.isnan(result.objective)


def test_a_problem_that_loses_its_objective_on_the_way_diverges() -> None:
    class Halfway(Unjudged):
        """Has an objective below 2 and none from there on."""

        name = "test.halfway"

        def objective(self, solution: Any) -> float:
            return math.nan if solution[0] >= 2 else float(solution[0])

    class Counting(Settling):
        """Counts to 9."""

        name = "test.counting"

        def iterates(self, problem: Unjudged, run: Run) -> Iterates:
            yield from (Iterate(np.full(1, float(n))) for n in range(10))

    with pytest.warns(NotConverged, match="no longer finite"):
        result = of.solve(Halfway(), Counting())
    assert (result.status, result.iterations) == (Status.DIVERGED, 3)


def test_an_answer_with_nan_is_divergence_without_any_objective() -> None:
    class Nowhere(Settling):
        """Ends at nan."""

        name = "test.nowhere"

        def iterates(self, problem: Unjudged, run: Run) -> Iterates:
            yield Iterate(np.full(1, math.nan))

    with pytest.warns(NotConverged, match="no longer finite"):
        assert of.solve(Unjudged(), Nowhere()).status is Status.DIVERGED


def test_an_infinite_residual_is_divergence() -> None:
    class Lost(Solver[Minimize, Any, None]):
        """At a finite point, and says that it is infinitely far off."""

        name = "test.lost"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(np.zeros(1), residual=math.inf)

    with pytest.warns(NotConverged, match="the residual is infinite"):
        assert of.solve(TARGET, Lost()).status is Status.DIVERGED


def test_gradient_descent_with_too_long_a_step_diverges() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = of.solve(TARGET, Descent(step=3.0))
    assert result.status is Status.DIVERGED


def test_the_best_iterate_is_kept_when_the_solver_is_not_monotone() -> None:
    result = of.solve(TARGET, Wandering(points=(1, 2.5, 9)))
    assert result.solution[0] == 2.5
    assert result.detail == 1
    assert "number 2" in result.message
    assert of.solve(TARGET, Scripted(points=(1, 2.5, 9))).solution[0] == 9


def test_a_solver_may_remark_on_the_kept_iterate_and_the_last() -> None:
    class Remarking(Wandering):
        """Says what both are worth."""

        name = "test.remarking"

        def remarks(self, problem: Any, kept: Any, last: Any) -> tuple[Finding, ...]:
            return (Finding("note", f"{kept.objective:g} and {last.objective:g}"),)

    result = of.solve(TARGET, Remarking(points=(1, 3, 0)))
    assert [finding.text for finding in result.findings] == ["0 and 4.5"]


def test_a_feasible_iterate_beats_a_lower_but_infeasible_one() -> None:
    class Below(WholeSpace):
        """Values up to two."""

        name = "below-two"

        def project(self, v: Any) -> Any:
            return np.minimum(v, 2.0)

    result = of.solve(Projection([3.0], onto=Below()), Wandering(points=(1.5, 3.0)))
    assert result.solution[0] == 1.5
    with pytest.warns(NotConverged, match="left the set"):
        result = of.solve(Projection([3.0], onto=Below()), Wandering(points=(2.5, 3.0)))
    assert result.solution[0] == 2.5  # none feasible: the least violation


def test_a_kept_iterate_is_a_copy() -> None:
    class InPlace(Solver[Minimize, Any, None]):
        """Writes every point into the same array."""

        name = "test.in-place"
        solves = Minimize
        monotone = False

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            x = np.zeros(1)
            for value in (2.9, 7.0):
                x[0] = value
                yield Iterate(x)

    assert of.solve(TARGET, InPlace()).solution[0] == 2.9


def test_the_trace_is_logarithmic_and_ends_with_the_last_iterate() -> None:
    with pytest.warns(NotConverged):
        result = of.solve(TARGET, Descent(step=1e-6), budget={"iterations": 1000})
    recorded = result.trace["iteration"]
    assert recorded[:10] == list(range(1, 11))
    assert recorded[-1] == 1000
    assert 40 < len(recorded) < 80
    assert result.trace["objective"] == sorted(result.trace["objective"], reverse=True)


def test_info_becomes_columns_of_the_trace() -> None:
    result = of.solve(TARGET, Scripted(points=(1, 2)))
    assert result.trace["number"] == [0, 1]
    assert "number" in result.trace.names


class Followed(Problem[Any]):
    """Has a score for every recorded point, under a name of its own, and one that the solver writes too."""

    name = "test.followed"
    column: str = "distance"

    def formulate(self) -> Formulation:
        return Formulation(TARGET, interpret=np.asarray, encode=np.asarray)

    def trace_metrics(self, solution: Any) -> dict[str, float]:
        return {self.column: abs(float(solution[0]) - 3.0), "number": -1.0}


def test_a_problems_progress_becomes_columns_of_the_trace_after_the_solvers_own() -> None:
    result = of.solve(Followed(), Scripted(points=(1, 2)))
    assert result.trace["distance"] == [2.0, 1.0]
    assert result.trace["number"] == [0, 1]


def test_a_problems_progress_cannot_hide_a_column_of_every_trace() -> None:
    with pytest.raises(BrokenPlugin, match=r"test\.followed: trace_metrics cannot hold objective"):
        of.solve(Followed(column="objective"), Scripted(points=(1,)))


def test_the_best_is_kept_without_a_trace_too() -> None:
    assert of.solve(TARGET, Wandering(points=(1, 2.5, 9)), trace=False).solution[0] == 2.5


def test_a_start_is_the_solvers_own_to_write_to() -> None:
    class Overwriting(Solver[Minimize, Any, None]):
        """Uses the start as its work space."""

        name = "test.overwriting"
        solves = Minimize
        accepts_start = True

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            run.start += 1.0
            yield Iterate(run.start)

    mine = np.array([5.0])
    assert of.solve(TARGET, Overwriting(), start=mine).solution[0] == 6.0
    assert mine[0] == 5.0


@pytest.mark.parametrize("kind", [Scripted, Wandering])
def test_without_a_trace_nothing_is_recorded(kind: type[Scripted]) -> None:
    result = of.solve(TARGET, kind(points=(1, 2, 4)), trace=False)
    assert len(result.trace) == 0
    assert result.objective == pytest.approx(0.5)


def test_a_start_is_used_and_refused_by_solvers_that_take_none() -> None:
    result = of.solve(TARGET, Descent(), start=np.array([3.0]))
    assert result.iterations == 1
    with pytest.raises(of.Unsuited, match="takes no start"):
        of.solve(TARGET, Scripted(points=(1,)), start=np.array([3.0]))


def test_a_solver_of_another_problem_says_that_before_it_refuses_a_start() -> None:
    with pytest.raises(of.Unsuited, match=r"test.unmoved .* solves 'projection' problems"):
        of.solve(Minimize(of.from_function(math.cos, ())), Unmoved(), start=3.0)


def test_a_start_that_cannot_be_carried_inward_is_refused() -> None:
    class Closed(Problem[Any]):
        """Formulates, but cannot encode a solution."""

        name = "closed"

        def formulate(self) -> Formulation:
            return Formulation(Minimize(of.objective("squared-distance", to=[1.0])), interpret=sum)

    with pytest.raises(of.Unsuited, match="cannot be carried over"):
        of.solve(Closed(), Descent(), start=2.0)
    result = of.solve(Closed(), Descent())
    assert result.solution == pytest.approx(1.0)
    assert result.solved == Closed().formulation.problem.fingerprint()  # type: ignore[union-attr]  # it has one


def test_an_unsuited_solver_says_what_it_solves_and_what_it_met() -> None:
    class Foreign(Problem[Any]):
        """Nothing anybody solves."""

        name = "foreign"

    with pytest.raises(of.Unsuited, match="solves 'minimize' problems; this one is 'foreign'"):
        of.solve(Foreign(), Descent())


def test_parameters_do_not_go_with_a_solver_object() -> None:
    with pytest.raises(of.InvalidInput, match="already has its own"):
        of.solve(TARGET, Descent(), step=0.1)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, None])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    with pytest.raises(of.InvalidInput, match="seed must be"):
        of.solve(TARGET, Descent(), seed=seed)


@pytest.mark.parametrize("budget", [{"time": -1}, {"iterations": 0}, {"tolerance": math.nan}, {"tiem": 1}])
def test_a_wrong_budget_is_refused(budget: dict[str, Any]) -> None:
    with pytest.raises(of.InvalidInput, match="budget"):
        of.solve(TARGET, Descent(), budget=budget)


def test_findings_carry_what_the_solver_warned_of() -> None:
    class Warning_(Scripted):
        """Warns once."""

        name = "test.warns"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            run.warn("mind the gap")
            yield Iterate(np.zeros(1))

    findings = of.solve(TARGET, Warning_(points=())).findings
    assert [(f.level, f.text) for f in findings] == [("warning", "mind the gap")]


class Measured(Minimize):
    """Has a metric of every answer."""

    name = "test.measured"

    def metrics(self, solution: Any) -> dict[str, float]:
        return {"error": 0.0}


def test_a_nested_run_reports_its_answer_alone() -> None:
    class Outer(Solver[Minimize, Any, Any]):
        """Its detail is the result of another solver inside."""

        name = "test.outer-of-one"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            inner = run.solve(Scripted(points=(1.0,)), problem)
            yield Iterate(inner.solution, detail=inner)

    result = of.solve(Measured(TARGET.formulate().problem.function), Outer())
    assert result.metrics == {"error": 0.0}
    inner = result.detail
    assert (len(inner.trace), inner.metrics, inner.findings, inner.settings) == (0, {}, (), {})


def test_a_nested_run_stays_within_the_time_left() -> None:
    class Outer(Solver[Minimize, Any, float]):
        """Runs another solver inside; its detail is the inner seconds."""

        name = "test.outer"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            inner = run.solve(Scripted(points=(1,) * 10_000, pause=0.005), problem)
            assert inner.status is Status.TIME_LIMIT
            yield Iterate(inner.solution, detail=inner.time)

    with pytest.warns(NotConverged):
        result = of.solve(TARGET, Outer(), budget={"time": 0.1})
    assert 0.05 < result.detail < 1


def test_nested_random_numbers_come_from_the_run() -> None:
    class Random(Solver[Minimize, Any, None]):
        """One random point."""

        name = "test.random"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(run.rng.standard_normal(1))

    class Outer(Random):
        """A random point of a nested run."""

        name = "test.outer-random"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(run.solve(Random(), problem).solution)

    draws = [of.solve(TARGET, Outer(), seed=seed).solution[0] for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_data_drawn_with_a_seed_and_a_solver_with_that_seed_do_not_share_numbers() -> None:
    class Guess(Descent):
        """Answers what it draws first."""

        name = "test.guess"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(run.rng.standard_normal(3))

    for data in (np.random.SeedSequence(0), *np.random.SeedSequence(0).spawn(10)):
        point = np.random.default_rng(data).standard_normal(3)
        assert of.solve(Projection(point, onto=WholeSpace()), Guess(), seed=0).objective > 1e-3


def test_a_generator_is_closed_when_a_limit_ends_the_run() -> None:
    closed = []

    class Closing(Descent):
        """Notes that it was closed."""

        name = "test.closing"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            try:
                yield from super().iterates(problem, run)
            finally:
                closed.append(True)
            return None

    of.solve(TARGET, Closing())
    assert closed == [True]


async def _awaited() -> Any:
    yield Iterate(np.zeros(1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda: iter([np.zeros(1)]), "must be a generator, got a list_iterator; yield from it"),
        (lambda: None, "must be a generator, got a NoneType; yield each Iterate"),
        (_awaited, "must be a generator, got one that is awaited; write def instead of async def"),
        (lambda: (Iterate(np.zeros(1), residual=np.array(n)) for n in [1.0]), r"write residual=float\(...\)"),
        (lambda: (x for x in [np.zeros(1)]), "yielded a ndarray; yield Iterate"),
        (lambda: (Iterate(np.zeros(1), steps=n) for n in [0]), "an Iterate of 0 steps"),
        (lambda: (Iterate(np.zeros(1), steps=n) for n in [1.5]), "an Iterate of 1.5 steps; a whole number"),
        (lambda: (Iterate(np.zeros(1), steps=n) for n in ["2"]), "an Iterate of '2' steps; a whole number"),
        (lambda: (Iterate(np.zeros(1), residual=n) for n in [None]), "a residual is one number$"),
        (
            lambda: (Iterate(np.zeros(1), info={"phase": n}) for n in ["warm"]),
            r"test\.wrong: info gives 'warm' as 'phase'; give one number",
        ),
        (lambda: (Iterate(np.zeros(1), info=[n]) for n in [1]), "info must give numbers by name, got a list"),
        (lambda: (Iterate(np.zeros(1), steps=n) for n in [1, 0]), "an Iterate of 0 steps"),
    ],
)
def test_what_is_not_a_generator_of_iterates_is_said_so(body: Any, message: str) -> None:
    class Wrong(Solver[Minimize, Any, None]):
        """Gives something else."""

        name = "test.wrong"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Any:
            return body()

    with pytest.raises(of.BrokenPlugin, match=message):
        of.solve(TARGET, Wrong())


@pytest.mark.parametrize(
    ("iterate", "message"),
    [
        (
            Iterate(np.zeros(2)),
            r"not give an answer to 'minimize': a point has the shape \(1,\), and this has \(2,\)",
        ),
        (Iterate([0.0]), "a point is of type ndarray, and this is of type list"),
        (Iterate(np.array(["a"])), "a point holds real numbers"),
        (Iterate(np.zeros(1), residual=np.zeros(1)), "a residual is one number"),
        (Iterate(np.zeros(1), residual=-1.0), "a residual is a distance, and this is -1.0"),
    ],
)
def test_an_iterate_that_is_no_answer_is_said_so(iterate: Iterate, message: str) -> None:
    class Wrong(Solver[Minimize, Any, None]):
        """Gives what is no answer."""

        name = "test.wrong-point"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield iterate

    with pytest.raises(of.BrokenPlugin, match=message):
        of.solve(TARGET, Wrong())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": of.objective("squared-distance", to=[1.0])}, "wrap it: optiframe.Minimize"),
        ({"problem": "labels.rte"}, "a str is not a problem; build one"),
        ({"problem": np.sum}, r"optiframe.Minimize\(optiframe.from_function\(function, shape\)\)"),
        ({"solver": Descent}, r"a name or a solver object, such as Descent\(\)"),
        (
            {"solver": "scipy.lbfgs", "iterations": 5},
            r"limits go into the budget: budget=\{'iterations': 5\}",
        ),
        ({"budget": 5}, "budget must be such as"),
        ({"start": [1.0, 2.0]}, r"start: a point has the shape \(1,\), and this has \(2,\)"),
        ({"start": [math.nan]}, "start: entry .0. is nan"),
    ],
)
def test_what_is_easily_mixed_up_is_answered_with_what_to_write(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(of.InvalidInput, match=message):
        of.solve(**({"problem": TARGET, "solver": Descent()} | arguments))


@pytest.mark.parametrize("verdict", ["done", ("no such status", ""), (Status.STALLED,), 3])
def test_a_wrong_verdict_is_said_so(verdict: Any) -> None:
    class Wrong(Solver[Minimize, Any, None]):
        """Ends with something else."""

        name = "test.wrong-end"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(np.zeros(1))
            return verdict

    with pytest.raises(of.BrokenPlugin, match="return a Status and a message"):
        of.solve(TARGET, Wrong())


def test_an_error_while_tidying_up_does_not_lose_the_answer() -> None:
    class Untidy(Solver[Minimize, Any, None]):
        """Raises when closed."""

        name = "test.untidy"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            try:
                yield Iterate(np.ones(1), residual=0.0)
            finally:
                raise OSError("the file is gone")

    with pytest.warns(RuntimeWarning, match="OSError while it was being closed: the file is gone"):
        result = of.solve(TARGET, Untidy())
    assert result.solution[0] == 1


def test_an_exception_in_a_solver_reaches_the_caller_unchanged() -> None:
    class Raising(Scripted):
        """Raises."""

        name = "test.raising"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(np.zeros(1))
            raise ZeroDivisionError("in the solver")

    with pytest.raises(ZeroDivisionError, match="in the solver"):
        of.solve(TARGET, Raising(points=()))


def test_solving_in_another_thread_leaves_signals_alone() -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(of.solve(TARGET, Descent())))
    thread.start()
    thread.join()
    assert results[0].status is Status.CONVERGED


_INTERRUPTED = """
import sys, time, warnings
import numpy as np
import optiframe as of
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.errors import BrokenPlugin
from optiframe.findings import Finding

class Slow(of.Solver[of.Minimize, object, None]):
    "Never ends."
    name = "test.slow"
    solves = of.Minimize
    def iterates(self, problem, run):
        print("running", flush=True)
        number = 0
        while True:
            {body}
            number += 1
            yield of.Iterate(np.array([float(number)]))

result = of.solve(of.Projection([3.0], onto=WholeSpace()), Slow(), budget={{"iterations": None}})
print(result.status, result.solution is not None, flush=True)
"""


def _heed_interrupts() -> None:
    """In the child: a shell that runs its jobs in the background makes them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(body: str, times: int) -> tuple[int, str]:
    child = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED.format(body=body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_heed_interrupts,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "\n"
    assert child.stdout.readline() == "stopping after this iterate; Ctrl-C again stops at once\n"
    if times == 2:  # two that come before the first is heard are one
        os.kill(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=120)
    return child.returncode, output


def test_the_first_interrupt_ends_the_run_with_an_answer() -> None:
    code, output = _interrupt("time.sleep(0.01)", 1)
    assert code == 0
    assert output.startswith("cancelled True\n")


@pytest.mark.slow
def test_a_long_step_can_see_that_it_is_to_stop() -> None:
    code, output = _interrupt("while not run.stopping: time.sleep(0.01)", 1)
    assert code == 0
    assert output.startswith("cancelled True\n")


@pytest.mark.slow
def test_the_second_interrupt_raises_inside_a_long_step() -> None:
    code, output = _interrupt("time.sleep(600)", 2)
    assert code != 0
    assert "KeyboardInterrupt" in output


_BAR = _INTERRUPTED.replace('{{"iterations": None}}', '{{"iterations": 20}}')


@pytest.mark.parametrize(("delay", "appears"), [(1000.0, False), (0.0, True)])
@pytest.mark.slow
def test_a_bar_appears_on_a_terminal_after_a_while(delay: float, appears: bool) -> None:
    terminal, screen = pty.openpty()
    code = f"from optiframe.solving import progress\nprogress._DELAY = {delay}\n"
    code += _BAR.format(body="time.sleep(0.01)")
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], stderr=screen, stdout=screen, check=True)
    os.close(screen)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side is closed
        while part := os.read(terminal, 4096):
            shown += part
    os.close(terminal)
    assert (b"test.slow" in shown) == appears, shown


def test_settings_repeat_the_run() -> None:
    result = of.solve(TARGET, Descent(step=0.25), seed=5)
    assert result.settings["solver"] == {"name": "test.descent", "step": 0.25}
    assert result.settings["seed"] == 5
    assert {"python", "optiframework", "numpy"} <= set(result.settings["versions"])
    yardstick = of.solve(TARGET, "scipy.lbfgs")
    assert yardstick.settings["versions"]["scipy"] == metadata.version("scipy")


class Unmoved(Solver[Projection, Any, None]):
    """Says that the point itself is its projection."""

    name = "test.unmoved"
    solves = Projection
    knows_residual: bool = True

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        yield Iterate(problem.point, residual=0.0 if self.knows_residual else math.nan)


def test_a_solver_that_leaves_the_one_set_there_is_gets_an_error_that_says_so() -> None:
    ball = of.constraint_set("l2-ball", radius=1.0)
    with pytest.warns(NotConverged, match="constraints by 4: the solver left the set 'l2-ball'"):
        left = of.solve(Projection([3.0, 4.0], onto=ball), Unmoved())
    assert left.status is Status.STALLED
    assert [(each.level, each.identifier) for each in left.findings] == [("error", "solver.left-the-set")]
    both = [{"name": "l2-ball", "radius": 1.0}, {"name": "half-space", "normal": [1.0, 0.0], "offset": 2.0}]
    with pytest.warns(NotConverged, match="the sets may touch in a point only, or not at all"):
        several = of.solve(Projection([3.0, 4.0], onto=both), Unmoved())
    assert several.findings == ()


def test_a_solver_that_ends_by_itself_outside_the_set_gets_the_same_error() -> None:
    ball = of.constraint_set("l2-ball", radius=1.0)
    with pytest.warns(NotConverged, match="its own end, but the answer violates .* left the set 'l2-ball'"):
        left = of.solve(Projection([3.0, 4.0], onto=ball), Unmoved(knows_residual=False))
    assert left.status is Status.STALLED
    assert [(each.level, each.identifier) for each in left.findings] == [("error", "solver.left-the-set")]


def test_the_trace_of_a_run_without_iterates_has_empty_columns() -> None:
    class Refusing(Solver[Minimize, Any, None]):
        """Finds every problem infeasible."""

        name = "test.refusing"
        solves = Minimize

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            return Status.INFEASIBLE, "no"
            yield

    trace = of.solve(TARGET, Refusing()).trace
    assert [trace[name] for name in ("iteration", "time", "objective", "violation", "residual")] == [[]] * 5
    with pytest.raises(of.UnknownName, match="no column 'gap'"):
        _ = trace["gap"]
