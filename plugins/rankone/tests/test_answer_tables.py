"""Tables beside the labels: classes, probabilities, confusion matrices; medians of ordered classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_rankone import answer_tables
from optiframe_rankone.answer import Aggregation

import optiframe
from optiframe import InvalidInput

from .slow import coin, quietly

SKILLS = np.array([0.9, 0.7, 0.5, 0.3, 0.8])
WITH_MATRICES = ["labels.crowd", "labels.dawid-skene", "labels.opt-ds"]


@pytest.mark.slow
@pytest.mark.parametrize("solver", WITH_MATRICES)
def test_confusion_matrices_are_near_the_true_ones_in_array_and_table(solver: str) -> None:
    problem = coin(0, SKILLS, tasks=3000, per_task=4, classes=3)
    result = quietly(problem, solver)
    matrices = result.solution.confusion
    np.testing.assert_allclose(matrices.sum(axis=2), 1.0)
    right = (1 + 2 * SKILLS) / 3
    true = (right[:, None, None] - (1 - right[:, None, None]) / 2) * np.eye(3)
    true += (1 - right[:, None, None]) / 2
    np.testing.assert_allclose(matrices, true, atol=0.09)
    table = result.to_tables()["confusion"]
    rows = zip(*(table[name].tolist() for name in ("worker", "class", "label", "probability")), strict=True)
    found = {row[:3]: row[3] for row in rows}
    assert len(found) == 5 * 3 * 3
    assert found[4, 0, 2] == matrices[4, 0, 2]
    assert found[2, 1, 0] == matrices[2, 1, 0]


def test_dawid_skene_matrices_are_the_expected_shares_of_labels_given_the_answer_before() -> None:
    # After one step the matrices come of the vote shares, by loops here.
    problem = coin(1, SKILLS, tasks=30, per_task=3, classes=2)
    answer = quietly(problem, "labels.dawid-skene", iterations=1).solution
    labels, counts = problem.labels, np.zeros((5, 2, 2))
    votes = quietly(problem, "labels.majority").solution.probabilities
    for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
        counts[worker, :, label] += votes[task]
    np.testing.assert_allclose(answer.confusion, counts / counts.sum(axis=2, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(answer.prior, votes.mean(axis=0))


@pytest.mark.parametrize("solver", ["labels.majority", "rankone.pgd", "labels.one-coin-em"])
def test_methods_without_matrices_have_no_such_table(solver: str) -> None:
    result = quietly(coin(0, SKILLS, tasks=40, per_task=3), solver)
    assert result.solution.confusion is None
    assert "confusion" not in result.to_tables()


def test_classes_and_probabilities_come_with_every_answer() -> None:
    labels = {"task": list("aaabbc"), "worker": [1, 2, 3, 1, 2, 3], "label": list("xxyyxy")}
    tables = optiframe.solve(
        optiframe.problem("label-aggregation", labels=labels), "labels.majority"
    ).to_tables()
    assert tables["classes"]["class"].tolist() == ["x", "y"]
    assert tables["classes"]["labels"].tolist() == [3, 3]
    np.testing.assert_allclose(tables["classes"]["share"], [(2 / 3 + 1 / 2) / 3, (1 / 3 + 1 / 2 + 1) / 3])
    assert tables["probabilities"]["task"].tolist() == list("aabbcc")
    assert tables["probabilities"]["label"].tolist() == list("xyxyxy")
    np.testing.assert_allclose(tables["probabilities"]["probability"], [2 / 3, 1 / 3, 1 / 2, 1 / 2, 0, 1])


def test_tables_of_more_rows_than_anybody_reads_stay_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_tables, "MOST_ROWS", 25)
    result = quietly(coin(0, SKILLS, tasks=40, per_task=3), "labels.dawid-skene")
    tables = result.to_tables()
    assert "probabilities" not in tables
    assert len(tables["confusion"]["worker"]) == 20
    assert list(tables)[:2] == ["labels", "workers"]


def test_confusion_of_the_wrong_shape_is_refused() -> None:
    answer = ordered([[0.5, 0.5]], classes=np.array([1, 2]))
    object.__setattr__(answer, "confusion", np.ones((1, 2, 3)))
    with pytest.raises(InvalidInput, match=r"confusion must be finite numbers of shape \(1, 2, 2\)"):
        answer.check_numbers()


# Ordered classes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "predicted", "median"), [("labels.majority", 0.42, 0.26), ("labels.crowd", 0.147, 0.134)]
)
def test_medians_are_nearer_to_the_grades_of_web_as_the_page_says(
    solver: str, predicted: float, median: float, data_folder: Path
) -> None:
    problem = optiframe.problem(dataset="labels.web")
    answer, known = optiframe.solve(problem, solver).solution, problem.truth_codes >= 0
    truth = problem.crowd.true_classes[problem.truth_codes[known]]
    assert abs(answer.predicted()[known] - truth).mean() == pytest.approx(predicted, abs=0.005)
    assert abs(answer.medians()[known] - truth).mean() == pytest.approx(median, abs=0.005)


def ordered(shares: list[list[float]], classes: Any) -> Aggregation:
    ids = np.arange(len(shares))
    return Aggregation(ids, np.array(["w"]), classes, np.array(shares), "votes")


def test_the_median_is_off_by_no_more_classes_than_any_other_decision() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(5, 0.5), size=200)
    answer = ordered(shares.tolist(), np.array([5, 10, 20, 40, 80]))
    chosen = np.searchsorted(answer.classes, answer.medians())
    off = np.abs(np.arange(5)[:, None] - np.arange(5)) @ shares.T  # (decision, task)
    np.testing.assert_allclose(off[chosen, np.arange(200)], off.min(axis=0))
    assert (answer.medians() != answer.predicted()).any()


def test_of_two_medians_the_lower_one_is_taken() -> None:
    answer = ordered([[0.5, 0.0, 0.5], [0.1, 0.2, 0.7]], np.array([1, 2, 3]))
    assert answer.medians().tolist() == [1, 3]


def test_classes_that_are_words_need_an_order() -> None:
    answer = ordered([[0.4, 0.3, 0.3]], np.array(["bad", "fair", "good"], dtype=object))
    assert answer.medians(["good", "bad", "fair"]).tolist() == ["bad"]
    with pytest.raises(InvalidInput, match=r"give their order .* medians\(order=\['bad', 'fair', 'good'\]\)"):
        answer.medians()
    for wrong in (["bad", "fair"], ["bad", "fair", "best"], ["bad", "bad", "fair", "good"]):
        with pytest.raises(InvalidInput, match="order must have each of the classes"):
            answer.medians(wrong)
