"""Gene networks: published definitions, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from optiframe_peers.genes.aracne import Aracne
from optiframe_peers.genes.clr import ContextLikelihood
from optiframe_peers.genes.edges import EdgeScores, information, standardised
from optiframe_peers.genes.genie3 import Genie3
from optiframe_peers.genes.mrnet import Mrnet
from optiframe_peers.genes.pearson import Pearson
from optiframe_peers.genes.tigress import Tigress
from optiframe_tvcs.networks.problem import NetworkIdentification
from scipy.stats import spearmanr
from sklearn.linear_model import lars_path

import optiframe
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.testing import SolverContract

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

SERIES = {  # two series of three and two points, rows out of order
    "series": ["b", "a", "a", "b", "a"],
    "time": [1, 2, 0, 0, 1],
    "x": [5.0, 4.0, 1.0, 9.0, 2.0],
    "y": [0.0, 2.0, 3.0, 1.0, 7.0],
}
INFORMATION = [Pearson, ContextLikelihood, Aracne, Mrnet]
ALL: list[EdgeScores] = [*(each() for each in INFORMATION), Genie3(trees=20), Tigress(splits=20)]


def drawn(**parameters: Any) -> NetworkIdentification:
    given = {"genes": 8, "edges": 10, "in_degree": 2, "out_degree": 3, "series": 6, "points": 12}
    return optiframe.problem(dataset={"name": "grn.random-network", **given, **parameters})


def solve(problem: Any, solver: Any, **options: Any) -> Result[Any, Any]:
    return optiframe.solve(problem, solver, progress=False, **options)


def name(solver: EdgeScores) -> str:
    return solver.name


class GeneContract(SolverContract):
    def instances(self) -> Iterable[NetworkIdentification]:
        return [drawn(), NetworkIdentification(expression=SERIES, total=1)]


class TestPearson(GeneContract):
    solver = Pearson()


class TestClr(GeneContract):
    solver = ContextLikelihood()


class TestAracne(GeneContract):
    solver = Aracne(times="same")


class TestMrnet(GeneContract):
    solver = Mrnet()


class TestGenie3(GeneContract):
    solver = Genie3(trees=12)


class TestTigress(GeneContract):
    solver = Tigress(splits=3)


def test_pearson_is_the_correlation_of_a_level_with_the_next_change() -> None:
    problem = drawn()
    result, data = solve(problem, Pearson()), problem.expression
    for i, j in zip(*np.nonzero(result.solution.weights), strict=True):
        rho = np.corrcoef(data.changes[i], data.states[j])[0, 1]
        assert result.solution.weights[i, j] == pytest.approx(rho)
    assert result.detail.certificate.holds


def test_clr_standardises_information_within_row_and_column() -> None:
    problem = drawn()
    found = solve(problem, ContextLikelihood(estimator="pearson")).solution.scores
    pair = information(Pearson().correlation(problem)[0])
    for i, j in np.ndindex(pair.shape):
        row, column = np.delete(pair[i], i), np.delete(pair[:, j], j)  # no gene with itself
        z = [max(0.0, (pair[i, j] - others.mean()) / others.std()) for others in (row, column)]
        assert found[i, j] == pytest.approx(np.hypot(*z))


@pytest.mark.parametrize("solver", ALL, ids=name)
def test_caps_change_the_edges_and_not_the_scores(solver: EdgeScores) -> None:
    plain = solve(drawn(), solver)
    fewer = drawn().model_copy(update={"total": 4, "in_degree": 1})
    found = solve(fewer, solver)
    assert found.metrics["edges"] <= 4
    assert found.violation == 0.0
    assert found.metrics["auc_of_scores"] == plain.metrics["auc_of_scores"]


@pytest.mark.parametrize("solver", ALL, ids=name)
def test_edges_are_signed_scores(solver: EdgeScores) -> None:
    network = solve(drawn(), solver).solution
    edges = network.weights != 0
    assert not edges.diagonal().any()
    assert np.array_equal(np.abs(network.weights)[edges], network.scores[edges])
    assert (network.scores >= 0).all()


@pytest.mark.parametrize("solver", [Genie3(trees=100), Tigress(splits=50)], ids=name)
def test_regressions_rank_the_edges_of_a_drawn_network_high(solver: EdgeScores) -> None:
    assert solve(drawn(noise=0.01, seed=2), solver).metrics["auc_of_scores"] > 0.7  # .5 is chance


@pytest.mark.parametrize("kind", INFORMATION)
def test_scores_at_one_time_have_no_direction(kind: type[EdgeScores]) -> None:
    scores = solve(drawn(), kind(times="same")).solution.scores
    off = ~np.eye(len(scores), dtype=bool)
    assert np.allclose(scores[off], scores.T[off])


def test_rank_correlation_is_that_of_scipy() -> None:
    problem = drawn()
    expression = problem.expression
    scores = solve(problem, Pearson(estimator="spearman")).solution.scores
    rho = spearmanr(np.vstack([expression.changes, expression.states]), axis=1).statistic
    assert np.allclose(scores, np.abs(rho[:8, 8:]))


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_aracne_drops_the_weakest_pair_of_every_three(margin: float) -> None:
    problem = drawn()
    pair = information(Pearson(times="same", estimator="spearman").correlation(problem)[0])
    kept = pair.copy()
    for i, j, k in np.ndindex(8, 8, 8):
        if len({i, j, k}) == 3 and pair[i, j] < min(pair[i, k], pair[k, j]) - margin:
            kept[i, j] = 0.0
    np.fill_diagonal(kept, 0.0)
    scores = solve(problem, Aracne(times="same", margin=margin)).solution.scores
    assert np.allclose(scores, kept)
    assert 0 < np.count_nonzero(scores) < 56


def test_mrnet_takes_what_is_relevant_and_not_redundant() -> None:
    problem = drawn()
    with_target, with_source = (information(rho) for rho in Mrnet().correlation(problem))
    scores = solve(problem, Mrnet()).solution.scores
    for target in range(8):
        taken: list[int] = []
        left = [gene for gene in range(8) if gene != target]
        expected = np.zeros(8)
        while left:
            worth = {
                j: with_target[target, j] - (np.mean([with_source[j, k] for k in taken]) if taken else 0.0)
                for j in left
            }
            best = max(left, key=lambda j: worth[j])
            if worth[best] <= 0:
                break
            expected[best] = worth[best]
            taken.append(best)
            left.remove(best)
        assert np.allclose(scores[target], expected)


def test_importances_of_a_target_sum_to_the_variance_its_trees_explain() -> None:
    problem = drawn()
    scores = solve(problem, Genie3(trees=30, candidates="all")).solution.scores
    assert (scores.sum(axis=1) <= 1.2).all()  # of bootstrap samples, whose variance is 1 on average
    assert (scores.sum(axis=1) >= 0.8).all()  # the trees are grown to the end


def test_own_levels_are_inputs_only_where_the_problem_has_own_effects() -> None:
    for own in (False, True):
        problem = drawn().model_copy(update={"own_effects": own})
        for solver in (Genie3(trees=10), Tigress(splits=5)):
            assert solve(problem, solver).solution.scores.diagonal().any() == own


def test_tigress_counts_the_steps_of_least_angle_regression() -> None:
    problem = drawn().model_copy(update={"own_effects": False})
    scores = solve(problem, Tigress(splits=2, steps=3), seed=5).solution.scores
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(int.from_bytes(b"opt", "big"),)))
    states, changes = (
        standardised(rows, problem.expression.states)
        for rows in (problem.expression.states, problem.expression.changes)
    )
    expected, size = np.zeros((8, 8)), states.shape[1]
    for _ in range(2):
        order = rng.permutation(size)
        for half in (order[: size // 2], order[size // 2 :]):
            scaled = rng.uniform(0.2, 1.0, (8, 1)) * states
            for target in range(8):
                others = np.delete(np.arange(8), target)
                expected[target, others] += _shares(scaled[others][:, half], changes[target, half], 3)
    assert np.allclose(scores, expected / 4)


def _shares(rows: Array, output: Array, steps: int) -> Array:
    """The slow twin: over the data themselves, a step at a time."""
    inputs = rows.T - rows.T.mean(axis=0)
    found = np.zeros(len(rows))
    for step in range(1, steps + 1):
        active = lars_path(inputs, output - output.mean(), max_iter=step, method="lar")[1]
        found[active] += 1 / steps
    return found


def test_scores_are_no_effects_and_have_no_objective() -> None:
    problem = optiframe.problem(dataset={"name": "grn.random-network", "genes": 6, "edges": 6})
    scored = optiframe.solve(problem, "genes.clr")
    assert not scored.solution.effects
    assert np.isnan(scored.objective)
    fitted = optiframe.solve(problem, "tvcs.htp", start=scored.solution)  # its edges are a start all the same
    assert np.isfinite(fitted.objective)


def test_tigress_refuses_series_too_short_to_be_cut_in_two() -> None:
    problem = NetworkIdentification(
        expression={"time": [0, 1, 2], "x": [1.0, 2.0, 1.0], "y": [2.0, 1.0, 5.0]}
    )
    with pytest.raises(optiframe.Unsuited, match="there are 2; give 3 at least"):
        solve(problem, Tigress())


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")  # where it is cut off
def test_more_rounds_only_add_to_the_same_ensemble() -> None:
    problem = drawn()
    whole = solve(problem, Genie3(trees=30), seed=3)
    cut = solve(problem, Genie3(trees=1000), seed=3, budget={"iterations": 3})
    assert whole.status == "converged"
    assert cut.status == "iteration_limit"
    assert np.array_equal(whole.solution.scores, cut.solution.scores)


@pytest.mark.parametrize("solver", ALL, ids=name)
def test_genes_that_never_change_have_no_edges(solver: EdgeScores) -> None:
    levels = {"steady": 0.1 * np.arange(1, 8), "still": np.full(7, 0.1), "free": [1, 3, 2, 5, 4, 7, 1]}
    problem = NetworkIdentification(expression={"time": np.arange(7), **levels})
    columns = solve(problem, solver).solution.columns()
    assert {*columns["target"]} <= {"free"}  # the others change by the same at every step
    assert "still" not in columns["source"]
