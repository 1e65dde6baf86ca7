"""A look around an answer that a solver calls converged: does the objective fall on both sides of it?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array

# Neither the solver's stream nor the data's: the key is the word "min".
_STREAM = (int.from_bytes(b"min", "big"),)
_AWAY = 1e-3  # how far to look, relative to the answer's largest entry
_MOST = 6  # gradients with which a direction is looked for
_RANDOM = 3  # directions tried where there is no gradient
_ROUNDING = 1e-12  # relative to values above 1: a smaller difference may be rounding


def not_a_minimum(problem: Problem[Any], answer: Any, iterations: int, seed: int) -> Finding | None:
    """A warning where the objective falls on both sides of the answer, along a line within the bounds.

    A small gradient cannot feign this, and a convex function never does it. The line is the one of least
    curvature as found by a few gradients (Lanczos), two where the run was short; without gradients, a few
    random ones. Only sets of bounds are looked at.
    """
    if not isinstance(problem, Minimize) or problem.function.convex or not isinstance(answer, np.ndarray):
        return None
    free = _free(problem, answer)
    if free is None or not free.any():
        return None
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=_STREAM))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            lines = _lines(problem.function, answer, free, iterations, rng)
            fall = _fall(problem.function, answer, lines)
        except Exception:  # of a function beside the answer; the run has said what matters
            return None
    if fall is None:
        return None
    text = (
        "The answer is not a minimum: along a line the objective falls on both sides of it, by "
        f"{number(fall)} within {number(_away(answer))}. The gradient vanishes at maxima and saddle points, "
        "too: give another start"
    )
    return Finding("warning", text, identifier="objective.not-a-minimum")


def _away(x: Array) -> float:
    return _AWAY * max(1.0, float(np.max(np.abs(x), initial=0.0)))


def _free(problem: Minimize, x: Array) -> Any:
    """Which entries have room on both sides, for sets that are bounds; None for others."""
    told = problem.over.as_scipy(x.shape)
    if told is None or told.others:
        return None
    if told.bounds is None:
        return np.ones(x.shape, dtype=bool)
    lower, upper = (
        np.broadcast_to(side, x.size).reshape(x.shape) for side in (told.bounds.lb, told.bounds.ub)
    )
    away = _away(x)
    return (x - lower >= away) & (upper - x >= away)


def _lines(
    function: Objective, x: Array, free: Any, iterations: int, rng: np.random.Generator
) -> list[Array]:
    """Directions to look along, of length one."""
    if not function.offers(Objective.gradient):
        several = [free * rng.standard_normal(x.shape) for _ in range(_RANDOM)]
        return [each / np.linalg.norm(each) for each in several]
    step, begin = _away(x), np.asarray(function.gradient(x))

    def bend(v: Array) -> Array:
        change: Array = free * (np.asarray(function.gradient(x + step * v)) - begin) / step
        return change

    most = min(_MOST, max(2, iterations // 10), int(free.sum()))
    return [_least_curved(bend, free * rng.standard_normal(x.shape), most)]


def _least_curved(bend: Callable[[Array], Array], v: Array, most: int) -> Array:
    """The direction of least curvature among those that so many steps of Lanczos reach from `v`."""
    basis: list[Array] = []
    bent: list[Array] = []
    while len(basis) < most:
        size = float(np.linalg.norm(v))
        if not (math.isfinite(size) and size > 0):
            break
        basis.append(v / size)
        bent.append(bend(basis[-1]))
        v = bent[-1].copy()
        for each in 2 * basis:
            v -= float(np.vdot(each, v)) * each
    inner = np.array([[np.vdot(one, other) for other in bent] for one in basis])
    least = np.linalg.eigh((inner + inner.T) / 2)[1][:, 0]
    return np.asarray(sum(share * each for share, each in zip(least, basis, strict=True)))


def _fall(function: Objective, x: Array, lines: list[Array]) -> float | None:
    """By how much the objective falls along a line, where it does on both sides, and half as far, too."""
    here, away = float(function.value(x)), _away(x)
    most = here - _ROUNDING * max(1.0, abs(here))
    for line in lines:
        beside = [float(function.value(x + share * away * line)) for share in (1.0, -1.0, 0.5, -0.5)]
        if max(beside) < most:
            return here - min(beside)
    return None
