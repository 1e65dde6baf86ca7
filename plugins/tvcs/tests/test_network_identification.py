"""Network identification: transitions, least squares in matrix form, metrics, caps, solvers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.datasets.gene_networks import RandomNetwork
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.networks.metrics import scores_against
from optiframe_tvcs.networks.objective import NetworkLeastSquares, filled, off_diagonal
from optiframe_tvcs.networks.problem import NetworkIdentification
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef, roc_auc_score

import optiframe
from optiframe import Minimize, solve
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.testing import check_derivatives

SERIES = {  # two series of three and two points, rows out of order
    "series": ["b", "a", "a", "b", "a"],
    "time": [1, 2, 0, 0, 1],
    "x": [5.0, 4.0, 1.0, 9.0, 2.0],
    "y": [0.0, 2.0, 3.0, 1.0, 7.0],
}


SMALL: dict[str, Any] = {
    "genes": 8, "edges": 10, "in_degree": 2, "out_degree": 3, "series": 6, "points": 12
}  # fmt: skip


def drawn(**parameters: Any) -> NetworkIdentification:
    return optiframe.problem(dataset={"name": "grn.random-network", **SMALL, **parameters})


def test_differences_are_never_taken_across_series() -> None:
    found = NetworkIdentification(expression=SERIES).expression
    assert found.genes.tolist() == ["x", "y"]
    assert found.states.tolist() == [[1.0, 2.0, 9.0], [3.0, 7.0, 1.0]]
    assert found.changes.tolist() == [[1.0, 2.0, -4.0], [4.0, -5.0, -1.0]]
    assert found.even


def test_a_table_with_a_row_for_each_gene_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "genes.csv").write_text("sep=;\nname;0;0,5;1\nada;1,5;1,2;1,1\nbab;2;2,2;2,3\n")
    turned = {"time": [0, 0.5, 1], "ada": [1.5, 1.2, 1.1], "bab": [2.0, 2.2, 2.3]}
    found = NetworkIdentification(expression=tmp_path / "genes.csv", columns={"gene": "name"}).expression
    same = NetworkIdentification(expression=turned).expression
    assert found.genes.tolist() == ["ada", "bab"]
    np.testing.assert_array_equal(found.states, same.states)
    np.testing.assert_array_equal(found.changes, same.changes)
    (tmp_path / "genes.csv").write_text("gene,0,1,2\nada,1,,3\nbab,4,5,6\n")
    with pytest.raises(optiframe.errors.InvalidInput, match="gene ada has no value at the time"):
        NetworkIdentification(expression=tmp_path / "genes.csv")
    (tmp_path / "genes.csv").write_text("gene,0,1,2\nada,1,,3\nbab,4,,6\n")
    with pytest.raises(optiframe.errors.InvalidInput, match="time 1: all cells are empty; leave it out"):
        NetworkIdentification(expression=tmp_path / "genes.csv")


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize(
    ("times", "switches", "said"),
    [
        (2, {"own_effects": True}, True),
        (2, {"intercept": True, "scale": True}, True),
        (3, {"own_effects": True, "intercept": True}, True),
        (3, {"own_effects": True}, False),
        (2, {}, False),
    ],
)
def test_edges_are_said_to_mean_nothing_where_all_is_explained_without(
    times: int, switches: dict[str, bool], said: bool
) -> None:
    rng = np.random.default_rng(0)
    series = {"time": range(times)} | {f"g{k}": rng.standard_normal(times) for k in range(5)}
    result = solve(NetworkIdentification(expression=series, total=3, **switches), progress=False)
    found = {finding.identifier for finding in result.findings}
    assert ("network.nothing-left" in found) == said
    assert "objective.gradient-differs" not in found


def test_row_numbers_of_r_and_pandas_are_no_gene(tmp_path: Path) -> None:
    frame = pd.DataFrame(SERIES)
    frame.to_csv(tmp_path / "levels.csv")
    read = pd.read_csv(tmp_path / "levels.csv")
    for levels in (tmp_path / "levels.csv", read):
        assert NetworkIdentification(expression=levels).genes.tolist() == ["x", "y"]


def test_an_index_of_times_or_genes_is_read() -> None:
    frame, expected = pd.DataFrame(SERIES), NetworkIdentification(expression=SERIES)
    assert NetworkIdentification(expression=frame.set_index(["series", "time"])) == expected
    one = frame[frame["series"] == "a"].drop(columns="series").set_index("time")
    turned = NetworkIdentification(expression=one.T.rename_axis("gene"))
    assert turned == NetworkIdentification(expression=one)
    assert turned.genes.tolist() == ["x", "y"]


def test_a_truth_may_name_genes_by_numbers_and_edges_by_true_and_false() -> None:
    levels = {"time": [0, 1, 2], "1001": [1.0, 2.0, 4.0], "1002": [3.0, 1.0, 2.0]}
    for ids in ([1001, 1002], [1001.0, 1002.0], ["1001", "1002"]):
        truth = {"source": ids, "target": ids[::-1], "edge": [True, False]}
        found = NetworkIdentification(expression=levels, truth=truth).truth
        assert found is not None
        assert found.tolist() == [[False, False], [True, False]]


def test_a_long_table_and_a_wide_one_say_the_same(tmp_path: Path) -> None:
    wide = pd.DataFrame(SERIES)
    long = wide.melt(["series", "time"], var_name="gene").sample(frac=1, random_state=0)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long.to_parquet(tmp_path / "long.parquet")
    wide.to_excel(tmp_path / "wide.xlsx", index=False)
    files = [str(tmp_path / name) for name in ("wide.csv", "long.parquet", "wide.xlsx")]
    given = [wide, long, SERIES, *files]
    problems = [NetworkIdentification(expression=one) for one in given]
    assert all(problem == problems[0] for problem in problems)
    renamed = wide.rename(columns={"series": "run", "time": "minute"})
    columns = {"series": "run", "time": "minute"}
    assert NetworkIdentification(expression=renamed, columns=columns).expression.genes.tolist() == ["x", "y"]
    single = {"time": [0, 1], "x": [1.0, 2.0], "y": [0.0, 1.0]}
    assert NetworkIdentification(expression=single).expression.states.shape == (2, 1)


def objective(own_effects: bool, genes: int = 4, transitions: int = 9) -> NetworkLeastSquares:
    states, changes = np.random.default_rng(2).standard_normal((2, genes, transitions))
    return NetworkLeastSquares(states=states, changes=changes, own_effects=own_effects)


@pytest.mark.parametrize("own_effects", [False, True])
def test_a_network_on_given_edges_is_fitted_exactly(own_effects: bool) -> None:
    rng = np.random.default_rng(4)
    states, changes = rng.standard_normal((2, 6, 15))
    function = NetworkLeastSquares(states=states, changes=changes, own_effects=own_effects)
    kept = rng.random(30) < 0.5
    kept[:5] = False  # nothing acts on the first gene
    exact = minimise_on(function, kept, np.zeros(30))
    assert np.allclose(exact, minimise_on(function, kept, np.zeros(30), "cg"), atol=1e-7)
    assert np.abs(function.gradient(exact)[kept]).max() < 1e-14
    assert not exact[~kept].any()


@pytest.mark.parametrize(("own_effects", "apart"), [(False, 0.0), (True, 0.0), (True, 3e-8)])
def test_genes_that_go_alike_are_fitted_all_the_same(own_effects: bool, apart: float) -> None:
    states, changes = np.random.default_rng(0).standard_normal((2, 4, 9))
    states[2] = 1.7 * states[1] + apart * states[3]
    function = NetworkLeastSquares(states=states, changes=changes, own_effects=own_effects)
    assert function.minimizer_on(np.arange(12)) is None
    found = minimise_on(function, np.ones(12, dtype=bool), np.zeros(12))
    assert np.abs(function.gradient(found)).max() < 1e-7


@pytest.mark.parametrize("own_effects", [False, True])
def test_the_derivatives_fit(own_effects: bool) -> None:
    check_derivatives(objective(own_effects))
    check_derivatives(objective(own_effects, genes=7, transitions=3))


def test_the_matrix_form_is_the_kronecker_one() -> None:
    function = objective(own_effects=False)
    genes = len(function.states)
    design = np.kron(np.eye(genes), function.states.T)[:, ~np.eye(genes, dtype=bool).ravel()]
    slow = LeastSquares(matrix=design, target=function.changes.ravel())
    x = np.random.default_rng(0).standard_normal(function.shape)
    # Theirs is a mean over the N T numbers, ours over the T transitions.
    assert function.value(x) == pytest.approx(genes * slow.value(x))
    assert np.allclose(function.gradient(x), genes * slow.gradient(x))
    assert genes * slow.curvature() <= function.curvature() * (1 + 1e-12)


def test_own_effects_are_fitted_for_any_network() -> None:
    function = objective(own_effects=True)
    x = np.random.default_rng(0).standard_normal(function.shape)
    misfit = function.changes - function.matrix(x) @ function.states
    slow = 0.0
    for gene, rest in enumerate(misfit):
        own = function.states[gene][:, np.newaxis]
        slow += float(np.linalg.lstsq(own, rest)[1][0])
    assert function.value(x) == pytest.approx(slow / (2 * function.states.shape[1]))


@pytest.mark.parametrize("own_effects", [False, True])
def test_cvxpy_sees_the_same_objective(own_effects: bool) -> None:
    function = objective(own_effects, genes=3)
    optimum = solve(Minimize(function), "cvxpy")
    x = optimum.solution
    assert np.abs(function.gradient(x)).max() < 1e-4
    assert function.value(x) == pytest.approx(solve(Minimize(function), "scipy.lbfgs").objective, abs=1e-6)


def test_an_intercept_and_a_scale_change_the_units_only() -> None:
    levels = RandomNetwork(genes=8, edges=10, in_degree=2, out_degree=3, series=6).inputs()["expression"]
    moved = {
        name: values if name in ("series", "time") else 3.0 + 10.0 * k * values
        for k, (name, values) in enumerate(levels.items())
    }
    options = {"own_effects": True, "intercept": True, "scale": True, "total": 8}
    plain, scaled = (
        NetworkIdentification(expression=each, **options).least_squares for each in (levels, moved)
    )
    assert np.allclose(plain.states, scaled.states)
    assert np.allclose(plain.changes, scaled.changes)


def test_a_constant_gene_keeps_its_unit() -> None:
    rng = np.random.default_rng(0)
    series = {"time": np.arange(20), "still": np.full(20, 0.1), "other": rng.standard_normal(20)}
    scaled = NetworkIdentification(expression=series, scale=True).least_squares.states
    assert (scaled[0] == 0.1).all()  # whose standard deviation is 1e-17 by rounding


def test_times_of_any_unit_are_uneven() -> None:
    series = {"time": [0.0, 1e-9, 4e-9, 5e-9], "a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1]}
    assert not NetworkIdentification(expression=series).expression.even


@pytest.mark.parametrize("name", ["tvcs.iht", "tvcs.gradmp", "tvcs.htp"])
def test_a_network_with_little_noise_is_found(name: str) -> None:
    result = solve(drawn(noise=0.01, seed=2), name)
    assert result.metrics["sensitivity"] == result.metrics["specificity"] == 1.0
    assert result.violation == 0.0
    truth = RandomNetwork(**SMALL, noise=0.01, seed=2).effects()
    assert np.abs(result.solution.weights - truth).max() < 0.1


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")  # where the caps allow nothing, say
@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 12), st.integers(0, 100))
def test_answers_keep_the_caps_and_have_no_self_edges(ins: int, outs: int, total: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = {f"g{i}": rng.standard_normal(10) for i in range(4)}
    problem = NetworkIdentification(
        expression={"time": np.arange(10), **levels}, in_degree=ins, out_degree=outs, total=total
    )
    for solver in ("tvcs.iht", "tvcs.gradmp"):
        edges = solve(problem, solver, budget={"iterations": 50}).solution.weights != 0
        assert not edges.diagonal().any()
        assert edges.sum(axis=1).max() <= ins
        assert edges.sum(axis=0).max() <= outs
        assert edges.sum() <= total


def test_caps_may_go_by_gene_or_by_ratio() -> None:
    problem = drawn(in_degree=2)
    table = {gene: k % 3 for k, gene in enumerate(problem.genes.tolist())}
    data = optiframe.dataset("grn.random-network", genes=8).inputs()["expression"]
    given = NetworkIdentification(expression=data, in_degree=table, out_degree=0.3, total=0.5)
    assert given.in_caps.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert given.out_caps.tolist() == [2] * 8  # of the 7 other genes
    assert given.over.total == 3


def test_a_start_is_a_network() -> None:
    problem = drawn()
    found = solve(problem, "tvcs.iht")
    again = solve(problem, "tvcs.iht", start=found.solution)
    assert again.iterations <= 2
    assert again.objective == pytest.approx(found.objective)


def test_the_answer_is_in_the_users_terms() -> None:
    problem = NetworkIdentification(expression=pd.DataFrame(SERIES), total=2)
    result = solve(problem, "tvcs.gradmp")
    frame = result.solution.frame()
    assert isinstance(frame, pd.DataFrame)
    assert set(frame["source"]) | set(frame["target"]) == {"x", "y"}
    assert frame["weight"].abs().is_monotonic_decreasing
    assert list(result.to_tables()) == ["edges", "genes"]
    by_hand = {("x", "y"): result.solution.weights[1, 0], ("y", "x"): result.solution.weights[0, 1]}
    assert {(s, t): w for s, t, w in frame.itertuples(index=False)} == by_hand
    assert result.metrics == {"edges": 2.0}


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_metrics_are_those_of_scikit_learn(seed: int, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(pairs) < 0.4
    truth[:2] = True, False
    scores = np.where(rng.random(pairs) < 0.5, 0.0, rng.integers(-3, 4, pairs) / 2)  # many ties
    found, strength = scores != 0, np.abs(scores)
    ours = scores_against(scores, truth)
    assert ours["auc"] == pytest.approx(roc_auc_score(truth, strength))
    assert ours["aupr"] == pytest.approx(average_precision_score(truth, strength))
    assert ours["f1"] == pytest.approx(f1_score(truth, found))
    assert ours["mcc"] == pytest.approx(matthews_corrcoef(truth, found))
    assert ours["accuracy"] == pytest.approx(np.mean(truth == found))
    sn, sp = found[truth].mean(), (~found)[~truth].mean()
    assert (ours["sensitivity"], ours["specificity"]) == (pytest.approx(sn), pytest.approx(sp))
    assert ours["auc_thresholded"] == pytest.approx(roc_auc_score(truth, found))
    assert ours["f_sn_sp"] == pytest.approx(2 * sn * sp / (sn + sp) if sn + sp else 0.0)


def test_metrics_without_edges_are_nan_and_not_an_error() -> None:
    found = scores_against(np.array([1.0, 0.0]), np.zeros(2, dtype=bool))
    assert math.isnan(found["sensitivity"])
    assert math.isnan(found["auc"])
    assert found["specificity"] == 0.5


def test_self_edges_of_the_truth_do_not_count() -> None:
    truth = {"source": ["x", "x"], "target": ["x", "y"], "edge": [1, 1]}
    problem = NetworkIdentification(expression=SERIES, truth=truth, total=2)
    assert problem.truth is not None
    assert problem.truth.tolist() == [[False, False], [True, False]]
    assert solve(problem, "tvcs.gradmp").metrics["sensitivity"] == 1.0


def test_scores_of_all_pairs_are_judged_whatever_the_edges() -> None:
    problem = drawn()
    scores = 1.0 - np.random.default_rng(0).random((8, 8))
    entries = off_diagonal(scores)
    few, every = (
        problem.metrics(problem.network(np.where(entries > least, entries, 0.0), scores))
        for least in (0.9, 0.0)
    )
    assert 0 < few["edges"] < every["edges"] == 56
    for which in ("auc", "aupr"):
        judged = few[f"{which}_of_scores"]
        assert judged == every[f"{which}_of_scores"] == every[which]  # with every pair an edge both are one
    assert "auc_of_scores" not in problem.metrics(problem.network(entries))


def test_pairs_without_an_edge_are_ranked_by_what_they_would_gain() -> None:
    problem = drawn().model_copy(update={"total": 3})
    network = solve(problem, "tvcs.iht").solution
    function, x = problem.least_squares, off_diagonal(network.weights)
    scores = off_diagonal(network.scores)
    assert scores[x != 0].min() > 1.0 > scores[x == 0].max()
    assert len(np.unique(scores)) == len(scores)
    gains = []
    for j in np.flatnonzero(x == 0):
        unit = np.eye(len(x))[j]
        step = -function.gradient(x)[j] / (unit @ function.hessian_product(x, unit))
        gains.append(function.value(x) - function.value(x + step * unit))
    assert (np.argsort(gains) == np.argsort(scores[x == 0])).all()


def test_off_diagonal_entries_go_there_and_back() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    assert off_diagonal(matrix).tolist() == [1.0, 2.0, 3.0, 5.0, 6.0, 7.0]
    assert np.array_equal(filled(off_diagonal(matrix), 3), matrix - np.diag(matrix.diagonal()))


def test_findings_say_what_cannot_be_believed() -> None:
    still = {"time": [0, 1, 3], "x": [1.0, 1.0, 1.0], "y": [0.0, 1.0, 3.0], "z": [1.0, 0.0, 2.0]}
    findings = solve(NetworkIdentification(expression=still, total=1), "tvcs.iht").findings
    assert [finding.about for finding in findings] == [("x",), (), ()]
    texts = " ".join(finding.text for finding in findings)
    assert "genes that never change: x" in texts
    assert "rests on the caps" in texts
    assert "not equally far apart" in texts
    pair = {"time": [0, 1], "x": [1.0, 2.0], "y": [0.0, 1.0]}
    (few,) = solve(NetworkIdentification(expression=pair, total=1), "tvcs.iht").findings
    assert few.text.startswith("1 transition of 2 genes")


@pytest.mark.parametrize(("edge", "said"), [(0, "no pair of genes"), (1, "every pair of genes")])
def test_a_truth_that_tells_no_networks_apart_is_pointed_out(edge: int, said: str) -> None:
    truth = {"source": ["x", "y"], "target": ["y", "x"], "edge": [edge, edge]}
    result = solve(NetworkIdentification(expression=SERIES, truth=truth), "tvcs.htp")
    texts = {finding.identifier: finding.text for finding in result.findings}
    assert f"in the truth {said} is an edge" in texts["network.one-sided-truth"]


def test_genes_that_may_be_one_are_pointed_out() -> None:
    levels = {**SERIES, "lexA": SERIES["x"], "LexA": SERIES["y"]}
    found = {f.identifier: f for f in solve(NetworkIdentification(expression=levels), "tvcs.htp").findings}
    assert found["data.spelled-twice"].about == ("lexA", "LexA")


def test_networks_are_compared_first_by_the_ranking_of_all_pairs() -> None:
    problem = drawn()
    metrics = solve(problem, "tvcs.htp").metrics
    assert next(name for name in metrics if name in problem.better) == "aupr_of_scores"


def test_a_matrix_is_a_truth_without_its_diagonal() -> None:
    problem = NetworkIdentification(expression=SERIES, truth=np.array([[True, True], [False, True]]))
    assert problem.truth.tolist() == [[False, True], [False, False]]
