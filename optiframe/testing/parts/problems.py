"""The contracts of problems and data sets, as plain functions: one for each thing they must keep."""

from __future__ import annotations

import copy
import math
import pickle
from functools import lru_cache
from typing import Any

import numpy as np

from optiframe.errors import BrokenPlugin, InvalidInput, OptiframeError
from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.registry.registry import registry
from optiframe.solving import construct
from optiframe.solving.budget import Budget
from optiframe.solving.evaluation import metrics_of
from optiframe.solving.recommend import recommend
from optiframe.solving.runner import Runner
from optiframe.testing.cases import NotApplicable, same
from optiframe.testing.parts.subject import Subject

_ANSWERS = Budget(iterations=200, time=5.0)  # enough for an answer to look at; it need not be best


def _answer(subject: Subject) -> Any:
    """An answer to the problem by the solver it recommends, computed once."""
    return copy.deepcopy(_found(subject.part))


@lru_cache(maxsize=4)
def _found(problem: Problem[Any]) -> Any:
    try:
        solver = recommend(problem).solver
    except InvalidInput as error:
        raise NotApplicable(f"no answer to look at: {error}") from None
    # Without a report: the metrics, which are to be checked, may change the answer.
    found = Runner(problem, solver, seed=0, budget=_ANSWERS, report=False).result()
    if found.solution is None:
        raise NotApplicable(f"no answer to look at: {solver.name} ended {found.status}")
    return found.solution


def check_an_answer_has_one_objective_and_one_violation(subject: Subject) -> None:
    """Objective and violation of an answer are numbers, the same each time; the answer stays as it was."""
    problem, answer = subject.part, _answer(subject)
    before = pickle.dumps(answer)
    objective, violation = problem.objective(answer), problem.violation(answer)
    for name, value in (("objective", objective), ("violation", violation)):
        if np.ndim(value) or not isinstance(value, float | int | np.number):
            subject.fail(f"the {name} of an answer is {value!r:.60}; it must be one real number")
    if not violation >= 0:
        subject.fail(f"the violation of an answer is {violation}; it is a distance, at least 0")
    again = problem.objective(answer)
    if again != objective and not (math.isnan(again) and math.isnan(objective)):
        subject.fail(f"the objective of one answer is {objective!r} and then {again!r}")
    if pickle.dumps(answer) != before and not same(answer, pickle.loads(before)):
        subject.fail("judging an answer changes it; work on a copy")


def check_metrics_are_numbers_with_names(subject: Subject) -> None:
    """Metrics are numbers by name; those that say which way is better, and baselines, are among them."""
    problem = subject.part
    answer = _answer(subject)
    before = pickle.dumps(answer)
    try:
        metrics = metrics_of(problem, answer)
    except BrokenPlugin as error:
        subject.fail(str(error))
    if pickle.dumps(answer) != before and not same(answer, pickle.loads(before)):
        subject.fail("metrics() changes the answer; work on a copy")
    for name, way in problem.better.items():
        if way not in ("lower", "higher"):
            subject.fail(f'`better` says {way!r} of {name!r}; say "lower" or "higher"')
    missing = sorted(set(problem.baseline_metrics()) - set(metrics))
    if metrics and missing:
        subject.fail(f"baseline_metrics has {missing[0]!r}, and the metrics of an answer do not")


def check_findings_and_tables_can_be_shown(subject: Subject) -> None:
    """The trust report is a tuple of findings; tables have columns of one length; words are text."""
    problem, answer = subject.part, _answer(subject)
    for finding in problem.diagnose(answer):
        if not isinstance(finding, Finding):
            subject.fail(f"diagnose gives {finding!r:.60}; give Findings")
    for name, columns in problem.to_tables(answer).items():
        lengths = {key: len(column) for key, column in columns.items()}
        if len(set(lengths.values())) > 1:
            subject.fail(f"the table {name!r} has columns of different lengths: {lengths}")
    if not all(isinstance(words, str) for words in problem.in_words(answer)):
        subject.fail("in_words gives what is not text")


def check_formulating_keeps_the_answer(subject: Subject) -> None:
    """What the formulated problem's answer is interpreted to can be encoded again, and means the same."""
    problem = subject.part
    formulation = problem.formulation
    if formulation is None:
        raise NotApplicable("it formulates to no other problem")
    inner = _answer(Subject(formulation.problem))
    outer = formulation.interpret(copy.deepcopy(inner))
    problem.check(outer)
    if formulation.encode is None:
        return
    again = formulation.encode(outer)
    if again is None:
        raise NotApplicable("an interpreted answer cannot be encoded")
    value, back = formulation.problem.objective(inner), formulation.problem.objective(again)
    if abs(back - value) > 1e-6 * max(1.0, abs(value)):
        subject.fail(
            f"an answer with the objective {value:.9g}, interpreted and encoded again, has {back:.9g}"
        )


def check_recommended_solvers_are_there(subject: Subject) -> None:
    """Recommended names are registered, and each has its reason."""
    told = subject.part.recommended()
    if not told:
        raise NotApplicable("it does not recommend a solver")
    for name, reason in told:
        if not isinstance(reason, str) or not reason.strip():
            subject.fail(f"it recommends {name!r} without a reason")
        try:
            registry().get("solver", name)
        except OptiframeError as error:
            subject.fail(f"it recommends {name!r}: {error}")


def check_inputs_make_the_problem_it_is_for(subject: Subject) -> None:
    """The data set's inputs build a problem of the kind it names."""
    try:
        made = construct.problem(dataset=subject.part)
    except InvalidInput as error:
        subject.fail(f"its inputs are refused by {subject.part.problem!r}: {error}")
    if made.name != subject.part.problem:
        subject.fail(f"it is for {subject.part.problem!r}, and makes {made.name!r}")


def check_inputs_are_the_same_each_time(subject: Subject) -> None:
    """Two readings, and one in a pickled copy, give the same problem: its seed is a field."""
    copied = pickle.loads(pickle.dumps(subject.part))
    one, two, three = (construct.problem(dataset=part) for part in (subject.part, subject.part, copied))
    if len({one.fingerprint(), two.fingerprint(), three.fingerprint()}) > 1:
        subject.fail("it gives other data each time; draw them from a generator with a seed that is a field")


PROBLEM_CHECKS = (
    check_an_answer_has_one_objective_and_one_violation,
    check_metrics_are_numbers_with_names,
    check_findings_and_tables_can_be_shown,
    check_formulating_keeps_the_answer,
    check_recommended_solvers_are_there,
)
DATASET_CHECKS = (check_inputs_make_the_problem_it_is_for, check_inputs_are_the_same_each_time)
