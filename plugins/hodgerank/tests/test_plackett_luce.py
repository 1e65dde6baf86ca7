"""Rankings of several items and choices: against choix, the written-out likelihood and Bradley-Terry."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import choix
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from optiframe_hodgerank import ListwiseRanker, leaderboard, plot_leaderboard
from optiframe_hodgerank.listwise import likelihood as parts
from optiframe_hodgerank.listwise.likelihood import OrderingLikelihood
from optiframe_hodgerank.listwise.problem import ListwiseRanking
from optiframe_hodgerank.solvers.plackett_luce import PlackettLuce

import optiframe
from optiframe import InvalidInput, solve, why_unsuited
from optiframe.testing import SolverContract

EXACT = {"tolerance": 1e-10}
PLAIN = PlackettLuce(prior=0)


def drawn(seed: int, items: int = 6, rankings: int = 80, shortest: int = 2) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    score, found = rng.normal(size=items), []
    for _ in range(rankings):
        some = rng.permutation(items)[: rng.integers(shortest, items + 1)]
        found.append(some[np.argsort(-(score[some] + rng.gumbel(size=len(some))))].tolist())
    return found


def problem_of(rankings: list[list[Any]] | None = None, **more: Any) -> ListwiseRanking:
    return ListwiseRanking(rankings=rankings, **more)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_rankings_have_the_scores_of_choix(seed: int) -> None:
    rankings = drawn(seed)
    scores = solve(problem_of(rankings), PLAIN, budget=EXACT).solution.scores
    assert scores == pytest.approx(choix.ilsr_rankings(6, rankings, tol=1e-11), abs=1e-6)
    assert scores == pytest.approx(choix.opt_rankings(6, rankings, alpha=0, tol=1e-10), abs=1e-6)


def test_choices_have_the_scores_of_choix() -> None:
    choices = [(one[0], one[1:]) for one in drawn(2, rankings=200)]
    scores = solve(problem_of(choices=choices), PLAIN, budget=EXACT).solution.scores
    assert scores == pytest.approx(choix.ilsr_top1(6, choices, tol=1e-11), abs=1e-6)
    with_winner = [(winner, [winner, *others]) for winner, others in choices]
    assert problem_of(choices=with_winner).fingerprint() == problem_of(choices=choices).fingerprint()


def slow_loss(problem: ListwiseRanking, theta: NDArray[np.float64], prior: float) -> float:
    """Minus the penalized log-likelihood as the docstring writes it, place by place."""
    table, total, met = problem.orderings, 0.0, {}
    for at in range(len(table)):
        items = table.item[table.first[at] : table.first[at + 1]]
        weight = 1.0 if table.weight is None else table.weight[at]
        for place in range(min(table.placed[at], len(items) - 1)):
            total -= weight * (theta[items[place]] - np.log(np.exp(theta[items[place:]]).sum()))
            for other in items[place + 1 :]:
                pair = frozenset({int(items[place]), int(other)})
                met[pair] = min(met.get(pair, len(items)), len(items))
    for pair, shortest in met.items():
        i, j = sorted(pair)
        d = theta[i] - theta[j]
        total += 2 * prior / shortest / 2 * (np.logaddexp(0, d) + np.logaddexp(0, -d))
    return float(total)


def hessian(loss: Any, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """By differences."""
    steps, near = 1e-4 * np.eye(len(theta)), np.empty((len(theta),) * 2)
    for i, a in enumerate(steps):
        for j, b in enumerate(steps):
            near[i, j] = loss(theta + a + b) - loss(theta + a - b) - loss(theta - a + b) + loss(theta - a - b)
    return near / 4e-8


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0]))
def test_scores_and_intervals_are_those_of_the_written_out_likelihood(seed: int, prior: float) -> None:
    table = ranked(drawn(seed, items=4, rankings=8), seed)
    problem = ListwiseRanking(rankings=table)
    ranking = solve(problem, PlackettLuce(prior=prior), budget=EXACT).solution

    def loss(theta: NDArray[np.float64]) -> float:
        return slow_loss(problem, theta, prior)

    likelihood = OrderingLikelihood(problem.orderings, prior)
    assert likelihood.at(ranking.scores).loss == pytest.approx(loss(ranking.scores), rel=1e-12)
    for direction in np.eye(len(ranking.scores)):
        slope = (loss(ranking.scores + 1e-5 * direction) - loss(ranking.scores - 1e-5 * direction)) / 2e-5
        assert abs(slope) < 1e-6
    spread = np.sqrt(np.diag(np.linalg.pinv(hessian(loss, ranking.scores), rcond=1e-5)))
    assert ranking.high - ranking.scores == pytest.approx(1.6448536 * spread, rel=1e-3)


def ranked(rankings: list[list[int]], seed: int) -> pd.DataFrame:
    """Rankings as a table in random order, with weights, some items without a place."""
    rng = np.random.default_rng(seed)
    rows = [
        {"ranking": f"r{at}", "item": item, "position": place + 1.0, "weight": 1.0 + at % 3}
        for at, one in enumerate(rankings)
        for place, item in enumerate(one)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=seed)
    table.loc[(table["position"] > 2) & (rng.random(len(table)) < 0.5), "position"] = np.nan
    return table


def test_pairs_are_bradley_terry_with_its_prior() -> None:
    pairs = drawn(3, rankings=60, shortest=2)
    pairs = [one[:2] for one in pairs]
    listwise = solve(problem_of(pairs), "ranking.plackett-luce", prior=0.4, budget=EXACT).solution
    left, right = np.array(pairs).T
    votes = optiframe.problem("pairwise-ranking", comparisons={"left": left, "right": right, "label": left})
    pairwise = solve(votes, "hodge.bradley-terry", prior=0.4, budget=EXACT).solution
    for name in ("scores", "low", "high"):
        assert getattr(listwise, name) == pytest.approx(getattr(pairwise, name), abs=1e-8)


def test_iteration_and_the_factor_take_the_same_step() -> None:
    problem = problem_of(drawn(4), choices=[(0, [1, 5]), (5, [2, 3, 4])])
    point = OrderingLikelihood(problem.orderings, 0.3).at(np.linspace(-1, 1, 6))
    v = np.arange(6.0) ** 2
    assert point.times(v) == pytest.approx(point.curvature() @ v)
    assert point.diagonal == pytest.approx(np.diag(point.curvature()))
    assert point.of.components.centred(point._by_iteration()) == pytest.approx(point.step, abs=1e-9)


def test_beyond_the_dense_limit_scores_are_the_same_without_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of(drawn(5))
    whole = solve(problem, "ranking.plackett-luce", budget=EXACT).solution
    monkeypatch.setattr(parts, "DENSE", 3)
    monkeypatch.setattr("optiframe_hodgerank.solvers.plackett_luce.DENSE", 3)
    monkeypatch.setattr(parts, "_CELLS", 30)  # and in small pieces
    large = solve(problem, "ranking.plackett-luce", budget=EXACT).solution
    assert large.scores == pytest.approx(whole.scores, abs=1e-9)
    assert large.low is None


@pytest.mark.slow
def test_iteration_ends_where_only_rounding_is_left_of_the_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(drawn(9, items=60, rankings=300))
    point = OrderingLikelihood(problem.orderings, 0.1).at(np.zeros(60))
    for _ in range(8):
        point = point.next()
    made: list[int] = []
    times = parts.OrderingPoint.times
    monkeypatch.setattr(parts.OrderingPoint, "times", lambda at, v: made.append(1) or times(at, v))
    assert np.abs(point._by_iteration()).max() < 1e-8
    assert len(made) <= 60


def test_long_steps_do_not_overshoot() -> None:
    data = {"name": "rankings.plackett-luce", "items": 300, "rankings": 600, "length": 20, "seed": 1}
    result = solve(optiframe.problem(dataset=data), PLAIN, budget={"tolerance": 1e-8})
    assert result.iterations <= 8  # 14 without a bound on the steps; at 1,000 items none ends


def test_lists_tables_and_files_are_one_problem(tmp_path: Path) -> None:
    table = ranked(drawn(6), 6)
    path = tmp_path / "rankings.csv"
    table.to_csv(path, index=False)
    frame = solve(ListwiseRanking(rankings=table), "ranking.plackett-luce", budget=EXACT)
    file = solve(ListwiseRanking(rankings=str(path)), "ranking.plackett-luce", budget=EXACT)
    assert isinstance(frame.solution.frame(), pd.DataFrame)
    assert file.solution.scores.tolist() == frame.solution.scores.tolist()
    renamed = table.rename(columns={"ranking": "voter", "item": "film"})
    columns = {"ranking": "voter", "item": "film"}
    mapped = solve(ListwiseRanking(rankings=renamed, columns=columns), "ranking.plackett-luce", budget=EXACT)
    assert mapped.solution.scores.tolist() == frame.solution.scores.tolist()
    rankings = drawn(7)
    plain = pd.DataFrame(
        [(at, item, place) for at, one in enumerate(rankings) for place, item in enumerate(one)],
        columns=["ranking", "item", "position"],
    )
    one, other = (
        solve(p, PLAIN).solution.scores for p in (problem_of(rankings), ListwiseRanking(rankings=plain))
    )
    assert one.tolist() == other.tolist()
    missing = [None if np.isnan(place) else place for place in table["position"]]
    from_polars = ListwiseRanking(rankings=pl.DataFrame({**table.to_dict("list"), "position": missing}))
    assert isinstance(from_polars.ranking(frame.solution.scores).frame(), pl.DataFrame)
    assert from_polars.orderings.item.tolist() == frame.problem.orderings.item.tolist()
    large = problem_of([[2**70, 1], [1, 2**70, True + 1]])
    assert large.item_ids.tolist() == [1, 2, 2**70]
    choices = pd.DataFrame(
        {"choice": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "chosen": [True, False, False, True]}
    )
    both = problem_of([["a", "b"]], choices=choices).orderings
    assert [both.item_ids[both.item[i : i + 2]].tolist() for i in both.first[:-1]] == [
        ["a", "b"],
        ["a", "b"],
        ["b", "a"],
    ]
    assert both.placed.tolist() == [2, 1, 1]


def test_items_that_no_ranking_joins_are_groups_and_single_items_are_noted() -> None:
    result = solve(problem_of([["a", "b"], ["b", "a"], ["x", "y", "z"], ["z"]]), "ranking.plackett-luce")
    found = {finding.identifier: finding.text for finding in result.findings}
    assert "fall into 2 groups of items" in found["ranking.disconnected-items"]
    assert "1 of 4 rankings and choices is of a single item" in found["ranking.single-item-orderings"]
    assert "x never loses to" in found["ranking.one-sided-items"]
    assert result.to_tables()["ranking"]["component"].tolist() == [0, 0, 1, 1, 1]
    assert result.solution.scores[:2].sum() == pytest.approx(0, abs=1e-12)


def test_without_a_prior_items_always_first_or_last_are_refused_by_name() -> None:
    reason = why_unsuited(problem_of([["a", "b", "c"], ["a", "c", "b"]]), PLAIN)
    assert reason is not None
    assert "a never loses to the rest (1 of 3 items)" in reason
    assert why_unsuited(problem_of([["a", "b", "c"], ["c", "b", "a"]]), PLAIN) is None
    # Those without a place are below the others, and not told apart.
    reason = why_unsuited(problem_of(choices=[("a", ["b", "c"]), ("b", ["a"])]), PLAIN)
    assert reason is not None
    assert "c never wins against" in reason


def test_what_is_wrong_with_rankings_and_choices_is_said_with_its_place() -> None:
    rankings = {"ranking": [1, 1, 2, 2], "item": list("abab"), "position": [1, 2, 2, 1]}
    choices = {"choice": [1, 1, 2, 2], "item": list("abab"), "chosen": [1, 0, 0, 1]}
    for inputs, said in (
        ({}, "give rankings or choices, or both"),
        ({"rankings": []}, "rankings is an empty list"),
        ({"rankings": [["a"]]}, "nothing can be ranked: each ranking and choice has a single item"),
        ({"rankings": [["a", "b"], ["a", "a"]]}, r"rankings\[1\]: item a is in it twice"),
        (
            {"rankings": [["a", "b"], "ab"]},
            r"rankings\[1\] must be a list of items, the best first, got 'ab'",
        ),
        ({"rankings": [["a", None]]}, r"rankings\[0\]\[1\] is empty"),
        ({"rankings": [["a", []]]}, r"rankings\[0\]: an item must be hashable"),
        ({"rankings": [["a", "b"], []]}, r"rankings\[1\] is empty; leave it out"),
        ({"choices": [("a", ["b"]), ("a",)]}, r"choices\[1\] must be a winner and the set"),
        (
            {"rankings": rankings | {"position": [1, 1, 2, 1]}},
            r"row 0, row 1: ranking 1: two items share .* \(a, b\)",
        ),
        ({"rankings": rankings | {"item": list("abbb")}}, "row 2, row 3: ranking 2: an item is in it twice"),
        (
            {"rankings": rankings | {"position": [1, 2, None, None]}},
            "row 2, row 3: ranking 2 has no position",
        ),
        (
            {"rankings": rankings | {"position": [1, "second", 2, 1]}},
            "row 1: the position is second; it must be a",
        ),
        (
            {"rankings": rankings | {"weight": [1, 2, 1, 1]}},
            "ranking 1 has weights from 1 to 2; a ranking has one",
        ),
        (
            {"rankings": rankings | {"weight": [1, 1, -1, 1]}},
            "row 2: the weight is -1; it must be a positive number",
        ),
        ({"rankings": {"ranking": [1], "item": ["a"]}}, "has no column 'position'"),
        (
            {"choices": choices | {"chosen": [1, 1, 0, 1]}},
            "row 0, row 1: 2 items of choice 1 are chosen; exactly one",
        ),
        ({"choices": choices | {"chosen": [1, 0, 0, 0]}}, "row 2, row 3: 0 items of choice 2 are chosen"),
        ({"choices": choices | {"chosen": [1, 0, 0, "maybe"]}}, "row 3: chosen is maybe; it must be 1 or 0"),
        ({"rankings": rankings, "columns": {"place": "position"}}, "unknown column 'place'"),
    ):
        with pytest.raises(InvalidInput, match=said):
            ListwiseRanking(**inputs)  # type: ignore[arg-type]


def test_the_problem_is_pickled_and_its_answers_checked() -> None:
    problem = problem_of(drawn(8))
    assert problem.orderings.wins.graph.connected
    back = pickle.loads(pickle.dumps(problem))
    assert back.fingerprint() == problem.fingerprint()
    solution = solve(back, "ranking.plackett-luce").solution
    problem.check(solution)
    assert problem.violation(solution) < 1e-12
    with pytest.raises(InvalidInput, match="for other items"):
        problem_of([["a", "b"]]).check(solution)
    again = solve(problem, "ranking.plackett-luce", start=solution)
    assert again.iterations == 1


@pytest.mark.parametrize("places", [None, 1])
def test_generated_rankings_are_recovered(places: int | None) -> None:
    data = {"name": "rankings.plackett-luce", "rankings": 3000, "places": places}
    result = solve(optiframe.problem(dataset=data))
    assert result.settings["solver"]["name"] == "ranking.plackett-luce"
    assert result.metrics["kendall_tau"] > 0.9
    assert result.metrics["score_correlation"] > 0.99
    with pytest.raises(InvalidInput, match=r"must be at most items \(3\), got 5"):
        optiframe.problem(dataset={"name": "rankings.plackett-luce", "items": 3})


@pytest.mark.thorough
def test_intervals_hold_the_true_score_as_often_as_they_say() -> None:
    inside = []
    for seed in range(200):
        data = {"name": "rankings.plackett-luce", "seed": seed, "rankings": 60}
        problem = optiframe.problem(dataset=data)
        answer = solve(problem, "ranking.plackett-luce").solution
        truth = problem.truth.score - problem.truth.score.mean()
        inside.append((answer.low <= truth) & (truth <= answer.high))
    assert abs(np.mean(inside) - 0.9) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"prior": 0}], ids=["prior", "plain"])
class TestContract(SolverContract):
    @pytest.fixture(autouse=True)
    def chosen(self, parameters: dict[str, Any]) -> None:
        self.solver = optiframe.solver("ranking.plackett-luce", **parameters)

    def instances(self) -> Iterable[ListwiseRanking]:
        data = {"name": "rankings.plackett-luce", "rankings": 60}
        return [optiframe.problem(dataset=data), optiframe.problem(dataset=data | {"places": 1})]


def test_the_covariance_is_the_inverse_of_the_curvature() -> None:
    point = OrderingLikelihood(problem_of([*drawn(3), ["x", "y"], ["y", "x"]]).orderings, 0.3).at(
        np.linspace(-1, 1, 8)
    )
    covariance = point.covariance()
    assert covariance == pytest.approx(np.linalg.pinv(point.curvature()), abs=1e-9)
    assert np.sqrt(covariance.diagonal()) == pytest.approx(point.errors())


def test_a_leaderboard_of_pairs_is_that_of_bradley_terry() -> None:
    pairs = drawn(5, rankings=600)
    pairs = [one[:2] for one in pairs]
    winners, losers = zip(*pairs, strict=True)
    rows = {"left": winners, "right": losers, "label": winners}
    votes = optiframe.problem(
        "pairwise-ranking", comparisons={k: [f"i{i}" for i in v] for k, v in rows.items()}
    )
    ours = leaderboard(solve(problem_of([[f"i{i}" for i in one] for one in pairs])), scale="elo")
    theirs = leaderboard(solve(votes, "hodge.bradley-terry"), scale="elo")
    assert ours["score"] == pytest.approx(theirs["score"], abs=0.1)
    for name in ("item", "rank", "rank_low", "rank_high", "group", "votes", "wins"):
        assert ours[name].tolist() == theirs[name].tolist(), name


def test_a_leaderboard_of_rankings_counts_first_places_by_weight() -> None:
    rows = {"ranking": [1, 1, 1, 2, 2], "item": ["a", "b", "c", "b", "a"], "position": [1, 2, 3, 1, 2]}
    result = solve(ListwiseRanking(rankings=pl.DataFrame(rows | {"weight": [2.0, 2.0, 2.0, 3.0, 3.0]})))  # type: ignore[arg-type]
    table = leaderboard(result)
    assert isinstance(table, pl.DataFrame)
    counts = {row["item"]: (row["votes"], row["wins"]) for row in table.to_dicts()}
    assert counts == {"a": (5.0, 2.0), "b": (5.0, 3.0), "c": (2.0, 0.0)}
    assert result.to_tables()["ranking"]["win_rate"].max() == pytest.approx(0.6)
    texts = [one.get_text() for one in plot_leaderboard(result).texts]
    assert any("3 items, 5 rankings and choices" in text for text in texts)


def test_a_ranker_learns_from_lists_and_says_what_would_be_chosen() -> None:
    model = ListwiseRanker("plackett-luce").fit([["tea", "milk"], ["tea", "cocoa"]], [("milk", ["cocoa"])])
    assert model.ranking_.tolist() == ["tea", "milk", "cocoa"]
    assert model.predict([["cocoa", "milk"], ["cocoa", "tea", "milk"]]).tolist() == ["milk", "tea"]
    assert leaderboard(model)["item"].tolist() == model.ranking_.tolist()
    assert model.scores_["score"].tolist() == sorted(model.scores_["score"], reverse=True)
    for wrong, message in (
        ([[]], r"sets\[0\] is empty"),
        ([["tea"], ["rum", "tea"]], r"sets\[1\]: in no ranking, so without a score: rum"),
    ):
        with pytest.raises(InvalidInput, match=message):
            model.predict(wrong)
    with pytest.raises(InvalidInput, match="fit"):
        ListwiseRanker().predict([["tea"]])
    apart = ListwiseRanker().fit([["a", "b"], ["c", "d"]])
    with pytest.raises(InvalidInput, match="no chain of rankings joins"):
        apart.predict([["a", "c"]])


def test_what_is_no_ranking_has_no_leaderboard() -> None:
    labels = {"task": [1, 2], "worker": [1, 1], "label": [1, 2]}
    with pytest.raises(InvalidInput, match="give a pairwise-ranking or listwise-ranking problem"):
        leaderboard(optiframe.problem("label-aggregation", labels=labels))
