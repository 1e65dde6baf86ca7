"""Objectives beyond the first losses, and the solvers that their shape allows."""

from __future__ import annotations

import pickle
from pathlib import Path

import autograd.numpy as anp
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import optiframe as of
from optiframe import Budget, Composite, InvalidInput, Minimize, Objective, Status, Unsuited
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.multinomial import Multinomial
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.objectives.quadratic import Linear, QuadraticForm
from optiframe.problems.objectives.robust_losses import Huber, Poisson, Quantile
from optiframe.problems.objectives.sums import Sum
from optiframe.testing import check_derivatives

from .command_line import run_in

RNG = np.random.default_rng(3)
MATRIX, TARGET = RNG.normal(size=(20, 4)), RNG.normal(size=20)
SECONDS = np.linspace(0.0, 3.0, 30)
SEEN = 2.5 * np.exp(-1.3 * SECONDS) + 0.5


def decay(p):
    return p[0] * anp.exp(-p[1] * SECONDS) + p[2] - SEEN


def opaque(p):
    """The same where autograd cannot follow."""
    return np.array([p[0] * float(np.exp(-p[1] * s)) + p[2] for s in SECONDS]) - SEEN


def bent(p):
    """Residuals of Rosenbrock's function."""
    return anp.array([10 * (p[1] - p[0] ** 2), 1 - p[0]])


CONVEX = [
    Linear(cost=[[1.0, -2.0], [3.0, 4.0]]),
    QuadraticForm(matrix=MATRIX.T @ MATRIX, linear=[1.0, 2.0, 3.0, 4.0], constant=2.0),
    QuadraticForm(matrix=sp.csr_array(np.diag([1.0, 0.0, 2.0]))),
    Huber(matrix=MATRIX, target=TARGET, threshold=0.5, l2=0.1),
    Quantile(matrix=MATRIX, target=TARGET, level=0.3),
    Poisson(matrix=MATRIX, target=RNG.poisson(2.0, 20).astype(float)),
    Multinomial(matrix=MATRIX, target=RNG.integers(0, 3, 20), l2=0.1),
    Multinomial(matrix=sp.csr_array(MATRIX), target=RNG.integers(0, 3, 20), classes=4),
    Sum(
        terms=[LeastSquares(matrix=MATRIX, target=TARGET), QuadraticForm(matrix=np.eye(4))],
        weights=[1.0, 0.5],
    ),
]
by_name = pytest.mark.parametrize("objective", CONVEX, ids=lambda each: each.name)


@by_name
def test_derivatives_fit_the_values_and_cvxpy_has_the_same_value(objective: Objective) -> None:
    check_derivatives(objective)
    point = np.random.default_rng(1).normal(size=objective.shape)
    expression = cp.Variable(objective.shape)
    written = objective.as_cvxpy(expression)
    expression.value = point
    assert float(written.value) == pytest.approx(objective.value(point), abs=1e-12)
    assert objective.convex
    assert pickle.loads(pickle.dumps(objective)) == objective


@pytest.mark.parametrize("objective", [*CONVEX, SquaredDistance(to=TARGET)], ids=lambda each: each.name)
def test_a_quadratic_form_is_the_value(objective: Objective) -> None:
    if not objective.offers(Objective.quadratic):
        return
    form, point = objective.quadratic(), np.random.default_rng(2).normal(size=objective.shape)
    flat = point.reshape(-1)
    square = 0.0 if form.matrix is None else flat @ (form.matrix @ flat) / 2
    assert square + form.linear @ flat + form.constant == pytest.approx(objective.value(point))


def test_half_the_squared_norm_of_residuals_is_the_value() -> None:
    for objective in (
        SquaredDistance(to=TARGET.reshape(4, 5)),
        LeastSquares(matrix=MATRIX, target=TARGET, l2=0.3),
        LeastSquares(matrix=sp.csr_array(MATRIX), target=TARGET, l2=0.3),
        of.from_residuals(bent, 2),
    ):
        point = np.random.default_rng(4).normal(size=objective.shape)
        residuals = objective.residuals(point)
        assert residuals @ residuals / 2 == pytest.approx(objective.value(point))
        slopes = objective.jacobian(point).T @ residuals
        np.testing.assert_allclose(slopes.reshape(objective.shape), objective.gradient(point), atol=1e-12)


def test_conjugates_of_losses_bound_them_from_below_and_touch_at_the_slope() -> None:
    z = np.random.default_rng(5).normal(size=20)
    for model in CONVEX:
        if not isinstance(model, Huber | Quantile | Poisson):
            continue
        u = model.slopes(z)
        np.testing.assert_allclose(model.conjugates(u), u * z - model.losses(z), atol=1e-12)
        assert (model.conjugates(u) >= u * (z + 0.7) - model.losses(z + 0.7) - 1e-12).all()


@pytest.mark.parametrize("model", [LeastSquares, Huber, Quantile], ids=lambda each: each.name)
def test_the_proximal_step_of_losses_is_no_worse_than_points_around_it(model: type) -> None:
    loss = model(matrix=MATRIX, target=TARGET)
    v, step = 3 * np.random.default_rng(6).normal(size=20), 0.8
    best = loss.proximals(v, step)

    def cost(z):
        return step * loss.losses(z) + (z - v) ** 2 / 2

    for shift in (-1.0, -1e-3, 1e-3, 1.0):
        assert (cost(best) <= cost(best + shift) + 1e-12).all()


def test_rows_taken_keep_the_parameters_of_the_loss() -> None:
    part = Huber(matrix=MATRIX, target=TARGET, threshold=0.25).take([0, 1])
    assert part.threshold == 0.25
    assert Multinomial(matrix=MATRIX, target=np.arange(20) % 3).take([0]).shape == (4, 3)


def test_what_a_loss_lacks_is_said() -> None:
    quantile = Quantile(matrix=MATRIX, target=TARGET)
    with pytest.raises(Unsuited, match="'quantile' has no gradient"):
        of.solve(Minimize(quantile), "scipy.lbfgs")
    assert not Poisson(matrix=MATRIX, target=np.ones(20)).offers(Objective.curvature)
    median = of.solve(Minimize(Quantile(matrix=np.ones((5, 1)), target=[1.0, 9.0, 2.0, 4.0, 3.0])), "cvxpy")
    assert median.solution == pytest.approx([3.0], abs=1e-5)


# Least squares


@pytest.mark.slow
@pytest.mark.parametrize("residuals", [decay, opaque])
@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_a_nonlinear_fit_is_found_from_residuals(residuals, method: str) -> None:
    problem = Minimize(of.from_residuals(residuals, 3), start=np.ones(3))
    result = of.solve(problem, "scipy.least-squares", method=method, progress=False)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.solution, [2.5, 1.3, 0.5], atol=1e-5)
    bounded = Minimize(problem.function, over={"name": "box", "upper": 2.0}, start=np.ones(3))
    within = of.solve(bounded, "scipy.least-squares", method=method, progress=False)
    assert within.solution[0] == pytest.approx(2.0, abs=1e-4)
    assert within.violation == 0.0


def test_residuals_are_counted_and_recommended() -> None:
    problem = Minimize(of.from_residuals(decay, 3), start=np.ones(3))
    assert of.solve(problem, progress=False).settings["solver"]["name"] == "scipy.least-squares"
    with pytest.warns(of.NotConverged, match="4 evaluations"):
        result = of.solve(problem, "scipy.least-squares", budget={"evaluations": 4}, progress=False)
    assert result.status is Status.EVALUATION_LIMIT
    assert result.objective <= problem.objective(np.ones(3))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("over", [None, "non-negative", {"name": "box", "lower": -0.1, "upper": 0.2}])
def test_linear_least_squares_is_solved_in_one_go(kind: str, over) -> None:
    matrix = sp.csr_array(MATRIX) if kind == "sparse" else MATRIX
    problem = Minimize(LeastSquares(matrix=matrix, target=TARGET, l2=0.1), over=over)
    expected = of.solve(problem, "scipy.lbfgs", budget={"tolerance": 1e-9}, progress=False).objective
    names = ["scipy.lsq-linear"] + ["scipy.nnls"] * (over == "non-negative")
    for name in names:
        result = of.solve(problem, name, progress=False)
        assert result.objective == pytest.approx(expected, abs=1e-9), name
        assert result.status is Status.CONVERGED


def test_what_methods_of_least_squares_cannot_take() -> None:
    fit = LeastSquares(matrix=MATRIX, target=TARGET)
    with pytest.raises(Unsuited, match="must be 'non-negative', and it is 'whole-space'"):
        of.solve(Minimize(fit), "scipy.nnls")
    with pytest.raises(Unsuited, match="has no residuals"):
        of.solve(Minimize(Logistic(matrix=MATRIX, target=np.sign(TARGET))), "scipy.least-squares")
    with pytest.raises(Unsuited, match="more than bounds"):
        of.solve(Minimize(fit, over="simplex"), "scipy.lsq-linear")
    with pytest.raises(InvalidInput, match="must return a vector of real numbers"):
        of.from_residuals(lambda x: 1.0, 2).value(np.ones(2))
    with pytest.raises(InvalidInput, match=r"has shape \(1, 2\); it must be \(2, 2\)"):
        of.from_residuals(bent, 2, jacobian=lambda x: np.ones((1, 2))).jacobian(np.ones(2))


# Linear programs


def program(*more) -> Minimize:
    rows = {"name": "polyhedron", "matrix": [[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]], "upper": [4.0, 12.0, 17.5]}
    return Minimize(Linear(cost=[-3.0, -5.0]), over=["non-negative", rows, *more])


@pytest.mark.parametrize("name", ["scipy.linprog", "scipy.milp"])
def test_a_linear_program_is_solved_with_a_proof(name: str) -> None:
    result = of.solve(program(), name, progress=False)
    assert result.objective == pytest.approx(-35.5)
    assert result.status is Status.CONVERGED
    assert result.violation <= 1e-9


def test_equations_and_two_sided_rows_have_a_dual_bound() -> None:
    over = [
        {"name": "box", "lower": [-1.0, 0.0, -np.inf], "upper": [5.0, np.inf, 2.0]},
        {"name": "affine", "matrix": [[1.0, 1.0, 1.0]], "target": [1.0]},
        {"name": "polyhedron", "matrix": sp.csr_array([[1.0, -1.0, 0.0]]), "lower": -2.0, "upper": 3.0},
    ]
    problem = Minimize(Linear(cost=[1.0, -2.0, 0.5]), over=over)
    exact = of.solve(problem, "cvxpy", progress=False).objective
    for method in ("highs", "highs-ds", "highs-ipm"):
        result = of.solve(problem, "scipy.linprog", method=method, progress=False)
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(exact, abs=1e-6)


def test_whole_numbers_are_found_among_all_and_among_some() -> None:
    every = of.solve(program("integers"), progress=False)
    assert every.settings["solver"]["name"] == "scipy.milp"
    np.testing.assert_allclose(every.solution, [1.0, 6.0])
    some = program({"name": "integers", "entries": [1], "upper": 5.0})
    result = of.solve(some, "scipy.milp", progress=False)
    np.testing.assert_allclose(result.solution, [2.5, 5.0])
    assert result.violation <= 1e-9
    with pytest.raises(Unsuited, match=r"`scipy\.milp` takes those"):
        of.solve(some, "scipy.linprog")
    with pytest.raises(InvalidInput, match="there is no entry 2"):
        program({"name": "integers", "entries": [2]})


def test_no_answer_where_there_is_none() -> None:
    open_below = Minimize(Linear(cost=[1.0]))
    for name in ("scipy.linprog", "scipy.milp"):
        with pytest.warns(of.NotConverged):
            assert of.solve(open_below, name, progress=False).solution is None
    between = program({"name": "integers", "lower": 0.0}, {"name": "box", "lower": 0.2, "upper": [0.8, 6.0]})
    assert of.solve(between, "scipy.milp", progress=False).status is Status.INFEASIBLE
    with pytest.raises(Unsuited, match="the objective 'least-squares' is not linear"):
        of.solve(Minimize(LeastSquares(matrix=MATRIX, target=TARGET)), "scipy.linprog")


@pytest.mark.slow
def test_an_integer_program_can_be_written_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "knapsack.toml").write_text(
        """
        [problem]
        name = "minimize"
        objective = { name = "linear", cost = [-10.0, -13.0, -7.0] }
        over = [
            { name = "integers", lower = 0.0, upper = 1.0 },
            { name = "half-space", normal = [3.0, 4.0, 2.0], offset = 6.0 },
        ]
        """,
        encoding="utf-8",
    )
    done = run_in(tmp_path, "solve", "knapsack.toml")
    assert "minimize by scipy.milp" in done.stdout
    assert "-20" in done.stdout


# Bad input


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("quadratic", {"matrix": [[1.0, 2.0], [0.0, 1.0]]}, "matrix is not symmetric"),
        ("quadratic", {"matrix": [[1.0, 2.0]]}, "matrix is 1 x 2; it must be square"),
        ("quadratic", {"matrix": [[1.0]], "linear": [1.0, 2.0]}, "linear has 2 entries, matrix 1 rows"),
        ("poisson", {"matrix": [[1.0]], "target": [-1.0]}, "row 1: -1; a count is at least 0"),
        (
            "multinomial",
            {"matrix": [[1.0]], "target": [3], "classes": 2},
            "class 3; classes are 0 to 1",
        ),
        ("quantile", {"matrix": [[1.0]], "target": [1.0], "level": 1.0}, "level: must be less than 1"),
        ("sum", {"terms": []}, "give at least one objective"),
        (
            "sum",
            {"terms": [{"name": "linear", "cost": [1.0]}, {"name": "linear", "cost": [1.0, 2.0]}]},
            r"term 1 have the shape \(1,\), those of term 2 \(2,\)",
        ),
    ],
)
def test_wrong_fields_are_named(name: str, fields: dict, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        of.objective(name, **fields)


def test_a_form_that_is_not_convex_has_no_program_for_cvxpy() -> None:
    saddle = QuadraticForm(matrix=[[0.0, 1.0], [1.0, 0.0]])
    assert not saddle.convex
    assert saddle.as_cvxpy(cp.Variable(2)) is None
    mixed = Sum(terms=[SquaredDistance(to=[1.0, 2.0])], weights=[-1.0])
    assert not mixed.convex


# Gaps and histories


@pytest.mark.parametrize("name", ["l1", "total-variation"])
def test_the_gap_of_a_denoised_signal_comes_from_its_conjugate(name: str) -> None:
    problem = Composite(SquaredDistance(to=TARGET), plus={"name": name, "weight": 0.5})
    best = of.solve(problem, "gradient.proximal", budget={"tolerance": 1e-12}, progress=False)
    assert best.duality_gap <= 1e-9
    for shift in (0.01, 1.0):
        point = best.solution + shift * np.sin(np.arange(20))
        assert problem.duality_gap(point) >= problem.objective(point) - best.objective - 1e-9


def test_evaluations_may_be_limited_by_the_entries_and_the_history_is_by_evaluation() -> None:
    problem = Minimize(SquaredDistance(to=[3.0, 4.0, 5.0]), start=np.zeros(3))
    with pytest.warns(of.NotConverged, match="stopped after 20 evaluations"):
        result = of.solve(
            problem, "scipy.nelder-mead", budget=Budget(evaluations_per_variable=5), progress=False
        )
    counts, values = result.history["evaluations"], result.history["objective"]
    assert counts == sorted(counts)
    assert counts[-1] <= 20
    assert values == sorted(values, reverse=True)
    assert result.objective == values[-1]
    free = of.solve(problem, "scipy.lbfgs", progress=False)
    assert len(free.history) == 0
