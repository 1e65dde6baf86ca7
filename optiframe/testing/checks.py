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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput, OptiframeError, Unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Problem
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.solving.budget import Budget
from optiframe.solving.chain import Chain, why_unsuited
from optiframe.solving.result import Result, Status
from optiframe.testing.cases import AnyProblem, Case, NotApplicable, describe_odd, odd_problems
from optiframe.testing.failures import described_error, own_place
from optiframe.testing.toml import parameters, to_toml

_LIMITS = (1, 2, 7)  # iteration limits tried: the smallest, and two that no common block size divides
_FELL_SHORT = (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED)  # and says so
_HAS_NONE = re.compile(r"(none|not computed)\b", re.IGNORECASE)  # how a solver says that it has no residual
_MAY_BE_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
_PROBE_ITERATIONS = 3  # enough to see a run begin


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
    first, second = case.glance(), case.glance()
    difference = _difference(first, second)
    if difference:
        case.fail(
            f"two runs with the same seed differ in {difference}; "
            "draw random numbers from run.rng only, and keep no state between runs"
        )


def check_nothing_leaks_between_runs(case: Case) -> None:
    """A run gives the same before and after a run on something else."""
    first = case.glance()
    for other in case.others or (case.problem,):
        case.glance(problem=other, seed=2)
    difference = _difference(first, case.glance())
    if difference:
        case.fail(f"a run after another run differs from the first in {difference}; keep no state in between")


def check_iteration_budget_is_honoured(case: Case) -> None:
    """No run goes past its iteration limit."""
    for limit in _LIMITS:
        result = case.solve(budget=Budget(iterations=limit, tolerance=0.0))
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
        raise NotApplicable("no residual was a number")
    if result.status is not Status.CONVERGED:
        case.fail(f"every residual meets the tolerance 1e300 and yet it ends with {result.status}")


def check_residual_is_a_number(case: Case) -> None:
    """At least one residual of a run is not nan, unless the solver says that it has none.

    One that is `one_shot`, or whose `residual` is empty or begins with "none" or "not computed",
    need have none; one whose `residual` speaks of nan need not have one on every problem.
    """
    said = case.solver.residual_meaning.strip()
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
        'residual=...), or say residual = "not computed"'
    )


def check_input_is_not_changed(case: Case) -> None:
    """The content of the problem, of the solver and of a start is the same after a run."""
    before, own = fingerprint(case.problem), fingerprint(case.solver)
    result = case.glance()
    if fingerprint(case.problem) != before:
        case.fail("it changes the problem it is given; work on copies")
    if fingerprint(case.solver) != own:
        case.fail("it changes its own parameters while it runs")
    if case.solver.accepts_start and result.solution is not None:
        start = pickle.loads(pickle.dumps(result.solution))
        try:
            case.glance(start=start)
        except Unsuited:
            return
        if not _same(start, result.solution):
            case.fail("it changes the start it is given; copy run.start before writing to it")


def check_problem_and_solver_survive_pickling(case: Case) -> None:
    """A pickled problem and solver are equal to the originals and give the same answer."""
    try:
        solver, problem = pickle.loads(pickle.dumps((case.solver, case.problem)))
    except Exception as error:  # pickle raises whatever a class raises
        case.fail(f"the solver or the problem cannot be pickled ({type(error).__name__}: {error})")
    if solver != case.solver or problem != case.problem:
        case.fail("a pickled copy is not equal to the original")
    difference = _difference(case.glance(), case.glance(solver=solver, problem=problem))
    if difference:
        case.fail(f"a pickled copy of solver and problem gives a run that differs in {difference}")


def check_answer_is_feasible(case: Case) -> None:
    """The answer satisfies the constraints within the tolerance."""
    result = case.solve()
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    if not result.violation <= case.tolerance:
        case.fail(f"the answer is {result.violation:.2e} outside the constraints ({result.status})")
    if all(type(problem).violation is Problem.violation for problem in _problems(case)):
        raise NotApplicable("the problem has no constraints")


def check_answer_is_finite(case: Case) -> None:
    """No number of the answer is infinite or nan."""
    result = case.solve()
    arrays = list(_arrays(result.solution))
    if any(not np.isfinite(array).all() for array in arrays):
        case.fail(f"the answer has entries that are not finite ({result.status})")
    if math.isinf(result.objective):
        case.fail(f"the objective of the answer is {result.objective}")
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    if not arrays:
        raise NotApplicable("the answer holds no numbers that could be infinite or nan")


def check_reaches_the_known_optimum(case: Case) -> None:
    """Where the optimum is known, the answer has it, within the tolerance of the case.

    Where a slow method may run out of its budget (`Case.may_run_out`), an answer that is not said
    to be converged, or finished, may fall short.
    """
    if case.optimum is None:
        raise NotApplicable("the optimum of the problem is not known")
    result = case.solve()
    if result.objective - case.optimum <= case.tolerance * max(1.0, abs(case.optimum)):
        return
    if case.may_run_out and result.status in _FELL_SHORT:
        return
    hint = "; its residual must be that of the point it yields" if result.status is Status.CONVERGED else ""
    case.fail(
        f"the objective is {result.objective:.8g}, the optimum {case.optimum:.8g} "
        f"({result.status}: {result.message}){hint}"
    )


def check_is_better_than_doing_nothing(case: Case) -> None:
    """The answer is better than the point a solver begins with, unless that is optimal."""
    chain = Chain.reach(case.problem, case.solver)
    problem = chain.last
    if not isinstance(problem, Minimize):
        raise NotApplicable("the problem does not say where a solver begins; only a `minimize` does")
    start = problem.initial()
    idle = chain.evaluate(start)
    optimal = case.optimum is not None and idle.objective - case.optimum <= case.tolerance
    if optimal or _is_stationary(problem, start, case.tolerance):
        raise NotApplicable("the point a solver begins with is optimal already, or cannot be told from it")
    result = case.solve()
    if result.solved != idle.problem.fingerprint():
        raise NotApplicable("the answer and the point a solver begins with have different objectives")
    if not result.objective < idle.objective:
        case.fail(
            f"the objective {result.objective:.8g} is no better than that of the start, {idle.objective:.8g}"
        )


def check_is_better_than_chance(case: Case) -> None:
    """The answer scores better than one that never looked at the data, where the truth is known.

    What such an answer scores the problem says (`Problem.baseline_metrics`), and which direction is better. A
    run that ends at a limit, or stalled, has not claimed to be done: nothing is held against it.
    """
    bars = case.problem.baseline_metrics()
    if not bars:
        raise NotApplicable("the problem knows no truth, or does not say what chance would score")
    if case.no_better_than_chance:
        raise NotApplicable(case.no_better_than_chance)
    result = case.solve()
    if result.solution is None:
        raise NotApplicable(f"there was no answer ({result.status})")
    scores = {name: bar for name, bar in bars.items() if name in result.metrics}
    if not scores:
        raise NotApplicable(f"the answer has no {' and no '.join(bars)}")
    for name, bar in scores.items():
        reached = result.metrics[name]
        if not (reached < bar if case.problem.better[name] == "lower" else reached > bar):
            text = (
                f"the {name} is {reached:.4g}, no better than the {bar:.4g} of an answer "
                f"that never looked at the data ({result.status})"
            )
            if result.status in _FELL_SHORT:
                raise NotApplicable(f"the run says that it fell short; {text}")
            case.fail(text)


def check_unsuited_answers_rather_than_raises(case: Case) -> None:
    """For any kind of problem the solver says in words why not, or solves it."""
    for probe in odd_problems():
        if isinstance(probe, case.solver.solves):
            _ask(case, probe)
        try:
            reason = why_unsuited(probe, case.solver)
        except Exception as error:  # `unsuited` is the solver's code: any error is the finding
            case.fail(
                f"asked about {describe_odd(probe)}, `unsuited` raises {described_error(error, case.solver)}"
            )
        if reason is None:
            _try(case, probe)


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
        case.fail(
            "it says that it accepts a start and ignores it: the first iterate from its own answer "
            f"has the objective {warm.objective:.8g} of the first iterate without a start"
        )


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


def words(check: Check) -> str:
    """The name of a check as a sentence would have it."""
    return check.__name__.removeprefix("check_").replace("_", " ")


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
    return Outcome(words(check), failure, not_applicable)


def _ask(case: Case, probe: AnyProblem) -> None:
    try:
        answer = case.solver.unsuited(probe)
    except Exception as error:  # any error is the finding
        case.fail(
            f"asked about {describe_odd(probe)}, `unsuited` raises {described_error(error, case.solver)}"
        )
    if answer is not None and (not isinstance(answer, str) or not answer.strip()):
        case.fail(
            f"asked about {describe_odd(probe)}, `unsuited` gives {answer!r} instead of a reason or None"
        )


def _try(case: Case, probe: AnyProblem) -> None:
    """A solver that says nothing against a problem must be able to take a step on it."""
    try:
        case.solve(problem=probe, budget=Budget(iterations=_PROBE_ITERATIONS))
    except Exception as error:  # the finding again
        case.fail(
            f"`unsuited` has nothing against {describe_odd(probe)}, and then a run raises "
            f"{described_error(error, case.solver)}"
        )


def _problems(case: Case) -> tuple[AnyProblem, ...]:
    """The problem and those it is formulated as, down to the one the solver takes."""
    return tuple(Chain.reach(case.problem, case.solver).problems)


def _is_stationary(problem: Minimize, x: Any, tolerance: float) -> bool:
    """Whether no projected gradient step leads away from `x`; False when it cannot be told."""
    if problem.point_type is not np.ndarray:
        return False  # only arrays are sure to add up
    try:
        ahead = problem.over.project(x - problem.function.gradient(x))
    except OptiframeError:
        return False
    return bool(np.max(np.abs(np.asarray(x) - ahead), initial=0.0) <= tolerance)


_COMPARED = ("iteration", "objective", "violation", "residual")


def _difference(first: Result[Any, Any], second: Result[Any, Any]) -> str:
    """What differs between two runs, in words; empty when nothing does. Times are not compared."""
    if (first.status, first.iterations) != (second.status, second.iterations):
        return (
            f"how they end ({first.status} after {first.iterations} iterations, "
            f"{second.status} after {second.iterations})"
        )
    for name in _COMPARED:
        if not np.array_equal(first.trace[name], second.trace[name], equal_nan=True):
            return f"the trace of the {name}"
    return "" if _same(first.solution, second.solution) else "the solution"


def _same(first: Any, second: Any) -> bool:
    try:
        return fingerprint(first) == fingerprint(second)
    except InvalidInput:  # a solution of the author's own class: its bytes must do
        return pickle.dumps(first) == pickle.dumps(second)


def _arrays(value: Any) -> Iterator[Any]:
    """Every array of floats inside an answer."""
    if sp.issparse(value):
        yield value.data
    elif isinstance(value, float | np.floating):
        yield np.asarray(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield value
    elif isinstance(value, Record):
        for key in type(value).model_fields:
            yield from _arrays(getattr(value, key))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for part in dataclasses.fields(value):
            yield from _arrays(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _arrays(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _arrays(part)
