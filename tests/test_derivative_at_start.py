"""The look at a gradient before a run: what it finds, what it leaves alone, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import optiframe as of
from optiframe import Minimize, Objective, from_function
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.objectives.robust_losses import Huber, Poisson
from optiframe.solving.derivative_check import gradient_finding

KEY = "objective.gradient-differs"
TO = np.array([1.0, -2.0, 3.0])


def bowl(x: Any) -> float:
    return float(np.sum((x - TO) ** 2) / 2)


def found(problem: Minimize, **options: Any) -> list[str]:
    result = of.solve(problem, "scipy.lbfgs", budget={"iterations": 2}, progress=False, **options)
    return [each.text for each in result.findings if each.identifier == KEY]


pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


def test_a_gradient_of_twice_the_size_is_named_with_both_numbers_and_what_to_do() -> None:
    (text,) = found(Minimize(from_function(bowl, 3, gradient=lambda x: 2 * (x - TO))))
    assert "'bowl' does not match its values" in text
    assert "check_derivatives" in text
    assert "one wrong entry may pass it" in text


@pytest.mark.parametrize("seed", range(20))
def test_a_right_gradient_is_left_alone_at_any_seed(seed: int) -> None:
    assert not found(Minimize(from_function(bowl, 3, gradient=lambda x: x - TO)), seed=seed)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_neither_the_size_of_values_nor_a_constant_makes_a_right_gradient_wrong(scale: float) -> None:
    problem = Minimize(from_function(lambda x: 1e6 + scale * bowl(x), 3, gradient=lambda x: scale * (x - TO)))
    assert not found(problem)


def test_a_start_on_a_corner_is_left_alone() -> None:
    problem = Minimize(from_function(lambda x: float(np.abs(x).sum()), 3, gradient=np.sign))
    assert not found(problem, start=np.zeros(3))


@pytest.mark.parametrize("seed", range(20))
def test_rounding_errors_around_a_gradient_of_zero_are_left_alone(seed: int) -> None:
    a = np.random.default_rng(seed).standard_normal(6) * 1e6

    def without_a(x: Any) -> Any:  # the part of a multiple of a that a does not explain: 0 but for rounding
        return (x.sum() * a) - a * ((x.sum() * a) @ a) / (a @ a)

    f = from_function(
        lambda x: float(np.sum(without_a(x) ** 2)) / 2, 4, gradient=lambda x: np.full(4, without_a(x) @ a)
    )
    assert not found(Minimize(f), seed=seed)


def test_a_gradient_of_nan_beside_finite_values_is_named() -> None:
    (text,) = found(Minimize(from_function(bowl, 3, gradient=lambda x: np.full(3, np.nan))))
    assert "along a random direction it gives nan" in text


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_a_wrong_gradient_is_named_at_any_scale(scale: float) -> None:
    f = from_function(lambda x: scale * bowl(x), 3, gradient=lambda x: 2 * scale * (x - TO))
    assert found(Minimize(f))


class _Shifted(Objective):
    """The logarithm, which is not finite where the solver may look."""

    name = "test.log"
    at: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def value(self, x: Any) -> float:
        return float(np.sum(x - np.log(x - self.at)))

    def gradient(self, x: Any) -> Any:
        return 1 - 1 / (x - self.at)


def test_an_objective_of_ones_own_class_is_looked_at_and_one_outside_its_domain_is_not() -> None:
    wrong = type("Wrong", (_Shifted,), {"gradient": lambda self, x: 2 - 1 / x, "__module__": __name__})
    over = {"name": "box", "lower": 0.1}
    start = np.ones(2)
    assert not found(Minimize(_Shifted(), over=over, start=start))
    assert found(Minimize(wrong(), over=over, start=start))
    assert gradient_finding(Minimize(wrong(at=50.0), over=over, start=start), None, 0) is None


class _Corners(LinearModel):
    """Squares up to 1, then straight lines: bends jump."""

    name = "test.corners"
    most_bend = 1.0
    slope: float = 1.0
    bend: float = 1.0

    def losses(self, z: Any) -> Any:
        size = np.abs(z - self.target)
        return np.where(size <= 1, size**2 / 2, size - 0.5)

    def slopes(self, z: Any) -> Any:
        return self.slope * np.clip(z - self.target, -1, 1)

    def bends(self, z: Any) -> Any:
        return self.bend * self.slope * (np.abs(z - self.target) <= 1)


def _found_of_model(seed: int, **wrong: float) -> str | None:
    rng = np.random.default_rng(seed)
    target = np.append(np.sign(rng.standard_normal(30)), np.zeros(10))  # at a start of 0 most are at a corner
    model = _Corners(matrix=rng.standard_normal((40, 5)), target=target, **wrong)
    finding = gradient_finding(Minimize(model), None, seed)
    return finding and finding.identifier


@pytest.mark.parametrize("seed", range(20))
def test_wrong_slopes_and_bends_of_a_linear_model_are_named_and_right_ones_are_not(seed: int) -> None:
    assert _found_of_model(seed) is None
    assert _found_of_model(seed, slope=-1.0) == _found_of_model(seed, slope=2.0) == KEY
    assert _found_of_model(seed, bend=-1.0) == _found_of_model(seed, bend=2.0) == "objective.bends-differ"


def _of_scaled(loss: type[LinearModel], scale: float, seed: int, near: bool, **parts: Any) -> str | None:
    """What is found of a loss that hands on to its own, at a start of zeros or near the best point."""
    handed = {name: getattr(loss, name) for name in ("losses", "slopes", "bends")}
    for name, part in parts.items():
        handed[name] = lambda self, z, part=part, of=handed[name]: part * of(self, z)
    mine = type("Mine", (loss,), {"__module__": __name__, **handed})
    rng = np.random.default_rng(seed)
    matrix, x = scale * rng.standard_normal((200, 10)), rng.standard_normal(10)
    target = matrix @ x + 0.5 * rng.standard_normal(200)
    if loss in (Logistic, SquaredHinge):
        target = np.sign(target)
    if loss is Poisson:
        target = rng.integers(0, 5, 200)
    start = x + 1e-3 * rng.standard_normal(10) / scale if near else np.zeros(10)
    finding = gradient_finding(Minimize(mine(matrix=matrix, target=target, l2=1e-3)), start, seed)
    return finding and finding.identifier


@pytest.mark.parametrize("loss", [LeastSquares, Logistic, SquaredHinge, Huber, Poisson])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e5, 1e6])
def test_the_size_of_features_neither_makes_right_derivatives_wrong_nor_hides_mistakes(
    loss: type[LinearModel], scale: float
) -> None:
    for seed in range(5):
        assert _of_scaled(loss, scale, seed, near=True) is None
        assert _of_scaled(loss, scale, seed, near=False) is None
        for wrong in (-1.0, 2.0):
            assert _of_scaled(loss, scale, seed, near=False, slopes=wrong, bends=wrong) == KEY
            if loss is not Huber or scale <= 1:  # else most bends at 0 are 0
                assert _of_scaled(loss, scale, seed, near=False, bends=wrong) == "objective.bends-differ"


def test_the_look_does_not_stop_a_run_over_a_class_from_nowhere() -> None:
    nowhere = type("Nowhere", (_Shifted,), {"gradient": lambda self, x: 1 - 1 / x, "__module__": None})
    assert gradient_finding(Minimize(nowhere(), start=np.ones(2)), None, 0) is None


def test_it_asks_for_four_values_and_one_gradient_and_only_where_calls_are_not_limited() -> None:
    values: list[Any] = []
    gradients: list[Any] = []

    def value(x: Any) -> float:
        values.append(x)
        return bowl(x)

    def gradient(x: Any) -> Any:
        gradients.append(x)
        return x - TO

    problem = Minimize(from_function(value, 3, gradient=gradient))
    assert gradient_finding(problem, None, 0) is None
    assert (len(values), len(gradients)) == (4, 1)
    values.clear()
    of.solve(problem, "scipy.lbfgs", budget={"evaluations": 7}, progress=False, trace=False)
    assert len(values) + len(gradients) <= 7 + 1  # one more judges the answer


def test_core_objectives_and_autograd_are_not_looked_at() -> None:
    calls: list[Any] = []
    anp = pytest.importorskip("autograd.numpy")

    def counted(x: Any) -> Any:
        calls.append(x)
        return anp.sum(x**2)

    assert gradient_finding(Minimize(from_function(counted, 2)), None, 0) is None
    fit = Logistic(matrix=np.eye(2), target=[1, -1])
    assert gradient_finding(Minimize(fit), None, 0) is None
    assert len(calls) <= 2  # whether autograd can follow it
