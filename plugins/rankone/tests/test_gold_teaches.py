"""Known answers teach skills, in every method that has skills."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_rankone.completion import skill_model
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust.intervals import skill_intervals, standard_errors

import optiframe

from .slow import co_occurrence, quietly, rows, single_coin, texts

SKILLS = np.random.default_rng(7).uniform(-0.1, 0.9, 30)


def crowd(known: int, seed: int = 0, classes: int = 2, **fields: Any) -> LabelAggregation:
    """300 tasks of 4 labels; the answers to the first `known` of them are given."""
    inputs = single_coin(seed, SKILLS, tasks=300, per_task=4, classes=classes)
    gold = {"task": np.arange(known), "label": inputs["truth"]["label"][:known]}
    return LabelAggregation(**inputs, gold=gold if known else None, **fields)


def errors(solver: Any, known: int, classes: int = 2, **fields: Any) -> tuple[float, float]:
    """Root mean square error of the skills, and the share of wrong answers to the last 150 tasks."""
    skill, answer = [], []
    for seed in range(4):
        problem = crowd(known, seed, classes, **fields)
        solution = quietly(problem, solver).solution
        skill.append(((solution.skills - SKILLS) ** 2).mean())
        answer.append((solution.predicted_codes() != problem.truth_codes)[150:].mean())
    return float(np.sqrt(np.mean(skill))), float(np.mean(answer))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "solver",
    [
        "rankone.pgd",
        "scipy.lbfgs",
        "labels.crowd",
        "labels.dawid-skene",
        "labels.one-coin-em",
        "labels.iwmv",
        "labels.glad",
    ],
)
def test_half_of_the_answers_take_a_tenth_off_the_error_of_skills(solver: str, classes: int) -> None:
    without, with_gold = errors(solver, 0, classes), errors(solver, 150, classes)
    assert with_gold[0] < 0.9 * without[0]
    assert with_gold[1] < without[1] + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"weights": "binary"}, {"weights": "count-squared"}, {"cutoff": 0.1}])
def test_gold_teaches_under_all_weights(fields: dict[str, Any]) -> None:
    assert errors("rankone.pgd", 150, **fields)[0] < errors("rankone.pgd", 0, **fields)[0]


def test_ratios_of_eigenvectors_learn_of_gold_a_little() -> None:
    assert errors("labels.ratio", 150)[0] < errors("labels.ratio", 0)[0]


def test_gold_is_one_more_worker_of_skill_1_in_the_least_squares() -> None:
    problem = crowd(80)
    completion = problem.formulation.problem  # type: ignore[union-attr]
    assert completion.least_squares.shape == (31,)
    assert [bound[-1] for bound in completion.bounds] == [1.0, 1.0]
    told = [
        (f"t{task}", f"w{worker:02}", label)
        for task, worker, label in zip(
            problem.labels.task, problem.labels.worker, problem.label_codes, strict=True
        )
    ]
    told += [(f"t{task}", "z", label) for task, label in enumerate(problem.gold_codes[:80])]
    joined = LabelAggregation(labels=rows(*told))
    shared, agreed = co_occurrence(joined)
    np.testing.assert_array_equal(completion.least_squares.known.toarray(), shared)
    expected = np.divide(2 * agreed, shared, out=np.ones_like(shared), where=shared > 0) - 1
    known = shared > 0
    np.testing.assert_allclose(completion.least_squares.targets.toarray()[known], expected[known])


def test_labels_left_as_they_are_give_the_same_skills(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = quietly(crowd(80), "rankone.pgd").solution.skills
    monkeypatch.setattr(skill_model, "_MOST_PAIRS", 10)
    np.testing.assert_allclose(quietly(crowd(80), "rankone.pgd").solution.skills, counted, atol=1e-5)


def test_an_answer_with_gold_can_be_where_a_run_begins_and_is_judged_by_the_same_objective() -> None:
    problem = crowd(80)
    found = quietly(problem, "rankone.pgd")
    again = optiframe.solve(problem, "rankone.pgd", start=found.solution)
    assert again.iterations < found.iterations
    assert problem.objective(found.solution) == pytest.approx(found.objective)
    assert again.objective == pytest.approx(found.objective)
    guessing = problem.from_skills(np.zeros(30))
    assert problem.objective(guessing) > found.objective


def test_a_worker_who_met_nobody_is_known_by_gold() -> None:
    # Of 40 tasks alone, "solo" is right on 36; the others share tasks of their own.
    told = [(f"t{t}", f"w{w}", (t + (w == 2 and t % 3 == 0)) % 2) for t in range(12) for w in range(3)]
    told += [(f"s{t:02}", "solo", int(t < 4)) for t in range(40)]
    gold = {"task": [f"s{t:02}" for t in range(40)], "label": [0] * 40}
    for solver in ("rankone.pgd", "rankone.coordinate", "labels.one-coin-em"):
        solution = quietly(LabelAggregation(labels=rows(*told), gold=gold), solver).solution
        skill = solution.skills[solution.worker_ids.tolist().index("solo")]
        assert skill == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
def test_errors_of_skills_fall_with_gold_and_intervals_hold_the_truth() -> None:
    held, widths = [], []
    for known in (0, 150):
        problems = [crowd(known, seed) for seed in range(6)]
        ends = [skill_intervals(p, quietly(p, "rankone.pgd").solution) for p in problems]
        held.append(np.mean([(low <= SKILLS) & (high >= SKILLS) for low, high in ends]))
        widths.append(np.mean([high - low for low, high in ends]))
    assert widths[1] < 0.95 * widths[0]
    assert min(held) > 0.8


def test_gold_alone_tells_a_skill_as_well_as_known_truths() -> None:
    told = [(f"s{t:02}", who, int(t < 8)) for t in range(40) for who in ("solo",)]
    told += [(f"t{t}", "other", t % 2) for t in range(4)]
    gold = {"task": [f"s{t:02}" for t in range(40)], "label": [0] * 40}
    problem = LabelAggregation(labels=rows(*told), gold=gold)
    other, solo = standard_errors(problem, quietly(problem, "rankone.pgd").solution)
    assert np.isinf(other)
    assert solo == pytest.approx(2 * np.sqrt(0.8 * 0.2 / 40), rel=0.03)


@pytest.mark.parametrize("solver", ["rankone.pgd", "labels.crowd"])
def test_who_labelled_gold_is_not_said_to_be_compared_with_nobody(solver: str) -> None:
    # "solo" meets nobody, "left" and "right" only each other; "left" and "solo" labelled gold.
    told = [(f"t{t:02}", f"w{w}", (t + (w == 2 and t % 3 == 0)) % 2) for t in range(12) for w in range(3)]
    told += [(f"s{t}", "solo", t % 2) for t in range(6)]
    told += [(f"p{t}", who, (t + (t == 3)) % 2) for t in range(6) for who in ("left", "right")]
    gold = {"task": ["s0", "s1", "p0", "p1"], "label": [0, 1, 0, 1]}
    without = texts(quietly(LabelAggregation(labels=rows(*told)), solver))
    assert "1 worker sharing no task with anyone" in without
    assert "2 workers in a bipartite group" in without
    with_gold = texts(quietly(LabelAggregation(labels=rows(*told), gold=gold), solver))
    assert "sharing no task with anyone" not in with_gold
    assert "bipartite group" not in with_gold


@pytest.mark.parametrize(
    ("solver", "parameters", "classes"),
    [
        ("labels.kos", {}, 2),
        ("labels.kos", {}, 3),
        ("labels.kos", {"multiclass": "one-vs-rest"}, 2),
        ("labels.kos", {"multiclass": "one-vs-rest"}, 3),
        pytest.param("labels.m3v", {"c": 0.1}, 2, marks=pytest.mark.slow),
        pytest.param("labels.m3v", {"c": 0.1}, 3, marks=pytest.mark.thorough),  # six seconds
    ],
)
def test_answers_improve_with_gold_where_a_method_has_no_skills(
    solver: str, parameters: dict[str, Any], classes: int
) -> None:
    wrong = []
    for known in (0, 150):
        problems = [crowd(known, seed, classes) for seed in range(6)]
        codes = [
            optiframe.solve(
                p, solver, seed=1, budget={"iterations": 100}, **parameters
            ).solution.predicted_codes()
            for p in problems
        ]
        wrong.append(np.mean([(c != p.truth_codes)[150:] for c, p in zip(codes, problems, strict=True)]))
    assert wrong[1] < wrong[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver",
    [
        "labels.crowd",
        "labels.dawid-skene",
        "labels.one-coin-em",
        "labels.glad",
        "labels.kos",
        "labels.m3v",
        "labels.kos:singular-vector",
    ],
)
def test_a_few_known_answers_win_against_a_majority_that_errs_on_them(solver: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    right = rng.random((10, 100)) < np.repeat([0.8, 0.1], [4, 6])[:, None]
    worker, task = np.indices(right.shape)
    labels = {
        "task": task.ravel(),
        "worker": worker.ravel(),
        "label": np.where(right, truth, 1 - truth).ravel(),
    }
    known = {"task": np.arange(3), "label": truth[:3]}
    problem = LabelAggregation(labels=labels, gold=known, truth={"task": np.arange(100), "label": truth})
    name, _, form = solver.partition(":")
    parameters = {"form": form} if form else {}
    without = LabelAggregation(labels=labels, truth=problem.truth)
    errors_of = [
        optiframe.solve(each, name, seed=1, budget={"iterations": 300}, **parameters).metrics["error"]
        for each in (problem, without)
    ]
    assert errors_of[0] < 0.05
    assert errors_of[1] > 0.9
