"""Intervals of skills from posteriors, and at the ends of the box: by definition, and against the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from optiframe_rankone import intervals
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust.accuracy_intervals import evidence, posterior_intervals
from optiframe_rankone.trust.intervals import skill_intervals
from scipy.stats import beta

import optiframe
from optiframe import InvalidInput

from .slow import coin, rows

OTHERS = ("labels.crowd", "labels.dawid-skene")
SKILLS = np.array([0.8, 0.6, 0.7, 0.2, -0.3, 0.5])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_intervals_are_those_of_clopper_and_pearson_for_known_labels_that_tell_as_much(
    classes: int,
) -> None:
    problem = coin(3, SKILLS.clip(-0.2), tasks=30, per_task=4, classes=classes)
    solution = optiframe.solve(problem, "labels.crowd").solution
    low, high = posterior_intervals(problem.crowd, solution, 0.8)
    for worker in range(6):
        labels = [
            (solution.probabilities[task, label], solution.probabilities[task].max())
            for task, who, label in zip(
                problem.labels.task, problem.labels.worker, problem.label_codes, strict=True
            )
            if who == worker
        ]
        q, largest = np.array(labels).T
        n, p, doubt = len(q), q.mean(), 1 - largest.mean()
        variance = p * (1 - p) / n + (q * (1 - q)).sum() / n**2 + doubt**2 / 12
        known = p * (1 - p) / variance
        assert known < n
        ends = (
            beta.ppf(0.1, p * known, known - p * known + 1),
            beta.ppf(0.9, p * known + 1, known - p * known),
        )
        skills = [(classes * end - 1) / (classes - 1) for end in ends]
        assert low[worker] == pytest.approx(min(skills[0], solution.skills[worker]))
        assert high[worker] == pytest.approx(max(skills[1], solution.skills[worker]))


def test_a_worker_who_was_always_right_may_always_be_right_and_need_not() -> None:
    labels = rows(*((task, worker, task % 2) for task in range(20) for worker in range(4)))
    problem = LabelAggregation(labels=labels)
    solution = optiframe.solve(problem, "labels.dawid-skene").solution
    low, high = posterior_intervals(problem.crowd, solution, 0.9)
    assert high == pytest.approx(np.ones(4))
    # Of 20 right labels an accuracy of .05^(1/20) is the least that is not refused.
    assert low == pytest.approx(np.full(4, 2 * 0.05 ** (1 / 20) - 1), abs=1e-3)


def test_labels_that_nobody_checks_say_nothing_but_for_gold() -> None:
    together = [(task, worker, task % 2) for task in range(20) for worker in range(3)]
    labels = rows(*together, *((f"s{task}", "alone", task % 2) for task in range(9)))
    known = {"task": [f"s{t}" for t in range(9)], "label": [0, 1] * 4 + [0]}
    for gold in (None, known):
        problem = LabelAggregation(labels=labels, gold=gold)
        low, high = skill_intervals(problem, optiframe.solve(problem, "labels.crowd").solution)
        at = problem.labels.worker_ids.tolist().index("alone")
        assert high[at] == 1.0
        if gold is None:
            assert low[at] == -1.0
        else:
            assert low[at] > 0.2


@pytest.mark.parametrize("solver", [*OTHERS, "rankone.pgd"])
def test_the_table_of_an_answer_has_the_intervals_of_its_own_method(solver: str) -> None:
    result = optiframe.solve(coin(1, SKILLS, tasks=60, per_task=4), solver)
    workers, table = result.to_tables()["workers"], intervals(result)
    assert np.array_equal(workers["skill_low"], table["low"])
    assert np.array_equal(workers["skill_high"], table["high"])
    assert workers["accuracy_low"] == pytest.approx((1 + table["low"]) / 2)
    assert (table["low"] <= table["skill"]).all()
    assert (table["skill"] <= table["high"]).all()
    assert (table["error"] > 0).all()
    own = "posterior" if solver in OTHERS else "sandwich"
    other = "sandwich" if own == "posterior" else "posterior"
    assert np.array_equal(intervals(result, method=own)["error"], table["error"])
    assert not np.allclose(intervals(result, method=other)["error"], table["error"])
    with pytest.raises(InvalidInput, match="level must be between"):
        intervals(result, level=1.0)


def test_evidence_is_never_more_than_the_labels_and_less_the_more_the_answer_doubts() -> None:
    problem = coin(1, SKILLS, tasks=60, per_task=4)
    solution = optiframe.solve(problem, "labels.crowd").solution
    sure, unsure = (
        evidence(problem.crowd, replace(solution, scores=k * solution.scores)) for k in (3.0, 0.3)
    )
    assert (sure.labels <= problem.labels_per_worker + 1e-9).all()
    assert (unsure.labels < sure.labels).all()
    assert (sure.right <= sure.labels).all()


def at_the_box(seed: int) -> tuple[LabelAggregation, np.ndarray]:
    """Good workers, whom the box holds below what their labels say."""
    skills = np.random.default_rng(seed).uniform(0.7, 1.0, 12)
    return coin(seed, skills, tasks=250, per_task=5), skills


def test_an_interval_at_an_end_of_the_box_reaches_to_the_end_of_the_range() -> None:
    problem, _ = at_the_box(0)
    solution = optiframe.solve(problem, "rankone.pgd").solution
    held = solution.skills >= problem.box[1] - 1e-6
    assert 0 < held.sum() < 12
    low, high = skill_intervals(problem, solution)
    assert (high[held] == 1.0).all()
    assert (low < solution.skills).all()
    reversed_ = problem.from_skills(-solution.skills)  # gold or a convention may say that all are wrong
    lowest = replace(reversed_, skills=-solution.skills)
    assert (skill_intervals(problem, lowest)[0][held] == -1.0).all()


@pytest.mark.slow
def test_nine_of_ten_intervals_at_the_box_hold_the_true_skill() -> None:
    held, inside = [], []
    for seed in range(16):
        problem, skills = at_the_box(seed)
        solution = optiframe.solve(problem, "rankone.pgd", trace=False).solution
        low, high = skill_intervals(problem, solution)
        end = solution.skills >= problem.box[1] - 1e-6
        covered = (low <= skills) & (skills <= high)
        held += covered[end].tolist()
        inside += covered[~end].tolist()
    assert len(held) > 50
    assert np.mean(held) >= 0.86  # .69 where they end at the skill plus its error
    assert np.mean(inside) >= 0.86


@pytest.mark.slow
@pytest.mark.parametrize("solver", OTHERS)
def test_nine_of_ten_intervals_from_posteriors_hold_the_true_skill(solver: str) -> None:
    held = []
    for seed in range(12):
        skills = np.random.default_rng(seed).uniform(0.1, 0.9, 12)
        problem = coin(seed, skills, tasks=250, per_task=5, classes=2 + seed % 2)
        low, high = skill_intervals(problem, optiframe.solve(problem, solver, trace=False).solution)
        held.append((low <= skills) & (skills <= high))
    assert 0.85 <= np.mean(held) <= 0.99


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(("name", "share"), [("rte", 0.96), ("temp", 0.87), ("dogs", 0.72), ("wsd", 1.0)])
def test_intervals_of_the_default_hold_what_the_docs_say_on_real_labels(name: str, share: float) -> None:
    problem = optiframe.problem(dataset=f"labels.{name}")
    low, high = skill_intervals(problem, optiframe.solve(problem, "labels.crowd", trace=False).solution)
    truth = problem.truth_codes[problem.labels.task]
    right = problem.label_codes == truth
    held = []
    for worker in range(len(low)):
        mine = (problem.labels.worker == worker) & (truth >= 0)
        if mine.sum() >= 10:
            classes = len(problem.classes)
            skill = (classes * right[mine].mean() - 1) / (classes - 1)
            held.append(low[worker] - 1e-9 <= skill <= high[worker] + 1e-9)
    assert np.mean(held) == pytest.approx(share, abs=0.03)
