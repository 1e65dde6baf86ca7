"""Task assignment: expected accuracies, the smooth loss, caps, solvers and tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.assignment.objective import AssignmentLoss, Judge, drawn_gradient
from optiframe_tvcs.assignment.problem import TaskAssignment
from optiframe_tvcs.assignment.solvers import AssignmentByQuality, AssignmentIHT, RandomAssignment
from optiframe_tvcs.sets.boxed_three_view import BoxedThreeView
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import InvalidInput, solve
from optiframe.records.fields import Array
from optiframe.solving.budget import Budget
from optiframe.testing import SolverContract, check_derivatives

SOLVERS = ["tvcs.assignment-random", "tvcs.assignment-by-quality", "tvcs.assignment-iht"]


def uniform(**parameters: Any) -> TaskAssignment:
    given: dict[str, Any] = {"workers": 6, "tasks": 8, "per_worker": 0.4, "per_task": 0.4}
    return optiframe.problem(dataset={"name": "assignment.uniform", **given, **parameters})


class _Contract(SolverContract):
    def instances(self) -> Iterable[TaskAssignment]:
        rng = np.random.default_rng(1)
        dense = TaskAssignment(quality=rng.uniform(0.3, 0.95, (4, 5)), per_worker=2, per_task=[1, 2, 3, 0, 4])
        return [uniform(), dense]


class TestIHT(_Contract):
    solver = AssignmentIHT(steps=10, draws=8)
    budget = Budget(iterations=100)


class TestByQuality(_Contract):
    solver = AssignmentByQuality()


@pytest.mark.slow
class TestByLogOdds(_Contract):
    solver = AssignmentByQuality(worth="log-odds")


class TestRandom(_Contract):
    solver = RandomAssignment()


def bayes_accuracy(quality: list[float], prior: float) -> float:
    """The chance that Bayes' rule is right, pattern by pattern of answers, as Sec. 5.2 words it."""
    right = 0.0
    for answers in itertools.product((1, 0), repeat=len(quality)):
        chance = {
            label: math.prod(
                q if answer == label else 1 - q for q, answer in zip(quality, answers, strict=True)
            )
            for label in (1, 0)
        }
        predicted = 0 if prior * chance[1] < (1 - prior) * chance[0] else 1
        right += chance[predicted] * (prior if predicted == 1 else 1 - prior)
    return right


@pytest.mark.parametrize("prior", [0.5, 0.8, 0.03])
def test_the_expected_accuracy_is_that_of_every_pattern_of_answers(prior: float) -> None:
    rng = np.random.default_rng(3)
    quality = rng.uniform(0.05, 0.95, (5, 4))
    chosen = rng.random((5, 4)) < 0.6
    problem = TaskAssignment(quality=quality, prior=prior)
    slow = [bayes_accuracy(quality[chosen[:, j], j].tolist(), prior) for j in range(4)]
    found = problem.assignment(chosen).accuracy
    assert found.value == pytest.approx(np.mean(slow), abs=1e-12)
    assert found.exact
    assert found.low == found.high == found.value


def test_sampling_comes_within_its_interval_of_the_exact_accuracy() -> None:
    rng = np.random.default_rng(0)
    quality, chosen = rng.uniform(0.5, 0.9, (9, 6)), np.ones((9, 6), dtype=bool)
    prior = np.full(6, 0.4)
    exact = Judge(quality, prior, 512, 0, 0).estimate(chosen)
    inside = 0
    for seed in range(40):
        sampled = Judge(quality, prior, 511, seed, 0).estimate(chosen)
        assert not sampled.exact
        assert sampled.high - sampled.low < 0.02
        inside += sampled.low <= exact.value <= sampled.high
    # 95% of 40 is 38; fewer than 33 has a chance below .002
    assert inside >= 33


def test_a_task_may_have_more_workers_than_float64_has_exponents() -> None:
    problem = TaskAssignment(quality=np.full((1100, 1), 0.51), samples=100)
    accuracy = problem.assignment(np.ones((1100, 1), dtype=bool)).accuracy
    assert not accuracy.exact
    assert accuracy.low < 0.7464 < accuracy.high  # by the binomial distribution


def test_a_pair_gives_the_same_answers_in_every_assignment() -> None:
    rng = np.random.default_rng(0)
    quality, prior = rng.uniform(0.5, 0.9, (12, 1)), np.array([0.5])
    judge = Judge(quality, prior, 200, 7, 0)
    all_workers = np.arange(12)
    one_less = [judge.answers(0, np.delete(all_workers, i)).accuracy for i in range(12)]
    more = judge.answers(0, all_workers)
    # With common draws the better informed group is right more often, whatever the draws.
    assert more.accuracy > np.mean(one_less)
    again = Judge(quality, prior, 200, 7, 0).answers(0, all_workers)
    assert again.accuracy == more.accuracy
    assert Judge(quality, prior, 200, 8, 0).answers(0, all_workers).accuracy != more.accuracy


def loss(seed: int = 0) -> AssignmentLoss:
    rng = np.random.default_rng(seed)
    return AssignmentLoss.drawn(rng.uniform(0.3, 0.95, (4, 3)), np.array([0.5, 0.2, 0.7]), 6, rng)


def test_the_gradient_of_the_loss_is_that_of_finite_differences() -> None:
    check_derivatives(loss())


def test_the_gradient_is_the_papers_with_a_minus_on_label_0() -> None:
    """Supplement 4: Z is drawn given either label; given label 0 right answers are 0."""
    function, x = loss(), np.random.default_rng(1).uniform(0, 1, (4, 3))
    odds, against = function.log_odds, np.log((1 - function.prior) / function.prior)
    total = np.zeros((4, 3))
    for right in function.signs:
        z_one, z_zero = right * odds, -right * odds
        for j in range(3):
            s = 1 / (1 + np.exp(-(z_one[:, j] @ x[:, j] - against[j])))
            total[:, j] += function.prior[j] * s * (1 - s) * z_one[:, j]
            s = 1 / (1 + np.exp(-(against[j] - z_zero[:, j] @ x[:, j])))
            total[:, j] -= (1 - function.prior[j]) * s * (1 - s) * z_zero[:, j]
    assert np.allclose(function.gradient(x), -total / (3 * len(function)))  # ours is to be minimised


def test_drawn_gradients_average_to_that_of_the_loss() -> None:
    rng = np.random.default_rng(2)
    quality, prior = rng.uniform(0.3, 0.95, (4, 3)), np.array([0.5, 0.2, 0.7])
    log_odds = np.log(quality / (1 - quality))
    for x in (np.zeros((4, 3)), rng.uniform(0, 1, (4, 3)) * (rng.random((4, 3)) < 0.5)):
        every = np.array(list(itertools.product((1, -1), repeat=4)))[:, :, np.newaxis] * np.ones(3, int)
        chances = np.where(every == 1, quality, 1 - quality).prod(axis=1)  # of a pattern, for each task
        loss = AssignmentLoss(log_odds=log_odds, prior=prior, signs=every)
        expected = sum(chance * loss.take([at]).gradient(x) for at, chance in enumerate(chances))
        drawn = drawn_gradient(log_odds, prior, x, 100_000, rng)
        assert np.allclose(drawn, expected, atol=0.003)
        if not x.any():  # nothing is drawn
            assert np.allclose(drawn, expected, atol=1e-15)


def test_the_curvature_bound_holds_along_random_lines() -> None:
    function, rng = loss(), np.random.default_rng(5)
    for _ in range(50):
        x, v = rng.standard_normal((2, 4, 3))
        v /= np.linalg.norm(v)
        bend = np.vdot(function.gradient(x + 1e-5 * v) - function.gradient(x - 1e-5 * v), v) / 2e-5
        assert abs(bend) <= function.curvature() * (1 + 1e-6)


def test_taking_all_draws_one_by_one_gives_the_mean() -> None:
    function, x = loss(), np.full((4, 3), 0.5)
    each = [function.take([i]).gradient(x) for i in range(len(function))]
    assert np.allclose(np.mean(each, axis=0), function.gradient(x))
    assert function.shape == (4, 3)


@given(
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 6)),
)
def test_the_projection_into_the_box_is_the_nearest_of_all_supports(
    entries: list[float], caps: tuple[int, int, int]
) -> None:
    over = BoxedThreeView(views=ThreeView.of_matrix((2, 3), caps[2], caps[0], caps[1]))
    v = np.reshape(entries, (2, 3))
    found = over.project(v)
    best = min(
        float(np.sum((np.clip(v, 0, 1) * mask - v) ** 2))
        for bits in itertools.product((0, 1), repeat=6)
        if over.views.excess(mask := np.reshape(bits, (2, 3)).astype(float)) == 0
    )
    assert float(np.sum((found - v) ** 2)) == pytest.approx(best, abs=1e-9)
    assert over.violation(found) == 0.0
    assert np.array_equal(over.project(found), found)


def test_a_box_is_built_from_a_table_and_says_what_it_cannot_hold() -> None:
    over = optiframe.constraint_set("three-view-box", views={"matrix": [2, 2], "total": 1})
    assert over.violation(np.array([[2.0, 0.5], [0.0, 0.0]])) == pytest.approx(math.sqrt(1 + 0.25))
    assert over.violation(np.array([[np.nan, 0.0], [0.0, 0.0]])) == math.inf
    with pytest.raises(InvalidInput, match="three-view set"):
        optiframe.constraint_set("three-view-box", views=3)


@pytest.mark.slow
def test_thresholding_beats_the_sum_of_qualities_which_beats_chance() -> None:
    for seed in range(3):
        problem = optiframe.problem(dataset={"name": "assignment.uniform", "seed": seed})
        random, by_quality, iht = (solve(problem, name).solution.accuracy.value for name in SOLVERS)
        assert random + 0.05 < by_quality < iht


def test_thresholding_gains_where_workers_and_tasks_are_many() -> None:
    problem = uniform(workers=100, tasks=500, per_worker=0.03, per_task=0.05)
    by_quality = solve(problem, "tvcs.assignment-by-quality").solution.accuracy.value
    found = solve(problem, "tvcs.assignment-iht", steps=40).solution
    assert found.accuracy.value > by_quality + 0.03
    assert found.chosen.any(axis=0).all()


def test_two_workers_on_one_task_lose_to_one_on_each() -> None:
    """The linear program may give both workers to one task; the expected accuracy knows better."""
    quality = np.array([[0.9, 0.8], [0.89, 0.7]])
    problem = TaskAssignment(quality=quality, per_worker=1)
    linear = solve(problem, "tvcs.assignment-by-quality").solution
    assert linear.chosen.sum() == 2
    iht = solve(problem, "tvcs.assignment-iht").solution
    best = max(
        problem.assignment(np.array(bits).reshape(2, 2) > 0).accuracy.value
        for bits in itertools.product((0, 1), repeat=4)
        if max(sum(bits[:2]), sum(bits[2:])) <= 1
    )
    assert iht.accuracy.value == pytest.approx(best)


@given(st.integers(0, 10**6), st.integers(0, 4), st.integers(0, 4), st.integers(0, 12))
def test_every_solver_keeps_every_cap(seed: int, per_worker: int, per_task: int, total: int) -> None:
    rng = np.random.default_rng(seed)
    problem = TaskAssignment(
        quality=rng.uniform(0.2, 0.9, (4, 3)),
        per_worker=per_worker,
        per_task=per_task,
        total=total,
    )
    for solver in (RandomAssignment(), AssignmentByQuality(), AssignmentIHT(steps=3, draws=2)):
        found = solve(problem, solver).solution.chosen
        assert found.sum(axis=1).max() <= per_worker
        assert found.sum(axis=0).max() <= per_task
        assert found.sum() <= total


def test_caps_are_numbers_ratios_lists_or_tables() -> None:
    quality = np.full((4, 10), 0.7)
    assert TaskAssignment(quality=quality, per_worker=0.29).per_worker_caps.tolist() == [2] * 4
    assert TaskAssignment(quality=quality, per_worker=0.01).per_worker_caps.tolist() == [1] * 4
    assert TaskAssignment(quality=quality, per_worker=1).per_worker_caps.tolist() == [1] * 4
    assert TaskAssignment(quality=quality, per_worker=1.0).per_worker_caps.tolist() == [10] * 4
    assert TaskAssignment(quality=quality).per_task_caps.tolist() == [4] * 10
    assert TaskAssignment(quality=quality, per_worker=[1, 2, 3, 0]).per_worker_caps.tolist() == [1, 2, 3, 0]
    table = {"0": 3, "1": 1, "2": 2, "3": 0}  # keys as a TOML file has them
    assert TaskAssignment(quality=quality, per_worker=table).per_worker_caps.tolist() == [3, 1, 2, 0]
    series = pd.Series({3: 0, "*": 2})
    assert TaskAssignment(quality=quality, per_worker=series).per_worker_caps.tolist() == [2, 2, 2, 0]
    assert TaskAssignment(quality=quality, per_worker=3, per_task=1, total=0.75).over.total == 7
    assert TaskAssignment(quality=quality, total=5).over.total == 5
    assert TaskAssignment(quality=quality, per_worker=2**62, per_task=2, total=0.5).over.total == 10
    # .29 of 100 is 29 although the product is 28.999999999999996
    assert TaskAssignment(quality=np.full((1, 100), 0.7), per_worker=0.29).per_worker_caps.tolist() == [29]


ROWS = {"worker": ["b", "a", "a"], "task": [7, 7, 3], "quality": [0.6, 0.9, 0.7]}


def test_a_frame_comes_back_as_a_frame_with_the_users_ids() -> None:
    renamed = pd.DataFrame({"who": ROWS["worker"], "task": ROWS["task"], "quality": ROWS["quality"]})
    problem = TaskAssignment(quality=renamed, columns={"worker": "who"}, total=2)
    found = solve(problem, "tvcs.assignment-by-quality").solution.frame()
    assert isinstance(found, pd.DataFrame)
    assert found.to_dict("list") == {"task": [3, 7], "worker": ["a", "a"], "quality": [0.7, 0.9]}


def test_pairs_that_are_not_given_are_never_assigned() -> None:
    problem = TaskAssignment(quality=ROWS)
    for name in SOLVERS:
        chosen = solve(problem, name).solution.chosen
        assert not (chosen & ~problem.quality.known).any()
    assert problem.assignment(np.ones((2, 2), dtype=bool)).chosen.sum() == 3


def test_a_matrix_and_a_csv_file_with_rows_in_any_order_say_the_same(tmp_path: Path) -> None:
    quality = np.round(np.random.default_rng(0).uniform(0.5, 0.9, (3, 4)), 3)
    worker, task = np.indices(quality.shape).reshape(2, -1)
    file = tmp_path / "quality.csv"
    rows = pd.DataFrame({"worker": worker, "task": task, "quality": quality.ravel()})
    rows.sample(frac=1, random_state=0).to_csv(file, index=False)
    np.save(tmp_path / "quality.npy", quality)
    problems = [
        TaskAssignment(quality=given) for given in (str(file), str(tmp_path / "quality.npy"), quality)
    ]
    assert problems[0] == problems[1] == problems[2]


def test_the_gain_of_a_cap_is_what_one_more_unit_adds() -> None:
    problem = TaskAssignment(quality=np.array([[0.9, 0.6], [0.7, 0.8]]), total=1)
    found = solve(problem, "tvcs.assignment-by-quality").solution
    more = problem.shadow_prices(found)
    # Worker 0 is on task 0; the best addition is worker 1 on task 1: from .5 to .8 in one of two tasks.
    assert more.total == pytest.approx(0.15)
    assert not more.rows.any()
    assert not more.columns.any()
    tight = TaskAssignment(quality=np.array([[0.9, 0.8], [0.7, 0.6]]), per_worker=1, per_task=1)
    both = tight.shadow_prices(tight.assignment(np.eye(2) > 0))
    assert both.total == 0.0


def test_an_answer_that_overturns_nothing_adds_exactly_nothing() -> None:
    quality = np.array(
        [[0.9, 0.85], [0.6, 0.55], [0.62, 0.57]]
    )  # the second and third cannot outvote the first
    chosen = np.array([[True, True], [True, False], [False, False]])
    worths = Judge(quality, np.full(2, 0.5), 10_000, 0, 0).marginals(chosen)
    assert worths[1, 0] == worths[1, 1] == worths[2, 0] == worths[2, 1] == 0.0


def test_gains_that_are_nothing_beside_others_do_not_make_worths_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python's whole numbers took most of the time where one task in many had enough good workers."""

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("counted in Python's whole numbers")

    monkeypatch.setattr("optiframe_tvcs.program.shadow_prices.exact_worths", refused)
    problem = TaskAssignment(quality=np.array([[0.9, 0.5 + 1e-10], [0.7, 0.8]]), total=1)
    more = problem.shadow_prices(problem.assignment(np.array([[True, False], [False, False]])))
    assert more.total == pytest.approx(0.15)


def test_marginals_are_differences_of_accuracies() -> None:
    problem = uniform(seed=4)
    chosen = solve(problem, "tvcs.assignment-random").solution.chosen
    judge = Judge(problem.quality.quality, problem.priors, 10_000, 0, 0)
    worths = judge.marginals(chosen)
    before = judge.estimate(chosen).value
    for i, j in np.ndindex(chosen.shape):
        flipped = chosen.copy()
        flipped[i, j] = not flipped[i, j]
        assert worths[i, j] == pytest.approx(abs(judge.estimate(flipped).value - before), abs=1e-12)


def test_solvers_of_minimize_take_the_formulated_problem() -> None:
    problem = uniform()
    worst = solve(problem, "tvcs.assignment-random").objective
    descent = solve(problem, "tvcs.iht")
    with pytest.warns(optiframe.NotConverged):  # blocks that do not grow give no residual
        stochastic = solve(problem, "tvcs.stochastic-iht", step=40.0, growth=1, budget={"iterations": 40})
    for result in (descent, stochastic):
        assert result.violation == 0.0
        assert result.objective < worst
    start = problem.assignment(np.zeros(problem.over.shape, dtype=bool))
    assert solve(problem, "tvcs.iht", start=start).objective < worst


def test_the_answer_has_tables_of_pairs_tasks_and_caps() -> None:
    problem = uniform(total=0.2)  # three pairs for eight tasks
    result = solve(problem, "tvcs.assignment-iht")
    tables = result.to_tables()
    assert list(tables) == ["assignment", "tasks", "caps"]
    assert list(tables["tasks"]) == ["task", "workers", "accuracy"]
    assert np.mean(tables["tasks"]["accuracy"]) == pytest.approx(result.solution.accuracy.value)
    caps = tables["caps"]
    assert len(caps["cap"]) == 1 + 6 + 8
    assert caps["used"][0] == len(result.solution) == result.metrics["assigned"]
    assert (caps["used"] <= caps["limit"]).all()
    assert caps["one_more_adds"][0] > 0


def test_findings_name_tasks_without_workers_and_estimates() -> None:
    problem = TaskAssignment(quality={**ROWS, "quality": [0.2, 0.9, 0.7]}, total=1)
    result = solve(problem, "tvcs.assignment-by-quality")
    assert result.findings[0].about == (3,)
    full = TaskAssignment(quality=np.full((9, 1), 0.3), samples=100)
    texts = " ".join(f.text for f in solve(full, "tvcs.assignment-random").findings)
    assert "less than half the time" in texts
    assert "estimated from 100 draws" in texts


def test_doubts_about_a_table_of_qualities_are_findings(tmp_path: Path) -> None:
    rows = {
        "worker": ["ann", "Ann ", "bob"],
        "task": [1, 1, 1],
        "quality": [0.7, 0.8, 0.9],
        "wage": [2, 2, 3],
    }
    found = {f.identifier: f for f in solve(TaskAssignment(quality=rows), SOLVERS[1]).findings}
    assert found["data.spelled-twice"].about == ("Ann ", "ann")
    assert "nothing reads the column 'wage'" in found["data.unused-columns"].text
    (tmp_path / "q.csv").write_text("worker,t1,t2\nann,0.7,\nbob,0.6,0.9\n")
    texts = [f.text for f in solve(TaskAssignment(quality=tmp_path / "q.csv"), SOLVERS[1]).findings]
    assert any("a matrix with a row for each worker" in text and "no pair" in text for text in texts)


def test_nobody_knowing_anything_is_no_obstacle() -> None:
    problem = TaskAssignment(quality=np.full((2, 3), 0.5), per_worker=1)
    assert solve(problem, "tvcs.assignment-iht").solution.accuracy.value == pytest.approx(0.5)


def test_worths_agree_where_the_order_of_qualities_decides() -> None:
    problem = uniform(per_task=1.0, per_worker=1.0, total=0.25)
    chosen = [
        solve(problem, "tvcs.assignment-by-quality", worth=worth).solution.chosen
        for worth in ("quality", "excess", "log-odds", "information")
    ]
    assert all(np.array_equal(chosen[0], other) for other in chosen)


def test_priors_by_task_move_the_prediction() -> None:
    quality: Array = np.full((1, 2), 0.6)
    problem = TaskAssignment(quality=quality, prior={0: 0.95, 1: 0.5})
    nobody = problem.assignment(np.zeros((1, 2), dtype=bool))
    assert nobody.accuracy.value == pytest.approx((0.95 + 0.5) / 2)
    # The only worker is not asked about the label that is all but known.
    assert TaskAssignment(quality=quality, prior=[0.95, 0.5], per_worker=1).shadow_prices(nobody).total == 0.0
    found = solve(TaskAssignment(quality=quality, prior=[0.95, 0.5], per_worker=1), "tvcs.assignment-iht")
    assert found.solution.chosen.tolist() == [[False, True]]


def test_the_generator_draws_what_it_says() -> None:
    problem = uniform(workers=30, tasks=40, low=0.6, high=0.7)
    quality = problem.quality.quality
    assert quality.shape == (30, 40)
    assert 0.6 <= quality.min() < 0.605
    assert 0.695 < quality.max() <= 0.7
    assert problem == uniform(workers=30, tasks=40, low=0.6, high=0.7)
    assert problem != uniform(workers=30, tasks=40, low=0.6, high=0.7, seed=1)
    assert problem.worker_ids[0] == "w01"
    with pytest.raises(InvalidInput, match="low: is above high"):
        optiframe.dataset("assignment.uniform", low=0.8, high=0.7)


def test_a_box_takes_any_finite_numbers_and_nothing_else() -> None:
    box = BoxedThreeView(views=ThreeView.of_matrix((2, 2), total=2))
    assert box.project(np.array([[1e308, 0.4], [-1e308, -0.6]])).tolist() == [[1.0, 0.4], [0.0, 0.0]]
    for use in (box.project, box.violation):
        with pytest.raises(InvalidInput, match="the point must hold real numbers"):
            use([["a", "b"], ["c", "d"]])
    with pytest.raises(InvalidInput, match=r"entry \[0, 1\] of the point is inf"):
        box.project(np.array([[1.0, np.inf], [0.0, 0.0]]))


def test_the_old_name_of_where_a_search_begins_is_told_the_new_one() -> None:
    with pytest.raises(InvalidInput, match=r"begin: unknown key \(valid.*; `begin` is now called `init`"):
        AssignmentIHT(begin="empty")


def test_a_matrix_in_a_file_says_the_same_as_a_table_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text("annotator,t1,t2\nann,0.9,0.6\nbob,,0.7\n")
    (tmp_path / "pairs.csv").write_text("annotator,task,quality\nann,t1,0.9\nann,t2,0.6\nbob,t2,0.7\n")
    one, other = (
        optiframe.problem("task-assignment", quality=tmp_path / name, columns={"worker": "annotator"})
        for name in ("matrix.csv", "pairs.csv")
    )
    np.testing.assert_array_equal(one.quality.quality, other.quality.quality)
    np.testing.assert_array_equal(one.quality.known, other.quality.known)
    assert one.worker_ids.tolist() == ["ann", "bob"]
    assert one.task_ids.tolist() == ["t1", "t2"]
    (tmp_path / "gaps.csv").write_text("worker,t1,t2\nann,0.9,\nbob,,\n")
    gaps = optiframe.problem(
        "task-assignment", quality=tmp_path / "gaps.csv", per_worker={"ann": 1, "bob": 1}
    )
    assert gaps.quality.known.tolist() == [[True, False], [False, False]]
    (tmp_path / "turned.csv").write_text("task,ann,bob\nt1,0.9,\nt2,0.6,1.7\n")
    with pytest.raises(InvalidInput, match=r"line 3, column bob: the quality is 1\.7; it must be above 0"):
        optiframe.problem("task-assignment", quality=tmp_path / "turned.csv")
