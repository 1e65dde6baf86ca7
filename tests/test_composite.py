"""Regularizers, and problems with them: against CVXPY, brute force and what they split into."""

from __future__ import annotations

import itertools
import pickle
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import optiframe as of
from optiframe import Composite, InvalidInput, Minimize, Regularizer, Unsuited
from optiframe.files.plain import plain
from optiframe.files.toml_writer import as_toml
from optiframe.methods.projected_gradient import ProjectedGradient
from optiframe.methods.proximal_gradient import ProximalGradient
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.regularizers.norms import (
    L0,
    L1,
    ElasticNet,
    GroupL1,
    NuclearNorm,
    SquaredL2,
    TotalVariation,
)
from optiframe.problems.sets.vector_sets import Box, Cardinality, L1Ball, L2Ball, NonNegative, Simplex
from optiframe.testing import SolverContract

from .command_line import run_in

VECTORS = {
    "l1": L1(weight=0.7),
    "squared-l2": SquaredL2(weight=0.7),
    "elastic-net": ElasticNet(weight=0.7, ratio=0.3),
    "group-l1": GroupL1(weight=0.7, groups=[0, 1, 0, 2, 1]),
    "total-variation": TotalVariation(weight=0.7),
}
vectors = hnp.arrays(
    np.float64, 5, elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-50, 50, width=32))
)


def regression(seed: int = 0, loss: type = LeastSquares, l2: float = 0.0) -> LeastSquares:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(30, 5))
    target = matrix @ [2.0, 0.0, -1.0, 0.0, 0.5] + rng.normal(size=30)
    return loss(matrix=matrix, target=np.sign(target) if loss is Logistic else target, l2=l2)


@pytest.mark.slow
@pytest.mark.parametrize("term", VECTORS.values(), ids=VECTORS)
@given(v=vectors, step=st.floats(0.01, 10))
def test_the_proximal_step_is_no_worse_than_points_around_it(
    term: Regularizer, v: np.ndarray, step: float
) -> None:
    def cost(z: np.ndarray) -> float:
        return step * term.value(z) + float(np.sum((z - v) ** 2)) / 2

    z = term.prox(v, step)
    rng = np.random.default_rng(0)
    others = [
        v,
        np.zeros(5),
        np.full(5, v.mean()),
        *(z + s * d for s in (1e-3, 0.1, 1) for d in rng.normal(size=(20, 5))),
    ]
    assert cost(z) <= min(map(cost, others)) + 1e-9 * (1 + cost(v))


@pytest.mark.slow
@pytest.mark.parametrize("term", VECTORS.values(), ids=VECTORS)
def test_values_and_proximal_steps_agree_with_cvxpy(term: Regularizer) -> None:
    cp = pytest.importorskip("cvxpy")
    v = np.random.default_rng(3).normal(size=5) * 2
    x = cp.Variable(5)
    expression = term.as_cvxpy(x)
    cp.Problem(cp.Minimize(0.8 * expression + cp.sum_squares(x - v) / 2)).solve(solver="CLARABEL")
    np.testing.assert_allclose(term.prox(v, 0.8), x.value, atol=1e-5)
    x.value = v
    assert term.value(v) == pytest.approx(float(expression.value), rel=1e-12)


def test_the_nuclear_norm_shrinks_singular_values() -> None:
    rng = np.random.default_rng(0)
    v, term = rng.normal(size=(4, 3)), NuclearNorm(weight=0.5)
    sizes = np.linalg.svd(v, compute_uv=False)
    np.testing.assert_allclose(
        np.linalg.svd(term.prox(v, 2.0), compute_uv=False), np.maximum(sizes - 1.0, 0), atol=1e-12
    )
    assert term.value(v) == pytest.approx(0.5 * sizes.sum())
    with pytest.raises(InvalidInput, match="is of matrices"):
        Composite(SquaredDistance(to=[1.0, 2.0]), plus=term)


@given(v=vectors, step=st.floats(0.01, 10))
def test_l0_keeps_what_is_worth_its_price(v: np.ndarray, step: float) -> None:
    term = L0(weight=0.5)

    def cost(z: np.ndarray) -> float:
        return step * term.value(z) + float(np.sum((z - v) ** 2)) / 2

    best = min(cost(np.where(kept, v, 0.0)) for kept in itertools.product([True, False], repeat=5))
    assert cost(term.prox(v, step)) == pytest.approx(best, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 200])
def test_total_variation_of_long_and_short_vectors_is_denoised_as_by_cvxpy(size: int) -> None:
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(size)
    v = np.repeat(rng.normal(size=5), 40)[:size] + 0.3 * rng.normal(size=size)
    term, x = TotalVariation(weight=1.0), cp.Variable(size)
    cp.Problem(cp.Minimize(term.as_cvxpy(x) + cp.sum_squares(x - v) / 2)).solve(solver="CLARABEL")
    np.testing.assert_allclose(term.prox(v, 1.0), x.value, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("term", VECTORS.values(), ids=VECTORS)
@given(x=vectors, y=vectors)
def test_the_conjugate_bounds_inner_products(term: Regularizer, x: np.ndarray, y: np.ndarray) -> None:
    y = y - y.mean() if isinstance(term, TotalVariation) else y
    if not isinstance(term, SquaredL2 | ElasticNet):
        y = y * (term.weight / 500)  # inside the ball of the dual norm, where the conjugate is zero
        assert term.conjugate(y) == 0.0
    assert float(x @ y) <= term.value(x) + term.conjugate(y) + 1e-9 * (1 + abs(float(x @ y)))


@pytest.mark.slow
class TestProximalGradient(SolverContract):
    solver = ProximalGradient()

    def instances(self):
        return [
            *super().instances(),
            Composite(regression(), plus=L1(weight=0.3)),
            Composite(
                regression(loss=Logistic), plus=[L1(weight=0.02), SquaredL2(weight=0.1)], over=Box(upper=1.0)
            ),
            Composite(regression(), plus=GroupL1(weight=0.4, groups=[0, 0, 1, 1, 2])),
        ]

    def optimum(self, problem):
        if problem.name != "composite":
            return super().optimum(problem)
        program = problem.as_cvxpy().program
        return float(program.solve(solver="CLARABEL"))


class TestProjectedGradient(SolverContract):
    solver = ProjectedGradient()

    def instances(self):
        return [
            *super().instances(),
            Minimize(regression(loss=Logistic), over=L2Ball(radius=0.5)),
            Minimize(regression(), over=["simplex", {"name": "box", "upper": 0.4}]),
        ]


def ways(terms, over) -> dict[str, float]:
    problem = Composite(regression(), over=over, plus=terms)
    return {
        name: of.solve(problem, name, progress=False, budget={"tolerance": 1e-9}).objective
        for name in ("gradient.proximal", "scipy.lbfgs", "cvxpy")
    }


@pytest.mark.slow
@pytest.mark.parametrize("over", [None, NonNegative(), Box(lower=-0.5, upper=0.7), Box(lower=0.1)])
@pytest.mark.parametrize(
    "terms", [L1(weight=0.3), ElasticNet(weight=0.3), [L1(weight=0.2), SquaredL2(weight=0.5)], SquaredL2()]
)
def test_proximal_steps_splitting_and_cvxpy_agree(terms, over) -> None:
    found = ways(terms, over)
    assert found["gradient.proximal"] == pytest.approx(found["scipy.lbfgs"], rel=1e-8)
    assert found["gradient.proximal"] == pytest.approx(found["cvxpy"], rel=1e-5)


def test_a_solver_of_minimize_never_meets_a_regularizer() -> None:
    problem = Composite(regression(), plus=TotalVariation())
    with pytest.raises(Unsuited, match="solves 'minimize' problems; this one is 'composite'"):
        of.solve(problem, "scipy.lbfgs")
    with pytest.raises(InvalidInput, match='regularizers belong to the problem "composite"'):
        Minimize(regression(), plus="l1")


def test_without_regularizers_it_is_a_minimize() -> None:
    plain = Composite(regression(), over=Simplex())
    result = of.solve(plain, "scipy.trust-constr", progress=False)
    same = of.solve(Minimize(regression(), over=Simplex()), "scipy.trust-constr", progress=False)
    np.testing.assert_array_equal(result.solution, same.solution)


def test_a_bare_function_is_refused_with_the_call_that_wraps_it() -> None:
    for problem in (Composite, Minimize):
        with pytest.raises(InvalidInput, match=r"objective: .* optiframe.from_function\(function, shape\)"):
            problem(lambda x: x @ x)


def test_a_sum_without_an_exact_step_is_refused_with_the_reason() -> None:
    problem = Composite(regression(), plus=[L1(), TotalVariation()])
    with pytest.raises(Unsuited, match=r"no exact proximal step of the sum of 'regularizer.l1' and"):
        of.solve(problem, "gradient.proximal")
    with pytest.raises(Unsuited, match=r"no exact proximal step of 'regularizer.l1' over the set 'l2-ball'"):
        of.solve(Composite(regression(), plus=L1(), over=L2Ball(radius=1.0)), "gradient.proximal")


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_steps_find_their_length_at_every_scale(scale: float) -> None:
    def cost(x):
        return scale * float(np.sum(np.log(np.cosh(x - [1.0, 3.0]))))

    def slope(x):
        return scale * np.tanh(x - [1.0, 3.0])

    function = of.from_function(cost, 2, gradient=slope)  # no bound on its curvature
    for name in ("gradient.proximal", "gradient.projected"):
        result = of.solve(
            Minimize(function, over=Box(upper=2.0)), name, budget={"tolerance": 1e-9 * scale}, progress=False
        )
        assert result.status is of.Status.CONVERGED
        np.testing.assert_allclose(result.solution, [1.0, 2.0], atol=1e-6)


def test_steps_keep_to_the_domain_of_the_objective() -> None:
    def barrier(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(x @ [1.0, 2.0] - np.log(x).sum()) if (x > 0).all() else float("nan")

    function = of.from_function(barrier, 2, gradient=lambda x: np.array([1.0, 2.0]) - 1 / x)
    for name in ("gradient.proximal", "gradient.projected"):
        result = of.solve(Minimize(function, start=[10.0, 1e-3]), name, progress=False)
        assert result.status is of.Status.CONVERGED
        np.testing.assert_allclose(result.solution, [1.0, 0.5], atol=1e-5)
        with pytest.warns(of.NotConverged, match="not finite"):
            lost = of.solve(Minimize(function, start=[-1.0, 1.0]), name, progress=False)
        assert lost.status is of.Status.DIVERGED


def test_sets_that_are_not_convex_are_taken_by_the_core() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(80, 30))
    truth = np.zeros(30)
    truth[[3, 11, 20]] = [2.0, -3.0, 1.5]
    problem = Minimize(LeastSquares(matrix=matrix, target=matrix @ truth), over=Cardinality(size=3))
    result = of.solve(problem, progress=False)
    assert result.settings["solver"]["name"] == "gradient.projected"
    np.testing.assert_allclose(result.solution, truth, atol=1e-5)


def test_the_recommended_solver_of_a_regularized_problem_takes_it() -> None:
    for terms in (*VECTORS.values(), [L1(), TotalVariation()]):
        result = of.solve(Composite(regression(), plus=terms), progress=False)
        assert result.status in (of.Status.CONVERGED, of.Status.FINISHED)


def test_a_problem_survives_pickling_and_has_one_fingerprint() -> None:
    problem = Composite(regression(), plus=[L1(weight=0.2), GroupL1(groups=[0, 0, 1, 1, 2])], over=None)
    again = pickle.loads(pickle.dumps(problem))
    assert again == problem
    assert problem != Composite(regression(), plus=[L1(weight=0.3), GroupL1(groups=[0, 0, 1, 1, 2])])


def test_a_file_names_regularizers_and_several_sets(tmp_path: Path) -> None:
    (tmp_path / "lasso.toml").write_text(
        '[problem]\nname = "composite"\nplus = { name = "l1", weight = 0.5 }\n'
        'over = [{ name = "non-negative" }, { name = "box", upper = 2.0 }]\n'
        'objective = { name = "squared-distance", to = [3.0, -1.0, 0.2] }\n'
    )
    shown = run_in(tmp_path, "solve", "lasso.toml")
    assert "composite by gradient.proximal" in shown.stdout
    (tmp_path / "wrong.toml").write_text(
        '[problem]\nname = "composite"\nplus = "l3"\nobjective = { name = "squared-distance", to = [3.0] }\n'
    )
    refused = run_in(tmp_path, "solve", "wrong.toml", code=2)
    assert "no part named 'regularizer.l3'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_sets_name_the_point_that_lies_farthest() -> None:
    rng = np.random.default_rng(1)
    for over in (
        L1Ball(radius=2.0),
        L2Ball(radius=2.0),
        Simplex(total=2.0),
        of.constraint_set("linf-ball", radius=2.0),
    ):
        for d in rng.normal(size=(20, 4)):
            best = over.farthest(d)
            assert over.contains(best)
            assert all(d @ best >= d @ over.project(z) - 1e-12 for z in 5 * rng.normal(size=(50, 4)))


def test_groups_may_have_any_numbers() -> None:
    plain, odd = GroupL1(groups=[0, 1, 0]), GroupL1(groups=[10**12, -7, 10**12])
    point = np.array([3.0, 2.0, 4.0])
    assert odd.value(point) == plain.value(point) == pytest.approx(7.0)
    np.testing.assert_array_equal(odd.prox(point, 0.5), plain.prox(point, 0.5))


@pytest.mark.parametrize("solver", ["gradient.projected", "gradient.proximal"])
@pytest.mark.parametrize("over", [None, "simplex", {"name": "cardinality", "size": 1}])
def test_a_gradient_that_is_not_finite_ends_diverged(solver: str, over: Any) -> None:
    wrong = of.from_function(lambda x: float(x @ x), 2, gradient=lambda x: x * np.nan)
    with pytest.warns(of.NotConverged, match="the gradient at the point reached is not finite: entry"):
        result = of.solve(Minimize(wrong, over=over, start=[0.5, 0.5]), solver, progress=False)
    assert result.status == "diverged"


FIT = {"name": "least-squares", "matrix": [[1.0, 0.0], [0.5, 2.0]], "target": [1.0, 2.0]}
BLOCKS = {"name": "product", "sizes": [1, 1], "sets": ["non-negative", {"name": "box", "upper": 0.5}]}


@pytest.mark.parametrize(
    "problem",
    [
        Composite(FIT, over=[{"name": "box", "upper": 1.0}, BLOCKS], plus=[{"name": "l1", "weight": 0.1}]),
        Minimize({"name": "sum", "terms": [FIT, {"name": "linear", "cost": [1.0, 2.0]}]}, over="simplex"),
        of.Projection([1.0, 2.0], onto=BLOCKS),
    ],
    ids=lambda each: each.name,
)
def test_a_problem_of_named_parts_goes_through_toml_and_back(problem: Any) -> None:
    given = plain(problem.model_dump(by_alias=True))
    text = as_toml({"name": problem.name, **without_nothing(given)})
    table = tomllib.loads(text)
    assert of.problem(table.pop("name"), **table) == problem


def without_nothing(value: Any) -> Any:
    """Tables without the keys that have no value, for which TOML has no word."""
    if isinstance(value, dict):
        return {key: without_nothing(each) for key, each in value.items() if each is not None}
    return [without_nothing(each) for each in value] if isinstance(value, list) else value
