"""Gradients that are wrong: no sparse solver or estimator takes the point they leave it at for an answer."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from optiframe_tvcs import SparseClassifier, SparseRegressor, ThreeView
from optiframe_tvcs.learning.iht import IterativeHardThresholding
from optiframe_tvcs.learning.stochastic import StochasticIHT

import optiframe
from optiframe import Minimize, Solver, from_function
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.problems.sets.vector_sets import Cardinality, NonNegative

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


class _Blind(FiniteSum):
    """Squared distances to ones, whose gradient is nan from some distance to the start on."""

    name = "test.blind"
    seen: float = -1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return (6,)

    def __len__(self) -> int:
        return 3

    def take(self, indices: Any) -> _Blind:
        return self

    def value(self, x: Any) -> float:
        return float(np.sum((x - 1) ** 2))

    def gradient(self, x: Any) -> Any:
        return 2 * (x - 1) if np.abs(x).max() <= self.seen else np.full(6, np.nan)


@pytest.mark.parametrize(
    "solver",
    ["tvcs.gradmp", "tvcs.htp", "tvcs.iht", "tvcs.splicing", "tvcs.stochastic-iht", "tvcs.stochastic-gradmp"],
)
@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("seen", [-1.0, 0.5])
def test_a_gradient_of_nan_ends_a_sparse_run_as_diverged(solver: str, views: bool, seen: float) -> None:
    over = ThreeView.of_matrix((2, 3), 2, 1, 1) if views else Cardinality(size=2)
    result = optiframe.solve(Minimize(_Blind(seen=seen), over=over), solver, progress=False)
    assert result.status == "diverged"
    assert "the gradient at the point reached is not finite: entry 0 is nan" in result.message


def test_a_gradient_of_nan_is_reported_before_a_sparse_run() -> None:
    wrong = from_function(lambda x: float(np.sum((x - 1) ** 2)), 5, gradient=lambda x: np.full(5, np.nan))
    result = optiframe.solve(Minimize(wrong, over=Cardinality(size=2)), "tvcs.gradmp", progress=False)
    assert "objective.gradient-differs" in {finding.identifier for finding in result.findings}


class _Roots(FiniteSum):
    """Squared distances plus roots, whose slopes are infinite where an entry is 0."""

    name = "test.roots"

    @property
    def shape(self) -> tuple[int, ...]:
        return (3,)

    def __len__(self) -> int:
        return 2

    def take(self, indices: Any) -> _Roots:
        return self

    def value(self, x: Any) -> float:
        return float(np.sum((x - [2.0, -1.0, 0.5]) ** 2) / 2 + 0.5 * np.sqrt(x).sum())

    def gradient(self, x: Any) -> Any:
        with np.errstate(divide="ignore"):
            return x - [2.0, -1.0, 0.5] + 0.25 / np.sqrt(x)


@pytest.mark.parametrize("start", [np.ones(3), np.array([1.0, 0.0, 0.0])])
@pytest.mark.parametrize(
    "solver",
    [
        IterativeHardThresholding(),
        IterativeHardThresholding(step=0.5),
        StochasticIHT(block=1),
        StochasticIHT(block=1, step=0.5),
    ],
)
def test_a_gradient_that_is_infinite_where_the_set_holds_the_point_does_not_end_a_run(
    solver: Solver, start: Any
) -> None:
    problem = Minimize(_Roots(), over=NonNegative())
    result = optiframe.solve(problem, solver, start=start, progress=False)
    assert result.status == "converged"
    assert result.solution == pytest.approx([1.8139, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize(
    "solver",
    ["tvcs.gradmp", "tvcs.htp", "tvcs.iht", "tvcs.stochastic-iht", "tvcs.stochastic-gradmp"],
)
@pytest.mark.parametrize("views", [False, True])
def test_an_infinite_gradient_that_leads_nowhere_ends_a_sparse_run_as_diverged(
    solver: str, views: bool
) -> None:
    class Steep(_Blind):
        name = "test.steep"

        def gradient(self, x: Any) -> Any:
            return np.where(np.arange(6) == 4, np.inf, 2 * (x - 1))

    over = ThreeView.of_matrix((2, 3), 2, 1, 1) if views else Cardinality(size=2)
    result = optiframe.solve(Minimize(Steep(), over=over), solver, progress=False)
    assert result.status == "diverged"
    assert "the gradient at the point reached is not finite: entry 4 is inf" in result.message


class _Squares(LinearModel):
    """Squares as an own loss, with mistakes."""

    name = "test.squares"
    most_bend = 1.0
    slope: ClassVar[float] = 1.0
    bend: ClassVar[float] = 1.0

    def losses(self, z: Any) -> Any:
        return (z - self.target) ** 2 / 2

    def slopes(self, z: Any) -> Any:
        return self.slope * (z - self.target)

    def bends(self, z: Any) -> Any:
        return np.full(len(z), self.slope * self.bend)


@pytest.mark.parametrize("solver", ["tvcs.splicing", "tvcs.gradmp"])
def test_wrong_derivatives_of_an_own_loss_are_findings_of_a_fit(solver: str) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((60, 8))
    target = matrix[:, :2] @ [1.0, -2.0] + 0.1 * rng.standard_normal(60)
    for mistake, expected in (
        ({}, []),
        ({"slope": -1.0}, ["objective.gradient-differs"]),
        ({"slope": 2.0}, ["objective.gradient-differs"]),
        ({"bend": -1.0}, ["objective.bends-differ"]),
    ):
        loss = type("Mine", (_Squares,), {"__module__": __name__, **mistake})
        for weights in (None, rng.integers(1, 4, 60)):
            model = SparseRegressor(2, loss=loss, solver=solver).fit(matrix, target, sample_weight=weights)
            assert [finding.identifier for finding in model.findings_] == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e5])
def test_right_derivatives_pass_at_features_of_any_size(scale: float, weighted: bool) -> None:
    class LogCosh(LinearModel):
        def losses(self, z: Any) -> Any:
            return np.logaddexp(z - self.target, self.target - z) - np.log(2)

        def slopes(self, z: Any) -> Any:
            return np.tanh(z - self.target)

        def bends(self, z: Any) -> Any:
            return 1 - np.tanh(z - self.target) ** 2

    for seed in range(2):
        rng = np.random.default_rng(seed)
        matrix = scale * rng.standard_normal((200, 10))
        weights = rng.integers(1, 4, 200) if weighted else None
        labels = matrix[:, 0] / scale + rng.standard_normal(200) > 0
        target = matrix[:, 0] + rng.standard_normal(200)
        for model, goal in (
            (SparseClassifier(2, standardize=False), labels),
            (SparseRegressor(2, standardize=False, loss=LogCosh), target),
        ):
            findings = model.fit(matrix, goal, sample_weight=weights).findings_
            assert not any("differ" in (finding.identifier or "") for finding in findings)
