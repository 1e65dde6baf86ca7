"""Parameters that change nothing as the others are: a run says so, and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_comrade.solvers.comrade import Comrade
from optiframe_comrade.unused_parameters import warnings_of

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import Logistic

from .classification_twins import planted, problem

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")

# Solver, the parameter, what makes it unused, why, and what makes it count.
UNUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, dict[str, Any]]] = [
    ("newton.comrade", {"attack": "negative"}, {}, "nobody is hostile", {"byzantine": 0.1}),
    ("newton.comrade", {"error_feedback": True}, {}, "nothing is compressed", {"compressor": "qsgd"}),
    ("newton.comrade", {"hessian_terms": 50}, {}, "no worker holds more than 15 terms", {"workers": 2}),
    ("newton.polished", {"outlier_limit": 1.1}, {}, "nobody is left out", {"byzantine": 0.1}),
    (
        "newton.polished",
        {"outlier_limit": 1.1},
        {"screen": "filter", "byzantine": 0.1},
        'it is for screen = "outliers"',
        {"screen": "outliers", "byzantine": 0.1},
    ),
]


def run(on: Any, method: str, parameters: dict[str, Any]) -> optiframe.Result[Any, Any]:
    settled = {"workers": 8, **parameters} if method != "newton.exact" else parameters
    return optiframe.solve(on, method, budget=Budget(iterations=8, tolerance=0.0), **settled)


def unused(result: optiframe.Result[Any, Any]) -> list[str]:
    return [each.text for each in result.findings if "changes nothing" in each.text]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "parameter", "without", "why", "counting"), UNUSED)
def test_a_parameter_that_changes_nothing_is_warned_of_and_changes_nothing(
    method: str, parameter: dict[str, Any], without: dict[str, Any], why: str, counting: dict[str, Any]
) -> None:
    on, (name,) = problem(120, 2), parameter
    given = run(on, method, parameter | without)
    assert len(unused(given)) == 1
    assert f"`{name}` is set and changes nothing: " in unused(given)[0]
    assert why in unused(given)[0]
    plain = run(on, method, without)
    assert not unused(plain)
    np.testing.assert_array_equal(given.detail.points, plain.detail.points)
    counted = run(on, method, parameter | counting)
    assert not unused(counted)
    assert not np.array_equal(counted.detail.points[-1], run(on, method, counting).detail.points[-1])


@pytest.mark.slow
@pytest.mark.parametrize("parameter", [{"local": "cg"}, {"hessian_terms": 3}])
def test_gradient_descent_says_that_it_takes_no_newton_steps(parameter: dict[str, Any]) -> None:
    on, (name,) = problem(120, 2), parameter
    assert unused(run(on, "gradient.robust", parameter)) == [
        f"`{name}` is set and changes nothing: gradient.robust takes no Newton steps"
    ]
    assert not unused(run(on, "newton.comrade", parameter))
    assert not unused(run(on, "gradient.robust", {}))


def test_a_deadline_in_one_process_is_said_to_be_none() -> None:
    on = problem(120, 2)
    assert unused(run(on, "newton.comrade", {"deadline": 1e-9})) == [
        "`deadline` is set and changes nothing: backend.in-process waits for every worker"
    ]
    elsewhere = Comrade(deadline=1e-9, backend="flower")
    assert not list(warnings_of(elsewhere, elsewhere.unused_parameters(planted())))


def test_the_precision_of_a_hessian_that_is_not_swept_is_said_to_count_for_nothing() -> None:
    f = planted(120, 3)
    scattered = Logistic(matrix=sp.csr_array(f.matrix), target=f.target, l2=f.l2)
    (text,) = unused(run(Minimize(scattered), "newton.exact", {"hessian": "single"}))
    assert text.startswith(
        "`hessian` is set and changes nothing: it is for dense data of up to 1,000 columns"
    )
    assert not unused(run(Minimize(f), "newton.exact", {"hessian": "single"}))
    assert not unused(run(Minimize(scattered), "newton.exact", {}))


def test_a_parameter_given_as_it_is_by_default_is_not_warned_of() -> None:
    given = {"attack": "none", "error_feedback": False, "deadline": None, "local": "auto"}
    assert not unused(run(problem(120, 2), "gradient.robust", given))
