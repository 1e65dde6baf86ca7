"""A look at an objective's derivatives before a run: one direction, by differences of what they are of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FromFunction, Objective
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array

# Neither the solver's stream nor the data's: the key is the word "der".
_STREAM = (int.from_bytes(b"der", "big"),)
_AWAY = 1e-3  # from the start, relative to its size: a start of zeros often lies on a corner
_STEP = 1e-4  # likewise: of the wider difference
_OF_PREDICTIONS = 1e-6  # share of their size that counts: losses bend within units, wherever they lie
_MOST = 0.1  # relative error that is not said to be one
_MOST_OF_BENDS = 0.3  # likewise: they jump where a loss has pieces, and some rows may lie near a jump
_NUDGE = 1e-9  # relative to the start's size: moves rounding errors, and hardly a gradient
_OURS = "optiframe"  # it and its plugins hold their objectives to the derivatives by their own tests


def gradient_finding(problem: Problem[Any], start: Any, seed: int) -> Finding | None:
    """A warning where the gradient is off by more than a tenth along a random direction; else None.

    Four values near the start give two central differences, whose difference says how far they can be
    trusted. Where the gradient differs, a second one a hair's breadth away says whether it is more than
    rounding errors, as where the values are all 0. A gradient of nan does not fit finite values either. The
    `losses`, `slopes` and `bends` of a linear model are compared in the same way as functions of its
    predictions, so that neither the size of its features nor its l2 term matters.
    Derivatives by autograd and of the objectives of this project are not looked at.
    """
    if not isinstance(problem, Composite) or problem.point_type is not np.ndarray:
        return None
    function = problem.function
    if not function.offers(Objective.gradient):
        return None
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=_STREAM))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            x = np.array(problem.initial() if start is None else start, dtype=np.float64)
            return _of_gradient(function, x, rng) or _of_linear_model(function, x, rng)
        except Exception:  # the run itself says what the function raises, where it matters
            return None


def _of_gradient(function: Objective, x: Array, rng: np.random.Generator) -> Finding | None:
    """A warning where a gradient by hand is off along a direction."""
    if not _by_hand(function, "gradient"):
        return None
    size = _size(x)
    x = x + _AWAY * size * rng.standard_normal(x.shape)
    direction = rng.standard_normal(x.shape)
    direction /= np.linalg.norm(direction)
    along, found, uncertain = _compared(function.value, function.gradient, x, direction, size=size, rng=rng)
    if not _differs(along, found, uncertain, _MOST):
        return None
    return _gradient_differs(function, along, found)


def _of_linear_model(function: Objective, x: Array, rng: np.random.Generator) -> Finding | None:
    """A warning where slopes or bends by hand of a linear model are off along a direction of predictions."""
    if not isinstance(function, LinearModel) or not _by_hand(function, "losses", "slopes", "bends"):
        return None
    z, rows = function.matrix @ x, len(function)
    size = _size(_OF_PREDICTIONS * z)
    z = z + _AWAY * size * rng.standard_normal(rows)
    direction = rng.standard_normal(rows)
    along, found, uncertain = _compared(
        lambda at: function.losses(at).mean(),
        lambda at: function.slopes(at) / rows,
        z,
        direction,
        size=size,
        rng=rng,
    )
    if _differs(along, found, uncertain, _MOST):
        return _gradient_differs(function, along, found)
    along, found, uncertain = _compared(
        lambda at: np.vdot(function.slopes(at), direction) / rows,
        lambda at: function.bends(at) * direction / rows,
        z,
        direction,
        size=size,
        rng=rng,
    )
    if not _differs(along, found, uncertain, _MOST_OF_BENDS):
        return None
    text = (
        f"The bends of {function.known_as!r} do not match its slopes: along a random "
        f"direction they give {_written(along)}, and differences of the slopes give {number(found)}. Check "
        "them by optiframe.testing.check_derivatives(objective)"
    )
    return Finding("warning", text, identifier="objective.bends-differ")


def _gradient_differs(function: Objective, along: float, found: float) -> Finding:
    text = (
        f"The gradient of {function.known_as!r} does not match its values: along a random "
        f"direction it gives {_written(along)}, and differences of the value give {number(found)}. Check it "
        "by optiframe.testing.check_derivatives(objective). This look at one direction cannot find every "
        "mistake: one wrong entry may pass it, and fails the check (`optiframe check` for one with a name)"
    )
    return Finding("warning", text, identifier="objective.gradient-differs")


def _written(along: float) -> str:
    return number(along) if math.isfinite(along) else f"{along:g}"


def _size(x: Array) -> float:
    return max(1.0, float(np.max(np.abs(x), initial=0.0)))


def _compared(
    value: Callable[[Array], Any],
    gradient: Callable[[Array], Any],
    x: Array,
    direction: Array,
    *,
    size: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """The derivative along the direction by the gradient and by differences, and how uncertain that is."""
    step = _STEP * size
    values = [float(value(x + share * step * direction)) for share in (1.0, -1.0, 0.5, -0.5)]
    wide, narrow = (values[0] - values[1]) / (2 * step), (values[2] - values[3]) / step
    rounding = float(np.finfo(np.float64).eps) * max(map(abs, values)) / step
    slope = np.array(gradient(x))
    along, found = float(np.vdot(slope, direction)), (4 * narrow - wide) / 3
    uncertain = abs(wide - narrow) + 10 * rounding
    if _differs(along, found, uncertain, _MOST):
        nudged = gradient(x + _NUDGE * size * rng.standard_normal(x.shape))
        uncertain += 10 * float(np.linalg.norm(nudged - slope) * np.linalg.norm(direction))
    return along, found, uncertain


def _differs(along: float, found: float, uncertain: float, most: float) -> bool:
    if not math.isfinite(along):
        return math.isfinite(found)  # else the point lies where the function has no values
    return abs(along - found) > most * max(abs(along), abs(found)) + uncertain


def _by_hand(function: Objective, *operations: str) -> bool:
    """Whether somebody else wrote one of the operations by hand."""
    if isinstance(function, FromFunction):
        return function.given_gradient is not None
    # A class of ours that wraps somebody's loss has the same operations, and theirs count.
    classes = [made for made in type(function).__mro__ if any(name in vars(made) for name in operations)]
    packages = [str(made.__module__).partition(".")[0] for made in classes]
    return any(package != _OURS and not package.startswith(f"{_OURS}_") for package in packages)
