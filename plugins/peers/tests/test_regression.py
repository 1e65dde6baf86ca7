"""Lasso, Huber and logistic regression by libraries: the contract, and our own answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_comrade.problem import LinearClassification
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_peers.regression.celer_lasso import CelerLassoPath
from optiframe_peers.regression.outlier_lasso import OutlierLasso, on_cycles
from optiframe_peers.regression.pc_lasso import PcLasso
from optiframe_peers.regression.skglm_lasso import SkglmLasso
from optiframe_peers.regression.sklearn_huber import SklearnHuber
from optiframe_peers.regression.sklearn_lasso import SklearnLassoPath
from optiframe_peers.regression.sklearn_logistic import SklearnLogistic
from optiframe_peers.regression.xgboost_linear import XgboostLinear
from scipy.optimize import minimize

import optiframe
from optiframe import Minimize
from optiframe.problems.objectives.losses import Logistic
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.testing import SolverContract

LASSOS = [SklearnLassoPath(), CelerLassoPath(), pytest.param(SkglmLasso(), marks=pytest.mark.slow)]
"""skglm compiles for some seconds."""
METHODS = ["lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga"]


def voted(**more: Any) -> PairwiseRanking:
    return optiframe.problem(dataset={"name": "pairwise.random-order", "items": 6, "comparisons": 80}, **more)


def graded(**more: Any) -> PairwiseRanking:
    rng = np.random.default_rng(0)
    left = rng.integers(5, size=30)
    right = (left + rng.integers(1, 5, size=30)) % 5
    table = {"left": left, "right": right, "margin": rng.standard_normal(30), "weight": rng.random(30) + 0.5}
    return PairwiseRanking(comparisons=table, **more)


def tree() -> PairwiseRanking:
    """Nothing can be an outlier: each comparison holds the items together."""
    return PairwiseRanking(comparisons={"left": [0, 1, 2], "right": [1, 2, 3], "margin": [1.0, -2.0, 0.5]})


def solve(problem: Any, solver: Any, **options: Any) -> Result[Any, Any]:
    return optiframe.solve(problem, solver, progress=False, **options)


def name(solver: Any) -> str:
    return str(solver.name)


class RankingContract(SolverContract):
    seconds = 5.0  # a black box does not look at the clock

    def instances(self) -> Iterable[PairwiseRanking]:
        return [voted(), graded(outlier_price=0.5)]

    def optimum(self, problem: PairwiseRanking) -> float | None:
        if problem.outlier_price is None or not isinstance(self.solver, OutlierLasso):
            return None
        return solve(problem, "hodge.hlasso", lambda_=problem.outlier_price).objective


class TestSklearnLasso(RankingContract):
    solver = SklearnLassoPath(points=10)


class TestCelerLasso(RankingContract):
    solver = CelerLassoPath(points=10)


@pytest.mark.slow
class TestSkglmLasso(RankingContract):
    solver = SkglmLasso(points=10)


@pytest.mark.slow
class TestSklearnHuber(RankingContract):
    solver = SklearnHuber()


class TestXgboostLinear(RankingContract):
    solver = XgboostLinear()


class TestPcLasso(RankingContract):
    solver = PcLasso()


class TestSklearnLogistic(SolverContract):
    solver = SklearnLogistic()

    def instances(self) -> Iterable[Any]:
        rng = np.random.default_rng(0)
        matrix, target = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
        return [
            LinearClassification(matrix=matrix, target=target, l2=0.1),
            Minimize(Logistic(matrix=matrix, target=target, l2=0.1)),
        ]

    def optimum(self, problem: Any) -> float:
        return solve(problem, "newton.exact").objective


@pytest.mark.parametrize("solver", LASSOS, ids=name)
@pytest.mark.parametrize("make", [voted, graded])
def test_a_lasso_has_the_objective_and_the_scores_of_our_own(solver: OutlierLasso, make: Any) -> None:
    problem = make(outlier_price=0.4)
    ours, theirs = solve(problem, "hodge.hlasso", lambda_=0.4), solve(problem, solver)
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-9)
    assert np.allclose(theirs.solution.scores, ours.solution.scores, atol=1e-6)
    assert np.allclose(theirs.solution.outliers, ours.solution.outliers, atol=1e-6)
    assert theirs.status == "converged"
    again = solve(
        problem.model_copy(update={"outlier_price": None}), solver.model_copy(update={"lambda_": 0.4})
    )
    assert np.array_equal(again.solution.scores, theirs.solution.scores)


@pytest.mark.parametrize("solver", LASSOS, ids=name)
def test_a_share_is_taken_from_the_top_of_the_grid(solver: OutlierLasso) -> None:
    problem = graded()
    tenth = solve(problem, solver.model_copy(update={"share": 0.1})).solution
    quarter = solve(problem, solver.model_copy(update={"share": 0.25})).solution
    few, more = set(tenth.flagged.tolist()), set(quarter.flagged.tolist())
    assert 1 <= len(few) <= 3
    assert len(few) < len(more) <= 7
    assert (tenth.entry[list(few)] >= 0).all()
    assert tenth.strength[list(few)].min() >= tenth.strength[[r for r in range(30) if r not in few]].max()


@pytest.mark.parametrize("solver", LASSOS, ids=name)
def test_nothing_is_an_outlier_without_cycles_or_above_every_misfit(solver: OutlierLasso) -> None:
    one = PairwiseRanking(comparisons={"left": ["a"], "right": ["b"], "label": ["a"]})
    ties = PairwiseRanking(comparisons={"left": [0, 1, 2], "right": [1, 2, 0], "label": [None] * 3})
    for problem in (tree(), graded(outlier_price=100.0), one, ties):
        found = solve(problem, solver).solution
        assert not found.outliers.any()
        assert np.allclose(found.scores, solve(problem, "hodge.l2").solution.scores)


def test_a_grid_that_ends_too_early_says_so() -> None:
    result = solve(graded(), SklearnLassoPath(share=0.9, shortest=0.9, points=3))
    assert "make `shortest` smaller" in " ".join(finding.text for finding in result.findings)


def test_a_library_that_gives_up_is_quoted() -> None:
    result = solve(graded(outlier_price=0.01), SklearnLassoPath(points=1, tolerance=1e-300))
    assert "scikit-learn: Objective did not converge" in " ".join(finding.text for finding in result.findings)


def test_the_matrix_on_the_cycle_space_is_the_problem_without_scores() -> None:
    graph = graded().graph
    matrix, target = on_cycles(graph)
    outliers = np.random.default_rng(1).standard_normal(graph.rows)
    misfit = graph.cycles(graph.margin - outliers)
    rest = target - matrix @ (graph.weight * outliers)
    assert rest @ rest == pytest.approx(float(graph.weight @ (misfit * misfit)))


def test_huber_regression_is_huber_lasso_at_epsilon_sigma() -> None:
    problem = graded()
    theirs = solve(problem, SklearnHuber(epsilon=1.2))
    flagged = theirs.solution.outliers != 0
    misfit = np.abs(problem.residuals(theirs.solution))
    cut = (misfit - np.abs(theirs.solution.outliers))[flagged]
    assert flagged.any()
    assert cut == pytest.approx(cut[0])
    ours = solve(problem, "hodge.hlasso", lambda_=float(cut[0]))
    assert np.allclose(theirs.solution.scores, ours.solution.scores, atol=1e-5)


def test_huber_regression_minimizes_scores_and_scale_together() -> None:
    problem = graded()
    graph, found = problem.graph, solve(problem, SklearnHuber()).solution
    misfit = np.abs(problem.residuals(found))
    sigma = float((misfit - np.abs(found.outliers))[found.outliers != 0][0]) / 1.35

    def loss(x: Array) -> float:
        z = np.abs(graph.margin - graph.differences(x[:-1])) / x[-1]
        near = np.where(z <= 1.35, z * z, 2 * 1.35 * z - 1.35**2)
        return float(graph.weight @ (x[-1] + x[-1] * near))

    start = np.append(found.scores, sigma)
    best = minimize(loss, start, method="L-BFGS-B", bounds=[(None, None)] * 5 + [(1e-6, None)])
    assert loss(start) == pytest.approx(best.fun, rel=1e-7)


def test_xgboost_ends_where_single_precision_does() -> None:
    result = solve(graded(), XgboostLinear(l2=0.5))
    assert result.status == "finished"
    assert "changes nothing any more" in result.message


@pytest.mark.parametrize("make", [voted, graded])
def test_xgboost_without_penalties_goes_to_least_squares(make: Any) -> None:
    problem = make()
    theirs, ours = solve(problem, XgboostLinear()), solve(problem, "hodge.l2")
    assert theirs.status == "converged"
    assert np.allclose(theirs.solution.scores, ours.solution.scores, atol=1e-5)


@pytest.mark.parametrize("size", [1e-100, 1e120])
def test_margins_beyond_single_precision_are_refused_by_xgboost(size: float) -> None:
    table = {"left": [0, 1, 2], "right": [1, 2, 0], "margin": [size, 2 * size, 0.0]}
    with pytest.raises(optiframe.Unsuited, match="single precision"):
        solve(PairwiseRanking(comparisons=table), "xgboost.linear")


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")  # with a penalty it has no residual
def test_xgboost_shrinks_scores_by_its_penalties() -> None:
    problem, budget = graded(), {"iterations": 50}
    sizes = [
        float(np.abs(solve(problem, XgboostLinear(**penalty), budget=budget).solution.scores).sum())
        for penalty in ({}, {"l2": 0.5}, {"l2": 5.0})
    ]
    assert sizes[0] > 1.2 * sizes[1] > 1.2 * sizes[2]
    assert not solve(problem, XgboostLinear(l1=100.0), budget=budget).solution.scores.any()


def test_pc_lasso_without_either_penalty_is_least_squares() -> None:
    problem = graded()
    theirs = solve(problem, PcLasso(ratio=1.0, strength=0.0))
    assert np.allclose(theirs.solution.scores, solve(problem, "hodge.l2").solution.scores, atol=1e-5)


def test_pc_lasso_minimizes_what_its_paper_says() -> None:
    graph = graded().graph
    result = solve(graded(), PcLasso(ratio=0.6, strength=0.1), budget={"tolerance": 1e-12})
    root = np.sqrt(graph.weight)
    x = np.zeros((graph.rows, graph.items))
    x[np.arange(graph.rows), graph.left], x[np.arange(graph.rows), graph.right] = root, -root
    y = root * graph.margin
    _, d, vt = np.linalg.svd(x)
    mu = d[1] ** 2 * (1 / 0.6 - 1) / (d[0] ** 2 - d[1] ** 2)
    assert d[1] ** 2 / (d[1] ** 2 + mu * (d[0] ** 2 - d[1] ** 2)) == pytest.approx(0.6)
    penalty = 0.1 * np.abs(x.T @ y).max()

    def loss(halves: Array) -> float:  # positive and negative parts, so that it is smooth
        scores = halves[:5] - halves[5:]
        along = vt @ scores
        misfit = y - x @ scores
        return float(misfit @ misfit / 2 + penalty * halves.sum() + mu / 2 * ((d[0] ** 2 - d**2) @ along**2))

    best = minimize(loss, np.zeros(10), method="L-BFGS-B", bounds=[(0, None)] * 10, tol=1e-14)
    scores = best.x[:5] - best.x[5:]
    assert np.allclose(result.solution.scores, scores - scores.mean(), atol=1e-4)


def test_pc_lasso_is_the_plain_lasso_where_every_pair_is_compared_equally_often() -> None:
    left, right = np.triu_indices(6, 1)
    table = {"left": left, "right": right, "margin": np.random.default_rng(0).standard_normal(15)}
    problem = PairwiseRanking(comparisons=table)
    plain, guided = (solve(problem, PcLasso(ratio=ratio)).solution.scores for ratio in (1.0, 0.3))
    assert np.array_equal(plain, guided)


@pytest.mark.parametrize("method", METHODS)
def test_every_logistic_solver_ends_at_our_newton_optimum_on_sparse_rows_with_wide_indices(
    method: str,
) -> None:
    rng = np.random.default_rng(2)
    rows = sp.random_array((60, 5), density=0.4, rng=rng, format="csr")
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    sparse, dense = (
        LinearClassification(matrix=matrix, target=np.arange(60) % 2, l2=0.1)
        for matrix in (rows, rows.toarray())
    )
    theirs, ours = solve(sparse, "sklearn.logistic", method=method), solve(dense, "newton.exact")
    assert np.allclose(theirs.solution, ours.solution, atol=1e-6)
    assert theirs.objective == pytest.approx(ours.objective, abs=1e-9)
    assert theirs.metrics["gap"] < 1e-9


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_a_logistic_solver_that_runs_out_of_steps_is_quoted() -> None:
    rng = np.random.default_rng(0)
    problem = LinearClassification(matrix=rng.standard_normal((40, 3)), target=rng.integers(0, 2, 40))
    result = solve(problem, SklearnLogistic(method="saga"), budget={"iterations": 2})
    assert result.status == "iteration_limit"
    assert result.iterations == 2
    assert "scikit-learn: " in " ".join(finding.text for finding in result.findings)


def test_what_scikit_learn_cannot_take_is_said_beforehand() -> None:
    matrix = np.eye(3)
    reasons = {
        "'logistic'": {"loss": "least-squares", "target": [1, 0, 1]},
        "L2 term": {"target": [1, 0, 1], "l2": 0.0},
        "all labels are the same": {"target": [1, 1, 1]},
    }
    for reason, inputs in reasons.items():
        with pytest.raises(optiframe.Unsuited, match=reason):
            solve(LinearClassification(matrix=matrix, gap=False, **inputs), "sklearn.logistic")
    heavy = LinearClassification(matrix=matrix, gap=False, target=[1, 0, 1], l2=1e200)
    with pytest.raises(optiframe.Unsuited, match="do not end"):
        solve(heavy, "sklearn.logistic", method="liblinear")
    boxed = Minimize(Logistic(matrix=matrix, target=[1, 0, 1], l2=0.1), over={"name": "non-negative"})
    with pytest.raises(optiframe.Unsuited, match="without a constraint"):
        solve(boxed, "sklearn.logistic")
