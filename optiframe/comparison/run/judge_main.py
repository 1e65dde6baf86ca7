"""A process that judges the answers of cells, and never runs a solver.

Not for people: `optiframe.comparison.run.judging.Judges` starts it. It builds the problem as a cell does,
from the same request without its solver, before the cell runs (then it is given no folder). Later it reads
as data the answer that the cell has left, and evaluates it. It keeps the problems it has built, so that many
cells on one problem cost one load.
"""

from __future__ import annotations

import os
import traceback
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from optiframe.comparison.cells import Request
from optiframe.comparison.plan.unchanged import DataChanged, unchanged
from optiframe.comparison.processes.memory import memory_of
from optiframe.comparison.processes.watched import private_channel
from optiframe.comparison.run import loading
from optiframe.comparison.run.answers import read_answer, read_place
from optiframe.comparison.run.wire import read_request
from optiframe.errors import InvalidInput, OptiframeError
from optiframe.problems.problem import Problem
from optiframe.registry.user_modules import import_user_module
from optiframe.solving.chain import Chain
from optiframe.solving.evaluation import metrics_of
from optiframe.solving.recorder import is_complex

_PLENTY = 10**9  # bytes that this process may hold before it forgets problems
_MANY = 16  # problems kept at most


def main() -> None:
    """Judge one answer for each request on standard input, until its end."""
    say = private_channel()
    requests = os.fdopen(os.dup(0), "rb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)  # nobody else reads what we are asked
    os.close(empty)
    known: OrderedDict[str, Problem[Any]] = OrderedDict()
    first = True
    while True:
        try:
            request, folder, _ = read_request(requests)
        except EOFError:
            os._exit(0)
        try:
            if first:  # all that one of us is asked has the same
                loading.settle(request)
            first = False
            problem = known.pop(request.key, None) or _built(request)
            known[request.key] = problem
            request = replace(request, objects={})
            verdict = {} if folder == Path() else _verdict(problem, folder)
        except BaseException as error:  # the problem's code and the answer's, which raise what they like
            whole = "" if isinstance(error, OptiframeError) else traceback.format_exc()
            text = str(error) if isinstance(error, OptiframeError) else f"{type(error).__name__}: {error}"
            verdict = {"refused": text, "changed": isinstance(error, DataChanged), "traceback": whole}
        most = min(_PLENTY, (request.limits.memory or 2 * _PLENTY) // 2)
        while known and (len(known) > _MANY or memory_of("self").get("VmRSS", 0) > most):
            known.popitem(last=False)
        say(**verdict, known=list(known))


def _built(request: Request) -> Problem[Any]:
    """The problem; the user's own modules, which may hold solvers, are imported only where it needs them."""
    try:
        return _from_data(request)
    except DataChanged:
        raise
    except Exception:
        if not request.modules:
            raise
    for module in request.modules:
        import_user_module(module)
    return _from_data(request)


def _from_data(request: Request) -> Problem[Any]:
    with unchanged(request.checksums, Path(request.folder), request.problem):
        problem: Problem[Any] = loading.problem_of(request)
    loading.limit_threads(request.limits)
    return problem


def _verdict(problem: Problem[Any], folder: Path) -> dict[str, Any]:
    """What the answer in a cell's folder is worth, and whether the problem was the same there."""
    place, pickled = read_place(folder)
    chain = Chain.of_depth(problem, place.depth, place.level)
    answer = read_answer(pickled, chain.problems)
    if is_complex(answer):
        raise InvalidInput("it holds complex numbers; an answer must be real")
    chain.last.check(answer)
    with np.errstate(invalid="ignore", over="ignore"):
        evaluated = chain.evaluate(answer)
    metrics = metrics_of(problem, evaluated.solution)
    return {
        "objective": evaluated.objective,
        "violation": evaluated.violation,
        "metrics": {name: float(value) for name, value in metrics.items()},
        "better": dict(type(problem).better),
        "optimum": evaluated.problem.known_optimum(),
        "solved": evaluated.problem.fingerprint(),
        "same": place.before == problem.fingerprint(),
        "untouched": place.after == place.before,
    }
