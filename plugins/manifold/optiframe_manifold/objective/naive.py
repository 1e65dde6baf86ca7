"""Objectives over factors as plain functions of the whole matrix, for automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from optiframe.errors import require
from optiframe.problems.objective import FromFunction, Objective
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.objective.dense_objective import OfMatrix


def naive_value(objective: Objective) -> Callable[[Any], Any] | None:
    """The objective as a function of the m x n array, written with autograd.numpy; None where unknown.

    What a person would write down without further thought: the whole matrix at once. An
    objective of your own says so by a method ``naive(matrix)``.
    """
    own = getattr(objective, "naive", None)
    if callable(own):
        return own  # type: ignore[no-any-return]  # a method of the objective's
    if isinstance(objective, OfMatrix) and isinstance(objective.function, FromFunction):
        return objective.function.function
    if isinstance(objective, KnownEntries):
        return _known_entries(objective)
    if isinstance(objective, BtlObjective):
        return _likelihood(objective)
    return None


def _known_entries(objective: KnownEntries) -> Callable[[Any], Any]:
    def value(x: Any) -> Any:
        np = require("autograd.numpy", "autodiff")
        misfit = x[objective.row, objective.column] - objective.entry
        return np.sum(misfit**2) / 2 + objective.ridge / 2 * np.sum(x**2)

    return value


def _likelihood(objective: BtlObjective) -> Callable[[Any], Any]:
    users = numpy.repeat(numpy.arange(objective.users), numpy.diff(objective.pointer))
    weight = 1.0 if objective.weight is None else objective.weight

    def value(x: Any) -> Any:
        np = require("autograd.numpy", "autodiff")
        margin = x[users, objective.winner] - x[users, objective.loser]
        loss = np.sum(weight * np.logaddexp(0.0, -margin / objective.sigma))
        if objective.exponents:
            return loss + objective.strength * np.log(np.sum(np.exp(x**2)))
        return loss + objective.ridge / 2 * np.sum(x**2)

    return value
