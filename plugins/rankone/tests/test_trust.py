"""The worker graph's eigenvalues and groups, Theorem 12, and who is named in the trust report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
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
from optiframe_rankone.trust.graph_spectrum import deviation, eigenvalues_by_component
from optiframe_rankone.trust.worker_findings import doubtful

import optiframe
from optiframe import InvalidInput
from optiframe.findings import Finding

from .slow import coin, components, rows, said, single_coin, texts, two_colourable


def ring(size: int, weight: float = 1.0) -> sp.csr_array:
    edges = np.zeros((size, size))
    for i in range(size):
        edges[i, (i + 1) % size] = edges[(i + 1) % size, i] = weight
    return sp.csr_array(edges)


def fixed_point(counts: np.ndarray, values: np.ndarray, low: float, high: float) -> np.ndarray:
    """The minimizer of g over [log low, log high] (Appendix D), by projected gradient steps."""
    z = np.full(len(counts), np.log(0.6))
    step = 1 / (2 * np.sqrt(len(counts)) * np.linalg.norm(counts, 2) * high**2)
    for _ in range(4000):
        x = np.exp(z)
        z = np.clip(z - step * (counts * (np.outer(x, x) - values)).sum(axis=1), np.log(low), np.log(high))
    return np.exp(z)


# Eigenvalues


def test_eigenvalues_of_cliques_and_rings_are_the_known_ones() -> None:
    for size in (3, 5, 9):
        clique = sp.csr_array(np.ones((size, size)) - np.eye(size))
        assert smallest_eigenvalue(clique) == pytest.approx(size - 2)
        odd = 2 - 2 * np.cos(np.pi / size)
        assert smallest_eigenvalue(ring(size)) == pytest.approx(odd)
        assert odd >= 1 / size**3
    assert smallest_eigenvalue(ring(6)) == 0.0


@given(st.integers(0, 10_000), st.integers(2, 9))
@settings(max_examples=30)
def test_the_eigenvalue_is_0_exactly_for_bipartite_components(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((size, size)) < 0.35, 1)
    edges = edges | edges.T
    groups = components(edges)
    component = np.empty(size, dtype=np.int64)
    for number, members in enumerate(groups):
        component[list(members)] = number
    found = eigenvalues_by_component(sp.csr_array(3.0 * edges), component)
    assert [value == 0 for value in found] == [two_colourable(edges, members) for members in groups]


# Theorem 12


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=5)
def test_the_bound_of_theorem_12_holds_for_the_limit_of_eq_4(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, low, high = 5, 0.4, 0.9
    skills = rng.uniform(low, high, size)
    counts = np.triu(rng.integers(1, 20, (size, size)), 1).astype(float)
    counts += counts.T
    noise = np.triu(rng.uniform(-0.05, 0.05, (size, size)), 1)
    noise += noise.T
    found = fixed_point(counts, np.outer(skills, skills) + noise, low, high)
    bound = skill_bound(sp.csr_array(counts), float(np.abs(noise).max()), low, high)
    assert np.linalg.norm(found - skills) <= bound


def test_hoeffding_holds_for_all_pairs_together_and_by_pair_is_never_worse() -> None:
    skills, risk, failed = np.full(4, 0.5), 0.2, 0
    for seed in range(30):
        problem = coin(seed, skills, tasks=40, per_task=3)
        fit = problem.formulation.problem.least_squares  # type: ignore[union-attr]  # it always formulates
        failed += bool((np.abs(fit.targets.data - 0.25) > deviation(fit.known, 2, risk)).any())
    assert failed / 30 <= risk
    counts = fit.known
    uniform = skill_bound(counts, float(deviation(counts, 2).max()), 0.3, 0.8)
    assert finite_task_bound(counts, 2, 0.3, 0.8) <= uniform
    assert deviation(counts, 3) == pytest.approx(deviation(counts, 2) * 3 / 4)


def test_the_bound_is_infinite_on_an_even_ring_and_refuses_impossible_ranges() -> None:
    assert skill_bound(ring(6, 100.0), 0.1, 0.3, 0.8) == np.inf
    assert finite_task_bound(ring(6, 100.0), 2, 0.3, 0.8) == np.inf
    with pytest.raises(InvalidInput, match="0 < kappa <= largest"):
        skill_bound(ring(5), 0.1, 0.0, 0.8)
    with pytest.raises(InvalidInput, match="risk must be between"):
        deviation(ring(5), 2, 1.0)


@pytest.mark.slow
def test_the_bound_is_mentioned_when_it_says_something_and_only_then() -> None:
    skills = np.array([0.3, 0.6, 0.9])
    few = coin(0, skills, tasks=60, per_task=3)
    assert "Theorem 12" not in texts(optiframe.solve(few, "rankone.pgd"))
    data = {"name": "synthetic.single-coin", "workers": 3, "tasks": 60_000, "skills": skills.tolist()}
    many = optiframe.problem(dataset=data)
    assert "Theorem 12" in texts(optiframe.solve(many, "rankone.pgd"))


# Who is named


def test_adversaries_and_spammers_are_told_apart_and_named() -> None:
    skills = np.array([0.8, 0.7, 0.8, 0.75, -0.7, 0.0])
    result = optiframe.solve(coin(2, skills, tasks=200, per_task=5), "rankone.pgd")
    assert said(result, "likely an adversary").about == (4,)
    assert said(result, "does not differ clearly from 0").about == (5,)


def test_who_seems_wrong_by_chance_is_said_in_plain_words_with_what_hangs_on_it() -> None:
    who = ["Ann", "Chen", "Ann", "Chen", "Ann", "Dee", "Chen"]
    table: dict[str, Any] = {"task": [1, 1, 2, 2, 3, 3, 4], "worker": who, "label": list("xxyxyyx")}
    values = np.array([0.5, -0.1, 0.2])

    def found(problem: LabelAggregation, skills: np.ndarray) -> tuple[Finding, ...]:
        ends = np.full(3, -0.9), np.full(3, 0.9)
        return tuple(doubtful(problem.crowd, problem.weighted_vote(skills), np.full(3, 0.5), *ends))

    problem = LabelAggregation(labels=table)
    assert problem.labels.worker_ids.tolist() == ["Ann", "Chen", "Dee"]
    findings = found(problem, values)
    # Without Chen, task 4 is tied instead of y; Ann alone decides on 1 and 2.
    assert texts(findings[:1]) == (
        "Chen seems to be wrong more often than right, which may be chance; the vote counts Chen's labels "
        "reversed; leaving them out would change 1 of 4 answers"
    )
    assert findings[0].about == ("Chen",)
    two = found(problem, -values)
    assert two[0].text.startswith("2 workers seem to be wrong more often than right")
    assert two[0].text.endswith(": Ann, Dee")
    table["label"][-1] = "z"
    three = found(LabelAggregation(labels=table), values)
    assert "than by guessing" in three[0].text
    assert "counts Chen's labels against what they say" in three[0].text


@pytest.mark.parametrize(("workers", "weak"), [(5, False), (21, True)])
def test_a_graph_that_hardly_tells_the_skills_is_named_and_others_are_not(workers: int, weak: bool) -> None:
    # A ring of workers; each two neighbours share eight tasks and agree on six.
    ends = [(i, k, end) for i in range(workers) for k in range(8) for end in (0, 1)]
    table = rows(*((f"{i}-{k}", (i + end) % workers, (k + (end and k > 5)) % 2) for i, k, end in ends))
    result = optiframe.solve(LabelAggregation(labels=table), "rankone.pgd")
    assert ("too few share tasks with others to tell skills well" in texts(result)) is weak


def test_the_sign_convention_is_said() -> None:
    problem = coin(0, np.full(5, 0.6), tasks=30, per_task=3)
    assert "number of labels, is positive;" in texts(optiframe.solve(problem, "rankone.pgd"))
    paper = problem.model_copy(update={"orientation": "workers"})
    assert "the sum of the skills is positive;" in texts(optiframe.solve(paper, "rankone.pgd"))


@pytest.mark.parametrize(
    ("solver", "signs", "reverses"),
    [
        ("labels.majority", False, False),
        ("labels.dawid-skene", False, False),
        ("labels.opt-ds", False, False),
        ("labels.one-coin-em", False, True),
        ("labels.iwmv", False, True),
        ("labels.glad", False, True),
        ("labels.ratio", True, True),
        ("rankone.pgd", True, True),
        ("scipy.lbfgs", True, True),
    ],
)
def test_findings_about_signs_and_reversed_votes_are_for_the_methods_they_are_about(
    solver: str, signs: bool, reverses: bool
) -> None:
    skills = np.array([0.8, 0.7, 0.8, 0.75, -0.7, -0.3])
    problem = coin(2, skills, tasks=200, per_task=5)
    told = texts(optiframe.solve(problem, solver))
    assert ("by convention" in told) is signs
    assert ("reverse" in told) is reverses
    assert ("likely an adversary" in told or "likely adversaries" in told) is (solver != "labels.majority")


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", ["rankone.pgd", "labels.crowd", "labels.dawid-skene", "labels.one-coin-em"]
)
def test_honest_workers_with_few_labels_are_seldom_called_adversaries(solver: str) -> None:
    def accused(seed: int) -> bool:
        skills = np.random.default_rng([seed, 1]).uniform(0.2, 0.8, 100)
        problem = coin(seed, skills, tasks=300, per_task=3)
        return "likely" in texts(optiframe.solve(problem, solver))

    assert sum(accused(seed) for seed in range(6)) <= 1  # 5% are meant to be, and 80% without Holm


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", ["rankone.pgd", "labels.crowd", "labels.dawid-skene", "labels.one-coin-em"]
)
def test_a_real_adversary_among_many_is_named(solver: str) -> None:
    skills = np.append(np.full(49, 0.6), -0.8)
    problem = coin(1, skills, tasks=800, per_task=5)
    assert said(optiframe.solve(problem, solver), "likely an adversary").about == (49,)


def test_labels_at_random_are_called_so_and_honest_ones_are_not() -> None:
    def called(skills: Any, seed: int) -> bool:
        found = optiframe.solve(coin(seed, skills, tasks=60, per_task=4), "labels.majority")
        return "no more than labels given at random" in texts(found)

    assert np.mean([called([0.0] * 6, seed) for seed in range(10)]) >= 0.8
    assert not any(called([0.6] * 6, seed) for seed in range(5))
    # As many adversaries as honest workers: the agreement cancels, its size does not.
    assert not any(called([0.8] * 3 + [-0.8] * 3, seed) for seed in range(5))


def test_a_task_that_only_rounding_decides_is_named():
    labels = {"task": list("pppqqqrrr"), "worker": list("abc") * 3, "label": list("xxyxxxxyx")}
    problem = LabelAggregation(labels=labels)
    answer = problem.weighted_vote(np.array([0.5, 0.5 - 1e-6, 0.0]))
    assert said(problem.diagnose(answer), "as good as tied").about == ("r",)


def test_an_answer_not_fitted_to_correlations_has_no_objective():
    data = optiframe.dataset("synthetic.single-coin", tasks=60, seed=3)
    problem = optiframe.problem(dataset=data)
    assert np.isnan(optiframe.solve(problem, "labels.one-coin-em").objective)
    fitted = optiframe.solve(problem, "rankone.pgd")
    assert fitted.objective > 0
    assert fitted.solved == problem.fingerprint()


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
    assert "Worker overlap: 2, on a scale from 0 (skills undetermined) to 2 (every pair shares tasks)" in told
    monkeypatch.setattr(groups, "_WORKERS", 5)
    large = optiframe.solve(problem, "rankone.pgd")
    assert "were not computed for so many workers" in texts(large)
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


def test_no_table_has_a_bound_that_estimated_skills_do_not_give() -> None:
    problem = LabelAggregation(labels=single_coin(1, SKILLS, tasks=50, per_task=3)["labels"])
    tables = optiframe.solve(problem, "rankone.pgd").to_tables()
    assert not any("bound" in column for column in [*tables["labels"], *tables["workers"]])


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
