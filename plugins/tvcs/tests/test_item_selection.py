"""Choosing items from a table, against all subsets of small tables."""

from __future__ import annotations

import datetime
import itertools
import math
import pickle
import re
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_tvcs.selection import changes
from optiframe_tvcs.selection.contradiction import contradiction
from optiframe_tvcs.selection.data import Counts
from optiframe_tvcs.selection.problem import ItemSelection
from optiframe_tvcs.selection.program import Outcome, solve_program
from optiframe_tvcs.selection.proof import Proof
from optiframe_tvcs.selection.read import joined_name
from optiframe_tvcs.selection.relaxation import Relaxation, best_choice
from optiframe_tvcs.selection.solver import SelectItems
from optiframe_tvcs.selection.worths import Worths

import optiframe
from optiframe.cli.solve import command
from optiframe.errors import InvalidInput
from optiframe.files.solve_file import SolveFile
from optiframe.solving.solver import Run
from optiframe.tables.read import read_table
from optiframe.testing import SolverContract, check_interruptible

EXAMPLES = Path(__file__).parents[3] / "examples" / "selection"
ITEMS = {
    "item": list("abcdefgh"),
    "value": [5, 4, 3.2, 2, 1.5, 6, -1, 2.5],
    "brand": list("xxyyzzxy"),
    "shelf": list("AABBAABB"),
}


def best_subset(problem: ItemSelection, counts: Counts, fixed: Any, forbidden: Any) -> float:
    """The largest sum of values over all subsets within the bounds; -inf where there is none."""
    size = len(problem.items)
    every = np.array(list(itertools.product([False, True], repeat=size)))
    used = every @ counts.matrix.toarray().T
    within = ((used >= counts.lower) & (used <= counts.upper)).all(axis=1)
    within &= (every | ~fixed).all(axis=1) & ~(every & forbidden).any(axis=1)
    return max((problem.worths.total(one, problem.items.values) for one in every[within]), default=-math.inf)


VIEWS = (("a", 1, 20), ("b", 20, 10), ("c", 200, 5))  # name, rows in a group before the next, groups


@st.composite
def selections(draw: st.DrawFn, most_views: int = 3) -> dict[str, Any]:
    size = draw(st.integers(1, 7))
    values = draw(st.lists(st.integers(-20, 60).map(lambda v: v / 10), min_size=size, max_size=size))
    views = [f"v{k}" for k in range(draw(st.integers(0, most_views)))]
    table: dict[str, Any] = {"item": list(range(size)), "value": values}
    at_most: dict[str, Any] = {}
    at_least: dict[str, Any] = {}
    for view in views:
        table[view] = draw(st.lists(st.sampled_from("pqr"), min_size=size, max_size=size))
        groups = sorted(set(table[view]))
        at_most[view] = dict(zip(groups, draw(st.tuples(*[st.integers(0, 4)] * len(groups))), strict=True))
        at_least[view] = {group: draw(st.sampled_from([0, 0, 0, 1, 2])) for group in groups}
    at_most["total"] = draw(st.integers(0, size))
    at_least["total"] = draw(st.sampled_from([0, 0, 1, 3]))
    fixed = draw(st.lists(st.sampled_from(table["item"]), max_size=1))
    forbidden = [i for i in draw(st.lists(st.sampled_from(table["item"]), max_size=2)) if i not in fixed]
    if draw(st.booleans()):
        at_least = {}
    marks = {"fixed": fixed, "forbidden": forbidden}
    return {"items": table, "views": views, "at_most": at_most, "at_least": at_least, **marks}


@pytest.mark.slow
@given(selections())
@settings(max_examples=60, deadline=None)
def test_the_choice_and_everything_said_of_it_agree_with_all_subsets(inputs: dict[str, Any]) -> None:
    problem = ItemSelection(**inputs)
    counts, fixed, forbidden = problem.counts, problem.is_fixed, problem.is_forbidden
    best = best_subset(problem, counts, fixed, forbidden)
    result = optiframe.solve(problem, "tvcs.select", progress=False)
    if best == -math.inf:
        assert result.status == "infeasible"
        return
    found = result.solution
    assert result.violation == 0
    assert found.value == pytest.approx(best, abs=1e-9)
    assert found.proof.best
    changes = found.proof.changes
    one = np.eye(len(counts), dtype=np.int64)
    for at in range(len(counts)):
        if counts.limits[at]:
            more = best_subset(
                problem, counts.with_bounds(counts.lower, counts.upper + one[at]), fixed, forbidden
            )
            assert changes.one_more[at] == pytest.approx(more - best, abs=1e-9)
        if counts.demands[at]:
            less = best_subset(
                problem, counts.with_bounds(counts.lower - one[at], counts.upper), fixed, forbidden
            )
            assert changes.one_less[at] == pytest.approx(less - best, abs=1e-9)
    single = np.eye(len(problem.items), dtype=bool)
    for at, chosen in enumerate(found.chosen):
        if fixed[at] or forbidden[at]:
            free = best_subset(problem, counts, fixed & ~single[at], forbidden & ~single[at])
            assert changes.freed[at] == pytest.approx(free - best, abs=1e-9)
        else:
            other = best_subset(
                problem, counts, fixed | (single[at] & ~chosen), forbidden | (single[at] & chosen)
            )
            assert changes.margins[at] == pytest.approx(best - other, abs=1e-9)
            if changes.least_margins is not None:
                assert changes.least_margins[at] <= best - other + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_the_items_named_as_nearest_are_the_nearest_or_others_are_said_to_be_possible(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    kinds = {view: rng.integers(0, 8, 60) for view in "abc"}
    table = {"item": np.arange(60), "value": rng.integers(1, 100, 60), **kinds}
    bounds: dict[str, Any] = {"at_most": dict.fromkeys("abc", 3) | {"total": 15}, "at_least": {"a": 1}}
    problem = ItemSelection(items=table, views=list("abc"), **bounds)
    some = optiframe.solve(problem, progress=False).solution
    monkeypatch.setattr(changes, "_NEAREST", 60)
    whole = optiframe.solve(problem, progress=False).solution
    for side, verb in ((~some.chosen, "chosen"), (some.chosen, "dropped")):
        named, nearest = (
            np.sort(margins[side & np.isfinite(margins) & (margins > 0)])[:3].tolist()
            for margins in (changes.floats(each.proof.changes.margins) for each in (some, whole))
        )
        text = str(some)
        assert named == nearest or f"may be {verb} for a smaller change; not computed." in text


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("digits", [0, 17])
def test_what_the_linear_program_settles_is_what_integer_programs_find(
    seed: int, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    table = {"item": np.arange(30), "value": (10 * rng.random(30)).round(digits)}
    table |= {view: rng.integers(0, 2, 30) for view in "abc"}  # many items have the same groups
    bounds: dict[str, Any] = {"at_most": dict.fromkeys("abc", 6) | {"total": 9}, "at_least": {"a": 3}}
    problem = ItemSelection(items=table, views=list("abc"), fixed=[3], forbidden=[4], **bounds)
    programs: list[Any] = []

    def slow(counts: Counts, worths: Any, least: Any, most: Any, seconds: float) -> float | None:
        programs.append(counts)
        found = solve_program(counts, worths, least, most, whole=True, seconds=seconds)
        return -math.inf if found.chosen is None else float(worths[found.chosen].sum())

    def solve() -> Any:
        return optiframe.solve(problem, progress=False, prices_time=60, solver="tvcs.select").detail.changes

    monkeypatch.setattr(changes, "_NEAREST", 60)
    quick = solve()
    monkeypatch.setattr("optiframe_tvcs.selection.solver.best_worth", slow)
    settled = solve()
    few = len(programs)
    nothing = Relaxation(np.zeros(30), *np.full((2, len(problem.counts)), np.inf))
    monkeypatch.setattr("optiframe_tvcs.selection.solver.relax", lambda *_, **__: nothing)
    monkeypatch.setattr(changes, "_margins_of_like_items", lambda *_: np.full(30, np.inf))
    twin = solve()
    assert few < len(programs) - few or digits == 17  # prices are not known to the last of so many digits
    for name in ("one_more", "one_less", "margins", "freed"):
        for found in (quick, settled):
            np.testing.assert_allclose(
                changes.floats(getattr(found, name)), changes.floats(getattr(twin, name)), atol=1e-9
            )


def test_the_integer_program_among_the_items_that_the_linear_one_leaves_open_finds_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved: list[Outcome] = []

    def noted(*args: Any, **named: Any) -> Outcome:
        solved.append(solve_program(*args, **named))
        return solved[-1]

    again = widened = 0
    monkeypatch.setattr("optiframe_tvcs.selection.relaxation.solve_program", noted)
    monkeypatch.setattr("optiframe_tvcs.selection.relaxation._MANY", 0)
    for seed in range(80):
        rng = np.random.default_rng(seed)
        items = int(rng.integers(20, 60))
        table: dict[str, Any] = {"item": np.arange(items), "value": rng.integers(-3, 30, items)}
        table |= {view: rng.integers(0, rng.integers(3, 12), items) for view in "abc"}
        at_most = {view: {int(g): int(rng.integers(1, 3)) for g in set(table[view])} for view in "abc"}
        at_least = {"a": {int(g): int(rng.integers(0, 2)) for g in set(table["a"])}}
        problem = ItemSelection(items=table, views=list("abc"), at_most=at_most, at_least=at_least)
        given = problem.counts, problem.worths.whole, problem.is_fixed, ~problem.is_forbidden
        monkeypatch.setattr("optiframe_tvcs.selection.relaxation._OPEN", int(rng.integers(0, 6)))
        solved.clear()
        found, best = best_choice(*given, 60.0), solve_program(*given, whole=True, seconds=60.0)
        again += len(solved) > 1
        widened += any(each.infeasible for each in solved[:-1])
        assert found.infeasible == best.infeasible
        if not best.infeasible:
            assert found.best
            assert found.chosen is not None
            assert best.chosen is not None
            assert problem.worths.whole[found.chosen].sum() == problem.worths.whole[best.chosen].sum()
    assert again > widened > 0


def test_items_and_bounds_that_there_was_no_time_for_are_counted() -> None:
    table = {"item": list("stuvwxyz"), "value": range(1, 9)} | {view: list("ppqqrrss") for view in "abc"}
    problem = ItemSelection(items=table, views=list("abc"), at_most={"a": 1, "total": 3}, fixed=["s"])
    solver = optiframe.solver("tvcs.select", prices_time=0)
    said = str(optiframe.solve(problem, solver, progress=False).solution)
    assert "of the bounds are worth was not computed for lack of time (prices_time)." in said
    freed = "of the fixed and forbidden items cost by that was not computed for lack of time (prices_time)."
    assert f"What 1 {freed}" in said
    assert "5 other items may be chosen for a smaller change; not computed for lack of time" in said
    assert "2 other items may be dropped for a smaller change; not computed for lack of time" in said


def test_lack_of_time_is_the_reason_also_where_exchanges_settle_most_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    table = {"item": range(80), "value": rng.integers(1, 30, 80)}
    table |= {view: rng.integers(0, 2, 80) for view in "abc"}  # many items have the same groups
    bounds = {"at_most": dict.fromkeys("abc", 16) | {"total": 25}, "at_least": {"a": 7}}
    problem = ItemSelection(items=table, views=list("abc"), **bounds)
    monkeypatch.setattr("optiframe_tvcs.selection.solver.best_worth", lambda *_: None)
    solution = optiframe.solve(problem, progress=False).solution
    known = ~np.isnan(changes.floats(solution.proof.changes.margins))
    assert known[~solution.chosen].sum() > 10
    assert "may be chosen for a smaller change; not computed for lack of time (prices_time)." in str(solution)


def test_items_beyond_the_ten_that_are_tried_lack_no_time() -> None:
    table = {"item": range(15), "value": range(1, 16)} | {view: list("pqr") * 5 for view in "abc"}
    problem = ItemSelection(items=table, views=list("abc"), at_most={"total": 14}, fixed=list(range(13)))
    said = str(optiframe.solve(problem, progress=False).solution)
    assert "What 3 of the fixed and forbidden items cost by that was not computed." in said
    assert "for lack of time" not in said


def test_what_was_not_computed_because_the_user_stopped_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"item": list("stuvwxyz"), "value": range(1, 9)} | {view: list("ppqqrrss") for view in "abc"}
    problem = ItemSelection(items=table, views=list("abc"), at_most={"a": 1, "total": 3})
    monkeypatch.setattr(Run, "stopping", property(lambda _: True))
    said = str(optiframe.solve(problem, progress=False).solution)
    assert "of the bounds are worth was not computed because you stopped it." in said
    assert "may be chosen for a smaller change; not computed because you stopped it." in said
    assert "prices_time" not in said


def test_each_program_has_what_is_left_of_the_time_for_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"item": list("stuvwxyz"), "value": range(1, 9)} | {view: list("ppqqrrss") for view in "abc"}
    problem = ItemSelection(items=table, views=list("abc"), at_most={"a": 1, "total": 3})
    left: list[float] = []

    def slow(counts: Counts, worths: Any, least: Any, most: Any, seconds: float) -> None:
        left.append(seconds)
        time.sleep(0.02)

    monkeypatch.setattr("optiframe_tvcs.selection.solver.best_worth", slow)
    optiframe.solve(problem, progress=False, prices_time=5, solver="tvcs.select")
    assert len(left) > 2
    assert all(later < earlier - 0.01 for earlier, later in itertools.pairwise([5.01, *left]))


def test_bounds_of_views_with_few_groups_are_solved_again_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = {"item": range(60), "value": rng.integers(1, 50, 60), "customer": np.repeat(np.arange(12), 5)}
    table |= {"offer": rng.integers(0, 3, 60), "day": rng.integers(0, 2, 60)}
    bounds = {"at_most": {"customer": 1, "offer": 3, "day": 4}, "at_least": {"offer": 2}}
    problem = ItemSelection(items=table, views=["customer", "offer", "day"], **bounds)
    solved: list[str] = []

    def noted(counts: Counts, *_: Any) -> None:
        moved = (counts.lower != problem.counts.lower) | (counts.upper != problem.counts.upper)
        solved.extend(problem.counts.names[at][0] for at in np.flatnonzero(moved))

    monkeypatch.setattr("optiframe_tvcs.selection.solver.best_worth", noted)
    optiframe.solve(problem, "tvcs.select", progress=False)
    assert [view for view, _ in itertools.groupby(solved)] == ["day", "offer", "customer"]


def test_with_three_views_a_bound_that_is_not_used_up_may_be_worth_something() -> None:
    items = {
        "item": ["ale", "bun", "cola", "date"],
        "value": [3, 2, 4, 3],
        "a": ["a1", "a1", "a0", "a0"],
        "b": ["b0", "b0", "b0", "b1"],
        "c": ["c0", "c0", "c1", "c0"],
    }
    problem = ItemSelection(items=items, views=["a", "b", "c"], at_most={"a": 1, "b": 1, "c": 1})
    result = optiframe.solve(problem, progress=False)
    assert result.solution.ids.tolist() == ["cola"]
    bounds = result.to_tables()["bounds"]
    found = dict(zip(bounds["group"].tolist(), bounds["one_more_adds"].tolist(), strict=True))
    assert found["c0"] == 2  # ale and date are together worth 6


@pytest.mark.slow
@given(selections(most_views=2))
@settings(max_examples=30, deadline=None)
def test_the_integer_program_finds_what_the_exact_ways_find(inputs: dict[str, Any]) -> None:
    problem = ItemSelection(**inputs)
    exact, program = (
        optiframe.solve(problem, "tvcs.select", progress=False, method=way)
        for way in ("auto", "integer-program")
    )
    assert exact.status == program.status
    if exact.solution is not None:
        assert exact.solution.value == program.solution.value
        assert program.solution.proof.method == "integer program"


@pytest.mark.slow
@given(selections(most_views=3))
@settings(max_examples=40, deadline=None)
def test_a_contradiction_has_the_fewest_bounds_that_contradict_each_other(inputs: dict[str, Any]) -> None:
    problem = ItemSelection(**inputs)
    counts, fixed, forbidden = problem.counts, problem.is_fixed, problem.is_forbidden
    found = contradiction(counts, fixed, forbidden, whole=not problem.is_flow)
    if best_subset(problem, counts, fixed, forbidden) > -math.inf:
        assert found is None
        return
    assert found is not None
    assert found.fewest
    every = [
        *(("at_most", at) for at in np.flatnonzero(counts.limits)),
        *(("at_least", at) for at in np.flatnonzero(counts.demands)),
        *(("fixed", at) for at in np.flatnonzero(fixed)),
        *(("forbidden", at) for at in np.flatnonzero(forbidden)),
    ]

    def contradicts(kept: Any) -> bool:
        lower, upper = np.zeros_like(counts.lower), counts.sizes.copy()
        must, never = np.zeros_like(fixed), np.zeros_like(fixed)
        for kind, at in kept:
            if kind == "at_most":
                upper[at] = counts.upper[at]
            elif kind == "at_least":
                lower[at] = counts.lower[at]
            else:
                (must if kind == "fixed" else never)[at] = True
        return best_subset(problem, counts.with_bounds(lower, upper), must, never) == -math.inf

    assert contradicts([(demand.kind, demand.at) for demand in found.demands])
    smaller = len(found.demands) - 1
    assert not any(contradicts(kept) for kept in itertools.combinations(every, smaller))


@pytest.mark.parametrize(
    ("at_most", "at_least", "said"),
    [
        (
            {},
            {"total": 500},
            "2 bounds .*no smaller set.* at most 400; .* at least 500",
        ),
        ({}, {"a": {"a1": 200}}, "keeps this bound: a a1: at least 200 .it has 100 items."),
        ({"b": {"b1": 2}}, {"b": {"b1": 3}}, "b b1: at most 2; .2. b b1: at least 3"),
        pytest.param(
            {},
            {"a": 21},
            "21 bounds .*at most 400; .*: at least 21 each, 420 together",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"b": 15},
            {"total": 200},
            "11 bounds .*at most 15 each, 150 together; .*at least 200",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_bounds_that_contradict_each_other_by_their_numbers_are_found_among_three_views(
    at_most: dict[str, Any], at_least: dict[str, Any], said: str
) -> None:
    rows = np.arange(2000)
    table = {"item": rows, "value": rows % 7 + 1.0}
    table |= {view: [f"{view}{code}" for code in rows // step % groups] for view, step, groups in VIEWS}
    problem = ItemSelection(
        items=table, views=list("abc"), at_most={"total": 400, **at_most}, at_least=at_least
    )
    result = optiframe.solve(problem, progress=False)
    assert result.status == "infeasible"
    assert re.search(said, result.message), result.message


def test_places_of_one_view_and_demands_of_another_are_counted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optiframe_tvcs.selection.contradiction._SECONDS", 0.0)  # to look for fewer
    rows = np.arange(2000)
    table = {"item": rows, "value": rows % 7 + 1.0, "c": rows % 3}
    table |= {view: [f"{view}{code}" for code in rows // step % groups] for view, step, groups in VIEWS[:2]}
    problem = ItemSelection(items=table, views=list("abc"), at_most={"b": 15}, at_least={"a": 8})
    message = optiframe.solve(problem, progress=False).message
    assert message.startswith("these 29 bounds contradict each other (perhaps fewer of them do): ")
    assert "(1) b (all 10): at most 15 each, 150 together; (2) a a0, " in message
    assert message.endswith(": at least 8 each, 152 together. Relax one of them")


def test_links_that_count_twice_are_counted_so() -> None:
    links = {
        "from": list("aabbc"),
        "to": list("bccdd"),
        "value": [1] * 5,
        "kind": list("pqpqp"),
        "c": list("xyxyx"),
    }
    views = {"place": ["from", "to"], "kind": "kind", "c": "c"}
    inputs: dict[str, Any] = {"views": views, "at_most": {"place": 1}}
    fits = optiframe.solve(ItemSelection.from_frame(links, at_least={"total": 2}, **inputs), progress=False)
    assert len(fits.solution) == 2  # four ends
    too_many = ItemSelection.from_frame(links, at_least={"kind": {"p": 2, "q": 1}}, **inputs)
    message = optiframe.solve(too_many, progress=False).message
    assert "place b, c: at most 1 each, 2 together; (2) kind p: at least 2" in message  # each has such an end


def test_the_answer_is_in_words_and_in_the_users_columns() -> None:
    frame = pd.DataFrame(ITEMS)
    bounds: dict[str, Any] = {
        "at_most": {"total": 4, "brand": 2},
        "at_least": {"shelf": {"B": 2}, "brand": {"z": 2}},
    }
    problem = ItemSelection.from_frame(frame, views=["brand", "shelf"], **bounds)
    result = optiframe.solve(problem, progress=False)
    assert result.solution.ids.tolist() == ["c", "e", "f", "h"]
    pd.testing.assert_frame_equal(
        result.solution.frame().reset_index(drop=True), frame.iloc[[2, 4, 5, 7]].reset_index(drop=True)
    )
    said = str(result.solution).splitlines()
    assert said[:2] == ["4 of 8 items chosen; value adds up to 13.2.", "Chosen: c, e, f, h."]
    assert said[2].startswith("Proved best: with at most two views this is a flow")
    assert "One more item in the whole choice (at most 4) would add 5 to value." in said
    assert "One fewer item in brand z (at least 2) would add 3.5 to value." in said
    assert "d would be chosen if its value rose above 2.5 (by more than 0.5)." in said
    assert "h would be dropped if its value fell below 2 (by more than 0.5)." in said
    tables = result.to_tables()
    assert tables["bounds"]["one_more_adds"][0] == 5.0
    assert tables["bounds"]["at_least"].tolist()[1:4] == [None, None, 2]
    assert tables["items"]["changes_at_value"][3] == 2.5
    assert list(tables) == ["choice", "bounds", "items"]


def test_prices_of_a_view_with_many_groups_do_not_hide_those_of_the_others() -> None:
    items = {
        "pupil": np.repeat(np.arange(20), 2),
        "club": np.tile(["chess", "choir"], 20),
        "wish": np.tile([20, 21], 20) + np.repeat(np.arange(20), 2),
    }
    problem = ItemSelection.from_frame(
        items, value="wish", views=["pupil", "club"], at_most={"pupil": 1, "club": 10, "total": 20}
    )
    said = [
        line for line in str(optiframe.solve(problem, progress=False).solution).splitlines() if "One " in line
    ]
    assert len(said) == 10
    assert said[-1].startswith("One more item in club choir (at most 10) would add ")
    assert sum("in pupil" in line for line in said) == 9


def test_numbers_in_the_answer_have_the_decimals_of_the_values() -> None:
    items = {"item": list("abc"), "value": [120401.67, 120401.66, 120400.28]}
    said = str(
        optiframe.solve(ItemSelection.from_frame(items, at_most={"total": 2}), progress=False).solution
    )
    assert "value adds up to 240,803.33." in said
    assert "(at most 2) would add 120,400.28 to value." in said
    assert "c would be chosen if its value rose above 120,401.66 (by more than 1.38)." in said
    assert "a would be dropped if its value fell below 120,400.28 (by more than 1.39)." in said


@pytest.mark.parametrize(
    "given",
    [
        {"A": 1, "B": 3},
        "slots",
        {"group": ["A", "B"], "bound": [1, 3]},
        pd.DataFrame({"shelf": ["B", "A"], "at_most": [3.0, 1.0]}),
        {"Shelf": ["A", "B"], "Min": [0, 1], "Max": [1, 3]},
    ],
)
def test_bounds_are_read_from_a_table_by_name_a_column_and_a_frame(given: Any) -> None:
    items = {**ITEMS, "slots": [1 if shelf == "A" else 3 for shelf in ITEMS["shelf"]]}
    problem = ItemSelection.from_frame(items, views=["shelf"], at_most={"shelf": given})
    assert problem.at_most["shelf"].tolist() == [1, 3]


def test_marks_may_be_german() -> None:
    items = {**ITEMS, "keep": ["ja", "nein", "JA", *[None] * 5]}
    assert ItemSelection.from_frame(items, fixed="keep").fixed == ("a", "c")


def test_a_workbook_and_a_file_are_solved_from_the_command_line(tmp_path: Path) -> None:
    pd.DataFrame({**ITEMS, "keep": ["", "", "", "yes", *[""] * 4]}).to_excel(
        tmp_path / "items.xlsx", index=False
    )
    pd.DataFrame({"shelf": ["A", "B"], "at_most": [2, None]}).to_excel(tmp_path / "shelves.xlsx", index=False)
    (tmp_path / "shop.toml").write_text(
        '[problem]\nname = "selection"\nitems = "items.xlsx"\nviews = ["shelf"]\nfixed = "keep"\n'
        'at_most = { shelf = "shelves.xlsx", total = 4 }\n'
    )
    found = CliRunner().invoke(command, [str(tmp_path / "shop.toml"), "--output", str(tmp_path / "out")])
    assert found.exit_code == 0, found.output
    assert "  4 of 8 items chosen; value adds up to 16.2." in found.output
    assert "Chosen: a, c, d, f." in found.output
    assert "One more item in shelf A (at most 2) would add 0.8 to value." in found.output
    assert "shelf B: no upper bound is given" in found.output
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"answer.csv", "bounds.csv", "items.csv"}
    wanted = [str(tmp_path / "shop.toml"), "--output", str(tmp_path / "excel")]
    found = CliRunner().invoke(command, [*wanted, "--set", "output.answer=answer.xlsx"])
    assert found.exit_code == 0, found.output
    assert pd.read_excel(tmp_path / "excel" / "answer.xlsx")["value"].sum() == pytest.approx(16.2)
    assert (tmp_path / "excel" / "bounds.xlsx").exists()


def test_an_edge_counts_at_both_ends() -> None:
    edges = {"left": ["a", "a", "b", "c"], "right": ["b", "c", "c", "d"], "value": [3, 2, 2.5, 1]}
    problem = ItemSelection.from_frame(edges, views={"node": ["left", "right"]}, at_most={"node": 1})
    result = optiframe.solve(problem, progress=False)
    assert result.solution.ids.tolist() == ["a / b", "c / d"]
    assert result.detail.method == "integer program"
    assert result.detail.best
    assert "(needed as an item counts in 2 groups of node)" in str(result.solution)


def test_values_of_many_digits_are_chosen_exactly_and_say_what_is_not_computed() -> None:
    items = {"item": list("abcd"), "value": [1e200, 1.0, 2.0, 3.0]}
    problem = ItemSelection.from_frame(items, at_most={"total": 2})
    result = optiframe.solve(problem, progress=False)
    assert result.solution.ids.tolist() == ["a", "d"]
    lower = ItemSelection.from_frame(
        {**items, "value": [math.pi, math.e, 1 / 3, -0.1]}, at_least={"total": 4}
    )
    found = optiframe.solve(lower, progress=False).solution
    assert len(found) == 4
    assert "Proved best (values rounded to 12 digits)" in str(found)
    blurred = ItemSelection.from_frame(items, at_most={"total": 2}, at_least={"total": 2})
    texts = [finding.text for finding in optiframe.solve(blurred, progress=False).findings]
    assert any("is worth the same to 12 digits, with one of these" in text for text in texts)


def test_rounding_errors_of_decimals_are_left_out_and_the_answer_says_so() -> None:
    whole = np.array([8, 5, 8, 3, 1, 3, 9, 9, 7, 2, 5, 1])
    table = {"item": range(12), "m": list("pqqpqqpqpppp"), "s": list("vuuvvuuuvvvu")}
    bounds: dict[str, Any] = {"views": ["m", "s"], "at_most": {"m": 3, "s": 3}}

    def solve(values: Any) -> Any:
        problem = ItemSelection.from_frame({**table, "value": values}, **bounds)
        return optiframe.solve(problem, progress=False)

    noisy, plain = solve(whole * 0.1 * 1.1), solve(whole * 11 / 100)
    said = "value counts with 2 decimals: rounding errors, as in 0.8800000000000001, are left out."
    assert said in str(noisy.solution)
    assert noisy.solution.chosen.tolist() == plain.solution.chosen.tolist()
    assert str(noisy.solution).replace(" " + said, "") == str(plain.solution)
    assert noisy.findings == plain.findings
    many = [1 / 3 + k * 2**-40 / 3 for k in whole]
    assert "is calculated with value rounded to 12 digits" in str(solve(many).solution)


@pytest.mark.parametrize("bound", [1.0, math.inf])
def test_a_choice_that_is_not_proved_best_says_that_rounding_errors_are_left_out(bound: float) -> None:
    problem = ItemSelection(items={"item": ["a", "b"], "value": [0.1 + 0.2, 0.1]})
    choice = problem.choice(np.array([True, True]), Proof("integer program", bound, best=False))
    said = "value counts with 1 decimal: rounding errors, as in 0.30000000000000004, are left out."
    assert said in str(choice)
    assert "What bounds are worth" not in str(choice)


@pytest.mark.parametrize("value", [0.123456789000001, 1.00000000000001, 1.000000001, -12345.6789])
def test_decimals_that_differ_in_a_digit_are_no_rounding_errors(value: float) -> None:
    worths = Worths.of(np.array([value, 0.1]))
    assert worths.noisy is None
    assert worths.total(np.array([True, False]), np.array([value, 0.1])) == value


def test_values_of_too_many_digits_for_prices_say_to_how_many_they_can_be_rounded() -> None:
    for value, advice in (
        (0.1, "; round it to 9 decimals."),
        (2e9, "; round it to 2 decimals."),
        (1e13, "."),
    ):
        problem = ItemSelection.from_frame({"item": ["a", "b"], "value": [value / 3, value]})
        choice = problem.choice(np.array([True, True]), Proof("projection", value, best=True))
        assert f"What bounds are worth is not known: value has too many digits{advice}" in str(choice)


def test_the_index_of_a_frame_can_name_the_items() -> None:
    frame = pd.DataFrame({"value": [1.0, 3.0, 2.0]}, index=pd.Index(["a", "b", "c"], name="sku"))
    problem = ItemSelection.from_frame(frame, item="sku", at_most={"total": 1}, forbidden=["b"])
    chosen = optiframe.solve(problem, progress=False).solution
    assert chosen.ids.tolist() == ["c"]
    assert chosen.frame()["sku"].tolist() == ["c"]


def test_findings_name_what_may_be_meant_otherwise() -> None:
    items = {"item": list("abcd"), "value": [1, 2, 2, -3], "brand": ["X", "x", "y", "y"]}
    problem = ItemSelection.from_frame(
        items, views="brand", at_most={"total": 2, "brand": {"X": 1}}, fixed="d"
    )
    found = {finding.identifier: finding for finding in optiframe.solve(problem, "tvcs.select").findings}
    assert list(found) == [
        "selection.group-without-bound",
        "selection.spelled-twice",
        "selection.negative-value",
        "selection.tie",
    ]
    assert found["selection.group-without-bound"].about == ("x", "y")
    assert found["selection.spelled-twice"].about == ("X", "x")
    assert found["selection.negative-value"].about == ("d",)
    assert found["selection.tie"].about in (("b",), ("c",))
    unbound = optiframe.solve(ItemSelection.from_frame(items), "tvcs.select")
    assert unbound.solution.ids.tolist() == ["a", "b", "c"]
    assert unbound.findings[0].identifier == "selection.no-bounds"


@pytest.mark.slow
class TestSelectItems(SolverContract):
    solver = SelectItems()

    def instances(self) -> Iterable[ItemSelection]:
        frame = {name: values for name, values in ITEMS.items() if name != "shelf"}
        return [
            ItemSelection.from_frame(frame, views="brand", at_most={"brand": 1}, forbidden=["f"]),
            ItemSelection.from_frame(
                ITEMS, views=["brand", "shelf"], at_most={"total": 3}, at_least={"shelf": 1}
            ),
            ItemSelection.from_frame(
                {**ITEMS, "kind": list("ppqqrrpq")}, views=["brand", "shelf", "kind"], at_most={"kind": 1}
            ),
        ]


def test_values_of_many_digits_are_proved_best_with_three_views() -> None:
    rng = np.random.default_rng(0)
    views = {f"v{k}": rng.integers(0, 6, 60).tolist() for k in range(3)}
    items = {"item": list(range(60)), "value": rng.random(60).tolist(), **views}
    problem = ItemSelection.from_frame(items, views=list(views), at_most=dict.fromkeys(views, 4))
    result = optiframe.solve(problem, "tvcs.select", prices_time=0, progress=False)
    assert result.status == "converged"
    assert 0 < result.detail.bound - result.solution.value < 1e-9
    assert "Proved best (values rounded to 12 digits)" in str(result.solution)
    assert "bounds are worth was not computed for lack of time (prices_time)" in str(result.solution)


def test_prices_between_many_groups_are_those_between_few(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ItemSelection.from_frame(
        ITEMS, views=["brand", "shelf"], at_most={"total": 4, "brand": 2}, at_least={"shelf": 2, "brand": 1}
    )
    every = optiframe.solve(problem, "tvcs.select", progress=False).detail.changes
    monkeypatch.setattr("optiframe_tvcs.selection.changes._PAIRS", 0)
    monkeypatch.setattr("optiframe_tvcs.selection.changes._STEPS", 0)
    result = optiframe.solve(problem, "tvcs.select", progress=False)
    few = result.detail.changes
    assert few.one_more.tolist() == every.one_more.tolist()
    assert few.one_less.tolist() == every.one_less.tolist()
    assert few.margins.tolist() == [None] * 8
    assert "would add" in str(result.solution)


@given(inputs=selections(most_views=2))
@settings(max_examples=30, deadline=None)
def test_changes_of_many_groups_of_one_view_and_few_of_another_are_those_of_few_groups(
    inputs: dict[str, Any],
) -> None:
    problem = ItemSelection(**inputs)
    found = []
    for pairs in (700, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("optiframe_tvcs.selection.changes._PAIRS", pairs)
            result = optiframe.solve(problem, "tvcs.select", progress=False)
        if result.status == "infeasible":
            return
        of = result.detail.changes
        found.append([part.tolist() for part in (of.one_more, of.one_less, of.margins, of.freed)])
    assert found[0] == found[1]


@pytest.mark.slow
def test_what_changes_a_choice_for_many_customers_is_found_in_seconds() -> None:
    rng = np.random.default_rng(0)
    customers = np.repeat(np.arange(30_000), 3)
    items = {
        "customer": customers,
        "offer": rng.permuted(np.tile(np.arange(6), (30_000, 1)), axis=1)[:, :3].ravel(),
        "value": rng.integers(1, 10_000, len(customers)) / 100,
    }
    problem = ItemSelection.from_frame(
        items, views=["customer", "offer"], at_most={"customer": 1, "offer": 3_000, "total": 15_000}
    )
    began = time.process_time()
    changes = optiframe.solve(problem, "tvcs.select", progress=False).detail.changes
    assert time.process_time() - began < 7  # a seventh of it; 14 where each group took a pass over all arcs
    assert None not in changes.margins


def test_problems_are_hashed_copied_and_pickled() -> None:
    problem = ItemSelection.from_frame(ITEMS, views=["brand"], at_most={"brand": 2}, fixed=["a"])
    assert problem.model_copy() == problem == pickle.loads(pickle.dumps(problem))
    assert problem.model_copy(update={"fixed": ["b"]}) != problem


@pytest.mark.slow
@pytest.mark.parametrize("name", ["assortment", "reviews", "links", "panel"])
def test_the_example_is_solved_from_its_table(name: str, tmp_path: Path) -> None:
    file = str(EXAMPLES / f"{name}.toml")
    found = CliRunner().invoke(command, [file, "--output", str(tmp_path)])
    assert found.exit_code == 0, found.output
    assert "Chosen: " in found.output
    assert "Proved best" in found.output
    total = re.search(r"adds up to (\S+)\.\n", found.output)
    assert total is not None
    assert re.search(rf"^  value +{re.escape(total[1])}$", found.output, re.MULTILINE)
    assert "One more item in the whole choice" in found.output or name == "reviews"
    problem = SolveFile.read(file).problem
    chosen = np.isin(
        np.arange(len(problem.items)),
        np.flatnonzero(read_table(tmp_path / "items.csv", ("chosen",), title="items")["chosen"]),
    )
    assert problem.violation(problem.choice(chosen)) == 0
    program = optiframe.solve(problem, "tvcs.select", method="integer-program", prices_time=0, progress=False)
    assert problem.choice(chosen).value == program.solution.value
    assert program.solution.proof.best


def test_a_choice_that_is_not_proved_best_says_what_is_proved() -> None:
    rng = np.random.default_rng(0)
    views = {f"v{k}": rng.integers(0, 25, 400).tolist() for k in range(6)}
    items = {"item": list(range(400)), "value": (rng.random(400) * 1000).round(2).tolist(), **views}
    bounds = {"at_most": dict.fromkeys(views, 3), "at_least": {"v0": 1}}
    problem = ItemSelection.from_frame(items, views=list(views), **bounds)
    worths = problem.worths.whole
    chosen = np.zeros(400, dtype=bool)
    choice = problem.choice(chosen, Proof("integer program", worths.sum() / 100, best=False))
    assert "Not proved best: the integer program of HiGHS (needed with 6 views) stopped early." in str(choice)
    assert problem.diagnose(choice)[0].identifier == "selection.not-proved"


PAIRS = pd.DataFrame(
    {
        "fit": [3.0, 2.0, 1.0, 2.5],
        "reviewer": ["ann", "ann", "bob", "cy"],
        "paper": ["01", "02", "01", "02"],
    }
)


@pytest.mark.parametrize(
    "forbidden",
    [
        pd.DataFrame({"paper": ["01", "01"], "reviewer": ["ann", "cy"]}),  # cy and 01 are no pair
        pd.DataFrame({"paper": ["01"], "reviewer": ["ann"]}).set_index(["paper", "reviewer"]),
        [("ann", "01")],
        ["ann / 01"],
        "conflicts.csv",
    ],
)
def test_pairs_are_forbidden_by_a_table_of_pairs(
    forbidden: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("conflicts.csv").write_text("paper,reviewer,why\n01,ann,same lab\n", encoding="utf-8")
    problem = ItemSelection.from_frame(
        PAIRS, value="fit", views=["reviewer", "paper"], at_most={"paper": 1}, forbidden=forbidden
    )
    assert problem.forbidden == ("ann / 01",)
    chosen = optiframe.solve(problem, progress=False).solution.frame()
    assert chosen.to_dict("list") == {"fit": [1.0, 2.5], "reviewer": ["bob", "cy"], "paper": ["01", "02"]}
    assert list(chosen) == list(PAIRS)


def test_a_table_of_forbidden_pairs_names_only_what_there_is() -> None:
    conflicts = pd.DataFrame({"paper": ["01", "03"], "reviewer": ["ann", "ann"]})
    inputs = {"value": "fit", "views": ["reviewer", "paper"]}
    with pytest.raises(InvalidInput, match="forbidden row 1: items has no paper '03'"):
        ItemSelection.from_frame(PAIRS, forbidden=conflicts, **inputs)
    with pytest.raises(InvalidInput, match="fixed row 0: items has no item cy / 01; add its row there"):
        ItemSelection.from_frame(PAIRS, fixed={"paper": ["01"], "reviewer": ["cy"]}, **inputs)


@pytest.mark.parametrize(
    "papers", [[1001, 1002, 1001], [1001.0, 1002.0, 1001.0], ["1001.0", "1002.0", "1001.0"]]
)
@pytest.mark.parametrize("named", [1002, 1002.0, np.int64(1002), "1002", "1002.0"])
def test_whole_numbers_name_the_same_with_and_without_a_point(papers: Any, named: Any) -> None:
    items = pd.DataFrame({"reviewer": ["ann", "ann", "bob"], "paper": papers, "fit": [1, 2, 3]})
    inputs: dict[str, Any] = {"value": "fit", "views": ["reviewer", "paper"]}
    listed = [("ann", named)]
    for forbidden in (listed, pd.DataFrame(listed, columns=["reviewer", "paper"])):
        problem = ItemSelection.from_frame(items, forbidden=forbidden, **inputs)
        assert problem.is_forbidden.tolist() == [False, True, False]
    bounded = ItemSelection.from_frame(items, at_most={"paper": {named: 0}}, **inputs)
    assert bounded.counts.upper[-1] == 0
    single = ItemSelection.from_frame(items.iloc[1:], item="paper", value="fit", fixed=[named])
    assert single.is_fixed.tolist() == [True, False]


@pytest.mark.parametrize("kinds", [[], ["kind"]])
def test_a_link_is_forbidden_and_fixed_with_its_ends_in_either_order(kinds: list[str]) -> None:
    links = {
        "from": ["n", "e", "w", "s"],
        "to": ["e", "w", "n", "n"],
        "km": [5, 2, 1, 1],
        "kind": list("rrrr"),
    }
    views: dict[str, Any] = {"place": ["from", "to"], **{kind: kind for kind in kinds}}
    kind = ("r",) * len(kinds)
    for listed in ([("e", "n", *kind)], pd.DataFrame([("e", "n", *kind)], columns=["from", "to", *kinds])):
        inputs: dict[str, Any] = {"value": "km", "views": views, "at_most": {"place": 2}}
        forbidden = optiframe.solve(ItemSelection.from_frame(links, forbidden=listed, **inputs)).solution
        assert not forbidden.chosen[0]
        assert forbidden.chosen[1:].any()
        assert ItemSelection.from_frame(links, fixed=listed, **inputs).is_fixed.tolist() == [
            True,
            *[False] * 3,
        ]
    both = pd.concat([pd.DataFrame(links), pd.DataFrame(links).rename(columns={"from": "to", "to": "from"})])
    oneway = ItemSelection.from_frame(both, value="km", views=views, forbidden=[("e", "n", *kind)])
    assert np.flatnonzero(oneway.is_forbidden).tolist() == [4]  # the row that is written so


@pytest.mark.parametrize("order", [1, -1])
def test_ends_of_a_link_that_another_view_shares_are_told_apart(order: int) -> None:
    links = {"from": ["d", "c", "d"], "to": ["a", "a", "b"], "km": [1, 2, 3]}
    views = dict([("place", ["from", "to"]), ("origin", "from")][::order])
    inputs: dict[str, Any] = {"value": "km", "views": views}
    with pytest.raises(InvalidInput, match="there is no item 'c / b'"):
        ItemSelection.from_frame(links, fixed=[("c", "b")], **inputs)
    unknown = ItemSelection.from_frame(links, forbidden={"from": ["c"], "to": ["b"]}, **inputs)
    assert unknown.forbidden == ()
    assert "forbidden forbids nothing" in unknown.forbidden.findings[0].text
    for ends, item in ((("d", "b"), "d / b"), (("a", "d"), "d / a")):
        listed = pd.DataFrame([ends], columns=["from", "to"])
        assert ItemSelection.from_frame(links, fixed=[ends], **inputs).fixed == (item,)
        assert ItemSelection.from_frame(links, forbidden=listed, **inputs).forbidden == (item,)


def test_the_end_that_two_links_share_changes_its_place_with_one_other_end() -> None:
    links = {"from": ["d", "e"], "via": ["a", "c"], "to": ["b", "d"], "km": [1, 2]}
    views = {"first": ["from", "via"], "second": ["via", "to"]}

    def forbidden(*stops: str) -> tuple[Any, ...]:
        return ItemSelection.from_frame(links, value="km", views=views, forbidden=[stops]).forbidden

    assert forbidden("a", "d", "b") == forbidden("d", "b", "a") == ("d / a / b",)
    for others in (("a", "b", "d"), ("b", "a", "d"), ("c", "a", "b")):
        with pytest.raises(InvalidInput, match="there is no item"):
            forbidden(*others)


def test_pairs_whose_names_hold_the_sign_between_them_are_told_apart() -> None:
    items = {"reviewer": ["a / b", "a"], "paper": ["c", "b / c"], "fit": [1, 2]}
    inputs: dict[str, Any] = {"value": "fit", "views": ["reviewer", "paper"]}
    problem = ItemSelection.from_frame(items, forbidden=[("a / b", "c")], **inputs)
    assert problem.items.ids.tolist() == ['"a / b" / c', 'a / "b / c"']
    assert problem.is_forbidden.tolist() == [True, False]


def test_no_two_items_have_the_same_joined_name() -> None:
    names = ["".join(signs) for size in range(4) for signs in itertools.product('x/" ', repeat=size)]
    seen: dict[str, tuple[str, ...]] = {}
    for row in itertools.product(names, repeat=2):
        assert seen.setdefault(joined_name(row), row) == row
    hard = [['"x', 'y"', "z / w"], ["x / y", '"z', 'w"'], ['x / y" / "z', "a", "b"], ["x", 'y" / "z', "a"]]
    assert len({joined_name(row) for row in hard}) == len(hard)
    items = {"a": ['"x', "x / y"], "b": ['y"', '"z'], "c": ["z / w", 'w"'], "value": [1, 2]}
    assert len(ItemSelection(items=items, views=["a", "b", "c"]).items) == 2
    assert joined_name(['5" pipe', "a/b"]) == '5" pipe / a/b'


@pytest.mark.parametrize("kind", ["xlsx", "frame", "csv"])
def test_bounds_on_days_are_given_by_the_date(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"item": ["a", "b"], "value": [1, 2], "day": pd.to_datetime(["2024-05-01", "2024-05-02"])}
    )
    items: Any = frame
    if kind == "xlsx":
        frame.to_excel(items := tmp_path / "items.xlsx", index=False)
    elif kind == "csv":
        frame.to_csv(items := tmp_path / "items.csv", index=False)
    for day in ("2024-05-02", "2024-05-02 00:00:00", pd.Timestamp("2024-05-02"), datetime.date(2024, 5, 2)):
        problem = ItemSelection.from_frame(items, views="day", at_most={"day": {day: 0}})
        assert optiframe.solve(problem, progress=False).solution.ids.tolist() == ["a"]


@pytest.mark.parametrize("text", [False, True])
def test_a_day_does_not_name_its_midnight_among_times(text: bool) -> None:
    at = [datetime.datetime(2024, 1, 1, hour) for hour in (8, 0, 9)]
    items = {"item": list("abc"), "value": [1, 2, 3], "at": list(map(str, at)) if text else at}
    for day in ("2024-01-01", datetime.date(2024, 1, 1)):
        with pytest.raises(InvalidInput, match=r"no item is in at .*2024"):
            ItemSelection.from_frame(items, views="at", at_most={"at": {day: 0}})
    for midnight in ("2024-01-01 00:00:00", at[1]):
        problem = ItemSelection.from_frame(items, views="at", at_most={"at": {midnight: 0}})
        assert optiframe.solve(problem, progress=False).solution.ids.tolist() == ["a", "c"]


def test_a_pair_as_key_and_value_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(
        InvalidInput, match=r"^selection: fixed: a table has .*; give items as \[\['ann', '01'\]\]$"
    ):
        ItemSelection.from_frame(PAIRS, value="fit", views=["reviewer", "paper"], fixed={"ann": "01"})
    with pytest.raises(
        InvalidInput, match=r"^selection: fixed: a table has .*; give items as a list of them$"
    ):
        ItemSelection.from_frame(ITEMS, fixed={"a": "b"})


def test_messages_show_ids_as_they_are_written() -> None:
    items = pd.DataFrame({"reviewer": ["ann", "bob"], "paper": [1001.0, 1002.0], "fit": [1, 2]})
    inputs: dict[str, Any] = {"value": "fit", "views": ["reviewer", "paper"]}
    listed = pd.DataFrame({"reviewer": ["ann"], "paper": [1003]})
    with pytest.raises(InvalidInput, match=r"items has no paper 1003; did you mean '1002' or '1001'\?"):
        ItemSelection.from_frame(items, forbidden=listed, **inputs)
    with pytest.raises(InvalidInput, match=r"no item is in paper 1003; .*'1002' or '1001'\?"):
        ItemSelection.from_frame(items, at_most={"paper": {np.int64(1003): 1}}, **inputs)
    with pytest.raises(InvalidInput, match=r"there is no item 1003 in items"):
        ItemSelection.from_frame(items, item="paper", value="fit", fixed=[np.int64(1003)])


def test_forbidden_rows_that_are_no_items_are_counted() -> None:
    def found(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
        listed = pd.DataFrame(rows, columns=["reviewer", "paper"])
        problem = ItemSelection.from_frame(
            PAIRS, value="fit", views=["reviewer", "paper"], at_most={"paper": 1}, forbidden=listed
        )
        assert problem.model_copy(update={"at_least": None}).forbidden.findings == problem.forbidden.findings
        findings = optiframe.solve(pickle.loads(pickle.dumps(problem)), progress=False).findings
        return [(f.level, f.text) for f in findings if f.identifier == "selection.forbids-nothing"]

    assert found([("ann", "01")]) == []
    some = "forbidden: 1 row is no item, of 2, which changes nothing: cy / 01"
    assert found([("ann", "01"), ("cy", "01")]) == [("note", some)]
    none = "forbidden forbids nothing: none of its 2 rows is an item, such as cy / 01, bob / 02"
    assert found([("cy", "01"), ("bob", "02")]) == [("warning", none)]


def test_the_columns_of_the_answer_keep_the_order_of_the_table(tmp_path: Path) -> None:
    table = tmp_path / "fits.csv"
    table.write_text("note,paper,fit,reviewer\n,01,3,ann\nlate,02,1,bob\n", encoding="utf-8")
    problem = ItemSelection.from_frame(str(table), value="fit", views=["reviewer", "paper"])
    assert list(optiframe.solve(problem, progress=False).to_tables()["choice"]) == [
        "note",
        "paper",
        "fit",
        "reviewer",
    ]


@pytest.mark.parametrize(
    "bounds",
    [
        {"*": 1, "y": 2, "z": ""},
        {"brand": ["y", "*", "z"], "at_most": [2, 1, None]},
        {"x": 1, "y": 2, "z": 1, "*": None},
    ],
)
def test_a_star_stands_for_the_groups_without_a_bound_of_their_own(bounds: Any) -> None:
    problem = ItemSelection(items=ITEMS, views=["brand"], at_most={"brand": bounds})
    assert problem.at_most["brand"].tolist() == [1, 2, 1]
    with pytest.raises(InvalidInput, match=r"row 1: brand \* has a bound already"):
        ItemSelection(items=ITEMS, views=["brand"], at_most={"brand": {"brand": ["*", "*"], "bound": [1, 2]}})


def test_levels_of_an_index_are_columns() -> None:
    loads = pd.DataFrame({"reviewer": ["ann", "bob", "zoe"], "at_most": ["1.0", "7", ""]})
    problem = ItemSelection.from_frame(
        PAIRS.set_index(["reviewer", "paper"]),
        value="fit",
        views=["reviewer", "paper"],
        at_most={"reviewer": loads.set_index("reviewer")},  # and no bound on a group that has no item
    )
    assert optiframe.solve(problem, progress=False).solution.value == 3.0 + 1.0 + 2.5


def test_ctrl_c_stops_an_integer_program() -> None:
    program = """
import numpy as np
from optiframe_tvcs import ItemSelection
from optiframe_tvcs.selection.program import solve_program

rng = np.random.default_rng(0)
table = {view: rng.integers(0, 90, 6000) for view in "abcd"}
table |= {"item": np.arange(6000), "value": rng.random(6000)}
each = dict.fromkeys("abcd", 3)
problem = ItemSelection(items=table, views=list("abcd"), at_most=each, at_least=each)
counts, worths, none = problem.counts, problem.worths.whole, problem.is_fixed
print("ready")
solve_program(counts, worths, none, ~none, whole=True, seconds=60)
"""
    check_interruptible(program, within=10.0)  # of 60 that HiGHS has; on a busy machine two do not suffice


MATRIX = "reviewer;P1;P2;P3\nada;0,9;0,7;0,8\nbo;0,6;0,9;\ncem;0,5;;0,3\n"


def test_a_table_of_conflicts_is_not_sent_to_the_names_of_columns_of_items() -> None:
    conflicts = {"reviewer": ["ada"], "Paper": ["P1"]}
    with pytest.raises(InvalidInput, match=r"no column 'paper'.*mean 'Paper'") as refused:
        ItemSelection.from_frame(PAIRS, value="fit", views=["reviewer", "paper"], forbidden=conflicts)
    assert "mapped" not in str(refused.value)


def test_a_matrix_is_a_table_of_its_filled_cells(tmp_path: Path) -> None:
    (tmp_path / "fits.csv").write_text(MATRIX)
    (tmp_path / "conflicts.csv").write_text("paper,reviewer\nP1,ada\nP3,bo\n")
    problem = optiframe.problem(
        "selection",
        items=tmp_path / "fits.csv",
        columns={"value": "fit"},
        views=["reviewer", "paper"],
        forbidden=tmp_path / "conflicts.csv",
        at_most={"paper": 1},
    )
    result = optiframe.solve(problem)
    frame = result.solution.frame()
    assert {name: column.tolist() for name, column in frame.items()} == {
        "reviewer": ["ada", "bo", "bo"],
        "paper": ["P3", "P1", "P2"],
        "fit": [0.8, 0.6, 0.9],
    }
    said = next(finding.text for finding in result.findings if finding.identifier == "selection.file")
    assert said == (
        "fits.csv was read as a matrix with a row for each reviewer and a column for each paper; its 2 empty "
        "cells are no pairs"
    )


@pytest.mark.parametrize("index", [True, False])
def test_a_matrix_in_a_frame_may_have_papers_in_rows_and_numbers_as_names(index: bool) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2.5, 1], [3, None, 2]], pandas.Index(["a", "b"], name="paper"), [7, 8, 9])
    problem = ItemSelection.from_frame(
        frame if index else frame.reset_index(), views=["reviewer", "paper"], at_most={"reviewer": {7: 1}}
    )
    chosen = optiframe.solve(problem).solution.frame()
    assert chosen["reviewer"].tolist() == [8, 9, 7, 9]
    assert chosen["paper"].tolist() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("kind", ["frame", "xlsx"])
def test_days_that_head_a_matrix_have_no_time(kind: str, tmp_path: Path) -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=days, index=pd.Index(["ann", "bob"], name="worker"))
    items: Any = frame
    if kind == "xlsx":
        frame.to_excel(items := tmp_path / "items.xlsx")
    problem = ItemSelection.from_frame(items, views=["worker", "day"], at_most={"day": {"2024-01-02": 1}})
    assert problem.items.ids.tolist() == [
        f"{worker} / 2024-01-0{day}" for worker in ("ann", "bob") for day in (1, 2)
    ]
    times = frame.set_axis(days + pd.Timedelta(hours=8), axis=1)
    shifts = ItemSelection.from_frame(times, views=["worker", "day"])
    assert shifts.items.ids[0] == "ann / 2024-01-01 08:00:00"


def test_a_matrix_of_many_columns_that_were_added_one_by_one_gives_no_warning() -> None:
    frame = pd.DataFrame({"reviewer": ["a", "b"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of adding them so
        for paper in range(150):
            frame[f"P{paper}"] = [1, 2]
        frame = frame.set_index("reviewer")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ItemSelection.from_frame(frame, views=["reviewer", "paper"]).items) == 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",P1,P2,P3\nada,1,2,3\n", r"if this is a matrix .* write 'reviewer' into its first cell"),
        ("reviewer,P1,P2\nada,1,2\nbo,yes,1\n", r"line 3, column P1: the value is yes; it must be a finite"),
        ("reviewer,P1,P2\nada,1,\nbo,1,1\nada,,2\n", r"line 4: reviewer ada has a row already \(line 2\)"),
        ("reviewer,P1,P1\nada,1,2\n", r"line 1: column 'P1' occurs twice"),
        ("reviewer,P1,P2\nada,1,#N/A\n", r"line 2, column P2: #N/A is no number; correct the formula"),
        ("reviewer,P1,P2\nada,,\nbo,,\n", r"bids\.csv: every cell is empty"),
        ("reviewer,Paper,Fit,x\nada,1,2,3\n", r"no column 'paper' .*did you mean 'Paper'"),
    ],
)
def test_what_is_wrong_in_a_matrix_is_named_by_row_and_column(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "bids.csv").write_text(text)
    with pytest.raises(InvalidInput, match=message):
        optiframe.problem("selection", items=tmp_path / "bids.csv", views=["reviewer", "paper"])


def test_bounds_count_for_groups_of_a_matrix_without_a_pair(tmp_path: Path) -> None:
    (tmp_path / "bids.csv").write_text("reviewer,P1,P2\nada,1,\nbo,2,\ncy,,\n")
    (tmp_path / "loads.csv").write_text("reviewer,at_most\nada,1\nbo,1\ncy,1\n")
    inputs: dict[str, Any] = {"items": tmp_path / "bids.csv", "views": ["reviewer", "paper"]}
    loads = {"reviewer": tmp_path / "loads.csv"}
    found = optiframe.solve(optiframe.problem("selection", **inputs, at_most=loads | {"paper": 1}))
    assert found.solution.ids.tolist() == ["bo / P1"]
    least = optiframe.solve(optiframe.problem("selection", **inputs, at_most=loads, at_least={"paper": 1}))
    assert (
        least.message
        == "no choice keeps this bound: paper P2: at least 1 (it has 0 items); relax it, or add items"
    )


def test_an_empty_column_and_a_column_of_totals_of_a_matrix_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "bids.csv").write_text("reviewer,P1,P2,P3,Total\nada,1,2,,3\nbo,4,1,,5\n")
    problem = optiframe.problem("selection", items=tmp_path / "bids.csv", views=["reviewer", "paper"])
    texts = [finding.text for finding in optiframe.solve(problem).findings]
    assert any(text == "paper P3: all cells are empty" for text in texts)
    assert any("paper Total looks like a total" in text for text in texts)
