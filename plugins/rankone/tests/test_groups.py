"""Groups of workers: eigenvalues, Theorem 12 and Lemma 3's bound, in the answer and as functions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_rankone import (
    error_bounds,
    finite_task_bound,
    shared_tasks,
    skill_bound,
    smallest_eigenvalue,
    worker_groups,
)
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust import groups
from optiframe_rankone.trust.graph_spectrum import deviation

import optiframe
from optiframe import InvalidInput

from .slow import single_coin, texts

SKILLS = np.array([0.3, 0.6, 0.9, 0.5])


def four_and_a_pair(tasks: int = 400) -> LabelAggregation:
    """A clique of four workers, and two more who only meet each other."""
    labels = single_coin(0, SKILLS, tasks=tasks, per_task=4)["labels"]
    pair = {"task": [9000, 9000, 9001, 9001], "worker": [7, 8, 7, 8], "label": [0, 0, 1, 1]}
    return LabelAggregation(labels={key: np.concatenate([labels[key], pair[key]]) for key in pair})


def test_the_answer_has_a_row_for_each_group_with_what_is_promised_there() -> None:
    problem = four_and_a_pair()
    result = optiframe.solve(problem, "rankone.pgd")
    table = result.to_tables()["groups"]
    assert table["first_worker"].tolist() == [0, 7]
    assert table["workers"].tolist() == [4, 2]
    assert table["determined"].tolist() == [True, False]
    assert table["smallest_eigenvalue"] == pytest.approx([2.0, 0.0])
    shared, size = shared_tasks(problem)[:4][:, :4], np.abs(result.solution.skills[:4])
    kappa, largest = float(size.min()), float(size.max())
    worst = float(deviation(shared, 2).max())
    assert table["theorem_12"] == pytest.approx([skill_bound(shared, worst, kappa, largest) / 2, np.inf])
    finite = finite_task_bound(shared, 2, kappa, largest) / 2
    assert table["finite_task"] == pytest.approx([finite, np.inf])
    assert finite <= table["theorem_12"][0]


@pytest.mark.parametrize("weights", ["binary", "count-squared"])
def test_the_bounds_are_those_of_the_weights_that_are_fitted(weights: str) -> None:
    labels = single_coin(0, SKILLS, tasks=400, per_task=2)["labels"]
    problem = LabelAggregation(labels=labels, weights=weights)
    solution = optiframe.solve(problem, "rankone.exponentiated").solution
    shared = shared_tasks(problem)
    counts = shared.toarray()
    fitted = sp.csr_array(counts**2 if weights == "count-squared" else (counts > 0).astype(float))
    size, table = np.abs(solution.skills), worker_groups(problem, solution)
    kappa, largest = float(size.min()), float(size.max())
    errors = np.zeros_like(counts)
    errors[shared.nonzero()] = deviation(shared, 2)
    assert table["theorem_12"] == pytest.approx(skill_bound(fitted, errors.max(), kappa, largest) / 2)
    dense = fitted.toarray()
    strength = kappa**2 * np.linalg.eigvalsh(np.diag(dense.sum(axis=1)) + dense)[0]
    moved = float(np.linalg.norm((dense * errors).sum(axis=1)))
    assert table["finite_task"] == pytest.approx(largest * moved / strength / 2)
    assert table["finite_task"] <= table["theorem_12"]
    plain = worker_groups(LabelAggregation(labels=labels), solution)
    assert plain["finite_task"] != pytest.approx(table["finite_task"], rel=1e-3)


def test_without_an_answer_the_groups_come_without_bounds() -> None:
    columns = ["first_worker", "workers", "determined", "smallest_eigenvalue"]
    assert list(worker_groups(four_and_a_pair())) == columns


def test_with_a_cutoff_the_groups_are_those_of_the_pairs_it_keeps_and_nothing_is_promised() -> None:
    skills = np.array([0.9, 0.8, 0.7, 0.5, 0.2, 0.2])
    labels = single_coin(0, skills, tasks=300, per_task=6)["labels"]
    problem = LabelAggregation(labels=labels, cutoff=0.2)
    result = optiframe.solve(problem, "rankone.pgd")
    kept = problem.formulation.problem.least_squares.known.toarray() > 0
    assert 0 < kept.sum() < 30  # everyone met everyone, and some pairs were dropped
    component = problem.worker_graph.component
    table = worker_groups(problem, result.solution)
    for group, least in enumerate(table["smallest_eigenvalue"]):
        edges = kept[np.ix_(component == group, component == group)].astype(float)
        dense = np.linalg.eigvalsh(np.diag(edges.sum(axis=1)) + edges)[0]
        assert least == pytest.approx(dense, abs=1e-9)
    assert table["smallest_eigenvalue"].max() > 0
    assert np.isinf(table["finite_task"]).all()
    assert np.isinf(table["theorem_12"]).all()


def test_the_report_gives_the_least_eigenvalue_or_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = four_and_a_pair()
    told = texts(optiframe.solve(problem, "rankone.pgd"))
    assert "shared tasks tie the skills together by 2, where 0 is not at all and 2 is everyone" in told
    monkeypatch.setattr(groups, "_WORKERS", 5)
    large = optiframe.solve(problem, "rankone.pgd")
    assert "is not worked out for so many workers" in texts(large)
    assert "groups" not in large.to_tables()
    assert len(worker_groups(problem, large.solution)["workers"]) == 2


def test_groups_of_an_answer_without_skills_are_refused() -> None:
    problem = four_and_a_pair()
    with pytest.raises(InvalidInput, match="has no skills"):
        worker_groups(problem, optiframe.solve(problem, "labels.majority").solution)


@pytest.mark.parametrize("degree", [2, 30])
def test_larger_graphs_have_the_eigenvalue_of_the_dense_route(degree: int) -> None:
    size = 601
    edges = np.zeros((size, size))
    rng = np.random.default_rng(0)
    for step in range(1, degree // 2 + 1):
        other = (np.arange(size) + step) % size if degree == 2 else rng.permutation(size)
        edges[np.arange(size), other] = edges[other, np.arange(size)] = 1.0
    np.fill_diagonal(edges, 0.0)
    dense = np.linalg.eigvalsh(np.diag(edges.sum(axis=1)) + edges)[0]
    assert smallest_eigenvalue(sp.csr_array(edges)) == pytest.approx(dense, rel=1e-5)


def test_a_large_bipartite_graph_has_the_eigenvalue_0_exactly() -> None:
    edges = np.kron([[0.0, 1.0], [1.0, 0.0]], np.ones((300, 300)))
    assert smallest_eigenvalue(sp.csr_array(edges)) == 0.0


def test_the_answer_has_lemma_3s_bound_of_each_task_and_0_for_gold() -> None:
    inputs = single_coin(1, SKILLS, tasks=50, per_task=3)
    gold = {"task": [int(inputs["labels"]["task"][0])], "label": [int(inputs["labels"]["label"][0])]}
    problem = LabelAggregation(labels=inputs["labels"], gold=gold)
    result = optiframe.solve(problem, "rankone.pgd")
    bound = result.to_tables()["labels"]["error_bound"]
    certain = problem.gold_codes >= 0
    assert (bound[certain] == 0.0).all()
    assert bound[~certain] == pytest.approx(error_bounds(problem, result.solution.skills)[~certain])
    assert "error_bound" not in optiframe.solve(problem, "labels.majority").to_tables()["labels"]


@pytest.mark.parametrize(
    ("skills", "message"),
    [
        (np.ones(3), "4 numbers, one for each worker, got 3"),
        ([0.1, 2.0, 0.1, 0.1], "the skill of worker 1 is 2; with 2 classes a skill is a number from -1"),
        ([0.1, 0.1, -1.5, 0.1], "the skill of worker 2 is -1.5"),
        ([0.1, 0.1, 0.1, np.nan], "nan"),
    ],
)
def test_skills_that_nobody_can_have_get_no_bounds(skills: object, message: str) -> None:
    problem = LabelAggregation(labels=single_coin(1, SKILLS, tasks=50, per_task=3)["labels"])
    with pytest.raises(InvalidInput, match=message):
        error_bounds(problem, skills)
