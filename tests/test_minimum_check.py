"""What is said of an answer that converged at a maximum or a saddle point."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest

import optiframe as of
from optiframe import Budget, Minimize
from optiframe.problems.sets.vector_sets import Box
from optiframe.solving.minimum_check import not_a_minimum

IDENTIFIER = "objective.not-a-minimum"


class ValuesOnly(of.Objective):
    """A hill without a gradient."""

    name = "test.hill"

    @property
    def shape(self) -> tuple[int, ...]:
        return (3,)

    def value(self, x: Any) -> float:
        return -float(x @ x)


def found(f: Any, size: int, solver: str = "scipy.lbfgs", **given: Any) -> list[str]:
    """What is said where a run on the function ended as converged."""
    derivatives = given.pop("derivatives", "autograd")
    problem = Minimize(of.from_function(f, size, derivatives=derivatives), **given)
    result = of.solve(problem, solver, progress=False)
    assert result.status == "converged"
    return [finding.text for finding in result.findings if finding.identifier == IDENTIFIER]


def saddle(x: Any) -> Any:
    """Fifty entries, along one of which it falls."""
    return anp.sum(x[1:] ** 2) - x[0] ** 2


@pytest.mark.parametrize(
    ("f", "size", "given"),
    [
        (lambda x: -x @ x, 2, {}),
        (lambda x: -x @ x, 2, {"over": Box(lower=-1.0, upper=[1.0, 1.0])}),
        (lambda x: -anp.sum(x**2), 3, {"derivatives": "differences"}),
        (saddle, 50, {"start": np.r_[0.0, np.ones(49)]}),
        (lambda x: anp.sum((anp.outer(x, x) - 1.0) ** 2), 4, {}),
    ],
    ids=["maximum", "within-bounds", "by-differences", "saddle", "factors"],
)
def test_a_maximum_or_a_saddle_point_is_said_to_be_no_minimum(f: Any, size: int, given: Any) -> None:
    (text,) = found(f, size, **given)
    assert "falls on both sides of it, by " in text
    assert "give another start" in text


def test_without_a_gradient_random_lines_show_a_maximum() -> None:
    problem = Minimize(ValuesOnly())
    assert not_a_minimum(problem, np.ones(3), 1, 0) is None
    finding = not_a_minimum(problem, np.zeros(3), 1, 0)
    assert finding is not None
    assert finding.level == "warning"


@pytest.mark.parametrize(
    ("f", "size", "given"),
    [
        (lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, 2, {"start": [-1.2, 1.0]}),
        (lambda x: -x @ x + 4 * x[0], 2, {"over": Box(lower=-1.0, upper=1.0), "start": [0.5, 0.3]}),
        (lambda x: anp.sum((anp.outer(x, x) - 1.0) ** 2), 4, {"start": np.array([1.0, 2.0, 0.5, 1.0])}),
        (lambda x: 1e6 + (anp.sum(x) - 3.0) ** 2, 5, {}),
        (lambda x: -x @ x, 2, {"over": "simplex", "solver": "gradient.projected"}),
    ],
    ids=["valley", "corner", "factors", "flat", "more-than-bounds"],
)
def test_minima_and_other_sets_get_no_such_warning(f: Any, size: int, given: Any) -> None:
    assert found(f, size, **given) == []


def test_nobody_is_asked_where_evaluations_are_limited() -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return -x @ x

    problem = Minimize(of.from_function(counted, 2))
    result = of.solve(problem, "scipy.lbfgs", budget=Budget(evaluations=20), progress=False)
    assert result.status == "converged"
    assert IDENTIFIER not in {finding.identifier for finding in result.findings}


def test_a_function_that_raises_beside_the_answer_is_no_failure() -> None:
    def only_here(x: Any) -> Any:
        if anp.any(x != 0):
            raise ValueError("nowhere else")
        return anp.sum(x)

    problem = Minimize(of.from_function(only_here, 2, gradient=lambda x: 0 * x))
    assert of.solve(problem, "scipy.bfgs", progress=False).status == "converged"
