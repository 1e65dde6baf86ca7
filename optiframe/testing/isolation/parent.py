"""The contract in a process of its own: a solver that hangs or crashes fails, and nothing else does.

The checks run in a child process that says when each begins and ends. A check that takes
too long or too much memory, or with which the process dies, has failed; the others go on in a new
child. As in a comparison, linear algebra keeps to one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from optiframe.comparison.cells import Limits
from optiframe.comparison.processes.watched import WatchedChild
from optiframe.errors import InvalidInput
from optiframe.registry.user_modules import absolute
from optiframe.testing.parts.checks import every_check
from optiframe.testing.solvers.checks import Check, Outcome, words

LOADS = "the solver and its problems can be loaded"

MEMORY = 4 * 10**9
"""Bytes a solver may hold by default: many times what small problems need, and what most machines have."""
_START = 60.0  # seconds at least for imports and reading data, on a cold disk


def check_isolated(
    solver: str,
    *,
    parameters: Iterable[str] = (),
    problems: Iterable[str] = (),
    datasets: Iterable[str] = (),
    modules: Iterable[str] = (),
    checks: Iterable[Check] | None = None,
    shape: Sequence[int] | None = None,
    seconds: float = 60.0,
    tolerance: float = 1e-4,
    memory: int | None = MEMORY,
    tell: Callable[[str, list[str]], None] | None = None,
) -> Iterator[Outcome]:
    """Hold a solver, or any other part, to the contract in child processes; yields each check as it ends.

    Parameters
    ----------
    solver
        A registered name, or ``module:Class``.
    parameters
        Of the solver, as on the command line: ``step=0.1``.
    problems, datasets
        Files with a ``[problem]`` (a ``[budget]`` there counts) and names of data sets to try
        the solver on. Neither: the small problems of `small_problems` that suit, else the
        registered generators that do.
    modules
        Files or modules to import first, as `optiframe --import`.
    checks
        Which checks; by default all that there are for its kind.
    shape
        Shape of the points that a set or regularizer is tried on.
    seconds
        How long one check may take, on all problems together.
    tolerance
        How near to a known optimum and to the constraints an answer must be.
    memory
        Bytes that it and all it starts may hold; None: as much as there is.
    tell
        Called with the solver's name and the titles of the problems, once they are known.

    Raises
    ------
    InvalidInput
        For an unknown solver or data set, wrong parameters, a file that cannot be read, or
        when no problem suits.
    """
    every = {check.__name__: check for check in every_check()}
    waiting = None if checks is None else [check.__name__ for check in checks]
    task = {
        "solver": solver,
        "parameters": list(parameters),
        "problems": list(problems),
        "datasets": list(datasets),
        "modules": absolute(modules),
        "tolerance": tolerance,
        "memory": memory,
        "shape": None if shape is None else list(shape),
    }
    while waiting is None or waiting:
        for event in _events({**task, "checks": waiting}, seconds):
            if event["event"] == "ready":
                waiting = list(event["checks"])
                if tell is not None:
                    tell(event["solver"], event["problems"])
                    tell = None
            elif event["event"] == "wrong":
                raise InvalidInput(event["text"])
            elif event["event"] == "unloadable":
                yield Outcome(LOADS, event["text"])
                return
            elif event["event"] == "end":
                waiting = [name for name in waiting or () if name != event["check"]]
                done = words(every[event["check"]])
                yield Outcome(done, event["failure"], event.get("not_applicable"))


def _events(task: Mapping[str, Any], seconds: float) -> Iterator[Mapping[str, Any]]:
    """What one child says; a hang or a death counts as the end of the check it happened in."""
    waiting: list[str] = []
    ready = False
    child = WatchedChild("optiframe.testing.isolation.child", task, Limits(memory=task["memory"]))
    try:
        while waiting or not ready:
            event = child.next(seconds if ready else max(_START, seconds))
            if event is None:
                reason = child.why_gone(seconds if ready else max(_START, seconds))
                if ready:
                    yield {"event": "end", "check": waiting[0], "failure": reason}
                else:
                    yield {"event": "unloadable", "text": reason}
                return
            yield event
            if event["event"] == "ready":
                ready, waiting = True, list(event["checks"])
            elif event["event"] == "end":
                waiting.remove(event["check"])
            else:
                return
    finally:
        child.kill()
