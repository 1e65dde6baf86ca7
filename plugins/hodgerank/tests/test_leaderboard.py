"""Leaderboards: what can be told apart, ranks that remain, scales, and chances to win."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import choix
import evalica
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank import RobustRanker, intervals, leaderboard, win_probabilities
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust import apart
from scipy.stats import studentized_range

import optiframe
from optiframe.errors import InvalidInput

COLUMNS = ["rank", "rank_low", "rank_high", "item", "score", "low", "high", "group"]
COLUMNS += ["votes", "wins", "ties", "win_rate"]


def battles(seed: int, scores: Any, rows: int, tie: float = 0.0) -> dict[str, Any]:
    """Votes on random pairs of items "m0", "m1", ... by Davidson's model of these scores."""
    rng, truth = np.random.default_rng(seed), np.asarray(scores)
    left = rng.integers(len(truth), size=rows)
    right = (left + rng.integers(1, len(truth), size=rows)) % len(truth)
    d = truth[left] - truth[right]
    odds = np.array([np.exp(d / 2), np.full(rows, tie), np.exp(-d / 2)])
    outcome = (rng.random(rows) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
    names = np.array([f"m{item}" for item in range(len(truth))], dtype=object)
    label = np.choose(outcome, [names[left], np.full(rows, None), names[right]])
    return {"left": names[left], "right": names[right], "label": label}


def solved(solver: str, *given: Any, **more: Any) -> Any:
    return optiframe.solve(PairwiseRanking(comparisons=battles(*given)), solver, **more)


@pytest.mark.slow
@pytest.mark.parametrize("items", [2, 3, 20, 200])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_factor_for_all_pairs_is_the_quantile_of_the_studentized_range(items: int, level: float) -> None:
    exact = studentized_range.ppf(level, items, np.inf) / np.sqrt(2)
    assert apart.tukey_kramer(level, items) == pytest.approx(exact, rel=1e-6)


def test_errors_of_differences_are_those_of_least_squares_and_of_fishers_information() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(6, size=60), rng.integers(6, size=60)
    left, right = left[left != right], right[left != right]
    margin = rng.standard_normal(len(left))
    problem = PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin})
    result = optiframe.solve(problem, "hodge.l2")
    design = np.eye(6)[left] - np.eye(6)[right]
    fit = np.linalg.lstsq(design, margin, rcond=None)[0]
    sigma = np.sum((margin - design @ fit) ** 2) / (len(margin) - 5)
    expected = _errors(np.linalg.pinv(design.T @ design) * sigma)
    np.testing.assert_allclose(apart.difference_errors(problem.comparisons, result.solution), expected)

    votes = solved("hodge.bradley-terry", 0, np.linspace(1, -1, 6), 300, prior=0.0)
    table = votes.problem.comparisons
    design = np.eye(6)[table.left] - np.eye(6)[table.right]
    chance = 1 / (1 + np.exp(-design @ votes.solution.scores))
    information = design.T @ (design * (chance * (1 - chance))[:, None])
    np.testing.assert_allclose(
        apart.difference_errors(table, votes.solution), _errors(np.linalg.pinv(information)), rtol=1e-6
    )


def _errors(covariance: Any) -> Any:
    variance = covariance.diagonal()
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([0.2, 1.0]))
@pytest.mark.slow
def test_items_share_a_letter_if_and_only_if_they_cannot_be_told_apart(
    seed: int, n: int, size: float
) -> None:
    rng = np.random.default_rng(seed)
    component = rng.integers(2, size=n) * (seed % 3 == 0)
    _, component = np.unique(component, return_inverse=True)
    answer = Ranking(np.arange(n), rng.standard_normal(n), component)
    errors = np.where(component[:, None] == component, size * rng.random((n, n)), np.inf)
    above = apart.surely_above(answer, errors, 0.9)
    letters = apart.groups(above, answer)
    assert letters is not None
    for i in range(n):
        assert letters[i]
        for j in range(n):
            told = bool(above[i, j] or above[j, i] or component[i] != component[j])
            assert told == (not set(letters[i]) & set(letters[j])) or i == j
    assert letters[answer.order[0]].startswith("a")
    low, high = apart.rank_intervals(above, component)
    for i in range(n):
        alike = component == component[i]
        assert low[i] == 1 + (above[:, i] & alike).sum()
        assert high[i] == alike.sum() - above[i].sum()
        assert low[i] <= answer.rank[i] <= high[i]


def test_many_groups_have_names_of_two_letters_and_too_many_items_none() -> None:
    def letters(n: int) -> list[str] | None:
        answer = Ranking(np.arange(n), -np.arange(float(n)), np.zeros(n, dtype=np.int64))
        return apart.groups(np.triu(np.ones((n, n), dtype=bool), 2), answer)  # all but neighbours are apart

    assert letters(4) == ["a", "ab", "bc", "c"]
    many = letters(40)
    assert many is not None
    assert many[:2] == ["a", "a b"]
    assert many[27] == "aa ab"
    assert letters(101) is None


def _family_errors(items: int, draws: int, factor: float = 1.0) -> float:
    """How often some pair of equal items is told apart at 90%, by least squares on random designs."""
    wrong = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        left = rng.integers(items, size=40 * items)
        right = (left + rng.integers(1, items, size=len(left))) % items
        columns = {"left": left, "right": right, "margin": rng.standard_normal(len(left))}
        problem = PairwiseRanking(comparisons=columns)
        answer = optiframe.solve(problem, "hodge.l2").solution
        errors = apart.difference_errors(problem.comparisons, answer)
        assert errors is not None
        wrong += bool(apart.surely_above(answer, factor * errors, 0.9).any())
    return wrong / draws


@pytest.mark.thorough
def test_equal_items_are_told_apart_in_a_tenth_of_all_tables_and_no_more() -> None:
    assert 0.05 <= _family_errors(12, 300) <= 0.15
    assert _family_errors(12, 40, factor=1.645 / apart.tukey_kramer(0.9, 12)) > 0.5  # one pair's factor


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["hodge.bradley-terry", "ranking.crowd-bt"])
@pytest.mark.parametrize("tie", [0.0, 0.7])
def test_all_true_ranks_are_within_their_intervals(solver: str, tie: float) -> None:
    missed, truth = 0, np.array([1.0, 0.9, 0.8, 0.2, 0.1, 0.0, 0.0, -0.8, -1.0])
    for seed in range(60):
        board = leaderboard(solved(solver, seed, truth, 1200, tie))
        true = truth[[int(item[1:]) for item in board["item"]]]
        best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
        worst = len(true) - (true[None, :] < true[:, None]).sum(axis=1)
        missed += bool(((board["rank_low"] > best) | (board["rank_high"] < worst)).any())
    assert missed <= 12  # of 6 expected at most: a chance of 1% for more


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_a_leaderboard_comes_in_the_kind_of_the_comparisons(make: Callable[..., Any]) -> None:
    columns = battles(0, np.linspace(1, -1, 5), 300, 0.4)
    problem = PairwiseRanking(comparisons=make(columns))
    board = leaderboard(optiframe.solve(problem, "ranking.crowd-bt"))
    assert isinstance(board, make)
    assert [*(board if make is dict else board.columns)] == COLUMNS
    assert list(board["rank"]) == [1, 2, 3, 4, 5]
    item, votes, wins, ties = (list(board[name]) for name in ("item", "votes", "wins", "ties"))
    for at, name in enumerate(item):
        of = (columns["left"] == name) | (columns["right"] == name)
        tied = np.array([label is None for label in columns["label"]])
        assert votes[at] == of.sum()
        assert ties[at] == (of & tied).sum()
        assert wins[at] == (columns["label"] == name).sum()
        assert board["win_rate"][at] == pytest.approx(wins[at] / (votes[at] - ties[at]))


def test_scores_come_in_log_odds_elo_or_chances_against_the_mean() -> None:
    result = solved("ranking.crowd-bt", 1, np.linspace(1, -1, 6), 500)
    own, same, elo, chance = (
        leaderboard(result, scale=s) for s in (None, "log-odds", "elo", "win-probability")
    )
    for name in ("score", "low", "high"):
        np.testing.assert_array_equal(own[name], same[name])
        np.testing.assert_allclose(10 ** ((elo[name] - 1000) / 400), np.exp(own[name]))
        np.testing.assert_allclose(chance[name], 1 / (1 + np.exp(-own[name])))
    assert elo["score"].mean() == pytest.approx(1000)
    assert list(own["rank_low"]) == list(elo["rank_low"])


def test_levels_are_those_of_intervals_and_wider_ones_leave_more_ranks_open() -> None:
    result = solved("hodge.bradley-terry", 2, np.linspace(1, -1, 7), 600)
    wide, narrow = leaderboard(result, level=0.99), leaderboard(result, level=0.5)
    for level, board in ((0.99, wide), (0.5, narrow)):
        known = intervals(result, level=level)
        np.testing.assert_allclose(board["low"], known["low"])
        np.testing.assert_allclose(board["high"], known["high"])
    assert (wide["rank_low"] <= narrow["rank_low"]).all()
    assert (wide["rank_high"] >= narrow["rank_high"]).all()
    assert (wide["rank_high"] - wide["rank_low"]).sum() > (narrow["rank_high"] - narrow["rank_low"]).sum()


def test_a_bootstrap_takes_levels_from_its_draws_while_they_suffice() -> None:
    around = {"of": "hodge.bradley-terry", "draws": 40}
    result = solved("hodge.bootstrap", 3, np.linspace(1, -1, 5), 300, **around)
    half = leaderboard(result, level=0.5)
    np.testing.assert_allclose(
        sorted(half["low"]), np.sort(np.quantile(result.detail.scores, 0.25, axis=0)), rtol=1e-12
    )
    assert result.solution.level == 0.9
    with pytest.raises(InvalidInput, match=r"no intervals: .* 99% intervals need 200"):
        leaderboard(result, level=0.99)


def test_a_problem_with_an_answer_and_a_fitted_ranker_give_the_same_board() -> None:
    columns = pd.DataFrame(battles(4, np.linspace(1, -1, 5), 300))
    model = RobustRanker().fit(columns)
    board = leaderboard(model)
    pd.testing.assert_frame_equal(board, leaderboard(model.result_))
    pd.testing.assert_frame_equal(board, leaderboard(model.result_.problem, model.result_.solution))


def test_answers_without_intervals_have_no_ranks_left_open() -> None:
    board = leaderboard(solved("hodge.lbi", 5, np.linspace(1, -1, 5), 300))
    assert list(board) == ["rank", "item", "score", "votes", "wins", "ties", "win_rate"]


def test_what_cannot_be_shown_is_said() -> None:
    margins = solved("hodge.l2", 6, np.linspace(1, -1, 5), 300)
    with pytest.raises(
        InvalidInput, match=r"'elo' is for scores in log-odds, and these are in the units of the"
    ):
        leaderboard(margins, scale="elo")
    with pytest.raises(InvalidInput, match="chances to win follow from scores in log-odds"):
        win_probabilities(margins)
    with pytest.raises(InvalidInput, match="unknown scale 'eloo'; did you mean 'elo'"):
        leaderboard(margins, scale="eloo")
    for level in (0.0, 1.0, 90):
        with pytest.raises(InvalidInput, match="level must be between 0 and 1"):
            leaderboard(margins, level=level)
    with pytest.raises(InvalidInput, match="other items than the problem's"):
        leaderboard(margins, solved("hodge.l2", 6, np.linspace(1, -1, 4), 300).solution)


def test_items_that_nothing_joins_are_ranked_apart_and_a_tied_item_has_no_win_rate() -> None:
    votes = {
        "left": ["a", "b", "c", "x", "x"],
        "right": ["b", "c", "a", "y", "y"],
        "label": ["a", "b", "a", "", ""],
    }
    result = optiframe.solve(PairwiseRanking(comparisons=votes), "ranking.crowd-bt")
    board = leaderboard(result)
    assert list(board["component"]) == [0, 0, 0, 1, 1]
    assert list(board["rank_high"]) == [3, 3, 3, 2, 2]
    assert not set(board["group"][0]) & set(board["group"][3])
    assert list(board["win_rate"])[3:] == [None, None]
    chances = win_probabilities(result)
    across = np.isin(chances["left"], ["x", "y"]) != np.isin(chances["right"], ["x", "y"])
    assert (np.isnan(chances["win"]) == across).all()


def test_chances_follow_davidsons_model_and_name_pairs_without_a_vote() -> None:
    result = solved("hodge.bradley-terry", 7, np.linspace(1, -1, 5), 30, 0.8)
    table = win_probabilities(result)
    assert len(table["left"]) == 20
    np.testing.assert_allclose(table["win"] + table["tie"] + table["loss"], 1.0)
    score = dict(zip(result.solution.items, result.solution.scores, strict=True))
    d = np.array([score[a] - score[b] for a, b in zip(table["left"], table["right"], strict=True)])
    np.testing.assert_allclose(np.log(table["win"] / table["loss"]), d, atol=1e-9)
    np.testing.assert_allclose(
        np.log(table["tie"] / np.sqrt(table["win"] * table["loss"])), result.detail.tie
    )
    given = result.problem.comparisons
    count = dict.fromkeys(zip(table["left"], table["right"], strict=True), 0)
    for left, right in zip(given.left, given.right, strict=True):
        count[given.item_ids[left], given.item_ids[right]] += 1
        count[given.item_ids[right], given.item_ids[left]] += 1
    assert list(table["votes"]) == list(count.values())
    alone = win_probabilities(result.problem, result.solution)  # the parameter of ties is found again
    np.testing.assert_allclose(alone["tie"], table["tie"], atol=0.02)
    sure = win_probabilities(solved("ranking.crowd-bt", 7, np.linspace(1, -1, 5), 60))
    assert "tie" not in sure


def test_scores_and_elo_ratings_are_those_of_choix_and_evalica() -> None:
    columns = battles(8, np.linspace(1, -1, 7), 2000)
    result = optiframe.solve(PairwiseRanking(comparisons=columns), "hodge.bradley-terry", prior=0.0)
    items = result.solution.items
    place = {item: at for at, item in enumerate(items)}
    pairs = [
        (place[won], place[b if won == a else a])
        for a, b, won in zip(columns["left"], columns["right"], columns["label"], strict=True)
    ]
    np.testing.assert_allclose(result.solution.scores, choix.ilsr_pairwise(7, pairs), atol=1e-6)
    winners = [
        evalica.Winner.X if a == won else evalica.Winner.Y
        for a, won in zip(columns["left"], columns["label"], strict=True)
    ]
    theirs = evalica.bradley_terry(columns["left"], columns["right"], winners, tolerance=1e-12, limit=10_000)
    board = leaderboard(result, scale="elo")
    ratio = 400 * np.log10(theirs.scores.loc[list(board["item"])].to_numpy())
    np.testing.assert_allclose(board["score"], ratio - ratio.mean() + 1000, atol=1e-3)


def test_the_answer_that_is_written_has_ranks_groups_and_votes(tmp_path: Path) -> None:
    from optiframe.files.output import write

    result = solved("ranking.crowd-bt", 9, np.linspace(1, -1, 4), 200)
    write(result, tmp_path, "answer.csv")
    lines = (tmp_path / "answer.csv").read_text().splitlines()
    assert lines[0] == "item,rank,score,low,high,rank_low,rank_high,group,votes,wins,ties,win_rate"
    assert len(lines) == 5
    board = leaderboard(result)
    written = pd.read_csv(tmp_path / "answer.csv")
    for name in ("item", "rank", "rank_low", "rank_high", "group", "votes", "wins", "ties"):
        assert list(written[name]) == list(board[name])


def test_intervals_of_another_level_are_read_as_such() -> None:
    result = solved("hodge.bradley-terry", 10, np.linspace(1, -1, 6), 400)
    answer = result.solution
    assert answer.low is not None
    assert answer.high is not None
    half = (answer.high - answer.scores) * (2.5758293 / 1.6448536)  # of 99%
    wide = replace(answer, low=answer.scores - half, high=answer.scores + half, level=0.99)
    errors = [apart.difference_errors(result.problem.comparisons, one) for one in (answer, wide)]
    np.testing.assert_allclose(*errors, rtol=1e-6)


def test_a_bootstrap_has_the_chances_of_the_method_that_it_draws() -> None:
    columns = battles(11, np.linspace(1, -1, 5), 300, 0.8)
    problem = PairwiseRanking(comparisons=columns)
    one = optiframe.solve(problem, "hodge.bradley-terry")
    drawn = optiframe.solve(problem, "hodge.bootstrap", of="hodge.bradley-terry", draws=20)
    for name, values in win_probabilities(one).items():
        assert np.array_equal(win_probabilities(drawn)[name], values)


def test_effects_of_covariates_do_not_keep_a_board_from_being_made() -> None:
    columns = battles(12, np.linspace(1, -1, 5), 400, 0.5)
    columns["length"] = np.random.default_rng(0).standard_normal(400)
    problem = PairwiseRanking(comparisons=columns, covariates=["length"], position=True)
    result = optiframe.solve(problem, "hodge.bradley-terry")
    assert list(leaderboard(result)) == COLUMNS
    chances = win_probabilities(result)
    np.testing.assert_allclose(chances["win"] + chances["tie"] + chances["loss"], 1.0)
