"""The contract catches what it is meant to catch, and lets good solvers pass."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from optiframe import (
    Budget,
    InvalidInput,
    Iterate,
    Iterates,
    Minimize,
    Problem,
    Projection,
    Run,
    Solver,
    Status,
    solve,
)
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.vector_sets import Box
from optiframe.testing import (
    CHECKS,
    Case,
    SolverContract,
    check_isolated,
    known_optimum,
    run_checks,
    small_problems,
)
from optiframe.testing.broken import solvers as bad
from optiframe.testing.failures import likeness
from optiframe.testing.solvers.checks import (
    check_answer_is_finite,
    check_is_better_than_chance,
    check_iteration_budget_is_honoured,
    check_reaches_the_known_optimum,
    check_residual_is_a_number,
)
from optiframe.testing.toml import to_toml


def small_box() -> Minimize:
    return Minimize(SquaredDistance(to=[0.3, -1.5, 2.0]), over=Box(lower=-1.0, upper=1.0))


def failures(solver: Solver) -> dict[str, str]:
    """The checks a solver fails, on a problem that every honest method solves."""
    problem = small_box()
    other = Minimize(SquaredDistance(to=[0.3, -1.5]))
    # Slow sleeps for 0.1 s: too long after a limit of 0.05 s when 0.02 s more are allowed.
    seconds = 0.02 if isinstance(solver, bad.Slow) else 1.0
    case = Case(solver, problem, optimum=known_optimum(problem), others=(other,), seconds=seconds)
    return {o.name: o.failure for o in run_checks(case) if o.failure is not None}


def test_an_honest_solver_passes_every_check():
    assert failures(bad.Honest()) == {}


# A bad solver, and exactly the checks it fails. The last column is part of the sentence
# that the first of them gives.
BAD = [
    (bad.Idle, ["reaches the known optimum", "is better than doing nothing"], "the optimum 0.625"),
    (bad.Constant, ["reaches the known optimum"], "the optimum 0.625"),
    (bad.Blocks, ["iteration budget is honoured"], "10 iterations with a limit of 1"),
    (bad.Slow, ["time budget is honoured"], "s with a limit of 0.05 s"),
    (bad.Outside, ["answer is feasible"], "1.12 outside the constraints"),
    (bad.Leaky, ["nothing leaks between runs"], "keep no state in between"),
    (bad.Lenient, ["unknown parameters are refused"], "would go unnoticed"),
    (bad.Unwritable, ["parameters survive a toml file"], "has no form in TOML"),
    (bad.Unpicklable, ["problem and solver survive pickling"], "holds an open handle"),
    (bad.Boastful, ["unsuited answers rather than raises"], "has nothing against a Minimize of"),
    (bad.Raising, ["unsuited answers rather than raises"], "`unsuited` raises Unsuited"),
    (bad.DeafToStart, ["start is accepted as declared"], "accepts a start and ignores it"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "expected", "words"), BAD, ids=[kind.__name__ for kind, _, _ in BAD])
def test_a_bad_solver_fails_for_what_it_does_and_for_nothing_else(kind, expected, words):
    found = failures(kind())
    assert list(found) == expected
    assert words in found[expected[0]]
    assert found[expected[0]].startswith(f"{kind.name} on 'minimize': ")


@pytest.mark.slow
def test_convergence_claimed_too_soon_is_found_on_the_ready_made_problems():
    assert failures(bad.TooSoon()) == {}  # one step solves a squared distance

    class Contract(SolverContract):
        solver = bad.TooSoon()

    cases = [replace(case, budget=Budget(iterations=200)) for case in Contract().cases()]
    found = [[o.name for o in run_checks(case) if o.failure is not None] for case in cases]
    assert found == [*[[]] * 4, ["reaches the known optimum"], ["reaches the known optimum"]]
    with pytest.raises(AssertionError, match=r"\(converged: .*\); its residual must be that of the point"):
        Contract().test_reaches_the_known_optimum()


def test_a_method_that_says_it_ran_out_of_its_budget_may_fall_short_of_an_ill_conditioned_optimum():
    class Brief(SolverContract):
        solver = bad.Honest()
        budget = Budget(iterations=30)

    Brief().test_reaches_the_known_optimum()
    assert [case.may_run_out for case in Brief().cases()] == [*[False] * 4, True, True]
    (strict,) = [case for case in Brief().cases() if case.may_run_out][:1]
    with pytest.raises(AssertionError, match="iteration_limit"):
        check_reaches_the_known_optimum(replace(strict, may_run_out=False))


@pytest.mark.parametrize("number", [4, 5])
def test_the_ill_conditioned_problems_have_the_optimum_that_cvxpy_finds(number):
    problem = small_problems()[number]
    eigenvalues = np.linalg.eigvalsh(problem.function.hessian(problem.initial()))
    assert eigenvalues[-1] / eigenvalues[0] == pytest.approx(100)
    assert known_optimum(problem) == pytest.approx(solve(problem, "cvxpy").objective, abs=1e-6)


def test_the_known_optimum_of_least_squares_is_told_only_where_it_is_simple():
    matrix, target = [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]
    plain = LeastSquares(matrix=matrix, target=target)
    assert known_optimum(Minimize(plain)) == pytest.approx(0.0)
    assert known_optimum(Minimize(plain, over=Box(lower=0.0))) == pytest.approx(0.05)
    assert known_optimum(Minimize(plain, over=Box(lower=1.0, upper=1.0))) is None
    assert known_optimum(Minimize(plain, over="simplex")) is None
    assert known_optimum(Minimize(LeastSquares(matrix=matrix, target=target, l2=0.1))) is None


def test_writing_into_the_problem_is_found():
    # Later runs see another problem, so that other checks fail with it.
    assert "it changes the problem it is given" in failures(bad.Writes())["input is not changed"]


@pytest.mark.slow
def test_unseeded_randomness_is_found():
    found = failures(bad.Unseeded())
    assert "draw random numbers from run.rng only" in found["same seed gives same trace"]


def test_an_answer_that_is_not_finite_is_found():
    assert "not finite" in failures(bad.Overflowing())["answer is finite"]


def test_every_bad_solver_is_tried():
    kinds = {c for n, c in vars(bad).items() if isinstance(c, type) and c.__module__ == bad.__name__}
    tried = {kind for kind, _, _ in BAD} | {
        bad.Writes,
        bad.Unseeded,
        bad.Overflowing,
        bad.TooSoon,
        bad.Honest,
    }
    assert {k.__name__ for k in kinds if k.name.startswith("bad.")} == {k.__name__ for k in tried}


def test_every_check_is_a_method_of_the_class_to_inherit():
    methods = [name for name in vars(SolverContract) if name.startswith("test_")]
    assert methods == [check.__name__.replace("check_", "test_", 1) for check in CHECKS]


class TestHonestOnGivenProblem(SolverContract):
    solver = bad.Honest()
    problem = staticmethod(small_box)


class TestHonestOnAProblemThatIsBuilt(SolverContract):
    solver = bad.Honest()
    problem = small_box()


@pytest.mark.slow
class TestHonestOnTheProblemsThatAreThere(SolverContract):
    solver = bad.Honest()


class RandomSearch(Solver[Minimize, Any, None]):
    """Keeps the best of random steps: seeded, without derivatives, without a residual."""

    name = "test.random-search"
    solves = Minimize

    width: float = 0.3

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        best = problem.initial()
        while True:
            tried = problem.over.project(best + self.width * run.rng.standard_normal(best.shape))
            if problem.objective(tried) < problem.objective(best):
                best = tried
            yield Iterate(best)


class TestRandomSearch(SolverContract):
    solver = RandomSearch()
    problem = staticmethod(small_box)
    tolerance = 1e-2
    budget = Budget(iterations=3000)


class Labels(Problem[Any]):
    """A domain problem whose answers are dicts, without an objective."""

    name = "test.labels"

    votes: tuple[int, ...] = (1, 1, 0)


class Majority(Solver[Labels, Any, None]):
    """The majority, in one step."""

    name = "test.majority"
    solves = Labels

    def iterates(self, problem, run):
        yield Iterate({"label": np.array([float(np.mean(problem.votes) > 0.5)])})


class TestMajority(SolverContract):
    solver = Majority()
    problem = staticmethod(Labels)


def test_a_contract_without_a_problem_says_what_to_give():
    class Contract(SolverContract):
        solver = Majority()

    with pytest.raises(AssertionError, match=r"test\.majority suits none of the built-in small problems"):
        Contract().test_answer_is_finite()


def test_a_failing_method_speaks_in_a_sentence():
    class Contract(SolverContract):
        solver = bad.Idle()

    with pytest.raises(AssertionError, match=r"bad\.idle on 'minimize': the objective .* is no better than"):
        Contract().test_is_better_than_doing_nothing()


def test_an_error_inside_a_solver_is_a_failure_and_not_the_end():
    class Broken(bad.Honest):
        """Divides by zero."""

        name = "test.broken"

        def _advance(self, problem, run, x):
            return x / (1 // (x.size - x.size))

    outcomes = list(run_checks(Case(Broken(), small_box())))
    assert len(outcomes) == len(CHECKS)
    assert "raised ZeroDivisionError" in next(o.failure for o in outcomes if o.name == "answer is finite")


def test_the_known_optimum_of_a_projection_is_the_nearest_point():
    assert known_optimum(Projection([2.0, -3.0], onto=Box(lower=0.0, upper=1.0))) == pytest.approx(5.0)
    assert known_optimum(Labels()) is None


class Colour(StrEnum):
    RED = "red"


class Rich(Solver[Minimize, Any, None]):
    """Every kind of parameter a file can hold."""

    name = "test.rich"
    solves = Minimize

    flag: bool = False
    count: int = 3
    tiny: float = 1e-300
    text: str = "plain"
    several: list[float]
    inner: dict[str, float]
    colour: str = Colour.RED
    over: Box | None = None
    point: Any = None

    def iterates(self, problem, run):
        yield Iterate(problem.initial())


def test_parameters_of_every_kind_are_written_as_toml():
    text = 'quotes " and \\ and \n and \x7f and \N{GRINNING FACE}'
    rich = Rich(
        flag=True,
        text=text,
        several=[1.0, 0.5],
        inner={"a key": 2.0},
        over=Box(lower=0.0, upper=[1.0, 2.0]),
        point=np.array([[1.0], [2.0]]),
    )
    assert tomllib.loads(to_toml(rich)) == {
        "flag": True,
        "count": 3,
        "tiny": 1e-300,
        "text": text,
        "several": [1.0, 0.5],
        "inner": {"a key": 2.0},
        "colour": "red",
        "over": {"name": "box", "lower": 0.0, "upper": [1.0, 2.0]},
        "point": [[1.0], [2.0]],
    }


def test_a_value_without_a_form_in_toml_is_refused_in_words():
    with pytest.raises(InvalidInput, match="has no form in TOML"):
        to_toml(bad.Unwritable())


class Known(Problem[Any]):
    """A domain problem that knows its truth."""

    name = "test.known"
    better = MappingProxyType({"error": "lower"})

    def metrics(self, solution):
        return {"error": abs(float(solution[0]) - 1.0)}

    def baseline_metrics(self):
        return {"error": 1.0}


class Answers(Solver[Known, Any, None]):
    """Gives one answer."""

    name = "test.answers"
    solves = Known
    residual_meaning = "0: there is nothing to do"

    answer: float = 1.0
    status: str = "finished"

    def iterates(self, problem, run):
        yield Iterate(np.array([self.answer]))
        return self.status, "as told"


def outcome(check, solver, problem=None, **known):
    (found,) = run_checks(Case(solver, problem or Known(), **known), [check])
    return found


def test_an_answer_no_better_than_chance_fails_where_the_problem_knows_its_truth():
    assert outcome(check_is_better_than_chance, Answers()).passed
    for answer in (0.0, 5.0):
        failed = outcome(check_is_better_than_chance, Answers(answer=answer)).failure
        assert "no better than the 1 of an answer" in failed


def test_a_run_that_says_it_fell_short_and_one_excused_need_not_beat_chance():
    short = outcome(check_is_better_than_chance, Answers(answer=0.0, status="stalled"))
    assert "says that it fell short; the error is 1" in short.not_applicable
    assert not short.passed
    excused = outcome(check_is_better_than_chance, Answers(answer=0.0), no_better_than_chance="too hard")
    assert excused.not_applicable == "too hard"


def test_what_could_not_be_looked_at_has_not_passed_and_says_why():
    reasons = {o.name: o.not_applicable for o in run_checks(Case(Majority(), Labels())) if not o.passed}
    assert list(reasons) == [
        "tolerance is honoured",
        "residual is a number",
        "answer is feasible",
        "reaches the known optimum",
        "is better than doing nothing",
        "is better than chance",
        "start is accepted as declared",
    ]
    assert reasons["reaches the known optimum"] == "the optimum of the problem is not known"


def test_a_residual_that_is_never_a_number_fails_unless_it_was_said_to_be_none():
    class Silent(RandomSearch):
        """Says that it has a residual, and has none."""

        name = "test.silent"
        residual_meaning = "length of the step"

    class MayBeNan(RandomSearch):
        """Says that it need not have one."""

        name = "test.may-be-nan"
        residual_meaning = "length of the step; nan while it looks around"

    short = {"problem": small_box(), "budget": Budget(iterations=30)}
    assert "was never a number" in outcome(check_residual_is_a_number, Silent(), **short).failure
    assert "may have none" in outcome(check_residual_is_a_number, MayBeNan(), **short).not_applicable
    assert outcome(check_residual_is_a_number, RandomSearch(), **short).not_applicable


def test_an_error_of_a_solver_is_told_with_the_line_of_its_own_code():
    class Broken(bad.Honest):
        """Raises inside a library."""

        name = "test.broken-inside"

        def _advance(self, problem, run, x):
            return np.linalg.solve(np.zeros((2, 2)), np.zeros(2))

    failure = outcome(check_answer_is_finite, Broken(), small_box()).failure
    assert "raised LinAlgError: Singular matrix at " in failure
    assert re.search(r"test_contract\.py:\d+ \(in _advance\)$", failure)


def test_failures_that_differ_only_in_the_line_a_loop_was_stopped_in_are_alike():
    text = (
        "killed after 2 s; it was here:\n/x/site-packages/numpy/core.py line {}, add\n"
        "/x/mine.py line {}, iterates"
    )
    assert likeness(text.format(3, 40)) == likeness(text.format(9, 41))
    assert likeness(text.format(3, 40)) != likeness(text.format(3, 40).replace("iterates", "start"))
    assert likeness("it is wrong") != likeness("it is wrong too")


class Honest(bad.Honest):
    """A solver for one fault to be put in."""

    name = "bad.one-fault"


class Refusing(Honest):
    """Finds every problem infeasible."""

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return Status.INFEASIBLE, "there is no point"
        yield


def outcomes(solver: Solver, problem: Problem, *others: Problem) -> dict[str, Any]:
    return {o.name: o for o in run_checks(Case(solver, problem, others=others))}


def test_a_solver_that_finds_its_problem_infeasible_keeps_the_contract():
    empty = Minimize(SquaredDistance(to=[2.0, 2.0]), over=Box(lower=0.0, upper=1.0), start=[3.0, 3.0])
    found = outcomes(Refusing(), empty)  # only a solver can tell whether there is a feasible point
    assert {name for name, o in found.items() if o.failure} == set()
    found = outcomes(Refusing(), Minimize(SquaredDistance(to=[2.0, 2.0])))
    assert {name for name, o in found.items() if o.failure} == {"is better than doing nothing"}
    assert "the point a solver begins with is feasible" in found["is better than doing nothing"].failure
    assert found["residual is a number"].not_applicable == "it ended without an iterate"


def test_a_stochastic_solver_whose_first_step_forgets_the_start_keeps_the_contract():
    class Jittering(Honest):
        monotone = False
        step: float = 1.0  # leads to the nearest point from anywhere

        def _advance(self, problem: Minimize, run: Run, x: Any) -> Any:
            noise = 0.1 * run.rng.standard_normal(x.shape)
            return problem.over.project(super()._advance(problem, run, x) + noise)

    near, valley = small_problems()[0], small_problems()[4]
    assert outcomes(Jittering(), near, valley)["start is accepted as declared"].passed
    assert outcomes(bad.DeafToStart(), near, valley)["start is accepted as declared"].failure


def test_a_solver_that_goes_on_once_it_is_ended_is_found():
    class Unending(Honest):
        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            for iterate in super().iterates(problem, run):
                try:
                    yield iterate
                except GeneratorExit:
                    yield iterate

    (outcome,) = run_checks(Case(Unending(), small_box()), [check_iteration_budget_is_honoured])
    failure = outcome.failure or ""
    assert "generator ignored GeneratorExit" in failure
    assert "catch Exception there, and no bare except" in failure


def test_a_solver_that_says_too_much_of_its_end_is_told_what_to_say():
    class Confident(Honest):
        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            yield Iterate(self._begin(problem, run), residual=1.0)
            return Status.CONVERGED, "trust me"

    failure = failures(Confident())["reaches the known optimum"]
    assert failure.endswith(
        '(converged: trust me); where it gives up short of the optimum, it must return Status.STALLED, "why"'
    )


def test_the_message_on_a_residual_names_what_a_solver_may_write():
    class Silent(Honest):
        residual_meaning = "distance from the optimum"

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            for iterate in super().iterates(problem, run):
                yield Iterate(iterate.x)

    assert 'say residual_meaning = "not computed"' in failures(Silent())["residual is a number"]


def test_the_checks_in_another_process_say_that_they_take_names():
    words = r"needs a name or module:Class.*run_checks\(Case\(solver, problem\)\)"
    with pytest.raises(InvalidInput, match=words):
        list(check_isolated(bad.Honest()))
