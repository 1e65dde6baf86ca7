"""The problem: its objective is the likelihood, its answer is in the user's ids, its report names who."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.answer import Rankings
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.problem import CollaborativeRanking

import optiframe
from optiframe import InvalidInput, solve
from optiframe.records.fields import Array

from .cases import drawn

VOTES: dict[str, list[Any]] = {
    "user": ["ann", "ann", "ann", "bob", "bob", "bob", "bob"],
    "left": ["tea", "tea", "milk", "tea", "milk", "milk", "tea"],
    "right": ["milk", "cola", "cola", "milk", "cola", "tea", "milk"],
    "label": ["tea", "tea", "milk", "milk", "cola", "milk", None],
}


def problem(**more: Any) -> CollaborativeRanking:
    return CollaborativeRanking(comparisons=VOTES, **{"rank": 1, **more})


def answer(of: CollaborativeRanking, seed: int = 0) -> Rankings:
    rng = np.random.default_rng(seed)
    m, n = of.shape
    return of.from_factors(LowRank(rng.standard_normal((m, of.rank)), rng.standard_normal((n, of.rank))))


def slow_objective(of: CollaborativeRanking, x: Array) -> float:
    """Eq. 9 with the likelihood's minus, one comparison after another."""
    table, total = of.comparisons, 0.0
    for row in range(len(table)):
        gap = (x[table.user[row], table.left[row]] - x[table.user[row], table.right[row]]) / of.sigma
        chance = 1 / (1 + np.exp(-gap))
        weight = 1.0 if table.weight is None else table.weight[row]
        share = (1 + table.outcome[row]) / 2  # a tie is half a win for each side
        total -= weight * (share * np.log(chance) + (1 - share) * np.log(1 - chance))
    size = np.sqrt(x.size)
    strength = of.multiplier * of.rank**2 * np.sqrt(size) * np.log(size)
    if of.penalty == "log-sum-exp":
        total += strength * np.log(np.sum(np.exp(x**2)))
    elif of.penalty == "frobenius":
        total += strength / x.size * np.sum(x**2)
    return float(total)


@pytest.mark.parametrize("penalty", ["log-sum-exp", "frobenius", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_penalized_likelihood(penalty: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    votes = VOTES | ({"weight": rng.uniform(0.5, 2, 7)} if weighted else {})
    of = CollaborativeRanking(comparisons=votes, rank=2, penalty=penalty, sigma=0.4, multiplier=0.3)
    found = answer(of)
    assert np.isclose(of.objective(found), slow_objective(of, found.factors.dense()))


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_sides_and_repeats_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.repeat(np.arange(7), rng.integers(1, 3, 7)))
    columns = {key: np.array(values, dtype=object)[rows] for key, values in VOTES.items()}
    turned = rng.random(len(rows)) < 0.5
    left = np.where(turned, columns["right"], columns["left"])
    right = np.where(turned, columns["left"], columns["right"])
    weight = 1.0 / np.bincount(rows)[rows]  # so that the repeats of a row weigh one together
    of = problem(penalty="none")
    other = CollaborativeRanking(
        comparisons={**columns, "left": left, "right": right, "weight": weight}, rank=1, penalty="none"
    )
    found = answer(of)
    assert np.isclose(of.objective(found), other.objective(found))
    assert len(of.choices) == len(other.choices)


def test_equal_comparisons_become_one_row_grouped_by_user() -> None:
    rows = problem().choices
    ids = problem().item_ids
    found = [
        (problem().user_ids[user], ids[winner], ids[loser], weight)
        for user, winner, loser, weight in zip(rows.user, rows.winner, rows.loser, rows.weight, strict=True)
    ]
    assert found == [
        ("ann", "milk", "cola", 1.0),
        ("ann", "tea", "cola", 1.0),
        ("ann", "tea", "milk", 1.0),
        ("bob", "cola", "milk", 1.0),
        ("bob", "milk", "tea", 2.5),  # twice, and half a tie
        ("bob", "tea", "milk", 0.5),
    ]
    assert rows.pointer.tolist() == [0, 3, 6]
    assert (rows.winner.dtype, rows.pointer.dtype) == (np.int32, np.int64)


def test_the_penalty_is_scaled_by_the_geometric_mean_of_users_and_items() -> None:
    of = CollaborativeRanking(comparisons=VOTES, users=["ann", "bob", "cy"], rank=2, multiplier=2.0)
    assert of.shape == (3, 3)
    assert np.isclose(of.strength, 2 * 4 * np.sqrt(3) * np.log(3))


def test_each_user_gets_a_ranking_of_their_own() -> None:
    found = solve(problem(rank=2), "manifold.trust-region").solution
    assert found.ranking("ann")["item"].tolist() == ["tea", "milk", "cola"]
    assert found.ranking("bob")["item"].tolist() == ["cola", "milk", "tea"]
    scores = found.scores("ann")
    assert np.isclose(scores.sum(), 0.0, atol=1e-12)
    assert scores.argmax() == 2  # items are sorted: cola, milk, tea


def test_the_preference_is_the_mean_chance_over_all_items() -> None:
    found = answer(problem(rank=2))
    x = found.scores("bob") / found.sigma
    slow = [np.mean([1 / (1 + np.exp(-(x[j] - x[k]))) for k in range(3)]) for j in range(3)]
    assert np.allclose(found.preference("bob"), slow)
    assert np.isclose(np.mean(slow), 0.5)


def test_tied_items_share_the_best_rank() -> None:
    factors = LowRank(np.ones((1, 1)), np.array([[1.0], [0.1 + 0.2], [0.3], [0.0]]))
    found = Rankings(np.array(["u"]), np.array(list("abcd")), factors, 1.0)
    table = found.ranking("u")
    assert table["rank"].tolist() == [1, 2, 2, 4]
    assert table["item"].tolist() == ["a", "b", "c", "d"]


def test_the_best_items_of_every_user_come_as_the_kind_of_frame_given() -> None:
    for frame in (pd.DataFrame(VOTES), pl.DataFrame(VOTES)):
        of = CollaborativeRanking(comparisons=frame, rank=1)
        found = answer(of)
        table = found.frame(top=2)
        assert type(table) is type(frame)
        assert list(table["user"]) == ["ann", "ann", "bob", "bob"]
        assert list(table["rank"]) == [1, 2, 1, 2]
        everything = found.columns()
        assert len(everything["user"]) == 6
        mine = found.ranking("bob", top=2)
        assert list(mine["item"]) == list(table["item"])[2:]
        assert np.allclose(list(mine["score"]), list(table["score"])[2:])


def test_tables_of_many_users_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from optiframe_manifold import answer as rankings

    found = answer(problem(users=["ann", "bob", "cy", "dee", "eve"]))
    whole, preference = found.columns(2), found.preference("cy")
    monkeypatch.setattr(rankings, "_BLOCK", 6)  # two users, or two items, at a time
    assert all(np.array_equal(whole[key], found.columns(2)[key]) for key in whole)
    assert np.allclose(found.preference("cy"), preference)


def test_an_unknown_user_is_named_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="no user 'anne' among the 2 ranked; did you mean 'ann'"):
        answer(problem()).ranking("anne")


def test_ids_come_back_in_the_order_they_were_listed() -> None:
    of = problem(users=["cy", "bob", "ann"], items=["tea", "water", "cola", "milk"])
    assert of.user_ids.tolist() == ["cy", "bob", "ann"]
    assert of.item_ids.tolist() == ["tea", "water", "cola", "milk"]
    assert of.choices.pointer.tolist() == [0, 0, 3, 6]


def test_an_answer_is_carried_to_another_sigma_in_its_unit() -> None:
    of, wide = problem(penalty="none"), problem(penalty="none", sigma=0.36)
    found = answer(of)
    assert np.isclose(of.objective(found), wide.objective(found))


def test_the_answers_tables_hold_everything(tmp_path: Path) -> None:
    truth = np.arange(6.0).reshape(2, 3)
    of = problem(rank=2, truth=truth, top=2)
    result = solve(of, "manifold.trust-region")
    tables = of.to_tables(result.solution)
    assert list(tables) == ["rankings", "users", "items", "agreement"]
    left = np.column_stack([tables["users"][f"factor_{k}"] for k in (1, 2)])
    right = np.column_stack([tables["items"][f"factor_{k}"] for k in (1, 2)])
    assert np.allclose(left @ right.T, result.solution.served.dense())
    assert set(result.metrics) == {
        "relative_error",
        "centred_error",
        "scaled_error",
        "kendall_tau",
        "top_overlap",
    }
    assert np.isclose(np.mean(tables["agreement"]["kendall_tau"]), result.metrics["kendall_tau"])


def test_a_truth_may_be_a_table_a_file_or_factors(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).standard_normal((2, 3))
    np.save(tmp_path / "truth.npy", truth)
    users, items = np.repeat(["ann", "bob"], 3), np.tile(["cola", "milk", "tea"], 2)
    table = {"user": users[::-1], "item": items[::-1], "score": truth.ravel()[::-1]}
    pd.DataFrame(table).to_csv(tmp_path / "truth.csv", index=False)
    found = answer(problem())
    expected = problem(truth=truth).metrics(found)
    for given_ in (table, LowRank(truth, np.eye(3)), str(tmp_path / "truth.npy"), tmp_path / "truth.csv"):
        assert problem(truth=given_).metrics(found) == pytest.approx(expected)


def test_a_problem_is_told_by_its_content_and_pickled_without_what_was_worked_out() -> None:
    of = problem()
    merged, compared = of.comparisons.choices, of.comparisons.compared
    again = pickle.loads(pickle.dumps(of))  # our own bytes
    assert again == of
    assert problem(sigma=0.2) != of
    assert not {"choices", "compared"} & set(vars(again.comparisons))
    np.testing.assert_array_equal(again.choices.winner, merged.winner)
    np.testing.assert_array_equal(again.comparisons.compared, compared)
    assert again.objective(answer(of)) == of.objective(answer(of))


def test_a_file_of_comparisons_is_read_with_other_names(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    frame = pd.DataFrame(VOTES).rename(columns={"user": "who", "label": "winner"})
    frame.to_csv(path, index=False)
    of = optiframe.problem(
        "collaborative-ranking",
        comparisons=str(path),
        columns={"user": "who", "label": "winner"},
        rank=1,
    )
    assert np.isclose(of.objective(answer(of)), problem().objective(answer(problem())))


def test_violation_is_zero_at_the_rank_and_a_distance_above() -> None:
    of, higher = problem(rank=1), problem(rank=2)
    assert of.violation(answer(of)) == 0.0
    assert of.violation(answer(higher)) > 0.1


def texts(of: CollaborativeRanking, found: Rankings | None = None) -> str:
    return " | ".join(f.text for f in of.diagnose(found or answer(of)))


def test_users_and_items_of_whom_little_is_known_are_named() -> None:
    votes = {
        "user": [1, 1, 1, 2, 3, 3],
        "left": list("abcabc"),
        "right": list("bcdcca"),
        "label": list("aacaba"),
    }
    votes["label"] = ["a", "b", "c", "a", "b", "a"]
    of = CollaborativeRanking(
        comparisons=votes, users=[1, 2, 3, 4], items=list("abcdefg"), rank=3, penalty="none"
    )
    said = texts(of)
    assert "1 user without a comparison: 4;" in said
    assert "1 user with a single comparison: 2;" in said
    assert "1 user with fewer comparisons than the rank 3: 3;" in said
    assert "3 items never compared: e, f, g;" in said
    assert "rank 3 has 21 numbers to be found, and only 6 different pairs were compared" in said
    assert "even rank 1 is more than they support" in said
    assert "without a penalty the likelihood may have no maximum" in said
    assert "relative to the user's average item" in said
    assert {"warning", "note"} == {f.level for f in of.diagnose(answer(of))}


def test_users_who_contradict_every_choice_of_theirs_are_named() -> None:
    votes = {
        "user": ["x", "x", "x", "y", "y", "z", "z", "t"],
        "left": ["a", "b", "a", "a", "b", "a", "b", "a"],
        "right": ["b", "a", "c", "b", "a", "b", "c", "b"],
        "label": ["a", "b", None, "a", "a", "b", "c", None],
    }
    of = CollaborativeRanking(comparisons=votes, rank=1)
    named = [f.about for f in of.diagnose(answer(of)) if "whose choices cancel" in f.text]
    assert named == [("x",)]  # y repeats one choice, z is plain, t never chose


def test_groups_of_items_that_nothing_joins_are_named() -> None:
    votes = {
        "user": [1, 1, 1, 2],
        "left": ["a", "b", "d", "d"],
        "right": ["b", "c", "e", "e"],
        "label": ["a", "b", "d", "e"],
    }
    of = CollaborativeRanking(comparisons=votes, rank=1)
    (found,) = (f for f in of.diagnose(answer(of)) if "groups of items" in f.text)
    assert found.about == ("d", "e")
    moved = answer(of)
    shift = np.array([0.0, 0.0, 0.0, 1.0, 1.0])[:, None]
    other = of.from_factors(LowRank(moved.factors.left, moved.factors.right + shift))
    free = of.model_copy(update={"penalty": "none"})
    assert np.isclose(free.objective(moved), free.objective(other))


@pytest.mark.parametrize(
    ("labels", "times", "words"),
    [
        (VOTES["label"], 1, "merged 7 comparisons into 6 distinct ones"),
        ([None] * 7, 1, "all comparisons are ties"),
        ([*VOTES["label"][:5], None, None], 1, "2 of 7 comparisons are ties (29%"),
        ([*VOTES["label"][:6], None], 1, "1 of 7 comparisons is a tie (14%"),
        ([*(VOTES["left"] * 40)[:-1], None], 40, "1 of 280 comparisons is a tie (0.36%"),
    ],
)
def test_ties_and_merged_rows_are_told(labels: list[Any], times: int, words: str) -> None:
    votes = {key: values * times for key, values in VOTES.items()} | {"label": labels}
    assert words in texts(CollaborativeRanking(comparisons=votes, rank=1))


def test_an_answer_that_ranks_nothing_is_told() -> None:
    of = problem()
    nothing = of.from_factors(LowRank(np.zeros((2, 1)), np.ones((3, 1))))
    assert "all scores are equal" in texts(of, nothing)
    assert "all scores are equal" not in texts(of)


def test_a_solve_reports_what_it_should() -> None:
    result = solve(problem(), "manifold.trust-region")
    assert result.objective == pytest.approx(problem().objective(result.solution))
    assert any("relative to the user's average item" in f.text for f in result.findings)


def test_the_trace_has_the_error_of_every_step_where_the_truth_is_known() -> None:
    result = solve(drawn(12, 10, 20.0), "manifold.trust-region", budget={"tolerance": 1e-3})
    assert result.trace["relative_error"][-1] == result.metrics["relative_error"]
    assert "relative_error" not in solve(problem(), "manifold.trust-region").trace.names
