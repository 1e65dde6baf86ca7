"""Data sets and the problem they are for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_comrade.problem import LinearClassification

import optiframe
from optiframe import InvalidInput
from optiframe.problems.objectives.losses import LeastSquares, Logistic

from .classification_twins import planted


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("name", "shape", "positives", "test_rows"),
    [("libsvm.a9a", (32561, 123), 7841, 16281), ("libsvm.w5a", (9888, 300), 281, 39861)],
)
def test_the_real_data_have_the_published_shapes(
    name: str, shape: tuple[int, int], positives: int, test_rows: int
) -> None:
    problem = optiframe.problem(dataset=name)
    assert sp.issparse(problem.matrix)
    assert problem.matrix.shape == shape
    assert (problem.target > 0).sum() == positives
    assert len(problem.test_target) == test_rows
    assert set(np.unique(problem.test_target)) == {-1.0, 1.0}
    assert problem.function.l2 == 1 / shape[0]


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_a9a_is_solved_to_its_known_accuracy() -> None:
    problem = optiframe.problem(dataset={"name": "libsvm.a9a", "l2": 1e-3})
    assert problem.function.l2 == 1e-3
    result = optiframe.solve(
        problem, "newton.comrade", filter="mean", budget={"iterations": 6, "tolerance": 0.01}
    )
    assert result.metrics["accuracy"] == pytest.approx(0.848, abs=0.003)
    assert result.metrics["test_accuracy"] == pytest.approx(0.849, abs=0.003)
    assert 0 < result.metrics["gap"] < 2e-3
    assert result.trace["bytes_up"][-1] == result.iterations * 20 * (8 * 123 + 8)


@pytest.mark.parametrize("name", ["synthetic.covtype-shape", "synthetic.epsilon-shape"])
def test_generated_data_have_the_shape_asked_for_and_are_repeated_by_their_seed(name: str) -> None:
    asked = {"name": name, "terms": 500, "columns": 12, "test_rows": 100, "seed": 3}
    problem = optiframe.problem(dataset=asked)
    assert problem.matrix.shape == (500, 12)
    assert problem.test_matrix.shape == (100, 12)
    assert 0.3 < (problem.target > 0).mean() < 0.7
    assert problem == optiframe.problem(dataset=asked)
    assert problem != optiframe.problem(dataset={**asked, "seed": 4})
    scales = problem.matrix.std(axis=0)
    assert scales.max() / scales.min() == pytest.approx(10, rel=0.4)


def test_the_default_sizes_are_those_of_the_names() -> None:
    covtype, epsilon = (optiframe.dataset(f"synthetic.{name}-shape") for name in ("covtype", "epsilon"))
    assert covtype.shape == (581_012, 54)
    assert epsilon.shape == (40_000, 2_000)


def small(**changes: Any) -> LinearClassification:
    f = planted(60, 3)
    return LinearClassification(**({"matrix": f.matrix, "target": f.target} | changes))


def test_l2_is_the_lambda_of_equation_1() -> None:
    f = planted(60, 3)
    problem = small(l2=0.5)
    w = np.array([1.0, -2.0, 0.5])
    by_hand = np.mean(np.log1p(np.exp(-f.target * (f.matrix @ w)))) + 0.5 / 2 * (w @ w)
    assert problem.objective(w) == pytest.approx(by_hand, rel=1e-12)
    assert small().function.l2 == 1 / 60  # the experiments' lambda/(2n), lambda = 1


def test_labels_0_and_1_become_minus_1_and_1() -> None:
    f = planted(60, 3)
    assert small(target=(f.target + 1) / 2) == small()
    with pytest.raises(InvalidInput, match="row 1: label 3; labels must be -1 and 1, or 0 and 1"):
        small(target=np.full(60, 3.0))


def test_other_losses_are_chosen_by_name() -> None:
    assert isinstance(small().function, Logistic)
    assert isinstance(small(loss="least-squares").function, LeastSquares)


def test_test_rows_may_have_fewer_columns_and_not_more() -> None:
    f = planted(60, 3)
    narrow = small(test_matrix=f.matrix[:10, :2], test_target=f.target[:10])
    w = np.array([1.0, 2.0, 100.0])
    scores = np.asarray(f.matrix)[:10, :2] @ w[:2]
    assert narrow.accuracy(w, test=True) == np.mean(scores * f.target[:10] > 0)
    for changes, why in (
        ({"test_matrix": np.ones((2, 4)), "test_target": np.ones(2)}, "4 columns and matrix 3"),
        ({"test_matrix": np.ones((2, 3)), "test_target": np.ones(3)}, "2 rows, test_target 3 labels"),
        ({"test_matrix": np.ones((2, 3))}, "together, or neither"),
        ({"target": np.ones(7)}, "matrix has 60 rows, target 7 values"),
    ):
        with pytest.raises(InvalidInput, match=why):
            small(**changes)
    with pytest.raises(InvalidInput, match="there are no test rows"):
        small().accuracy(np.ones(3), test=True)


@pytest.mark.parametrize("name", ["newton.exact", "newton.polished"])
def test_units_of_columns_change_no_minimum(name: str) -> None:
    rng = np.random.default_rng(0)
    matrix, units = rng.standard_normal((600, 4)), [1e-6, 1.0, 1.0, 1e6]
    target = np.sign(matrix @ [1.0, -1.0, 0.5, 1.0] + rng.logistic(size=600))
    plain = LinearClassification(matrix=matrix, target=target, l2=0.0)
    scaled = LinearClassification(matrix=matrix * units, target=target, l2=0.0)
    assert scaled.lowest == pytest.approx(plain.lowest, rel=1e-12)
    given = {} if name == "newton.exact" else {"workers": 4}
    assert optiframe.solve(scaled, name, **given).metrics["gap"] < 1e-9


def test_the_gap_is_reported_unless_it_is_switched_off() -> None:
    best = optiframe.solve(small(), "newton.exact", budget={"tolerance": 1e-12})
    assert best.metrics["gap"] < 1e-15
    assert small().metrics(np.zeros(3))["gap"] == pytest.approx(np.log(2) - best.objective)
    assert "gap" not in small(gap=False).metrics(np.zeros(3))


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_an_answer_that_is_not_finite_has_neither_accuracy_nor_gap(entry: float) -> None:
    f = planted(60, 3)
    judged = small(test_matrix=f.matrix, test_target=f.target)
    found = judged.metrics(np.array([1.0, entry, 0.0]))
    assert set(found) == {"accuracy", "test_accuracy", "gap"}
    assert all(np.isnan(value) for value in found.values())
    assert judged.diagnose(np.full(3, entry)) == ()


def test_the_trace_has_the_training_accuracy_of_every_step() -> None:
    problem = small()
    budget = {"iterations": 3, "tolerance": 0.0}
    with pytest.warns(optiframe.NotConverged):
        result = optiframe.solve(problem, "newton.comrade", workers=2, budget=budget)
    expected = [problem.accuracy(point) for point in result.detail.points]
    assert result.trace["accuracy"][: len(expected)] == expected


def test_an_accuracy_no_better_than_the_commoner_label_is_a_finding() -> None:
    rng = np.random.default_rng(0)
    target = np.where(np.arange(100) < 95, -1.0, 1.0)
    problem = LinearClassification(matrix=rng.standard_normal((100, 2)), target=target)
    (finding,) = problem.diagnose(np.array([1e-3, 0.0]))
    assert "always answering the commoner label (95.0%)" in finding.text


def test_a_missing_file_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    monkeypatch.setenv("OPTIFRAME_CACHE", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"libsvm/a9a.gz.*OPTIFRAME_DATA.*LIBSVM data page"):
        optiframe.problem(dataset="libsvm.a9a")
