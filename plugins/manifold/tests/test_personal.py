"""`btl.personal`: personal rankings where they predict better than one ranking for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from optiframe_manifold.answer import Rankings
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.estimator import CollaborativeRanker
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.personal import PersonalLikelihood
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.solvers.personal import PersonalRankings
from optiframe_manifold.tools.intervals import bootstrap_errors, intervals
from optiframe_manifold.trust.certificate import second_order
from optiframe_manifold.trust.curvature import information_of
from optiframe_manifold.trust.personal_choice import Candidate, Judged, gained, select
from scipy.special import expit

import optiframe
from optiframe import InvalidInput, Problem
from optiframe.records.fields import Array
from optiframe.testing import SolverContract

from .cases import drawn

QUICK: dict[str, Any] = {"ranks": (1, 2), "ridges": (1.5, 4.0), "folds": 3}


def choices(
    users: int = 30, items: int = 10, each: int = 40, *, tastes: float, liars: int = 0, seed: int = 0
) -> dict[str, Any]:
    """Comparisons by users who share a ranking, plus `tastes` times a taste of their own; liars reverse."""
    rng = np.random.default_rng(seed)
    shared, own = rng.standard_normal(items), rng.standard_normal(users)[:, None] * rng.standard_normal(items)
    scores = shared + tastes * own
    user = np.repeat(np.arange(users), each)
    left = rng.integers(items, size=len(user))
    right = (left + rng.integers(1, items, size=len(user))) % items
    won = rng.random(len(user)) < expit(scores[user, left] - scores[user, right])
    won ^= user < liars
    return {"user": user, "left": left, "right": right, "label": np.where(won, left, right)}


@cache
def solved(kind: str) -> optiframe.Result[Rankings, Any]:
    made = {
        "tastes": choices(tastes=1.5),
        "one taste": choices(tastes=0.0),
        "liars": choices(tastes=0.0, liars=9),
    }
    problem = CollaborativeRanking(comparisons=made[kind], rank=3)
    return optiframe.solve(problem, "btl.personal", progress=False, **QUICK)


def said(result: Any) -> dict[str, str]:
    return {finding.identifier: finding.text for finding in result.findings}


class TestPersonalRankings(SolverContract):
    solver = PersonalRankings(ranks=(1,), ridges=(2.0,), folds=2, crowd=False)

    def instances(self) -> Iterable[Problem[Any]]:
        return [drawn(6, 5, 6.0)]


# --- the model ---


def penalized(x: LowRank, table: ChoiceTable, prior: float, ridge: float) -> float:
    """The objective of `PersonalLikelihood`, written down."""
    gap = np.einsum("er,er->e", x.left[table.user], x.right[table.left] - x.right[table.right])
    loss = float(np.logaddexp(0.0, -table.outcome * gap).sum())
    squares = (x.left[:, 1:] ** 2).sum() + (x.right[:, 1:] ** 2).sum()
    return loss + 0.5 * prior * float((x.right[:, 0] ** 2).sum()) + 0.5 * ridge * float(squares)


def test_the_fit_is_a_minimum_of_the_penalized_likelihood() -> None:
    table = CollaborativeRanking(comparisons=choices(8, 5, 20, tastes=1.5), rank=1).comparisons
    likelihood = PersonalLikelihood(table.choices, 8, 5)
    population = likelihood.population(0.7)
    found = likelihood.personal(population, 2, 0.7, 0.4)
    assert found.rank == 3
    np.testing.assert_array_equal(found.left[:, 0], 1.0)
    least = penalized(found, table, 0.7, 0.4)
    assert least < penalized(population, table, 0.7, 0.4) - 1
    rng, small = np.random.default_rng(0), 1e-3
    for _ in range(50):
        left, right = rng.standard_normal(found.left.shape), rng.standard_normal(found.right.shape)
        left[:, 0] = 0.0
        moved = LowRank(found.left + small * left, found.right + small * right)
        assert penalized(moved, table, 0.7, 0.4) > least


def test_a_strong_prior_leaves_the_population() -> None:
    table = CollaborativeRanking(comparisons=choices(8, 5, 20, tastes=1.5), rank=1).comparisons
    likelihood = PersonalLikelihood(table.choices, 8, 5)
    population = likelihood.population(1.0)
    assert likelihood.personal(population, 2, 1.0, 1e3) is population


# --- what is served ---


def test_personal_rankings_are_served_where_tastes_differ() -> None:
    result = solved("tastes")
    assert result.detail.chosen.model == "personal"
    assert result.detail.gain.low > 0.02
    assert result.violation == 0.0
    text = said(result)["collaborative.personal-rankings-served"]
    assert text.startswith("personal rankings are served: log-loss of held-out comparisons 0.")
    assert "90% interval 0." in text


def test_one_ranking_is_served_where_tastes_do_not_differ() -> None:
    result = solved("one taste")
    assert (result.detail.rank, result.detail.chosen.model) == (0, "population")
    assert result.detail.gain.low < 0 < result.detail.gain.high + 0.05
    rows = result.solution.served.dense()
    np.testing.assert_allclose(rows, np.tile(rows[0], (len(rows), 1)))
    assert "one ranking for all users is served: " in said(result)["collaborative.one-ranking-served"]


def test_liars_are_predicted_by_one_ranking_and_their_reliability() -> None:
    pytest.importorskip("optiframe_hodgerank", reason="the ranking that competes is this plugin's")
    result = solved("liars")
    assert result.detail.chosen.model == "crowd-bt"
    answer, problem = result.solution, result.problem
    assert (answer.reliability[:9] < 0.3).all()
    assert (answer.reliability[9:] > 0.7).all()
    # A liar's choices are predicted the other way round by the same scores.
    np.testing.assert_allclose(answer.scores(0), answer.scores(20))
    best, worst = answer.ranking(20)["item"][[0, -1]]
    at = np.array([best]), np.array([worst])
    assert answer.chance(np.array([0]), *at) < 0.3
    assert answer.chance(np.array([20]), *at) > 0.7
    again = problem.model_copy(update={"held_out": problem.comparisons})
    assert again.metrics(answer)["held_out_accuracy"] > 0.7
    assert again.metrics(replace(answer, reliability=None))["held_out_accuracy"] < 0.65


def test_without_the_plugin_the_population_competes_alone_and_the_command_is_named(monkeypatch: Any) -> None:
    from optiframe_manifold.solvers import personal

    monkeypatch.setattr(personal, "_CROWD", "ranking.not-there")
    problem = CollaborativeRanking(comparisons=choices(tastes=0.0, liars=9), rank=2)
    result = optiframe.solve(problem, "btl.personal", progress=False, **QUICK)
    assert "crowd-bt" not in result.to_tables()["candidates"]["model"].tolist()
    assert "pip install optiframework-hodgerank" in said(result)["collaborative.crowd-bt-left-out"]
    assert "2 personal directions were not tried" in said(result)["collaborative.ranks-not-tried"]


def test_the_truth_and_held_out_comparisons_play_no_part_in_the_choice() -> None:
    table, other = choices(12, 6, 25, tastes=1.0), choices(12, 6, 25, tastes=1.0, seed=5)
    answers = [
        optiframe.solve(
            CollaborativeRanking(comparisons=table, rank=2, **more), "btl.personal", progress=False, **QUICK
        )
        for more in ({}, {"held_out": other, "truth": np.random.default_rng(0).standard_normal((12, 6))})
    ]
    np.testing.assert_array_equal(*(a.to_tables()["candidates"]["loss"] for a in answers))
    np.testing.assert_array_equal(*(a.solution.factors.right for a in answers))


def judged(model: Any, rank: int, ridge: float, loss: Array) -> Judged:
    return Judged(Candidate(model, rank, ridge), loss, np.ones_like(loss), np.ones_like(loss))


def test_the_gain_is_judged_by_folds_that_did_not_choose() -> None:
    shared = judged("population", 0, 1.0, np.full((2, 2), 0.5))
    lucky = [
        judged("personal", 1, 2.0, np.array([[0.1, 0.9], [0.1, 0.9]])),
        judged("personal", 1, 1.0, np.array([[0.9, 0.2], [0.9, 0.2]])),
    ]
    gain = gained(shared, lucky)
    # Each fold is judged by what was best in the other one: the worse of the two.
    assert (gain.shared, gain.personal) == (0.5, 0.9)
    assert select([shared, *lucky], "best")[0].model == "population"


def test_the_simplest_of_equally_good_ones_is_chosen_by_one_standard_error() -> None:
    rng = np.random.default_rng(0)
    base = rng.random((40, 3))
    shared = judged("population", 0, 1.0, base + 1.0)
    simple = judged("personal", 1, 4.0, base + 0.1 * rng.standard_normal((40, 3)))
    best = judged("personal", 4, 1.0, simple.loss - 0.001 + 0.1 * rng.standard_normal((40, 3)))
    best = replace(best, loss=best.loss - best.mean + simple.mean - 0.001)
    assert select([shared, simple, best], "best")[0].rank == 4
    assert select([shared, simple, best], "one-standard-error")[0].rank == 1


# --- few data, limits ---


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_few_comparisons_give_the_population(rows: int) -> None:
    votes = {"user": ["a", "a", "b"], "left": [1, 2, 1], "right": [2, 3, 3], "label": [1, 2, 1]}
    model = CollaborativeRanker().fit({name: column[:rows] for name, column in votes.items()})
    assert model.n_components_ == 0
    assert model.population()["item"].tolist()[0] == 1


def test_a_user_with_one_vote_is_named_and_gets_a_ranking() -> None:
    table = {
        name: np.append(column, last)
        for (name, column), last in zip(choices(tastes=1.5).items(), (99, 0, 1, 0), strict=True)
    }
    model = CollaborativeRanker(solver={"name": "personal", **QUICK}).fit(table)
    assert "99" in said(model.result_)["collaborative.user-with-one-comparison"]
    assert 0 < model.predict(99, 0, 1) < 1
    assert np.isfinite(model.rank(99)["score"]).all()


def test_silent_users_get_the_population() -> None:
    model = CollaborativeRanker(solver={"name": "personal", **QUICK})
    model.fit(choices(tastes=1.5), users=range(31), items=range(11))
    assert model.n_components_ > 0
    assert model.rank(30)["item"].tolist() == model.population()["item"].tolist()
    assert model.result_.solution.scores(3)[10] == 0.0  # never compared: the average
    with pytest.warns(UserWarning, match="no user 77"):
        assert model.predict(77, 0, 1) == pytest.approx(model.predict(30, 0, 1))


def test_ties_alone_rank_nothing() -> None:
    votes = {**choices(6, 4, 10, tastes=0.0), "label": [None] * 60}
    model = CollaborativeRanker().fit(votes)
    assert not model.result_.solution.served.dense().any()


def test_a_limit_serves_the_best_so_far() -> None:
    problem = CollaborativeRanking(comparisons=choices(tastes=1.5), rank=5)
    with pytest.warns(optiframe.NotConverged):
        first = optiframe.solve(problem, "btl.personal", budget={"iterations": 1}, progress=False)
    assert first.detail.chosen == Candidate("population", 0, 10.0)
    with pytest.warns(optiframe.NotConverged):
        none = optiframe.solve(problem, "btl.personal", budget={"time": 1e-6}, progress=False)
    assert np.isfinite(none.solution.factors.right).all()


def test_lists_of_a_file_are_taken() -> None:
    solver = PersonalRankings.load(ranks=[1, 3], ridges=[2.0])
    assert (solver.ranks, solver.ridges) == ((1, 3), (2.0,))
    with pytest.raises(InvalidInput, match="ridges"):
        PersonalRankings.load(ridges=[])
    with pytest.raises(InvalidInput, match="ranks"):
        PersonalRankings.load(ranks=[0])


# --- how sure the scores are ---


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tastes", "one taste"])
def test_intervals_are_about_as_wide_as_answers_to_drawn_choices_spread(kind: str) -> None:
    result = solved(kind)
    ridge = result.detail.chosen.ridge
    once = PersonalRankings(
        ranks=(result.detail.rank,) if result.detail.rank else (), ridges=(ridge,), folds=2, crowd=False
    )
    spread = bootstrap_errors(result.problem, result.solution, once, 12, 0)[3].mean()
    for method in ("joint", "blocks"):
        error = intervals(result, user=3, method=method)["error"].mean()
        assert 0.4 < error / spread < 2.5


@pytest.mark.thorough
def test_intervals_hold_the_true_scores_about_as_often_as_they_say() -> None:
    """Of six drawings, with the penalty that cross-validation chose; 87% when written."""
    held = {"joint": [], "blocks": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        shared, own = rng.standard_normal(20), rng.standard_normal((40, 1)) * rng.standard_normal(20)
        truth = shared + own - (shared + own).mean(axis=1, keepdims=True)
        user = np.repeat(np.arange(40), 60)
        left = rng.integers(20, size=len(user))
        right = (left + rng.integers(1, 20, size=len(user))) % 20
        won = rng.random(len(user)) < expit(truth[user, left] - truth[user, right])
        table = {"user": user, "left": left, "right": right, "label": np.where(won, left, right)}
        problem = CollaborativeRanking(comparisons=table, rank=5, sigma=1.0)
        result = optiframe.solve(problem, "btl.personal", progress=False)
        for method, shares in held.items():
            for code in range(0, 40, 4):
                found = intervals(result, user=code, method=method)
                shares.append(np.mean((found["low"] < truth[code]) & (truth[code] < found["high"])))
    for shares in held.values():
        assert 0.8 < np.mean(shares) < 0.95


def test_unreliable_choices_tell_less() -> None:
    problem = CollaborativeRanking(comparisons=choices(4, 4, 10, tastes=0.0), rank=1)
    x = problem.to_factors(solved_on(problem).solution)
    prior = solved_on(problem).solution.prior
    whole, half = (
        information_of(problem.likelihood, x, prior, np.full(4, share))[0].weight for share in (1.0, 0.5)
    )
    count = problem.choices.weight
    np.testing.assert_allclose(whole, 1.0 if count is None else count)
    np.testing.assert_allclose(half, 0.0, atol=1e-12)


def solved_on(problem: CollaborativeRanking) -> optiframe.Result[Rankings, Any]:
    return optiframe.solve(
        problem, PersonalRankings(ranks=(), ridges=(1.0,), folds=2, crowd=False), progress=False
    )


def test_it_is_no_minimum_of_the_problem_to_be_certified() -> None:
    with pytest.raises(optiframe.Unsuited, match="priors of its own, not the problem's"):
        second_order(solved("tastes"))


def test_suggestions_and_scores_come_with_the_default() -> None:
    model = CollaborativeRanker(solver={"name": "personal", **QUICK}).fit(choices(tastes=1.5))
    assert (model.suggest(3)["gain"] > 0).all()
    table = model.scores(2)
    assert ((table["low"] < table["score"]) & (table["score"] < table["high"])).all()


@pytest.mark.slow
def test_without_a_rank_the_problem_chooses_as_the_estimator_does() -> None:
    table = choices(users=8, items=5, each=12, tastes=1.0)
    result = optiframe.solve(CollaborativeRanking(comparisons=table), progress=False)
    assert result.settings["solver"]["name"] == "btl.personal"
    assert result.violation == 0.0
    assert {each.candidate.rank for each in result.detail.judged} == {0, 1, 2, 4}  # no rank is a limit
    fitted = CollaborativeRanker().fit(table)
    np.testing.assert_array_equal(result.solution.served.dense(), fitted.result_.solution.served.dense())
    given = CollaborativeRanking(comparisons=table, rank=1)
    assert [name for name, _ in given.recommended()] == ["manifold.trust-region"]


def test_other_solvers_take_two_tastes_where_no_rank_is_given() -> None:
    table = choices(users=4, items=3, each=6, tastes=1.0)
    free, two = (CollaborativeRanking(comparisons=table, **given) for given in ({}, {"rank": 2}))
    assert (free.factor_rank, free.strength) == (2, two.strength)
    answers = [optiframe.solve(each, "manifold.trust-region").solution.factors for each in (free, two)]
    np.testing.assert_array_equal(answers[0].dense(), answers[1].dense())
    alone = {name: column[:6] for name, column in table.items()}  # of one user
    assert CollaborativeRanking(comparisons=alone).factor_rank == 1


@pytest.mark.parametrize("chosen", [{"penalty": "frobenius"}, {"multiplier": 2.0}])
def test_a_penalty_without_effect_is_named(chosen: dict[str, Any]) -> None:
    table = choices(users=4, items=3, each=6, tastes=1.0)
    result = optiframe.solve(CollaborativeRanking(comparisons=table, **chosen), "btl.personal", **QUICK)
    texts = [each.text for each in result.findings if each.identifier == "collaborative.penalty-unused"]
    assert len(texts) == 1
    assert texts[0].startswith(f"{next(iter(chosen))} had no effect")


def test_the_estimator_wants_a_rank_or_auto() -> None:
    with pytest.raises(InvalidInput, match="must be a whole number or 'auto', got None"):
        CollaborativeRanker(None).fit(choices(users=3, items=3, each=4, tastes=0.0))  # type: ignore[arg-type]


@pytest.mark.slow
def test_of_one_user_it_says_so_and_warns_of_nobody_where_all_share_a_ranking() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(6, size=300)
    right = (left + rng.integers(1, 6, size=300)) % 6
    label = np.where(rng.random(300) < 1 / (1 + np.exp(0.5 * (left - right))), right, left)
    rows = {"left": left, "right": right, "label": label}
    one = optiframe.solve(CollaborativeRanking(comparisons={"user": ["ann"] * 300, **rows}))
    assert said(one)["collaborative.personal-rankings-not-judged"].endswith("there is one user")
    many = optiframe.solve(CollaborativeRanking(comparisons={"user": np.arange(300), **rows}))
    assert "collaborative.one-ranking-served" in said(many)
    assert "collaborative.user-with-one-comparison" not in said(many)  # rankings are nobody's own
