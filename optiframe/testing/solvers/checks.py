"""The contract of a solver as plain functions, one for each thing it must keep.

Each takes a `Case` and raises `AssertionError` in words, or `NotApplicable` where there is
nothing to look at. `run_checks` runs them one by one, without pytest.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from optiframe.errors import InvalidInput, OptiframeError, Unsuited
from optiframe.records.fingerprint import fingerprint
from optiframe.solving.budget import Budget
from optiframe.solving.result import Status
from optiframe.solving.runner import NotClosed
from optiframe.testing.cases import (
    AnyProblem,
    Case,
    NotApplicable,
    difference,
    same,
)
from optiframe.testing.failures import described_error, own_place
from optiframe.testing.solvers.answers import (
    check_answer_is_feasible,
    check_answer_is_finite,
    check_is_better_than_chance,
    check_is_better_than_doing_nothing,
    check_reaches_the_known_optimum,
)
from optiframe.testing.solvers.odd_problems import check_unsuited_answers_rather_than_raises
from optiframe.testing.toml import parameters, to_toml

_CHANGES_PROBLEM = "it changes the problem it is given; work on copies"
_LIMITS = (1, 2, 7)  # iteration limits tried: the smallest, and two that no common block size divides
_HAS_NONE = re.compile(r"(none|not computed)\b", re.IGNORECASE)  # how a solver says that it has no residual
_MAY_BE_NAN = re.compile(r"\bnan\b", re.IGNORECASE)


def check_parameters_survive_a_toml_file(case: Case) -> None:
    """Parameters written to TOML and read again give an equal solver."""
    try:
        text = to_toml(case.solver)
    except InvalidInput as error:
        case.fail(f"its parameters cannot be written to a TOML file: {error}")
    try:
        again = type(case.solver).load(**tomllib.loads(text))
    except InvalidInput as error:
        case.fail(f"its own parameters, read from a TOML file, are refused: {error}")
    if again != case.solver:
        case.fail(f"its parameters change on the way through a TOML file: {case.solver!r} became {again!r}")


def check_unknown_parameters_are_refused(case: Case) -> None:
    """A parameter the solver does not have raises `InvalidInput`."""
    try:
        type(case.solver).load(**parameters(case.solver), no_such_parameter=1)
    except InvalidInput:
        return
    case.fail("an unknown parameter (no_such_parameter = 1) is accepted; a typing error would go unnoticed")


def check_same_seed_gives_same_trace(case: Case) -> None:
    """Two runs with one seed agree in every recorded number and in the answer."""
    before = fingerprint(case.problem)
    first, second = case.glance(), case.glance()
    differs_in = difference(first, second)
    if differs_in and fingerprint(case.problem) != before:
        case.fail(_CHANGES_PROBLEM)
    if differs_in:
        case.fail(
            f"two runs with the same seed differ in {differs_in}; "
            "draw random numbers from run.rng only, and keep no state between runs"
        )


def check_nothing_leaks_between_runs(case: Case) -> None:
    """A run gives the same before and after a run on something else."""
    first = case.glance()
    for other in case.others or (case.problem,):
        case.glance(problem=other, seed=2)
    differs_in = difference(first, case.glance())
    if differs_in:
        case.fail(f"a run after another run differs from the first in {differs_in}; keep no state in between")


def check_iteration_budget_is_honoured(case: Case) -> None:
    """No run goes past its iteration limit, and none goes on once it is ended there."""
    for limit in _LIMITS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NotClosed)
            result = case.solve(budget=Budget(iterations=limit, tolerance=0.0))
        for warning in caught:
            if issubclass(warning.category, NotClosed):
                case.fail(
                    f"{warning.message}. Let GeneratorExit pass at each yield: catch Exception there, and no "
                    "bare except"
                )
        if result.iterations > limit:
            case.fail(
                f"it made {result.iterations} iterations with a limit of {limit}; "
                "take no block of steps longer than run.steps_left()"
            )


def check_time_budget_is_honoured(case: Case) -> None:
    """A run ends soon after its time limit."""
    limit = 0.05  # seconds
    case.solve(budget=Budget(iterations=1))  # imports and compilation are not what is timed
    result = case.solve(budget=Budget(time=limit, iterations=None, tolerance=0.0), trace=False)
    if result.time > limit + case.seconds:
        case.fail(
            f"it ran {result.time:.2f} s with a limit of {limit} s; "
            "yield more often, or look at run.time_left()"
        )


def check_tolerance_is_honoured(case: Case) -> None:
    """A tolerance that anything meets ends the run at the first residual."""
    result = case.glance(tolerance=1e300)
    if not any(math.isfinite(r) for r in result.trace["residual"]):
        raise NotApplicable("the solver reports no finite residual")
    if result.status is not Status.CONVERGED:
        case.fail(f"every residual meets the tolerance 1e300 and yet it ends with {result.status}")


def check_residual_is_a_number(case: Case) -> None:
    """At least one residual of a run is not nan, unless the solver says that it has none.

    One that is `one_shot`, or whose `residual_meaning` is empty or begins with "none" or "not computed",
    need have none; one whose `residual_meaning` speaks of nan need not have one on every problem.
    """
    said = case.solver.residual_meaning.strip()
    if not len(case.glance().trace):
        raise NotApplicable("it ended without an iterate")
    if any(not math.isnan(r) for r in case.glance().trace["residual"]):
        return
    if case.solver.one_shot:
        raise NotApplicable("it is a black box (one_shot)")
    if not said or _HAS_NONE.match(said):
        raise NotApplicable(f"it says that it has none: {said}" if said else "it says of none what it is")
    if any(not math.isnan(r) for r in case.solve().trace["residual"]):
        return
    if _MAY_BE_NAN.search(said):
        raise NotApplicable(f"it says that it may have none: {said}")
    case.fail(
        f"its residual, {said!r}, was never a number, so that no tolerance ends a run; yield Iterate(x, "
        'residual=...), or say residual_meaning = "not computed"'
    )


def check_input_is_not_changed(case: Case) -> None:
    """The content of the problem, of the solver and of a start is the same after a run."""
    before, own = fingerprint(case.problem), fingerprint(case.solver)
    result = case.glance()
    if fingerprint(case.problem) != before:
        case.fail(_CHANGES_PROBLEM)
    if fingerprint(case.solver) != own:
        case.fail("it changes its own parameters while it runs")
    if case.solver.accepts_start and result.solution is not None:
        start = pickle.loads(pickle.dumps(result.solution))
        try:
            case.glance(start=start)
        except Unsuited:
            return
        if not same(start, result.solution):
            case.fail("it changes the start it is given; copy run.start before writing to it")


def check_problem_and_solver_survive_pickling(case: Case) -> None:
    """A pickled problem and solver are equal to the originals and give the same answer."""
    try:
        solver, problem = pickle.loads(pickle.dumps((case.solver, case.problem)))
    except Exception as error:  # pickle raises whatever a class raises
        case.fail(f"the solver or the problem cannot be pickled ({type(error).__name__}: {error})")
    if solver != case.solver or problem != case.problem:
        case.fail("a pickled copy is not equal to the original")
    differs_in = difference(case.glance(), case.glance(solver=solver, problem=problem))
    if differs_in:
        case.fail(f"a pickled copy of solver and problem gives a run that differs in {differs_in}")


def check_start_is_accepted_as_declared(case: Case) -> None:
    """`accepts_start` is true: a start is refused, or it is used."""
    if not case.solver.accepts_start:
        raise NotApplicable("it takes no start (accepts_start = False)")
    done = case.solve()
    if done.solution is None:
        raise NotApplicable(f"there was no answer to start from ({done.status})")
    one = Budget(iterations=1, tolerance=0.0)
    try:
        warm = case.solve(budget=one, start=done.solution)
    except Unsuited as error:  # the core's answer for a start that cannot be carried inward
        raise NotApplicable(f"its answer cannot be given as a start: {error}") from None
    except Exception as error:  # whatever it raises, it is not what was declared
        case.fail(f"it says that it accepts a start and raises {described_error(error, case.solver)}")
    cold = case.solve(budget=one)
    room = case.tolerance * max(1.0, abs(done.objective))
    if cold.objective > done.objective + room and warm.objective == cold.objective:
        # From any start one step may lead to the optimum, and the same noise away from it.
        draws = case.solve(budget=one, seed=2).objective != cold.objective
        if draws and any(_uses_start(case, problem) for problem in case.others):
            return
        case.fail(
            "it says that it accepts a start and ignores it: the first iterate from its own answer "
            f"has the objective {warm.objective:.8g} of the first iterate without a start"
        )


def _uses_start(case: Case, problem: AnyProblem) -> bool:
    """Whether a first iterate depends on the start."""
    one = Budget(iterations=1, tolerance=0.0)
    try:
        done = case.solve(problem=problem)
        warm = case.solve(problem=problem, budget=one, start=done.solution)
    except OptiframeError:
        return False
    return warm.objective != case.solve(problem=problem, budget=one).objective


Check: TypeAlias = Callable[[Case], None]

CHECKS: tuple[Check, ...] = (
    check_parameters_survive_a_toml_file,
    check_unknown_parameters_are_refused,
    check_same_seed_gives_same_trace,
    check_nothing_leaks_between_runs,
    check_iteration_budget_is_honoured,
    check_time_budget_is_honoured,
    check_tolerance_is_honoured,
    check_residual_is_a_number,
    check_input_is_not_changed,
    check_problem_and_solver_survive_pickling,
    check_answer_is_feasible,
    check_answer_is_finite,
    check_reaches_the_known_optimum,
    check_is_better_than_doing_nothing,
    check_is_better_than_chance,
    check_unsuited_answers_rather_than_raises,
    check_start_is_accepted_as_declared,
)


@dataclass(frozen=True)
class Outcome:
    """One check of the contract: its name in words, and why it failed or could not be made."""

    name: str
    failure: str | None
    not_applicable: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the check was made and holds."""
        return self.failure is None and self.not_applicable is None


def run_checks(case: Case, checks: Iterable[Check] = CHECKS) -> Iterator[Outcome]:
    """Run the checks one by one; an error of the solver is a failure like any other.

    Each check gets a copy of the problem, so that a solver that spoils it fails once.
    """
    try:
        content = pickle.dumps(case.problem)
    except Exception:  # the check of pickling says so; the others take the original
        content = None
    for check in checks:
        mine = case if content is None else dataclasses.replace(case, problem=pickle.loads(content))
        yield _outcome(check, mine)


def words(name: str) -> str:
    """The name of a check as a sentence would have it."""
    return name.removeprefix("check_").replace("_", " ")


def _outcome(check: Check, case: Case) -> Outcome:
    failure: str | None = None
    not_applicable: str | None = None
    try:
        check(case)
    except NotApplicable as reason:
        not_applicable = str(reason)
    except AssertionError as error:
        own = own_place(error, case.solver)  # an assertion of the solver itself is an error like any other
        failure = f"{case.title}: raised {described_error(error, case.solver)}" if own else str(error)
    except Exception as error:  # someone else's solver
        failure = f"{case.title}: raised {described_error(error, case.solver)}"
    return Outcome(words(check.__name__), failure, not_applicable)
