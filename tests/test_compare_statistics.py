"""Statistics of a comparison: by hand, against slow twins, and by what must always hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats import intervals, pair_tests, ranking, summary
from optiframe.comparison.stats import loss_table as losses
from optiframe.errors import InvalidInput
from optiframe.solving.result import Status

from .comparison_samples import compared as of_cells
from .comparison_samples import ended as outcome
from .comparison_samples import failed

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def by_error(error: float) -> Outcome:
    return failed() if math.isinf(error) else outcome(metrics={"error": error})


def compared(cells: Mapping[str, Mapping[str, Any]], **more: Any) -> Records:
    """A comparison by hand; a number stands for a run with that error."""
    return of_cells(cells, by_error, **more)


def by_errors(table: Mapping[str, Sequence[float]], seeds: int = 1) -> Records:
    """A comparison by the metric "error": of each solver, a value a problem; inf is a failure."""
    problems = range(len(next(iter(table.values()))))
    cells = {f"p{p}": {solver: [values[p]] * seeds for solver, values in table.items()} for p in problems}
    return compared(cells, better={"error": "lower"})


# Single outcomes


def test_suboptimality_is_relative_to_the_best_and_at_least_to_one() -> None:
    best = {"small": 0.5, "large": -200.0}
    assert losses.suboptimality(outcome(0.75, solved="small"), best) == 0.25
    assert losses.suboptimality(outcome(-190.0, solved="large"), best) == 0.05
    assert losses.suboptimality(outcome(0.4999999, solved="small"), best) == 0.0


@pytest.mark.parametrize(
    "end",
    [
        failed(Status.CRASHED),
        failed(Status.UNSUITED),
        outcome(0.0, status=Status.DIVERGED),
        outcome(-1.0, violation=1e-5),
        outcome(math.inf),
    ],
    ids=["crashed", "unsuited", "diverged", "infeasible answer", "infinite objective"],
)
def test_a_failure_is_infinitely_suboptimal(end: Outcome) -> None:
    assert losses.suboptimality(end, {"print": 0.0}) == math.inf


def test_without_objective_or_best_there_is_no_suboptimality() -> None:
    assert math.isnan(losses.suboptimality(outcome(), {"print": 0.0}))
    assert math.isnan(losses.suboptimality(outcome(1.0, solved="other"), {"print": 0.0}))


# Intervals


def median_interval(values: Sequence[float]) -> intervals.Interval:
    return intervals.median_intervals([values])[0]


def test_an_interval_agrees_with_a_bootstrap_by_hand() -> None:
    values = np.random.default_rng(3).lognormal(size=25)
    rng = np.random.default_rng(8)
    middles = [np.median(rng.choice(values, size=25)) for _ in range(4000)]
    found = median_interval(values.tolist())
    assert found.median == np.median(values)
    assert found.count == 25
    spread = values.std() / 10  # resampling by other random numbers moves the ends a little
    assert found.low == pytest.approx(np.quantile(middles, 0.025), abs=spread)
    assert found.high == pytest.approx(np.quantile(middles, 0.975), abs=spread)


@pytest.mark.parametrize("values", [[], [2.0], [2.0, 3.0]])
def test_too_few_values_have_a_median_but_no_interval(values: list[float]) -> None:
    found = median_interval(values)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.count == len(values)
    assert math.isnan(found.median) == (not values)


def test_equal_values_have_an_interval_without_width() -> None:
    assert median_interval([4.0] * 5) == intervals.Interval(4.0, 4.0, 4.0, 5)
    assert median_interval([math.inf] * 3).low == math.inf


def test_failures_push_only_the_upper_end_to_infinity() -> None:
    found = median_interval([1.0, 2.0, 3.0, 4.0, math.inf])
    assert found.median == 3.0
    assert 1.0 <= found.low <= 3.0
    assert found.high == math.inf
    assert median_interval([1.0, math.inf, math.inf]).median == math.inf


def test_values_not_measured_are_not_counted() -> None:
    with_gaps = [1.0, math.nan, 2.0, 5.0, math.nan]
    assert median_interval(with_gaps) == median_interval([1.0, 2.0, 5.0])


numbers = st.one_of(st.floats(-1e6, 1e6), st.just(math.inf), st.just(-math.inf))


@settings(max_examples=25)
@given(st.lists(st.lists(numbers, max_size=8), max_size=6))
@example([[-1.0, -1e-96, -math.inf]])  # scaled to [0, 1] and back, its upper end became 0
def test_an_interval_holds_its_median_and_many_at_once_are_as_one_by_one(
    samples: list[list[float]],
) -> None:
    together = intervals.median_intervals(samples)
    for sample, found in zip(samples, together, strict=True):
        alone = median_interval(sample[::-1])
        assert repr(found) == repr(alone)  # nan included
        if len(sample) >= 3 and not math.isnan(found.median):
            assert min(sample) <= found.low <= found.median <= found.high <= max(sample)


# Summaries and failures


def test_a_summary_counts_failures_and_takes_times_of_successes_only() -> None:
    runs = [outcome(float(seed), time=2.0 + seed, metrics={"error": 0.1 * seed}) for seed in range(3)]
    runs.append(failed(Status.TIMEOUT, "killed at the limit", time=0.001))
    runs.append(outcome(-5.0, violation=0.25, time=0.002, evaluations={"value": 1.0}))
    cells = {"p": {"a": runs, "b": [failed(Status.UNSUITED, "it takes no boxes"), None], "c": None}}
    first, second = summary.summarize(compared(cells))
    assert (first.solver, first.runs, first.failures) == ("a", 5, 2)
    assert first.statuses == {"finished": 4, "timeout": 1}
    assert first.measures["time"].median == 3.0
    assert first.measures["time"].count == 3
    assert first.measures["error"].median == pytest.approx(0.1)
    assert first.measures["suboptimality"].count == 5
    assert first.measures["suboptimality"].median == 2.0  # of 0, 1, 2, inf, inf
    assert "evaluations" not in first.measures  # counted only in a run that failed
    assert first.reason == "killed at the limit"
    assert (second.solver, second.runs, second.failures) == ("b", 0, 0)
    assert second.reason == "it takes no boxes"
    assert second.measures == {}


def test_evaluations_are_summed_over_kinds() -> None:
    end = outcome(1.0, evaluations={"value": 3.0, "gradient": 2.5})
    (only,) = summary.summarize(compared({"p": {"a": end}}))
    assert only.measures["evaluations"].median == 5.5


def test_failures_are_listed_with_their_reason_and_unsuited_pairs_are_not() -> None:
    cells = {
        "p": {
            "a": [
                failed(Status.CRASHED, "died of signal 11", stderr="Fatal", traceback="stack"),
                outcome(1.0, violation=0.5),
            ],
            "b": [failed(Status.UNSUITED, "no"), failed(Status.OUT_OF_MEMORY, "")],
            "c": [outcome(1.0), None],
        }
    }
    crashed, infeasible, memory = losses.failures(compared(cells))
    assert (crashed.problem, crashed.solver, crashed.seed) == ("p", "a", 0)
    assert (crashed.status, crashed.stderr, crashed.traceback) == (Status.CRASHED, "Fatal", "stack")
    assert infeasible.message == "the answer violates the constraints by 0.500, more than 1e-06"
    assert memory.message == "the memory limit was reached"


# What can rank


def test_directions_come_from_the_plan_before_the_problems_and_disputes_have_none() -> None:
    cells = {
        "p": {"a": outcome(better={"error": "lower", "share": "higher", "odd": "lower"})},
        "q": {"a": outcome(better={"odd": "higher"})},
    }
    assert losses.directions(compared(cells, better={"share": "lower"})) == {
        "error": "lower",
        "share": "lower",
        "suboptimality": "lower",
        "objective": "lower",
        "time": "lower",
    }


def test_a_measure_ranks_only_with_a_direction_and_where_objectives_mean_the_same() -> None:
    same = {
        "p": {
            "a": outcome(1.0, metrics={"error": 0.1, "unclear": 3.0}),
            "b": outcome(2.0, metrics={"error": 0.2}),
        }
    }
    assert losses.measures(compared(same, better={"error": "lower"})) == ["error", "suboptimality"]
    same["p"]["b"] = outcome(2.0, solved="relaxed", metrics={"error": 0.2})
    assert losses.measures(compared(same, better={"error": "lower"})) == ["error"]
    assert "different formulations" in losses.incomparable(compared(same))["p"]


def test_instances_drawn_anew_for_each_seed_are_comparable() -> None:
    drawn = [outcome(1.0, solved=f"print {seed}") for seed in range(3)]
    assert losses.incomparable(compared({"p": {"a": drawn, "b": drawn}})) == {}


def test_a_problem_without_objective_is_not_comparable_by_it() -> None:
    plain = {"p": {"a": 1.0, "b": failed()}}
    assert losses.incomparable(compared(plain)) == {"p": "it has no objective"}
    assert losses.measures(compared(plain)) == []


def test_a_solver_without_objective_is_not_ranked_by_it_and_the_others_are() -> None:
    cells = {
        "p": {
            "a": outcome(1.0, metrics={"error": 0.2, "late": 1.0}),
            "b": outcome(2.0, metrics={"error": 0.3}),
            "vote": 0.1,
            "died": failed(),
        }
    }
    table = compared(cells, better={"late": "lower", "error": "lower"})
    assert losses.incomparable(table) == {}
    assert losses.without_objective(table) == {"p": ["vote"]}
    ranks = {s.solver: s.mean_rank for s in ranking.standings(table, "suboptimality")}
    assert ranks == {"a": 1.0, "b": 2.0, "died": 3.0}
    assert "vote" not in str(pair_tests.compare_pairs(table, "suboptimality"))
    # The metric ranks three of them, suboptimality two.
    assert losses.measures(table) == ["error", "suboptimality", "late"]


def test_a_seed_without_objective_beside_others_with_one_is_a_failure() -> None:
    cells = {"p": {"a": [outcome(5.0), outcome(5.0)], "b": [outcome(1.0), outcome()]}}
    table = compared(cells)
    assert losses.without_objective(table) == {}
    assert losses.loss_table(table, "suboptimality")["p"]["b"] == {0: 1.0, 1: math.inf}


def test_ranking_by_a_measure_without_direction_says_what_to_do() -> None:
    with pytest.raises(InvalidInput, match=r"'eror' is better; did you mean 'error'.*\[better\]"):
        ranking.standings(by_errors({"a": [1.0], "b": [2.0]}), "eror")


# Standings


def test_standings_by_hand() -> None:
    table = by_errors({"a": [1, 1, 1, math.inf], "b": [2, 1, 3, math.inf], "c": [3, 2, 2, math.inf]})
    a, b, c = ranking.standings(table, "error")
    assert (a.solver, a.mean_rank, a.wins, a.shared) == ("a", (1 + 1.5 + 1 + 2) / 4, 2, 1)
    assert (b.solver, b.mean_rank, b.wins, b.shared) == ("b", (2 + 1.5 + 3 + 2) / 4, 0, 1)
    assert (c.solver, c.mean_rank, c.wins, c.shared) == ("c", (3 + 3 + 2 + 2) / 4, 0, 0)
    assert {s.failures for s in (a, b, c)} == {1}
    assert {s.problems for s in (a, b, c)} == {4}


def test_higher_is_better_where_the_plan_says_so() -> None:
    table = by_errors({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    higher = Records(table.rows, table.best, table.gaps, {"error": "higher"})
    assert [s.solver for s in ranking.standings(higher, "error")] == ["b", "a"]


def test_a_seed_median_ranks_and_two_failures_of_three_lose_to_any_answer() -> None:
    values = {"a": [0.1, 0.1, math.inf], "b": [0.2, 0.3, 0.2], "c": [0.0, math.inf, math.inf]}
    found = ranking.standings(compared({"p": values}, better={"error": "lower"}), "error")
    assert [(s.solver, s.mean_rank, s.failures) for s in found] == [("a", 1, 1), ("b", 2, 0), ("c", 3, 2)]


def test_an_unsuited_solver_is_neither_punished_nor_does_it_distort_ranks() -> None:
    unsuited = {f"p{n}": {"a": 1.0, "b": failed(Status.UNSUITED), "c": 3.0} for n in range(3)}
    table = compared(unsuited | {"p3": {"a": 1.0, "b": 2.0, "c": 3.0}}, better={"error": "lower"})
    found = ranking.standings(table, "error")
    assert [(s.solver, s.mean_rank, s.problems) for s in found] == [("a", 1, 4), ("b", 2, 1), ("c", 3, 4)]


def test_a_solver_that_meets_no_other_has_no_rank() -> None:
    cells = {"p": {"a": 1.0, "b": 2.0}, "q": {"c": 0.0}}
    *_, last = ranking.standings(compared(cells, better={"error": "lower"}), "error")
    assert (last.solver, last.problems, last.wins) == ("c", 0, 0)
    assert math.isnan(last.mean_rank)


def test_gaps_within_the_tolerance_are_ties_and_a_chain_of_them_is_none() -> None:
    gaps = {"p": {"a": outcome(0.0), "b": outcome(9e-7), "c": outcome(1.8e-6), "d": outcome(2.7e-6)}}
    found = losses.loss_table(compared(gaps), "suboptimality")["p"]
    assert [found[solver][0] for solver in "abcd"] == [0.0, 0.0, 1.8e-6, 1.8e-6]
    strict = losses.loss_table(replace(compared(gaps), tolerance=0.0), "suboptimality")["p"]
    assert strict["b"][0] == 9e-7
    near = {"p": {"a": 0.0725, "b": 0.0725 * (1 + 1e-7), "c": 0.0726}}
    ranked = ranking.standings(compared(near, better={"error": "lower"}), "error")
    assert [(s.solver, s.shared) for s in ranked] == [("a", 1), ("b", 1), ("c", 0)]


def test_differences_of_rounding_are_ties_and_a_run_without_the_metric_is_not_ranked() -> None:
    near = compared({"p": {"a": outcome(1e-15), "b": outcome(0.0), "c": outcome(1e-5)}})
    assert [s.shared for s in ranking.standings(near, "suboptimality")] == [1, 1, 0]
    lacking = compared(
        {"p": {"a": 9.0, "b": outcome(metrics={}), "c": 1.0}},
        better={"error": "lower"},
    )
    assert [(s.solver, s.failures) for s in ranking.standings(lacking, "error")] == [("c", 0), ("a", 0)]


def test_a_problem_without_the_metric_is_not_ranked_by_it() -> None:
    cells = {"p": {"a": 1.0, "b": 2.0}, "q": {"a": failed(), "b": outcome(1.0)}}
    found = ranking.standings(compared(cells, better={"error": "lower"}), "error")
    assert [(s.problems, s.failures) for s in found] == [(1, 0), (1, 0)]


def test_seeds_not_yet_ended_by_all_are_not_compared() -> None:
    cells = {"p": {"a": [1.0, 100.0, 100.0], "b": [2.0, None, None]}}
    first, _ = ranking.standings(compared(cells, better={"error": "lower"}), "error")
    assert (first.solver, first.wins) == ("a", 1)


errors = st.one_of(st.integers(0, 3).map(float), st.just(math.inf))


@st.composite
def error_tables(draw: Callable[..., Any]) -> dict[str, list[float]]:
    problems = draw(st.integers(1, 6))
    solvers = "abcd"[: draw(st.integers(2, 4))]
    return {solver: draw(st.lists(errors, min_size=problems, max_size=problems)) for solver in solvers}


@given(error_tables())
def test_mean_ranks_are_the_plain_ones_and_sum_up(table: dict[str, list[float]]) -> None:
    found = {s.solver: s for s in ranking.standings(by_errors(table), "error")}
    plain = stats.rankdata(np.array(list(table.values())), axis=0).mean(axis=1)
    for solver, rank in zip(table, plain, strict=True):
        assert found[solver].mean_rank == pytest.approx(rank)
    assert sum(s.mean_rank for s in found.values()) == pytest.approx(len(table) * (len(table) + 1) / 2)
    solved = sum(any(map(math.isfinite, column)) for column in zip(*table.values(), strict=True))
    shares = sum(s.wins for s in found.values())
    assert shares <= solved
    assert (shares < solved) == any(s.shared for s in found.values())


@pytest.mark.slow
@settings(max_examples=5)
@given(error_tables(), st.randoms(use_true_random=False))
def test_standings_and_verdicts_do_not_depend_on_the_order_of_rows(
    table: dict[str, list[float]], random: Any
) -> None:
    ordered = by_errors(table)
    rows = list(ordered.rows)
    random.shuffle(rows)
    shuffled = Records(tuple(rows), ordered.best, ordered.gaps, ordered.better)

    def ranks(of: Records) -> dict[str, Any]:
        return {s.solver: (pytest.approx(s.mean_rank), s.wins) for s in ranking.standings(of, "error")}

    def ps(of: Records) -> dict[frozenset[str], Any]:
        pairs = pair_tests.compare_pairs(of, "error")
        return {frozenset((v.first, v.second)): pytest.approx(v.p_corrected) for v in pairs}

    assert ranks(ordered) == ranks(shuffled)
    assert ps(ordered) == ps(shuffled)


# Tests of pairs


def test_holm_multiplies_by_the_hypotheses_left_and_never_falls() -> None:
    assert pair_tests._holm([0.01, 0.04, 0.03, 0.9]) == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert pair_tests._holm([0.6, 0.6]) == [1.0, 1.0]
    assert pair_tests._holm([]) == []


def wilcoxon_by_brute_force(differences: Sequence[float]) -> float:
    """The exact two-sided p: over all signs, how often the signed ranks sum to as much."""
    kept = np.array([d for d in differences if d])
    ranks = stats.rankdata(np.abs(kept))
    seen = abs(float(np.sum(np.sign(kept) * ranks)))
    sums = [abs(float(np.dot(signs, ranks))) for signs in product((-1, 1), repeat=len(kept))]
    return float(np.mean([s >= seen - 1e-9 for s in sums]))


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9))
def test_the_p_value_is_that_of_all_sign_patterns(differences: list[int]) -> None:
    table = by_errors({"a": [10.0 + d for d in differences], "b": [10.0] * len(differences)})
    (verdict,) = pair_tests.compare_pairs(table, "error")
    assert verdict.p == pytest.approx(wilcoxon_by_brute_force(differences))
    assert verdict.difference == np.median(differences)


def test_a_solver_better_on_ten_problems_is_better_in_words() -> None:
    table = by_errors({"slow": [2.0 + n for n in range(10)], "sharp": [1.0 + n / 2 for n in range(10)]})
    (verdict,) = pair_tests.compare_pairs(table, "error")
    assert verdict.distinguishable
    assert verdict.p == pytest.approx(2 / 2**10)
    assert verdict.text == "sharp is better than slow (p = 0.00195, 10 problems)"


def test_a_higher_metric_is_better_and_its_difference_keeps_its_sign() -> None:
    table = by_errors({"low": [0.5] * 8, "high": [0.9] * 8})
    higher = Records(table.rows, table.best, table.gaps, {"error": "higher"})
    (verdict,) = pair_tests.compare_pairs(higher, "error")
    assert verdict.text.startswith("high is better than low")
    assert verdict.difference == pytest.approx(-0.4)


def test_ties_leave_the_verdict_to_the_problems_that_differ() -> None:
    table = by_errors({"a": [1.0] * 14, "b": [1.0] * 8 + [2.0] * 6})
    (verdict,) = pair_tests.compare_pairs(table, "error")
    assert verdict.difference == 0.0
    assert verdict.text == "a is better than b (p = 0.0312, 14 problems)"


def test_identical_solvers_are_not_distinguishable() -> None:
    same = [float(n) for n in range(12)]
    (verdict,) = pair_tests.compare_pairs(by_errors({"a": same, "b": same}), "error")
    assert not verdict.distinguishable
    assert verdict.p == 1.0
    assert verdict.difference == 0.0
    assert verdict.text == "a and b are not distinguishable (p = 1, 12 problems)"


def test_a_solver_that_fails_everywhere_loses_and_failing_together_is_no_difference() -> None:
    table = by_errors({"a": [1.0] * 8 + [math.inf], "b": [math.inf] * 9})
    (verdict,) = pair_tests.compare_pairs(table, "error")
    assert verdict.text == "a is better than b (p = 0.00781, 9 problems)"
    assert verdict.difference == -math.inf
    (verdict,) = pair_tests.compare_pairs(by_errors({"a": [math.inf] * 8, "b": [math.inf] * 8}), "error")
    assert (verdict.p, verdict.difference) == (1.0, 0.0)


def test_infinite_differences_rank_above_all_finite_ones() -> None:
    def verdict(worse: float) -> pair_tests.PairVerdict:
        table = {"a": [1.0, 2.0, 3.0, worse, worse, 4.0, 2.0], "b": [9.0, 4.0, 6.0, 1.0, 1.0, 6.5, 5.5]}
        return pair_tests.compare_pairs(by_errors(table), "error")[0]

    large, infinite, mild = verdict(9e9), verdict(math.inf), verdict(1.1)
    assert infinite.p == large.p
    assert infinite.p > mild.p  # b's two failures of a are what speaks against a


def test_too_few_problems_are_said_to_be_too_few() -> None:
    (verdict,) = pair_tests.compare_pairs(by_errors({"a": [1.0] * 5, "b": [2.0] * 5}), "error")
    assert not verdict.distinguishable
    assert verdict.text == "5 problems cannot distinguish a and b; at least 6 are needed"
    assert verdict.needed == 6
    (verdict,) = pair_tests.compare_pairs(by_errors({"a": [1.0] * 6, "b": [2.0] * 6}), "error")
    assert verdict.distinguishable
    assert verdict.needed == 0


def test_with_more_pairs_more_problems_are_needed_and_that_many_do() -> None:
    def table(problems: int) -> Records:
        return by_errors({s: [float(rank)] * problems for rank, s in enumerate("abcd")})

    few = pair_tests.compare_pairs(table(7), "error")  # 6 pairs: 6 * 2 / 2**7 is above 0.05
    assert {v.text.split("; ")[1] for v in few} == {"at least 8 are needed"}
    enough = pair_tests.compare_pairs(table(8), "error")
    assert all(v.distinguishable and "after correction" in v.text for v in enough)


def test_a_pair_with_few_problems_is_judged_beside_pairs_with_many() -> None:
    unsuited = failed(Status.UNSUITED)
    cells = {f"p{n}": {"a": 1.0, "b": 2.0, "c": 3.0 if n < 7 else unsuited} for n in range(12)}
    found = pair_tests.compare_pairs(compared(cells, better={"error": "lower"}), "error")
    # 3 * 2 / 2**7 is below 0.05, and so Holm's second and third steps tell apart what 7 problems tell.
    assert [(v.problems, v.distinguishable) for v in found] == [(12, True), (7, True), (7, True)]


def test_the_correction_is_holms() -> None:
    rng = np.random.default_rng(0)
    table = by_errors({s: (rng.random(11) + 0.3 * n).tolist() for n, s in enumerate("abc")})
    found = pair_tests.compare_pairs(table, "error")
    ordered = sorted(found, key=lambda v: v.p)
    running = 0.0
    for factor, verdict in zip((3, 2, 1), ordered, strict=True):
        running = max(running, min(1.0, factor * verdict.p))
        assert verdict.p_corrected == pytest.approx(running)


def test_solvers_without_a_common_problem_cannot_be_compared() -> None:
    cells = {"p": {"a": 1.0, "b": failed(Status.UNSUITED)}, "q": {"a": failed(Status.UNSUITED), "b": 1.0}}
    (verdict,) = pair_tests.compare_pairs(compared(cells, better={"error": "lower"}), "error")
    assert verdict.text == "no problem was taken by both a and b"
    assert math.isnan(verdict.p)


def test_seeds_of_one_problem_can_be_paired_and_the_text_names_the_problem() -> None:
    errors = {"a": [float(seed) for seed in range(7)], "b": [seed + 0.5 for seed in range(7)]}
    table = compared({"bowl": errors}, better={"error": "lower"})
    (over_problems,) = pair_tests.compare_pairs(table, "error")
    assert over_problems.text == "1 problem cannot distinguish a and b; at least 6 are needed"
    (over_seeds,) = pair_tests.compare_pairs(table, "error", unit="seed")
    assert over_seeds.text == "a is better than b (p = 0.0156, 7 seeds of bowl)"


def test_repeating_a_deterministic_run_with_other_seeds_proves_nothing() -> None:
    table = by_errors({"a": [1.0], "b": [2.0]}, seeds=20)
    (verdict,) = pair_tests.compare_pairs(table, "error", unit="seed")
    assert not verdict.distinguishable
    assert verdict.text == "a and b give the same values for all seeds of p0: no test"


def test_pairing_seeds_of_several_problems_asks_which() -> None:
    table = by_errors({"a": [1.0, 2.0], "b": [2.0, 3.0]}, seeds=3)
    with pytest.raises(InvalidInput, match="give `problem`, one of 'p0', 'p1'"):
        pair_tests.compare_pairs(table, "error", unit="seed")
    with pytest.raises(InvalidInput, match="no problem 'p7'"):
        pair_tests.compare_pairs(table, "error", unit="seed", problem="p7")
    with pytest.raises(InvalidInput, match="goes with unit"):
        pair_tests.compare_pairs(table, "error", problem="p0")
    assert len(pair_tests.compare_pairs(table, "error", unit="seed", problem="p1")) == 1


# All solvers at once


def test_the_test_over_all_solvers_agrees_with_its_formula() -> None:
    rng = np.random.default_rng(5)
    values = rng.random((9, 4)) + np.array([0.0, 0.3, 0.3, 0.6])
    found = pair_tests.overall(by_errors(dict(zip("abcd", values.T.tolist(), strict=True))), "error")
    sums = stats.rankdata(values, axis=1).sum(axis=0)
    statistic = 12 / (9 * 4 * 5) * float(np.sum(sums**2)) - 3 * 9 * 5
    assert found.p == pytest.approx(stats.chi2.sf(statistic, 3))
    assert str(found) == found.text


def test_the_test_over_all_solvers_speaks_in_words() -> None:
    same = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = pair_tests.overall(by_errors({"a": same, "b": same, "c": same}), "error")
    assert found.text == "the 3 solvers are not distinguishable (p = 1, 5 problems)"
    sweep = by_errors({s: [float(n)] * 8 for n, s in enumerate("abc")})
    assert (
        pair_tests.overall(sweep, "error").text == "the 3 solvers are not all alike (p < 0.001, 8 problems)"
    )
    few = by_errors({s: [float(n)] * 2 for n, s in enumerate("abc")})
    assert pair_tests.overall(few, "error").text.endswith(
        "cannot distinguish 3 solvers; at least 3 are needed"
    )
    assert "three or more" in pair_tests.overall(by_errors({"a": same, "b": same}), "error").text


def test_an_empty_comparison_has_nothing_to_say_and_does_not_fail() -> None:
    empty = compared({})
    assert summary.summarize(empty) == []
    assert losses.measures(empty) == []
    assert ranking.standings(empty, "suboptimality") == []
    assert pair_tests.compare_pairs(empty, "suboptimality") == []
    assert losses.failures(empty) == []
    assert math.isnan(pair_tests.overall(empty, "suboptimality").p)
    assert losses.loss_table(empty, "time") == {}


@pytest.mark.thorough
def test_five_thousand_rows_are_no_trouble() -> None:
    rng = np.random.default_rng(1)
    cells = {
        f"p{p}": {
            f"s{s}": [
                outcome(float(rng.random() + s), metrics={"error": float(rng.random())}) for _ in range(10)
            ]
            for s in range(10)
        }
        for p in range(50)
    }
    large = compared(cells, better={"error": "lower"})
    assert len(summary.summarize(large)) == 500
    assert [s.solver for s in ranking.standings(large, "suboptimality")] == [f"s{n}" for n in range(10)]
    assert len(pair_tests.compare_pairs(large, "suboptimality")) == 45
