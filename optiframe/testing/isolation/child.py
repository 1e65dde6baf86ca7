"""The child process of `check_isolated`: loads a solver, holds it to the contract, says each step.

One line of JSON comes in, one line goes out for each thing that happens. The parent may kill
this process at any moment.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from optiframe.comparison.processes.memory import refuse_more_than
from optiframe.comparison.processes.watched import private_channel
from optiframe.errors import BrokenPlugin, InvalidInput, MissingPackage, OptiframeError, UnknownName
from optiframe.testing.failures import described_error

RUNLESS = ("check_parameters_survive_a_toml_file", "check_unknown_parameters_are_refused")
"""Checks of a solver that do not run it."""


class Wrong(Exception):
    """What was asked for is wrong, in words: the person's mistake and not the solver's."""


def main() -> None:
    """Do what the line on standard input says."""
    say = private_channel()
    task = json.load(sys.stdin)
    if task["memory"] is not None:
        refuse_more_than(task["memory"])
    try:
        cases, titles = prepare(task)
        checks = _asked(task, cases[0])
    except (Wrong, InvalidInput, UnknownName, MissingPackage) as error:
        say(event="wrong", text=str(error))
        return
    except OptiframeError as error:
        say(event="unloadable", text=str(error))
        return
    except (Exception, SystemExit) as error:  # the solver's own code, before any check
        say(event="unloadable", text=f"raised {described_error(error, None)}")
        return
    names = [check.__name__ for check in checks]
    say(event="ready", solver=name_of(cases[0]), problems=titles, checks=names)
    paced = task.get("paced", False) or hasattr(cases[0], "part")
    for check in checks:
        if not (paced or check.__name__ in RUNLESS):
            paced = True
            try_out(cases[0], say)
        failure, not_applicable = outcome_of(check, cases, titles)
        say(event="end", check=check.__name__, failure=failure, not_applicable=not_applicable)


def try_out(case: Any, say: Callable[..., None]) -> None:
    """Two runs of one iteration: imports and compilation make the first slow, the second tells the pace."""
    from optiframe.solving.budget import Budget
    from optiframe.testing.cases import SHORT

    one, taken = Budget(iterations=1, tolerance=0.0), 0.0
    steps = 1 if case.solver.one_shot else SHORT
    say(event="trial", steps=steps)
    try:
        mine = dataclasses.replace(case, problem=pickle.loads(pickle.dumps(case.problem)))
        mine.solve(budget=one, trace=False)
        say(event="begun")
        began = time.monotonic()
        mine.solve(budget=one, trace=False)
        taken = time.monotonic() - began
    except (Exception, SystemExit):  # the checks say what it raises
        pass
    say(event="pace", seconds=taken, steps=steps)


def prepare(task: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    """The solver on each problem, and what the problems are called."""
    from optiframe.files.solve_file import SolveFile
    from optiframe.registry.user_modules import import_user_module
    from optiframe.testing.cases import Case, is_ill_conditioned, known_optimum
    from optiframe.testing.parts.subject import Subject

    for module in task["modules"]:
        import_user_module(module)
    given = SolveFile.read(None, [f"solver.{item}" for item in task["parameters"]])
    parameters = dict(given.table.get("solver", {}))
    kind, cls = _class_of(task["solver"])
    if kind == "problem":
        return _subjects(task, cls)
    try:
        solver = cls.load(**parameters)
    except InvalidInput as error:
        raise Wrong(f"{error} (parameters are given by --set key=value)") from None
    if kind != "solver":
        if task["problems"] or task["datasets"]:
            raise Wrong(f"--problem and --dataset are for solvers and problems; {solver.name} is a {kind}")
        shape = task.get("shape")
        subject = Subject(solver, shape=None if shape is None else tuple(shape))
        return [subject], [subject.tried_on]
    found = list(_problems(task, solver))
    problems = [problem for _, problem, _ in found]
    cases = [
        Case(
            solver,
            problem,
            optimum=known_optimum(problem),
            tolerance=task["tolerance"],
            may_run_out=is_ill_conditioned(problem),
            others=tuple(other for other in problems if other is not problem),
            **({} if budget is None else {"budget": budget}),
        )
        for _, problem, budget in found
    ]
    return cases, [title for title, _, _ in found]


def _subjects(task: Mapping[str, Any], cls: type[Any]) -> tuple[list[Any], list[str]]:
    """Problems of a class, from files, from data sets, or from the generated data sets there are for it."""
    from optiframe.files.solve_file import SolveFile
    from optiframe.solving import construct
    from optiframe.testing.parts.subject import Subject

    found = [(path, SolveFile.read(path).problem) for path in task["problems"]]
    found += [(name, construct.problem(dataset=name)) for name in task["datasets"]]
    given = bool(found)
    mine = [(title, each) for title, each in (found or _generated(cls)) if type(each) is cls]
    if not mine:
        where = "those given are of other kinds" if given else "no generated data set makes one"
        raise Wrong(
            f"there is no instance of {cls.name!r} to check, since {where}: name one by --problem or "
            "--dataset"
        )
    return [Subject(each) for _, each in mine], [title for title, _ in mine]


def _class_of(name: str) -> tuple[str, type[Any]]:
    """The kind and class of a registered name, or of ``module:Class``."""
    from optiframe.registry import registry
    from optiframe.registry.contracts import KINDS, check_class, import_class, kind_of, normalise

    module, colon, _ = name.partition(":")
    if not colon:
        names = registry.registry()
        kinds = [kind for kind in KINDS for entry in names.entries(kind) if entry.name == normalise(name)]
        kind = "solver" if "solver" in kinds or not kinds else kinds[0]
        return kind, names.get(kind, name)
    try:
        cls = import_class(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there; it lacks something itself
        raise Wrong(
            f"there is no module {module!r}; install what has it, or bring its file with "
            "`optiframe --import FILE check ...`"
        ) from None
    except AttributeError as error:
        raise Wrong(f"{name}: {error}") from None
    try:
        kind = kind_of(cls)
    except BrokenPlugin as error:
        raise Wrong(f"{name}: {error}") from None
    if not cls.name:
        raise BrokenPlugin(
            'the class has no name; write name = "family.method" in it, without a type annotation'
        )
    check_class(kind, cls, cls.name)
    return kind, cls


def _problems(task: Mapping[str, Any], solver: Any) -> Iterator[tuple[str, Any, Any]]:
    """Title, problem and budget (None: the default) of what the solver is tried on."""
    from optiframe.files.solve_file import SolveFile
    from optiframe.solving import construct
    from optiframe.solving.chain import why_unsuited

    if not task["problems"] and not task["datasets"]:
        yield from _default_problems(solver)
        return
    for path in task["problems"]:
        document = SolveFile.read(path)
        problem, budget = document.problem, document.budget if "budget" in document.table else None
        if reason := why_unsuited(problem, solver):
            raise Wrong(f"{solver.name} cannot take the problem of {path}: {reason}")
        yield path, problem, budget
    for name in task["datasets"]:
        problem = construct.problem(dataset=name)
        if reason := why_unsuited(problem, solver):
            raise Wrong(f"{solver.name} cannot take data set {name!r}: {reason}")
        yield name, problem, None


def _default_problems(solver: Any) -> Iterator[tuple[str, Any, None]]:
    """The small problems that suit, else the generated data sets that do."""
    from optiframe.testing.cases import small_problems, special_problems

    ours = ([(_title(problem), problem) for problem in make()] for make in (small_problems, special_problems))
    for candidates in (*ours, _generated(solver.solves)):
        suited = [(title, problem, None) for title, problem in candidates if _may_take(solver, problem)]
        if suited:
            yield from suited
            return
    wanted = solver.solves.name or solver.solves.__name__
    raise Wrong(
        f"{solver.name} solves {wanted!r} problems, and there is no small one here that it takes; "
        "give one: --problem FILE.toml (a file with a [problem], as for `optiframe solve`) or --dataset NAME"
    )


def _title(problem: Any) -> str:
    inner = [getattr(problem, key, None) for key in ("function", "over", "onto")]
    return " ".join([problem.name, *(part.name for part in inner if part is not None)])


def _generated(wanted: type[Any]) -> Iterator[tuple[str, Any]]:
    """The problems of registered data sets that are generated, where their parameters have defaults.

    Those that cannot become a problem of the wanted class are not made: some have hundreds of megabytes.
    """
    from optiframe.registry import registry
    from optiframe.solving import construct

    names = registry.registry()
    for entry in names.entries("data set"):
        try:
            data = names.get("data set", entry.name)
            if data.alternatives() or data.requires:  # what a library holds would be no small check
                continue
            if _may_become(names.get("problem", data.problem), wanted):
                yield entry.name, construct.problem(dataset=entry.name)
        except Exception:  # someone else's data set; whether it works is not what is asked here
            continue


def _may_become(problem: type[Any], wanted: type[Any]) -> bool:
    """Whether problems of a class are of the wanted one or may be formulated as such."""
    from optiframe.problems.minimize import Minimize
    from optiframe.problems.problem import Problem
    from optiframe.registry import registry

    if issubclass(problem, wanted):
        return True
    if problem.formulated_as:
        return _may_become(registry.registry().get("problem", problem.formulated_as), wanted)
    return problem.formulate is not Problem.formulate and not issubclass(problem, Minimize)


def _may_take(solver: Any, problem: Any) -> bool:
    """Whether to try: it suits, or asking raises, which the checks shall meet and report."""
    from optiframe.solving.chain import why_unsuited

    try:
        return why_unsuited(problem, solver) is None
    except Exception:  # a solver whose `unsuited` raises is asked all the same: a check says that it does
        return isinstance(problem, solver.solves)


def _asked(task: Mapping[str, Any], case: Any) -> list[Callable[[Any], None]]:
    """The checks there are for what is looked at, all of them or those with these names, or words."""
    from optiframe.testing.parts.checks import checks_of
    from optiframe.testing.solvers.checks import CHECKS, words

    there: tuple[Callable[[Any], None], ...] = checks_of(case.part) if hasattr(case, "part") else CHECKS
    if task["checks"] is not None:
        return [check for check in there if check.__name__ in task["checks"]]
    wanted = [word.lower().replace("-", " ").replace("_", " ") for word in task["only"]]
    found = [check for check in there if any(word in words(check.__name__) for word in wanted)]
    if wanted and not found:
        known = "; ".join(words(check.__name__) for check in there)
        raise Wrong(f"--only {' '.join(task['only'])}: no check has these words; the checks are: {known}")
    return found if wanted else list(there)


def name_of(case: Any) -> str:
    """What the solver or part is called."""
    return str(case.part.name if hasattr(case, "part") else case.solver.name)


def outcome_of(
    check: Callable[[Any], None], cases: list[Any], titles: list[str]
) -> tuple[str | None, str | None]:
    """Why the check fails on the first problem it fails on, and why it can be made on none; or None."""
    from optiframe.testing.parts.checks import outcome_on
    from optiframe.testing.solvers.checks import run_checks

    reasons: list[str | None] = []
    for case, title in zip(cases, titles, strict=True):
        of_part = hasattr(case, "part")
        try:
            made = [outcome_on(check, case)] if of_part else run_checks(dataclasses.replace(case), [check])
            outcome = next(iter(made))
            failure = outcome.failure
        except SystemExit as error:  # nobody asked it to end the program
            failure = f"raised {described_error(error, case.part if of_part else case.solver)}"
        if failure is not None:
            return f"{title}: {failure.removeprefix(f'{case.title}: ')}", None
        reasons.append(outcome.not_applicable)
    return None, None if None in reasons else "; ".join(dict.fromkeys(map(str, reasons)))
