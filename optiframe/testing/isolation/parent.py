"""The contract in a process of its own: a solver that hangs or crashes fails, and nothing else does.

The checks run in a child process that says when each begins and ends. A check that takes
too long or too much memory, or with which the process dies, has failed; the others go on in a new
child. As in a comparison, linear algebra keeps to one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from optiframe.comparison.cells import Limits
from optiframe.comparison.processes.watched import WatchedChild
from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.registry.user_modules import absolute
from optiframe.testing.cases import SHORT
from optiframe.testing.solvers.checks import Check, Outcome, words

LOADS = "the solver and its problems can be loaded"
PACE = "the solver is fast enough for the checks"

MEMORY = 4 * 10**9
"""Bytes a solver may hold by default: many times what small problems need, and what most machines have."""
_RUNS = 2  # a check runs a solver so often on each problem, at least
_BUSY = 5.0  # seconds that an iteration may take on a busy machine, however quick it is on a quiet one
_QUICK = 0.2  # seconds: where iterations take less, a check that ran out of time hangs for another reason
_START = 60.0  # seconds at least for imports and reading data, on a cold disk


def check_isolated(
    solver: str,
    *,
    parameters: Iterable[str] = (),
    problems: Iterable[str] = (),
    datasets: Iterable[str] = (),
    modules: Iterable[str] = (),
    checks: Iterable[Check] | None = None,
    only: Iterable[str] = (),
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
    only
        Only the checks whose names have one of these words; none: all of them.
    shape
        Shape of the points that a set or regularizer is tried on.
    seconds
        How long one check may take, on all problems together. A solver with iterations too long for that
        ends the checks early, with what to set.
    tolerance
        How near to a known optimum and to the constraints an answer must be.
    memory
        Bytes that it and all it starts may hold; None: as much as there is.
    tell
        Called with the solver's name and the titles of the problems, once they are known.

    Raises
    ------
    InvalidInput
        For an unknown solver or data set, wrong parameters, a file that cannot be read, when
        no problem suits, or no check has the words.
    """
    if not isinstance(solver, str):
        raise InvalidInput(
            "the checks run in another process, which needs a name or module:Class, and `parameters`; got "
            f"{solver!r:.60}. To check an object in this process: run_checks(Case(solver, problem))"
        )
    waiting = None if checks is None else [check.__name__ for check in checks]
    task = {
        "solver": solver,
        "parameters": list(parameters),
        "problems": list(problems),
        "datasets": list(datasets),
        "modules": absolute(modules),
        "tolerance": tolerance,
        "memory": memory,
        "only": list(only),
        "shape": None if shape is None else list(shape),
    }
    pace: Mapping[str, Any] | None = None
    titles: list[str] = []
    while waiting is None or waiting:
        for event in _events({**task, "checks": waiting, "paced": pace is not None}, seconds):
            if event["event"] == "ready":
                waiting, titles = list(event["checks"]), event["problems"]
                if tell is not None:
                    tell(event["solver"], titles)
                    tell = None
            elif event["event"] == "wrong":
                raise InvalidInput(event["text"])
            elif event["event"] == "unloadable":
                yield Outcome(LOADS, event["text"])
                return
            elif event["event"] == "pace":
                pace = event
            elif event["event"] == "slow":
                yield Outcome(PACE, _too_slow(event, titles, seconds))
                return
            elif event["event"] == "end":
                waiting = [name for name in waiting or () if name != event["check"]]
                yield Outcome(words(event["check"]), event["failure"], event.get("not_applicable"))
                slow = pace is not None and pace["seconds"] > _QUICK and _need(pace, titles) > seconds
                if waiting and pace is not None and slow and event.get("late"):
                    yield Outcome(PACE, _too_slow(pace, titles, seconds))
                    return


def _need(pace: Mapping[str, Any], titles: list[str]) -> float:
    """Seconds that a check needs at least where the solver keeps this pace."""
    return float(_RUNS * pace["steps"] * pace["seconds"] * len(titles))


def _too_slow(pace: Mapping[str, Any], titles: list[str], seconds: float) -> str:
    """Why the checks end early, and what to set."""
    several = f"each of {len(titles)} problems" if len(titles) > 1 else "the problem"
    most = _RUNS * pace["steps"]
    first = titles[0]
    if not pace["seconds"]:
        return (
            f"one iteration on {first} takes more than {seconds:g} s, or never ends; raise --seconds, or "
            f"give a smaller problem by --problem or --dataset. It was {pace['text']}"
        )
    need = _need(pace, titles)
    unit = 10 ** math.floor(math.log10(need) - 1)
    enough = max(1, math.ceil(need / unit) * unit)
    return (
        f"one iteration on {first} takes {number(pace['seconds'])} s. A check makes up to {most} of them on "
        f"{several}, and has {seconds:g} s: set --seconds {enough:g}, or give a "
        "smaller problem by --problem or --dataset"
    )


def _events(task: Mapping[str, Any], seconds: float) -> Iterator[Mapping[str, Any]]:
    """What one child says; a hang or a death counts as the end of the check it happened in.

    It is "slow" to run out of time before the checks: in the first iteration, or in a second one.
    """
    waiting: list[str] = []
    ready, trial = False, ""
    allowed = max(_START, seconds)
    steps, took, began = 1, 0.0, 0.0
    child = WatchedChild("optiframe.testing.isolation.child", task, Limits(memory=task["memory"]))
    try:
        while waiting or not ready:
            began = time.monotonic()
            event = child.next(allowed)
            if event is None:
                late = time.monotonic() - began >= allowed
                reason = child.why_gone(allowed)
                if late and trial:
                    yield {"event": "slow", "text": reason, "seconds": took, "steps": steps}
                elif ready:
                    yield {"event": "end", "check": waiting[0], "failure": reason, "late": late}
                else:
                    yield {"event": "unloadable", "text": reason}
                return
            yield event
            trial, allowed = "", seconds
            if event["event"] == "ready":
                ready, waiting = True, list(event["checks"])
            elif event["event"] == "trial":
                trial, steps = "first", event["steps"]
            elif event["event"] == "begun":
                trial, took = "second", time.monotonic() - began
                allowed = max(_BUSY, seconds / SHORT)
            elif event["event"] == "end":
                waiting.remove(event["check"])
            elif event["event"] != "pace":
                return
    finally:
        child.kill()
