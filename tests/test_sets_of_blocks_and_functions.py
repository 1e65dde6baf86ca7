"""Blocks, functions between bounds, and sets of matrices: the contract, CVXPY's answers, bad input."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest

import optiframe as of
from optiframe import InvalidInput, Minimize, Unsuited, constraint_set
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.testing import check_part

RNG = np.random.default_rng(0)
BLOCKS = {
    "name": "product",
    "sizes": [3, 2],
    "sets": ["simplex", {"name": "box", "lower": -1.0, "upper": 1.0}],
}
MATRICES = {
    "name": "product",
    "sizes": [[2, 2], 3],
    "sets": [{"name": "spectral-ball", "radius": 1.0}, "simplex"],
}
SHAPES = {
    "product": ((5,), BLOCKS),
    "product of matrices": ((7,), MATRICES),
    "birkhoff": ((3, 3), "birkhoff"),
    "nuclear-ball": ((3, 4), {"name": "nuclear-ball", "radius": 2.0}),
    "matrix-rank": ((3, 4), {"name": "matrix-rank", "rank": 1}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_keeps_the_contract_of_sets(name: str) -> None:
    shape, table = SHAPES[name]
    check_part(constraint_set(**table) if isinstance(table, dict) else constraint_set(table), shape=shape)


@pytest.mark.parametrize("name", ["product", "product of matrices", "birkhoff", "nuclear-ball"])
@pytest.mark.parametrize("solver", ["gradient.projected", "gradient.frank-wolfe", "primal-dual.pdhg"])
def test_solvers_find_what_cvxpy_finds(name: str, solver: str) -> None:
    shape, table = SHAPES[name]
    problem = Minimize(SquaredDistance(to=RNG.normal(size=shape)), over=table)
    if of.why_unsuited(problem, of.solver(solver)):
        assert (name, solver) in {
            ("birkhoff", "gradient.projected"),
            ("nuclear-ball", "primal-dual.pdhg"),
            ("product of matrices", "gradient.frank-wolfe"),
            ("product of matrices", "primal-dual.pdhg"),
        }
        return
    exact = of.solve(problem, "cvxpy", progress=False)
    result = of.solve(problem, solver, budget={"tolerance": 1e-6, "iterations": 5000}, progress=False)
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)
    assert result.violation <= 1e-6


def test_a_linear_cost_over_doubly_stochastic_matrices_is_an_assignment() -> None:
    cost = RNG.normal(size=(4, 4))
    problem = Minimize(of.objective("linear", cost=cost), over="birkhoff")
    result = of.solve(problem, "scipy.linprog", progress=False)
    assert np.sort(result.solution.ravel())[-4:] == pytest.approx(np.ones(4))


def test_whole_numbers_in_one_block_go_with_bounds_in_another() -> None:
    whole = {"name": "integers", "lower": 0.0, "upper": 3.0}
    over = {"name": "product", "sizes": [1, 1], "sets": [whole, {"name": "box", "lower": 0.5, "upper": 1.0}]}
    problem = Minimize(of.objective("linear", cost=[-1.0, 1.0]), over=over)
    assert of.solve(problem, "scipy.milp", progress=False).solution.tolist() == [3.0, 0.5]


def ring(x):
    return anp.array([anp.sum(x**2)])


def slopes(x):
    return 2 * x[np.newaxis]


RING = {"name": "nonlinear", "function": ring, "lower": 1.0, "upper": 4.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{}, {"jacobian": slopes}, {"derivatives": "differences"}],
    ids=["autograd", "jacobian", "differences"],
)
@pytest.mark.parametrize("solver", ["scipy.trust-constr", "scipy.slsqp", "scipy.cobyla"])
def test_a_function_between_bounds_is_kept(more: dict, solver: str) -> None:
    problem = Minimize(SquaredDistance(to=[3.0, 4.0]), over={**RING, **more}, start=[1.0, 1.0])
    result = of.solve(problem, solver, progress=False)
    assert result.solution == pytest.approx([1.2, 1.6], abs=1e-4)
    assert problem.violation(np.zeros(2)) == 1.0
    assert problem.violation(np.array([3.0, 0.0])) == pytest.approx(5 / 4)


@pytest.mark.parametrize(
    "more",
    [{}, {"jacobian": lambda x: 2 * x}, {"derivatives": "differences"}],
    ids=["autograd", "gradient", "differences"],
)
def test_a_function_may_give_one_number_and_its_gradient(more: dict) -> None:
    disc = {"name": "nonlinear", "function": lambda x: x[0] ** 2 + x[1] ** 2, "upper": 4.0, **more}
    problem = Minimize(SquaredDistance(to=[3.0, 4.0]), over=disc, start=[1.0, 1.0])
    assert of.solve(problem, progress=False).solution == pytest.approx([1.2, 1.6], abs=1e-4)
    with pytest.raises(InvalidInput, match="must return a vector of real numbers"):
        Minimize(SquaredDistance(to=[3.0, 4.0]), over={**disc, "function": lambda x: None}).violation(
            np.zeros(2)
        )


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({**RING, "lower": -np.inf, "upper": np.inf}, "give lower, upper or both"),
        ({**RING, "lower": 5.0}, "no number lies between lower and upper"),
        ({**RING, "function": "os:system"}, "a file runs no code by itself"),
        ({**BLOCKS, "sizes": [3]}, "2 sets and 1 sizes"),
        (BLOCKS, r"5 entries together, and a point has the shape \(2,\)"),
        ("birkhoff", "holds square matrices"),
    ],
)
def test_what_cannot_be_is_refused(table, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        Minimize(SquaredDistance(to=[3.0, 4.0]), over=table)


def test_a_set_without_a_projection_says_so() -> None:
    with pytest.raises(Unsuited, match="the set 'nonlinear' has no projection"):
        of.solve(Minimize(SquaredDistance(to=[3.0, 4.0]), over=RING), "gradient.projected")
