"""Functions of one's own: named in files, and their derivatives from JAX and from differences."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optiframe as of
from optiframe import InvalidInput, Minimize, Objective, from_function
from optiframe.registry import user_modules
from optiframe.testing import check_derivatives

MODULE = """
def bowl(x):
    return float(((x - 1.0) ** 2).sum())


def slope(x):
    return 2 * (x - 1.0)


number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine_for_tests.py"
    path.write_text(MODULE)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(user_modules, "_imported", set())
    yield path
    sys.modules.pop("mine_for_tests", None)


def named(**others: Any) -> Objective:
    return of.objective("function", function="mine_for_tests:bowl", shape=3, **others)


def test_a_function_of_an_imported_module_is_an_objective_by_name(module: Path) -> None:
    user_modules.import_user_module(str(module))
    objective = named(gradient="mine_for_tests:slope")
    check_derivatives(objective)
    result = of.solve(Minimize(objective), "scipy.lbfgs", progress=False)
    assert result.solution == pytest.approx(np.ones(3))
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert objective.model_dump(by_alias=True)["gradient"] == "mine_for_tests:slope"


def test_a_module_that_was_not_named_is_not_imported(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(module.parent))  # it could be
    with pytest.raises(InvalidInput, match=r"function: mine_for_tests:bowl: a file runs no code by itself"):
        named()
    assert "mine_for_tests" not in sys.modules


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("mine_for_tests:bwl", "no function 'bwl'; did you mean 'bowl'"),
        ("mine_for_tests:number", "no function 'number'"),
        ("mine_for_tests.bowl", "write a function as module:name"),
        ("mine_for_tests:bowl.__globals__", "write a function as module:name"),
        ("os:system", "the module 'os' was not imported"),
    ],
)
def test_what_is_no_function_of_an_imported_module_is_refused(
    module: Path, function: str, reason: str
) -> None:
    user_modules.import_user_module(str(module))
    with pytest.raises(InvalidInput, match=reason):
        of.objective("function", function=function, shape=3)


def wavy(np_: Any, x: Any) -> Any:
    return np_.sum(np_.exp(x / 2)) + np_.sin(x[0]) * x[1]


def by_jax(x: Any) -> Any:
    import jax.numpy as jnp

    return wavy(jnp, x)


def plain(x: Any) -> float:
    return float(wavy(np, x))


@pytest.mark.slow
def test_derivatives_in_64_bits_come_from_jax() -> None:
    objective = from_function(by_jax, 3, derivatives="jax")
    check_derivatives(objective, tolerance=1e-8)
    assert objective.offers(Objective.hessian_product)
    x = np.array([0.3, -0.2, 0.5])
    assert objective.value(x) == pytest.approx(plain(x), abs=1e-15)
    back = pickle.loads(pickle.dumps(objective))
    assert back == objective
    assert back.gradient(x) == pytest.approx(objective.gradient(x))


def by_torch(x: Any) -> Any:
    import torch

    return wavy(torch, x)


def test_derivatives_in_64_bits_come_from_pytorch() -> None:
    pytest.importorskip("torch", reason="an extra that takes a gigabyte")
    objective = from_function(by_torch, 3, derivatives="torch")
    check_derivatives(objective, tolerance=1e-8)
    assert objective.offers(Objective.hessian_product)
    x = np.array([0.3, -0.2, 0.5])
    assert objective.value(x) == pytest.approx(plain(x), abs=1e-15)
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert of.solve(Minimize(objective, over="simplex"), progress=False).status == "converged"
    check_both(objective)


def check_both(objective: Objective) -> None:
    """A value and a gradient in one call are those of two."""
    x = np.array([0.3, -0.2, 0.5])
    assert objective.offers(Objective.value_and_gradient)
    value, gradient = objective.value_and_gradient(x)
    assert value == pytest.approx(objective.value(x), rel=1e-14)
    assert gradient == pytest.approx(objective.gradient(x), rel=1e-13)


def test_a_value_and_a_gradient_come_in_one_call_where_derivatives_are_derived() -> None:
    check_both(from_function(lambda x: (x**2).sum() * x[0], 3))
    check_both(from_function(by_jax, 3, derivatives="jax"))
    for other in (
        from_function(plain, 3, derivatives="differences"),
        from_function(lambda x: float(x @ x) / 2, 3, gradient=lambda x: x),
        of.from_residuals(lambda x: 2.0 * x, 3),
    ):
        assert not other.offers(Objective.value_and_gradient)
        assert of.solve(Minimize(other), "scipy.lbfgs", progress=False).status == "converged"


@pytest.mark.parametrize("derivatives", ["autograd", "jax"])
def test_what_is_no_number_or_fails_says_so_where_both_are_asked_for(derivatives: str) -> None:
    def fails(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        of.solve(Minimize(from_function(fails, 3, derivatives=derivatives)), "scipy.lbfgs", progress=False)
    with pytest.raises(InvalidInput, match="must return one real number, got an array"):
        from_function(lambda x: 2.0 * x, 3, derivatives=derivatives).value_and_gradient(np.ones(3))
    constant = from_function(lambda x: 7.0, 3, derivatives=derivatives)
    assert constant.value_and_gradient(np.ones(3))[0] == 7.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(np.sum(np.asarray(x) ** 2)),
        np.sum,
        lambda x: (x.detach() ** 2).sum(),
        lambda x: float((x**2).sum()),
    ],
    ids=["numpy-copy", "numpy-sum", "cut-off", "number"],
)
def test_a_function_that_pytorch_cannot_follow_is_refused_with_its_name(function: Any) -> None:
    pytest.importorskip("torch", reason="an extra that takes a gigabyte")
    objective = from_function(function, 3, derivatives="torch")
    with pytest.raises(of.OptiframeError, match="PyTorch cannot follow the function "):
        of.solve(Minimize(objective), "scipy.lbfgs", progress=False)


def test_what_a_function_for_pytorch_raises_comes_out() -> None:
    pytest.importorskip("torch", reason="an extra that takes a gigabyte")

    def value(x: Any) -> Any:
        raise RuntimeError("the simulation broke")

    with pytest.raises(RuntimeError, match="the simulation broke"):
        of.solve(Minimize(from_function(value, 3, derivatives="torch")), "scipy.lbfgs", progress=False)


def test_without_pytorch_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(of.MissingPackage, match=r"run: pip install .*torch"):
        from_function(by_torch, 3, derivatives="torch").value(np.zeros(3))


def test_a_function_that_jax_cannot_follow_is_refused_with_its_name() -> None:
    objective = from_function(lambda x: float(np.sum(np.asarray(x) ** 2)), 3, derivatives="jax")
    with pytest.raises(of.OptiframeError, match="cannot follow the function '<lambda>'"):
        of.solve(Minimize(objective), "scipy.lbfgs", progress=False)


def test_differences_need_nothing_but_values() -> None:
    calls: list[Any] = []

    def counted(x: Any) -> float:
        calls.append(x)
        return plain(x)

    objective = from_function(counted, 3, derivatives="differences")
    check_derivatives(objective, tolerance=1e-6)
    calls.clear()
    objective.gradient(np.zeros(3))
    assert len(calls) == 6
    assert not objective.offers(Objective.hessian_product)
    bowl = from_function(lambda x: float(((x - 1.0) ** 2).sum()), 3, derivatives="differences")
    result = of.solve(Minimize(bowl), "scipy.lbfgs", budget={"tolerance": 1e-5}, progress=False)
    assert result.status == "converged"
    assert result.solution == pytest.approx(np.ones(3), abs=1e-6)


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="one of autograd, jax, torch, differences"):
        from_function(plain, 3, derivatives="numba")
