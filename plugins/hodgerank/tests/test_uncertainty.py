"""Intervals by formula and by bootstrap, and which pairs to compare next, against slow twins."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank import RobustRanker
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bootstrap import built
from optiframe_hodgerank.tools import intervals as module
from optiframe_hodgerank.tools.intervals import intervals
from optiframe_hodgerank.tools.next_pairs import suggest
from optiframe_hodgerank.trust.bootstrap_answer import Bootstrap

import optiframe
from optiframe.errors import InvalidInput

from .path_twins import columns, ranking_of, votes


def margins(
    seed: int, rows: int = 60, items: int = 5, sigma: float = 0.3
) -> tuple[PairwiseRanking, np.ndarray]:
    truth, table = np.arange(items) / items, columns(seed, items, rows)
    table["margin"] = truth[table["left"]] - truth[table["right"]] + sigma * table["margin"]
    return PairwiseRanking(comparisons=table), truth - truth.mean()


def draws_of(problem: PairwiseRanking, of: Any = "hodge.l2", seed: int = 0, **more: Any) -> Bootstrap:
    result = optiframe.solve(problem, "hodge.bootstrap", of=of, seed=seed, trace=False, **more)
    drawn: Bootstrap = result.detail
    return drawn


@pytest.mark.slow
def test_bootstrap_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    held = []
    for seed in range(12):
        problem, truth = margins(seed)
        found = draws_of(problem, draws=40, seed=seed).ranking
        held.append((found.low <= truth) & (truth <= found.high))
    # 60 scores, not independent: 90% less what percentiles of 40 draws of 60 rows lose.
    assert 0.75 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("solver", ["hodge.l2", {"name": "hodge.bradley-terry", "prior": 0.5}])
def test_analytic_intervals_are_those_of_the_answer_at_any_level(solver: Any) -> None:
    result = optiframe.solve(LADDER, built(solver))
    table, best = intervals(result), result.solution.order
    assert list(table) == ["item", "rank", "score", "error", "low", "high"]
    np.testing.assert_allclose(table["low"], result.solution.low[best])
    np.testing.assert_allclose(table["high"], result.solution.high[best])
    wider = intervals(result.problem, result.solution, level=0.95, solver=solver)
    np.testing.assert_array_equal(wider["error"], table["error"])
    np.testing.assert_allclose(wider["high"] - wider["score"], 1.959964 * table["error"])


@pytest.mark.slow
def test_bootstrap_intervals_are_those_of_the_solver_hodge_bootstrap() -> None:
    problem = votes(1)
    result = optiframe.solve(problem, "hodge.bootstrap", of="hodge.iht", draws=30, seed=2)
    table = intervals(problem, method="bootstrap", solver="hodge.iht", draws=30, seed=2)
    assert list(table) == ["item", "rank", "score", "error", "low", "high", "rank_low", "rank_high"]
    best = result.solution.order
    for name, values in (
        ("low", result.solution.low),
        ("high", result.solution.high),
        ("error", result.detail.scores.std(axis=0, ddof=1)),
    ):
        np.testing.assert_allclose(table[name], values[best], rtol=1e-12)
    ranks = result.to_tables()["rank_intervals"]
    assert list(ranks) == ["item", "rank", "rank_low", "rank_high"]
    for name in ranks:
        np.testing.assert_array_equal(ranks[name], table[name])
    assert (table["rank_low"] <= table["rank_high"]).all()
    assert result.iterations == 31
    np.testing.assert_array_equal(
        result.solution.flagged, optiframe.solve(problem, "hodge.iht").solution.flagged
    )


def test_a_result_of_the_bootstrap_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    result = optiframe.solve(votes(1), "hodge.bootstrap", of="hodge.l2", draws=40)
    monkeypatch.setattr(module, "solve", None)
    table, narrow = (intervals(result, method="bootstrap", level=level) for level in (0.9, 0.5))
    np.testing.assert_allclose(table["low"], result.solution.low[result.solution.order], rtol=1e-12)
    assert (narrow["high"] - narrow["low"] < table["high"] - table["low"]).all()


@pytest.mark.slow
def test_intervals_take_a_problem_with_a_solver_a_result_and_a_fitted_ranker_alike() -> None:
    frame = pl.DataFrame({"left": [1, 2, 3, 1] * 5, "right": [2, 3, 1, 3] * 5, "margin": np.arange(20) % 7})
    problem = PairwiseRanking(comparisons=frame)
    result, ranker = optiframe.solve(problem, "hodge.l2"), RobustRanker(solver="l2").fit(frame)
    for more in ({}, {"method": "bootstrap", "draws": 20}):
        table = intervals(result, **more)
        assert isinstance(table, pl.DataFrame)
        assert table.equals(intervals(ranker, **more))
        assert table.equals(intervals(problem, result, **more))
        assert table.equals(intervals(problem, result.solution, solver="hodge.l2", **more))


SPARSE = PairwiseRanking(comparisons={"left": [1, 2], "right": [2, 3], "margin": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("solver", "more", "message"),
    [
        ("hodge.l2", {"level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ("hodge.l2", {"method": "sandwich"}, "method must be 'analytic' or 'bootstrap', got 'sandwich'"),
        ("hodge.lbi", {}, "hodge.lbi has no formula for intervals .*give method = 'bootstrap'"),
        (
            "hodge.l2",
            {"method": "bootstrap", "draws": 5},
            "draws: must be at least 20 for 90% intervals, got 5",
        ),
        (
            "hodge.l2",
            {"method": "bootstrap", "draws": 100, "level": 0.99},
            "draws: must be at least 200 for 99% intervals",
        ),
        ("hodge.l2", {"method": "bootstrap", "by": "task"}, "by: must be one of 'comparison' or 'worker'"),
        ("hodge.l2", {"solver": "hodge.l3"}, "no solver named 'hodge.l3'; did you mean 'hodge.l2'"),
        (
            "hodge.l2",
            {"method": "bootstrap", "solver": {"name": "hodge.lbi", "shares": 0.1}},
            "shares: unknown key; did you mean 'share'",
        ),
        ("hodge.l2", {"solver": 2}, "a solver is chosen by its name or by a table"),
    ],
)
def test_wrong_parameters_of_intervals_are_refused(solver: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        intervals(optiframe.solve(votes(0), solver), **more)


def test_what_has_no_intervals_is_refused_with_the_reason() -> None:
    answer = optiframe.solve(SPARSE, "hodge.l2").solution
    with pytest.raises(InvalidInput, match="2 comparisons are no more than it takes to connect the items"):
        intervals(SPARSE, answer, solver="hodge.l2")
    with pytest.raises(InvalidInput, match="say which solver gave the answer"):
        intervals(SPARSE, answer)
    with pytest.raises(InvalidInput, match="give an answer as well"):
        intervals(SPARSE, solver="hodge.l2")
    with pytest.raises(optiframe.Unsuited, match="not every comparison names its worker"):
        intervals(votes(0), method="bootstrap", solver="hodge.l2", by="worker")
    with pytest.raises(optiframe.Unsuited, match=r"rankone.pgd cannot take it \(.*it solves"):
        intervals(votes(0), method="bootstrap", solver="rankone.pgd")


@pytest.mark.slow
def test_bootstrap_intervals_of_least_squares_are_as_wide_as_its_own() -> None:
    problem, _ = margins(1, rows=400)
    found, own = draws_of(problem, draws=300).ranking, optiframe.solve(problem, "hodge.l2").solution
    np.testing.assert_allclose(found.high - found.low, own.high - own.low, rtol=0.2)
    np.testing.assert_array_equal(found.scores, own.scores)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["hodge.lbi", "hodge.hlasso", {"name": "hodge.iht", "share": 0.1}])
def test_any_method_can_be_drawn_and_the_seed_fixes_the_draws(solver: Any) -> None:
    one, other, another = (draws_of(votes(0), solver, draws=20, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.scores, other.scores)
    assert not np.array_equal(one.scores, another.scores)


@pytest.mark.slow
def test_drawing_workers_widens_intervals_where_workers_differ() -> None:
    rng = np.random.default_rng(0)
    worker = np.repeat(np.arange(20), 30)
    left, right = np.tile([0, 1, 2], 200), np.tile([1, 2, 0], 200)
    taste = rng.standard_normal((20, 3))  # each worker has scores of their own
    margin = taste[worker, left] - taste[worker, right]
    rows = {"worker": worker, "left": left, "right": right, "margin": margin}
    problem = PairwiseRanking(comparisons=rows)
    single, whole = (draws_of(problem, draws=100, by=by).ranking for by in ("comparison", "worker"))
    assert ((whole.high - whole.low) > 1.5 * (single.high - single.low)).all()


def ladder(*uncertain: tuple[str, str, int]) -> PairwiseRanking:
    """For each (better, worse, votes): so many votes for the better item, and one for the other."""
    left = [better for better, _, votes in uncertain for _ in range(votes + 1)]
    right = [worse for _, worse, votes in uncertain for _ in range(votes + 1)]
    label = [each for better, worse, votes in uncertain for each in [*[better] * votes, worse]]
    return PairwiseRanking(comparisons={"left": left, "right": right, "label": label})


CHAIN = PairwiseRanking(comparisons={"left": [1, 2, 3, 4], "right": [2, 3, 4, 5], "label": [1, 2, 3, 4]})
LADDER = ladder(("a", "b", 20), ("b", "c", 20), ("c", "d", 20))
PLAIN = {"name": "hodge.bradley-terry", "prior": 0}


@pytest.mark.parametrize(
    ("problem", "of", "reason"),
    [
        (CHAIN, "hodge.iht", "of 20 draws fall apart"),
        (LADDER, PLAIN, r"of 20 draws have no finite answer .*set prior above 0"),
    ],
)
def test_where_most_draws_are_left_out_there_are_no_intervals(
    problem: PairwiseRanking, of: Any, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{reason}.*too few for a bootstrap"):
        intervals(problem, method="bootstrap", solver=of, draws=20)
    result = optiframe.solve(problem, "hodge.bootstrap", of=of, draws=20)
    assert result.status == "converged"
    assert result.solution.low is None
    assert any(re.search(f"no intervals: .*{reason}", one.text) for one in result.findings)
    assert "rank_intervals" not in result.to_tables()


@pytest.mark.slow
def test_draws_without_a_finite_answer_are_left_out_and_counted() -> None:
    problem = ladder(("a", "b", 20))  # each draw lacks the one vote for b with a chance of 36%
    result = optiframe.solve(problem, "hodge.bootstrap", of=PLAIN, draws=60)
    drawn = result.detail
    assert 10 < drawn.unanswered < 30
    assert len(drawn.scores) + drawn.unanswered == drawn.made == 60
    assert np.isfinite(drawn.scores).all()
    assert np.isfinite([result.solution.low, result.solution.high]).all()
    found = [finding for finding in result.findings if "no finite answer" in finding.text]
    assert [one.level for one in found] == ["warning"]
    assert found[0].text.startswith(f"{drawn.unanswered} of 60 draws have no finite answer and were left out")
    assert "a never loses to the rest" in found[0].text
    assert "set prior above 0" in found[0].text


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_bootstrap_of_bradley_terry_keeps_every_draw_of_a_real_set() -> None:
    problem = optiframe.problem(dataset={"name": "pairwise.pc-iqa", "ref": None})
    drawn = draws_of(problem, "hodge.bradley-terry", draws=20)
    assert drawn.made == len(drawn.scores) == 20
    assert np.isfinite([drawn.ranking.low, drawn.ranking.high]).all()


def test_the_tables_of_the_method_itself_are_kept() -> None:
    tables = optiframe.solve(votes(1), "hodge.bootstrap", draws=20).to_tables()
    assert {"ranking", "outliers", "rank_intervals", "path", "path_scores"} <= set(tables)


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize(("iterations", "made"), [(1, 0), (11, 10), (31, 30)])
def test_a_limit_ends_with_the_draws_made_and_says_so(iterations: int, made: int) -> None:
    result = optiframe.solve(
        votes(1), "hodge.bootstrap", of="hodge.l2", budget={"iterations": iterations}, trace=False
    )
    assert result.status == "iteration_limit"
    assert result.detail.made == made
    assert (result.solution.low is None) == (made < 20)
    text = result.findings[0].text
    assert f"the run ended after {made} of 200 draws" in text
    assert ("no intervals" in text) == (made < 20)


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_a_draw_cut_short_by_the_time_is_left_out() -> None:
    problem = votes(1, items=8, rows=200, noise=0.3)
    result = optiframe.solve(problem, "hodge.bootstrap", draws=10_000, budget={"time": 0.05})
    assert result.status == "time_limit"
    assert result.detail.made < 10_000
    again = draws_of(problem, "hodge.lbi", draws=max(20, result.detail.made))
    np.testing.assert_array_equal(result.detail.scores, again.scores[: len(result.detail.scores)])


def test_a_method_that_comes_to_no_end_is_said_and_keeps_its_status() -> None:
    problem = votes(1, noise=0.3)
    with pytest.warns(optiframe.NotConverged, match="hodge.lbi on all comparisons"):
        result = optiframe.solve(problem, "hodge.bootstrap", draws=20, steps=1)
    assert result.status == "iteration_limit"
    assert any("hodge.lbi on all comparisons: stopped after 1 iterations" in f.text for f in result.findings)


@pytest.mark.slow
def test_workers_drawn_keep_their_caps() -> None:
    problem = PairwiseRanking(comparisons={**columns(0, 4, 80), "worker": np.repeat(np.arange(8), 10)})
    capped = {"name": "hodge.capped", "per_worker": 1, "share": 0.2}
    for by in ("comparison", "worker"):
        assert draws_of(problem, capped, draws=20, by=by).enough


def test_places_count_within_groups_and_ties_share_the_best() -> None:
    answer = replace(
        optiframe.solve(votes(0, items=5), "hodge.l2").solution, component=np.array([0, 0, 1, 1, 1])
    )
    drawn = Bootstrap(answer, (np.array([1.0, 2.0, 3.0, 3.0, -1.0]),), 0.9)
    assert drawn.places.tolist() == [[2, 1, 1, 1, 3]]


def laplacian(problem: PairwiseRanking) -> np.ndarray:
    return np.asarray(problem.graph.laplacian.toarray())


def slow(matrix: np.ndarray, count: int, measure: str, weight: float) -> list[float]:
    """Gains of the greedy choice, with a new inverse for every pair that could be added."""
    n, found, used = len(matrix), [], set()
    for _ in range(count):
        best, chosen = -np.inf, matrix
        before = np.linalg.pinv(matrix)
        for i in range(n):
            for j in range(i + 1, n):
                if (i, j) in used:
                    continue
                e = np.zeros(n)
                e[i], e[j] = 1.0, -1.0
                added = matrix + weight * np.outer(e, e)
                if measure == "variance":
                    gain = 1 - np.trace(np.linalg.pinv(added)) / np.trace(before)
                else:
                    shift = np.ones((n, n)) / n
                    gain = np.linalg.slogdet(added + shift)[1] - np.linalg.slogdet(matrix + shift)[1]
                if gain > best + 1e-10:
                    best, chosen, pair = gain, added, (i, j)
        matrix = chosen
        used.add(pair)
        found.append(best)
    return found


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["variance", "volume"]), st.sampled_from([0.5, 1.0, 3.0]))
def test_suggestions_gain_what_new_inverses_say(seed: int, measure: Any, weight: float) -> None:
    problem = votes(seed, items=5, rows=6)
    table = suggest(problem, None, 3, measure=measure, weight=weight)
    np.testing.assert_allclose(table["gain"], slow(laplacian(problem), 3, measure, weight), rtol=1e-7)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 3.0]))
def test_groups_are_joined_first_and_then_counted_as_joined(seed: int, weight: float) -> None:
    problem = ranking_of(seed, 8, 5)
    groups = int(problem.graph.components.max()) + 1
    table = suggest(problem, None, groups + 1, weight=weight)
    assert np.isinf(table["gain"][: groups - 1]).all()
    matrix = laplacian(problem)
    code = {item: at for at, item in enumerate(problem.item_ids.tolist())}
    for i, j in list(zip(table["left"].tolist(), table["right"].tolist(), strict=True))[: groups - 1]:
        e = np.zeros(len(matrix))
        e[code[i]], e[code[j]] = 1.0, -1.0
        matrix = matrix + weight * np.outer(e, e)
    assert np.linalg.matrix_rank(matrix) == len(matrix) - 1
    np.testing.assert_allclose(table["gain"][groups - 1 :], slow(matrix, 2, "variance", weight), rtol=1e-7)


def test_comparisons_taken_for_outliers_do_not_count_as_known() -> None:
    rows = {"left": [1, 2, 3, 1], "right": [2, 3, 4, 4], "label": [1, 2, 3, 4]}
    problem = PairwiseRanking(comparisons=pl.DataFrame(rows))
    answer = problem.ranking(np.zeros(4), outliers=np.array([0.0, 0.0, 0.0, -2.0]))
    found = suggest(problem, answer, 1, measure="volume")
    assert isinstance(found, pl.DataFrame)
    assert found["resistance"][0] == pytest.approx(3.0)  # a chain of three, its ends
    assert suggest(problem, None, 1, measure="volume")["resistance"][0] == pytest.approx(1.0)


def test_outliers_are_left_out_by_their_weight() -> None:
    rows = {"left": [1, 1, 2], "right": [2, 2, 3], "margin": [1.0, 1.0, 1.0], "weight": [1.0, 9.0, 100.0]}
    problem = PairwiseRanking(comparisons=rows)
    answer = replace(optiframe.solve(problem, "hodge.l2").solution, outliers=np.array([0.0, 0.5, 0.0]))
    found = suggest(problem, answer, 1, measure="volume")
    assert found["resistance"][0] == pytest.approx(1 + 1 / 100)  # of the pair 1 and 2 the weight 1 is left


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"weight": -1.0}, "positive"),
        ({"measure": "size"}, "'variance' or 'volume'"),
    ],
)
def test_wrong_wishes_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        suggest(votes(0), **more)


@pytest.mark.slow
def test_a_bootstrap_survives_draws_without_a_maximum_and_says_why() -> None:
    # Of these votes many draws let an item always win or never: no finite scores without a prior.
    rows = {"left": ["a"] * 8 + ["b"] * 6, "right": ["b"] * 4 + ["c"] * 4 + ["c"] * 6}
    rows["label"] = ["a", "a", "a", "b", "a", "a", "a", "c", "b", "b", "b", "b", "c", "c"]
    bradley_terry = {"name": "hodge.bradley-terry", "prior": 0}
    result = optiframe.solve(PairwiseRanking(comparisons=rows), "hodge.bootstrap", of=bradley_terry, draws=60)
    drawn = result.detail
    assert drawn.unanswered
    assert drawn.made == 60
    (text,) = [f.text for f in result.findings if "have no finite answer" in f.text]
    assert "set prior above 0" in text
    assert np.isfinite(drawn.scores).all()
