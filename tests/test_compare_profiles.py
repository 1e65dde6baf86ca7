"""Profiles, time to target and convergence curves: by hand, by slow twins, by what must always hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats import convergence as curves
from optiframe.comparison.stats import profiles
from optiframe.comparison.stats.distances import distances, targets
from optiframe.errors import InvalidInput
from optiframe.solving.result import Status

from .comparison_samples import compared


def run(
    points: Sequence[tuple[float, float, float]],
    *,
    solved: str = "print",
    violation: float = 0.0,
    status: Status = Status.FINISHED,
    evaluations: Mapping[str, float] | None = None,
) -> Outcome:
    """A run that recorded (iteration, time, objective); its answer is the last."""
    iteration, time, objective = points[-1]
    columns = [list(map(float, column)) for column in zip(*points, strict=True)]
    trace = dict(zip(("iteration", "time", "objective"), columns, strict=True))
    trace["violation"] = [violation] * len(points)
    return Outcome(
        status,
        "",
        objective=objective,
        violation=violation,
        solved=solved,
        iterations=int(iteration),
        time=time,
        trace=trace,
        evaluations=evaluations or {},
    )


def solved_at(time: float) -> Outcome:
    """A run that reaches objective 0 at `time`, from 1; inf: an error."""
    if math.isinf(time):
        return Outcome(Status.ERROR, "it raised")
    return run([(1, time / 2, 1.0), (2, time, 0.0)])


def records(cells: Mapping[str, Mapping[str, Any]], **best: float) -> Records:
    """A comparison by hand; a number stands for a run that is solved at that time."""
    return compared(cells, solved_at, best)


def by_times(times: Mapping[str, Sequence[float]]) -> Records:
    problems = range(len(next(iter(times.values()))))
    return records({f"p{p}": {solver: all_[p] for solver, all_ in times.items()} for p in problems})


def at(curve: profiles.Curve, x: float) -> float:
    return curve.y[int(np.searchsorted(curve.x, x, side="right")) - 1]


# Time to target


def test_the_first_point_within_the_gap_gives_the_cost() -> None:
    end = run([(1, 0.5, 10.0), (5, 1.5, 0.009), (8, 2.5, 0.5), (9, 3.0, 0.0)], evaluations={"value": 18.0})
    table = records({"p": {"a": end}})
    assert profiles.time_to_target(table, 1e-2) == [1.5]
    assert profiles.time_to_target(table, 1e-2, cost="iterations") == [5.0]
    assert profiles.time_to_target(table, 1e-2, cost="evaluations") == [10.0]  # 18 * 5 / 9
    assert profiles.time_to_target(table, 0.0) == [3.0]


def test_a_target_is_relative_to_a_large_best_objective() -> None:
    table = records({"p": {"a": run([(1, 1.0, 103.0), (2, 2.0, 101.0)])}}, print=100.0)
    assert profiles.time_to_target(table, 0.02) == [2.0]
    assert profiles.time_to_target(table, 0.03) == [1.0]
    assert profiles.time_to_target(table, 0.001) == [math.inf]


def test_what_failed_never_reached_the_target_and_what_is_unknown_is_nan() -> None:
    good = [(1, 1.0, 0.0)]
    table = records(
        {
            "p": {
                "diverged": run([*good, (2, 2.0, math.inf)], status=Status.DIVERGED),
                "infeasible": run(good, violation=1e-3),
                "unsuited": Outcome(Status.UNSUITED, "no"),
                "running": None,
                "fine": run(good),
            }
        }
    )
    *failed, running, fine = profiles.time_to_target(table, 1e-2)
    assert failed == [math.inf] * 3
    assert math.isnan(running)
    assert fine == 1.0
    assert all(map(math.isnan, profiles.time_to_target(table, 1e-2, cost="evaluations")[3:]))


def test_infeasible_points_on_the_way_do_not_reach_the_target() -> None:
    end = run([(1, 1.0, -5.0), (2, 2.0, 0.0), (3, 3.0, 0.0)])
    trace = dict(end.trace) | {"violation": [0.5, 0.1, 0.0]}
    end = Outcome(Status.FINISHED, "", 0.0, 0.0, solved="print", iterations=3, time=3.0, trace=trace)
    assert profiles.time_to_target(records({"p": {"a": end}}), 1e-2) == [3.0]


def test_a_run_without_trace_is_judged_by_its_answer() -> None:
    end = Outcome(Status.FINISHED, "", 0.0, 0.0, solved="print", iterations=7, time=0.25)
    table = records({"p": {"a": end}})
    assert profiles.time_to_target(table, 1e-2) == [0.25]
    assert profiles.time_to_target(table, 1e-2, cost="iterations") == [7.0]


def test_a_wrong_gap_or_cost_is_refused() -> None:
    table = by_times({"a": [1.0]})
    with pytest.raises(InvalidInput, match="0 or more, got -1"):
        profiles.performance_profile(table, gap=-1.0)
    with pytest.raises(InvalidInput, match="one of time, iterations, evaluations, got 'money'"):
        profiles.data_profile(table, gap=0.1, cost="money")  # type: ignore[arg-type]  # refused at run time


# Profiles


def test_a_performance_profile_of_three_solvers_on_three_problems_by_hand() -> None:
    table = by_times({"a": [1.0, 4.0, math.inf], "b": [2.0, 2.0, 3.0], "c": [4.0, math.inf, 3.0]})
    a, b, c = profiles.performance_profile(table, gap=1e-2)
    third = pytest.approx(1 / 3)
    two = pytest.approx(2 / 3)
    # Ratios: a 1, 2, inf; b 2, 1, 1; c 4, inf, 1.
    assert [at(a, x) for x in (1.0, 1.99, 2.0, 4.0)] == [third, third, two, two]
    assert [at(b, x) for x in (1.0, 1.99, 2.0, 4.0)] == [two, two, 1.0, 1.0]
    assert [at(c, x) for x in (1.0, 2.0, 3.99, 4.0)] == [third, third, third, two]
    assert {curve.x[0] for curve in (a, b, c)} == {1.0}
    assert {curve.x[-1] for curve in (a, b, c)} == {4.4}


def test_a_data_profile_by_hand() -> None:
    table = by_times({"a": [1.0, 4.0, math.inf], "b": [2.0, 2.0, 3.0]})
    a, b = profiles.data_profile(table, gap=1e-2)
    assert [at(a, x) for x in (1.0, 3.99, 4.0)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert [at(b, x) for x in (1.0, 2.0, 3.0)] == pytest.approx([0.0, 2 / 3, 1.0])


def test_what_nobody_solves_and_what_is_unsuited_stays_in_the_denominator() -> None:
    cells = {
        "p": {"a": 1.0, "b": 2.0},
        "q": {"a": 1.0, "b": Outcome(Status.UNSUITED, "no")},
        "r": {"a": math.inf, "b": Outcome(Status.TIMEOUT, "killed")},
    }
    for profile in (profiles.performance_profile, profiles.data_profile):
        a, b = profile(records(cells), gap=1e-2)
        assert (a.y[-1], b.y[-1]) == pytest.approx((2 / 3, 1 / 3))


def test_each_seed_is_an_instance_and_one_not_yet_ended_by_all_waits() -> None:
    cells = {"p": {"a": [1.0, 3.0, 1.0], "b": [2.0, 1.0, None]}}
    a, b = profiles.performance_profile(records(cells), gap=1e-2)
    assert (at(a, 1.0), at(b, 1.0)) == (0.5, 0.5)


def test_problems_not_comparable_by_objective_are_left_out_and_named() -> None:
    cells = {
        "p": {"a": 1.0, "b": 2.0},
        "apart": {"a": run([(1, 1.0, 0.0)]), "b": run([(1, 0.1, 0.0)], solved="relaxed")},
        "plain": {"a": run([(1, 1.0, math.nan)]), "b": math.inf},
    }
    table = records(cells, print=0.0, relaxed=0.0)
    a, b = profiles.performance_profile(table, gap=1e-2)
    assert (at(a, 1.0), at(b, 1.0)) == (1.0, 0.0)
    apart, plain = profiles.excluded(table)
    assert apart.startswith("apart is left out: its solvers solved different formulations")
    assert plain == "plain is left out: it has no objective"


def test_a_solver_without_objective_is_not_drawn_and_named_and_partly_without_it_has_not_solved() -> None:
    cells = {
        "p": {"a": 1.0, "part": 2.0, "vote": run([(1, 0.1, math.nan)])},
        "q": {"a": 1.0, "part": run([(1, 0.1, math.nan)]), "vote": math.inf},
    }
    table = records(cells)
    for profile in (profiles.performance_profile, profiles.data_profile):
        a, part = profile(table, gap=1e-2)
        assert (a.solver, part.solver) == ("a", "part")
        assert (a.y[-1], part.y[-1]) == (1.0, 0.5)
    costs = profiles.time_to_target(table, 1e-2)
    assert costs[:2] + costs[3:5] == [1.0, 2.0, 1.0, math.inf]
    assert math.isnan(costs[2])
    assert math.isnan(costs[5])
    assert profiles.excluded(table) == [
        "vote is left out: its answers have no objective",
        "part has no objective on q, which counts as not solved",
    ]


def test_a_solver_that_only_failed_is_drawn_as_solving_nothing() -> None:
    cells = {"p": {"a": 1.0, "died": math.inf}}
    a, died = profiles.performance_profile(records(cells), gap=1e-2)
    assert (a.y[-1], died.y[-1]) == (1.0, 0.0)


# By a metric


def ended(time: float, error: float, **more: Any) -> Outcome:
    """A run whose answer has the metric "error"; nan: not measured, inf: it failed."""
    if math.isinf(error):
        return Outcome(Status.ERROR, "it raised")
    found = {} if math.isnan(error) else {"error": error}
    end = {"violation": 0.0, "time": time, "metrics": found, "better": {"error": "lower"}} | more
    return Outcome(Status.FINISHED, "", **end)


def test_a_profile_by_a_metric_by_hand() -> None:
    cells = {
        "p": {
            "a": ended(1.0, 0.10, solved="one", objective=5.0),
            "b": ended(4.0, 0.07, solved="other", objective=1.0),
            "c": ended(2.0, 0.0700000000000001),
        },
        "q": {"a": ended(1.0, 0.20), "b": ended(2.0, math.inf), "c": ended(3.0, 0.21)},
        "r": {"a": ended(9.0, math.inf), "b": ended(9.0, math.inf), "c": ended(9.0, math.inf)},
        "unmeasured": {"a": ended(1.0, math.nan)},
    }
    table = records(cells)
    # Of three instances, since nobody solves r; no answer to the last one has an error.
    third, two = pytest.approx(1 / 3), pytest.approx(2 / 3)
    exact = profiles.performance_profile(table, measure="error", within=0.0)
    assert [(c.solver, at(c, 1.0), at(c, 2.0)) for c in exact] == [
        ("a", third, third),
        ("b", 0.0, third),
        ("c", third, third),
    ]
    near = profiles.data_profile(table, measure="error", within=0.05)
    assert [(c.solver, at(c, 1.0), c.y[-1]) for c in near] == [
        ("a", two, two),
        ("b", 0.0, third),
        ("c", 0.0, two),
    ]


def test_a_higher_metric_is_near_from_below_and_a_solver_without_it_has_no_curve() -> None:
    higher = {"better": {"error": "higher"}}
    cells = {
        "p": {
            "a": [ended(1.0, 0.9, **higher), None],
            "b": [ended(2.0, 0.8, **higher), ended(2.0, 0.8, **higher)],
            "none": [ended(1.0, math.nan, **higher), None],
        }
    }
    table = records(cells)
    assert distances(table, "error") == {("p", 0, "a"): 0.0, ("p", 0, "b"): pytest.approx(0.1)}
    a, b = profiles.performance_profile(table, measure="error", within=0.01)
    assert (a.solver, a.y[-1], b.solver, b.y[-1]) == ("a", 1.0, "b", 0.0)


def test_targets_are_powers_of_ten_between_the_distances_and_the_best() -> None:
    def of(*values: float) -> list[float]:
        return targets({("p", seed, "a"): value for seed, value in enumerate(values)})

    assert of(0.0, 0.0025, 0.1) == [0.1, 0.01, 0.0]
    assert of(1e-9, 3e4, math.inf) == [1e4, 1e3, 1e2, 0.0]
    assert of(0.002, 0.003) == [0.01, 0.0]
    assert of(0.0, math.inf) == of() == [0.0]


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e12)), min_size=1, max_size=6))
def test_the_widest_target_but_one_decade_takes_in_the_farthest(values: list[float]) -> None:
    found = targets({("p", seed, "a"): value for seed, value in enumerate(values)})
    assert found == sorted(set(found), reverse=True)
    assert found[-1] == 0.0
    assert len(found) <= 4
    if any(values):
        assert max(values) < 10.000001 * found[0]


def test_a_profile_by_a_metric_says_what_does_not_go_together() -> None:
    table = records({"p": {"a": ended(1.0, 0.1)}})
    for how, words in (
        ({"measure": "error"}, "needs `within`"),
        ({"measure": "error", "within": 0.1, "gap": 0.1}, "needs `within`"),
        ({"measure": "error", "within": -1.0}, "a distance of 0 or more, got -1"),
        (
            {"measure": "error", "within": 0.1, "cost": "iterations"},
            "set cost = 'time' for a profile by error",
        ),
        ({"measure": "eror", "within": 0.1}, "did you mean 'error'"),
        ({"measure": "time", "within": 0.1}, "known are error"),
        ({"within": 0.1}, "takes a `gap`"),
        ({}, "takes a `gap`"),
    ):
        with pytest.raises(InvalidInput, match=words):
            profiles.performance_profile(table, **how)  # type: ignore[arg-type]  # from a table of cases


@pytest.mark.parametrize("profile", [profiles.performance_profile, profiles.data_profile])
def test_without_instances_there_are_no_curves_and_without_solutions_flat_ones(
    profile: Callable[..., list[profiles.Curve]],
) -> None:
    assert profile(records({}), gap=1e-2) == []
    assert profile(records({"p": {"a": None}}), gap=1e-2) == []
    for curve in profile(by_times({"a": [math.inf], "b": [math.inf]}), gap=1e-2):
        assert set(curve.y) == {0.0}
        assert len(curve.x) == 2


def test_a_cost_of_nothing_is_the_best_and_no_failure() -> None:
    cells = {"p": {s: run([(1, time, 0.0)]) for s, time in (("a", 0.0), ("b", 0.0), ("c", 1.0))}}
    a, b, c = profiles.performance_profile(records(cells), gap=1e-2)
    assert (at(a, 1.0), at(b, 1.0), at(c, 1.0)) == (1.0, 1.0, 0.0)
    assert c.y[-1] == 1.0


times = st.one_of(st.floats(1e-3, 1e3), st.just(math.inf))


@st.composite
def time_tables(draw: Callable[..., Any]) -> dict[str, list[float]]:
    problems = draw(st.integers(1, 5))
    return {
        s: draw(st.lists(times, min_size=problems, max_size=problems))
        for s in "abc"[: draw(st.integers(1, 3))]
    }


def share_by_hand(table: dict[str, list[float]], solver: str, ratio: float) -> float:
    """The definition, one instance after the other."""
    solved = 0
    for number, own in enumerate(table[solver]):
        best = min(all_[number] for all_ in table.values())
        solved += math.isfinite(own) and own / best <= ratio
    return solved / len(table[solver])


@given(time_tables())
def test_profiles_rise_from_at_least_zero_to_at_most_one_and_agree_with_the_definition(
    table: dict[str, list[float]],
) -> None:
    for profile in (profiles.performance_profile, profiles.data_profile):
        for curve in profile(by_times(table), gap=1e-2):
            assert all(0.0 <= y <= 1.0 for y in curve.y)
            assert list(curve.y) == sorted(curve.y)
            assert list(curve.x) == sorted(set(curve.x))
            assert curve.y[-1] == np.mean(np.isfinite(table[curve.solver]))
    for curve in profiles.performance_profile(by_times(table), gap=1e-2):
        for x, y in zip(curve.x, curve.y, strict=True):
            assert y == pytest.approx(share_by_hand(table, curve.solver, x))


@settings(max_examples=25)
@given(time_tables(), st.integers(-3, 3), st.randoms(use_true_random=False))
def test_a_performance_profile_ignores_the_unit_of_a_problem_and_the_order_of_rows(
    table: dict[str, list[float]], power: int, random: Any
) -> None:
    plain = profiles.performance_profile(by_times(table), gap=1e-2)
    scaled = {s: [all_[0] * 2.0**power, *all_[1:]] for s, all_ in table.items()}  # exact in binary
    assert profiles.performance_profile(by_times(scaled), gap=1e-2) == plain
    rows = list(by_times(table).rows)
    random.shuffle(rows)
    shuffled = Records(tuple(rows), {"print": 0.0}, (), {})
    assert sorted(profiles.performance_profile(shuffled, gap=1e-2), key=lambda c: c.solver) == plain


# Convergence


def test_a_convergence_curve_is_the_median_of_steps_over_seeds() -> None:
    cells = {
        "p": {
            "a": [
                run([(1, 1.0, 8.0), (2, 3.0, 2.0)]),
                run([(1, 2.0, 6.0), (3, 4.0, 1.0)]),
                run([(1, 1.0, 4.0), (2, 2.0, 5.0)]),
            ]
        }
    }
    (curve,) = curves.convergence(records(cells))
    assert (curve.problem, curve.solver, curve.solved, curve.seeds) == ("p", "a", "print", 3)
    assert curve.x == (1.0, 2.0, 3.0, 4.0)
    assert curve.median == (8.0, 6.0, 5.0, 2.0)  # at 1: 8, nothing yet, 4
    assert curve.low == (4.0, 5.0, 2.0, 1.0)
    assert curve.high == (math.inf, 8.0, 6.0, 5.0)
    (by_iterations,) = curves.convergence(records(cells), against="iterations")
    assert by_iterations.x == (1.0, 2.0, 3.0)
    assert by_iterations.median == (6.0, 5.0, 2.0)


def test_a_failed_run_counts_as_infinite_from_its_end() -> None:
    cells = {
        "p": {
            "a": [
                run([(1, 1.0, 1.0), (2, 2.0, 0.5)], status=Status.DIVERGED),
                run([(1, 1.0, 3.0), (4, 4.0, 2.0)]),
                run([(1, 1.0, 5.0), (4, 4.0, 4.0)]),
            ],
            "b": [Outcome(Status.CRASHED, "died"), Outcome(Status.CRASHED, "died"), run([(1, 1.0, 3.0)])],
            "c": Outcome(Status.ERROR, "raised"),
        }
    }
    (curve,) = curves.convergence(records(cells))  # of b most runs have nothing to show, of c all
    assert curve.x == (1.0, 2.0, 4.0)
    assert curve.median == (3.0, 5.0, 4.0)
    assert curve.low == (1.0, 3.0, 2.0)
    assert curve.high == (5.0, math.inf, math.inf)


def test_a_curve_that_rises_again_is_shown_to_rise() -> None:
    cells = {"p": {"a": run([(1, 1.0, 1.0), (2, 2.0, 0.1), (3, 3.0, 0.7)])}}
    (curve,) = curves.convergence(records(cells))
    assert curve.median == pytest.approx((1.0, 0.1, 0.7))


def test_different_formulations_are_groups_of_their_own() -> None:
    points = [(1, 1.0, 2.0)]
    cells = {
        "p": {
            "a": run(points, solved="zero"),
            "b": [..., run(points, solved="one")],
            "c": [run(points, solved="other"), run(points, solved="another")],
            "d": [run(points, solved="zero"), run(points, solved="one")],  # joins a and b, who share no seed
        }
    }
    best = {"zero": 0.0, "one": 1.0, "other": 2.0, "another": 2.0}
    found = {c.solver: c for c in curves.convergence(records(cells, **best))}
    groups = {solver: curve.solved for solver, curve in found.items()}
    assert groups == {"a": "zero", "b": "zero", "c": "other", "d": "zero"}
    assert found["d"].median == (1.5,)  # 2 above one best, 1 above the other
    assert found["c"].median == (0.0,)


def test_instances_drawn_for_each_seed_share_a_figure() -> None:
    cells = {
        "p": {"a": run([(1, 1.0, 2.0)], solved="zero"), "b": [..., run([(1, 1.0, 2.0)], solved="one")]},
        "q": {"a": run([(1, 1.0, 2.0)], solved="two"), "b": run([(1, 1.0, 2.0)], solved="two")},
    }
    found = curves.convergence(records(cells, zero=0.0, one=0.0, two=0.0))
    assert [c.solved for c in found] == ["zero", "zero", "two", "two"]


def test_a_problem_without_objective_has_no_curves() -> None:
    assert curves.convergence(records({"p": {"a": run([(1, 1.0, math.nan)])}})) == []
    assert curves.convergence(records({})) == []
    with pytest.raises(InvalidInput, match="time or iterations"):
        curves.convergence(records({}), against="money")  # type: ignore[arg-type]  # refused at run time


def test_long_runs_are_thinned_to_recorded_points_with_both_ends() -> None:
    points = [(n, 0.001 * 1.01**n, 1.0 / n) for n in range(1, 1500)]
    cells = {"p": {"a": [run(points[seed::2]) for seed in range(2)]}}
    for against, column in (("time", 1), ("iterations", 0)):
        (curve,) = curves.convergence(records(cells), against=against)  # type: ignore[arg-type]  # from a list
        recorded = {point[column] for point in points}
        assert 50 < len(curve.x) <= 200
        assert set(curve.x) <= recorded
        assert curve.x[-1] == max(recorded)
        assert list(curve.x) == sorted(set(curve.x))
        assert all(
            low <= middle <= high
            for low, middle, high in zip(curve.low, curve.median, curve.high, strict=True)
        )


def test_many_seeds_have_a_band_without_their_extremes() -> None:
    cells = {"p": {"a": [run([(1, 1.0, float(seed))]) for seed in range(21)]}}
    (curve,) = curves.convergence(records(cells))
    assert (curve.low, curve.median, curve.high) == ((2.0,), (10.0,), (18.0,))


@pytest.mark.thorough
def test_five_thousand_traced_rows_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    grid = np.arange(1, 101)

    def traced(s: int) -> Outcome:
        values = np.exp(-grid * (0.05 + 0.01 * s) * rng.random())
        return run(list(zip(grid.tolist(), (0.01 * grid).tolist(), values.tolist(), strict=True)))

    cells = {f"p{p}": {f"s{s}": [traced(s) for _ in range(10)] for s in range(10)} for p in range(50)}
    table = records(cells)
    assert len(profiles.performance_profile(table, gap=1e-2)) == 10
    assert len(profiles.data_profile(table, gap=1e-2, cost="iterations")) == 10
    assert len(curves.convergence(table)) == 500
