"""Frank and Wolfe's method: the contract, the same answers as by projection, and what away steps are for."""

from __future__ import annotations

import numpy as np
import pytest

import optiframe as of
from optiframe import Minimize, Status, Unsuited
from optiframe.methods.frank_wolfe import FrankWolfe
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.testing import SolverContract

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(60, 30))
TARGET = MATRIX[:, :4].sum(axis=1) + 0.3 * RNG.normal(size=60)
SETS = [
    "simplex",
    {"name": "l1-ball", "radius": 2.0},
    {"name": "box", "lower": -0.2, "upper": 0.5},
    {"name": "linf-ball", "radius": 0.3},
    {"name": "l2-ball", "radius": 1.0},
]


class TestFrankWolfe(SolverContract):
    """On a simplex and in a box."""

    solver = "gradient.frank-wolfe"

    def instances(self):
        point = np.array([0.3, -1.5, 2.0])
        return [
            Minimize(SquaredDistance(to=point), over="simplex"),
            Minimize(SquaredDistance(to=point), over={"name": "box", "lower": -1.0, "upper": 1.0}),
        ]


@pytest.mark.slow
@pytest.mark.parametrize("over", SETS, ids=lambda each: each if isinstance(each, str) else each["name"])
@pytest.mark.parametrize("loss", [LeastSquares, Logistic], ids=lambda each: each.name)
def test_it_finds_what_projected_gradients_find(loss: type, over) -> None:
    target = np.sign(TARGET) if loss is Logistic else TARGET
    problem = Minimize(loss(matrix=MATRIX, target=target), over=over)
    exact = of.solve(problem, "gradient.projected", budget={"tolerance": 1e-10}, progress=False)
    result = of.solve(problem, "gradient.frank-wolfe", budget={"tolerance": 1e-7}, progress=False)
    assert result.status is Status.CONVERGED
    assert result.objective - exact.objective <= 1e-7
    assert result.violation <= 1e-9
    assert result.duality_gap == pytest.approx(result.trace["residual"][-1], abs=1e-12)


def test_away_steps_save_what_it_zigzags_without_them() -> None:
    problem = Minimize(LeastSquares(matrix=MATRIX, target=TARGET), over={"name": "l1-ball", "radius": 2.0})
    budget = {"tolerance": 1e-7, "iterations": 500}
    assert of.solve(problem, FrankWolfe(), budget=budget, progress=False).status is Status.CONVERGED
    with pytest.warns(of.NotConverged):
        without = of.solve(problem, FrankWolfe(away=False), budget=budget, progress=False)
    assert without.duality_gap > 1e-4


def test_a_set_without_farthest_points_is_refused() -> None:
    for over in ("non-negative", {"name": "box", "lower": 0.0}):
        with pytest.raises(Unsuited, match="has no farthest point along a direction"):
            of.solve(Minimize(SquaredDistance(to=[1.0, 2.0]), over=over), "gradient.frank-wolfe")


@pytest.mark.parametrize("known", [2.0, 0.9])  # the gradient is known at no point, and near vertices only
def test_a_gradient_of_nan_ends_diverged_and_not_at_a_gap_of_0(known: float) -> None:
    def gradient(x):
        return x - 0.25 if x.max() > known else np.full(4, np.nan)

    problem = Minimize(
        of.from_function(lambda x: float(np.sum((x - 0.25) ** 2)) / 2, 4, gradient), over="simplex"
    )
    with pytest.warns(of.NotConverged, match="gradient at the point reached is not finite: entry 0 is nan"):
        result = of.solve(problem, "gradient.frank-wolfe", progress=False)
    assert result.status == "diverged"
