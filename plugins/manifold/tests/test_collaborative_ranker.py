"""`CollaborativeRanker`, users and items nobody knows, and comparisons that come later."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optiframe_manifold.answer import Rankings
from optiframe_manifold.estimator import CollaborativeRanker
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.population import pooled_scores
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.tools.predictions import UnknownId
from optiframe_manifold.tools.updating import carried, update, with_comparisons
from scipy.optimize import minimize
from scipy.special import expit

import optiframe
from optiframe.errors import InvalidInput, UnknownName, Unsuited
from optiframe.records.fields import Array

VOTES = {
    "user": ["ann"] * 4 + ["bob"] * 4 + ["cy"] * 4,
    "left": ["tea", "tea", "cola", "milk", "cola", "cola", "tea", "soda", "tea", "cola", "tea", "cola"],
    "right": ["cola", "soda", "milk", "soda", "tea", "soda", "milk", "milk", "soda", "milk", "cola", "soda"],
    "label": ["tea", "tea", "milk", "milk", "cola", "cola", "tea", None, "tea", "milk", "tea", "soda"],
}


@cache
def drawn(users: int = 30, density: float = 15.0) -> dict[str, Any]:
    name = "collaborative.low-rank"
    return dict(optiframe.dataset(name, users=users, items=20, rank=2, density=density).inputs())


def columns(rows: Any) -> dict[str, Any]:
    return {name: column[rows] for name, column in drawn()["comparisons"].items()}


# --- the estimator ---


def test_fit_gives_the_answer_of_solve() -> None:
    model = CollaborativeRanker(2).fit(drawn()["comparisons"], drawn()["truth"])
    problem = optiframe.problem(
        "collaborative-ranking", comparisons=drawn()["comparisons"], truth=drawn()["truth"], rank=2
    )
    result = optiframe.solve(problem)
    assert model.result_.objective == result.objective
    assert model.result_.metrics == result.metrics
    assert model.findings_ == result.findings
    assert (model.n_iter_, model.n_components_) == (result.iterations, 2)
    assert model.items_.tolist() == list(range(20))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_answers_come_in_the_kind_of_frame_given(kind: Any) -> None:
    model = CollaborativeRanker(1).fit(kind(VOTES))
    pairs = kind({"user": ["ann"], "left": ["tea"], "right": ["cola"]})
    answers = (model.rank("ann"), model.scores("bob"), model.population(), model.predict(pairs))
    for answer in (*answers, model.suggest(2)):
        assert isinstance(answer, kind if isinstance(kind, type) else pa.Table)


def test_an_array_of_rows_is_a_table() -> None:
    rows = np.column_stack([columns(slice(None))[name] for name in ("user", "left", "right", "label")])
    model = CollaborativeRanker(1).fit(rows)
    assert model.result_.objective == CollaborativeRanker(1).fit(drawn()["comparisons"]).result_.objective
    with pytest.raises(InvalidInput, match=r"has the columns user, left, right, label .* shape \(5,\)"):
        model.fit(rows[:, 0][:5])


def test_probabilities_are_those_of_the_model() -> None:
    model = CollaborativeRanker(1).fit(VOTES)
    scores = dict(zip(model.items_, model.scores("ann")["score"], strict=True))
    chance = model.predict("ann", "tea", "cola")
    assert chance == pytest.approx(expit((scores["tea"] - scores["cola"]) / 0.18))
    assert model.predict("ann", "cola", "tea") == pytest.approx(1 - chance)
    many = model.predict("ann", ["tea", "cola"], ["cola", "tea"])
    np.testing.assert_allclose(many, [chance, 1 - chance])
    assert model.predict([], [], []).shape == (0,)
    table = model.predict(pd.DataFrame({"user": ["ann"], "left": ["cola"], "right": ["tea"], "more": [1]}))
    assert list(table) == ["user", "left", "right", "probability", "winner"]
    assert table["winner"].tolist() == ["tea"]


def test_the_score_is_the_share_of_winners_predicted() -> None:
    model = CollaborativeRanker(2).fit(columns(slice(0, 1500)))
    rest = pd.DataFrame(columns(slice(1500, None)))
    winner = model.predict(rest)["winner"].to_numpy()
    assert model.score(rest) == pytest.approx(np.mean(winner == rest["label"].to_numpy()))
    assert model.score(rest) > 0.75
    assert np.isnan(model.score(rest.assign(label=None)))


@pytest.mark.slow
def test_the_rank_can_be_chosen_by_cross_validation() -> None:
    model = CollaborativeRanker("auto", solver="trust-region", folds=3).fit(drawn()["comparisons"])
    assert model.n_components_ == model.rank_choice_.rank == 2
    assert set(model.rank_choice_.findings) <= set(model.findings_)
    fixed = CollaborativeRanker(2).fit(drawn()["comparisons"])
    assert model.result_.objective == pytest.approx(fixed.result_.objective, rel=1e-9)
    with pytest.raises(AttributeError, match="given and not chosen"):
        _ = fixed.rank_choice_


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize("method", ["trust-region", "lbfgs", {"name": "bfgd", "alpha": 2.0}])
@pytest.mark.slow
def test_solvers_of_both_families_go_by_short_names(method: Any) -> None:
    model = CollaborativeRanker(1, solver=method).fit(VOTES)
    assert model.rank("ann", top=1)["item"].tolist() == ["milk"]
    again = pickle.loads(pickle.dumps(model))
    assert again.rank("bob")["item"].tolist() == model.rank("bob")["item"].tolist()


def test_columns_can_be_mapped() -> None:
    frame = pd.DataFrame(VOTES)
    model = CollaborativeRanker(1, columns={"user": "voter", "label": "choice"})
    renamed = frame.rename(columns={"user": "voter", "label": "choice"})
    model.fit(renamed[:8]).partial_fit(renamed[8:])
    assert model.users_.tolist() == ["ann", "bob", "cy"]
    assert model.predict(renamed).columns.tolist()[0] == "user"
    assert 0 <= model.score(renamed) <= 1


# --- what is wrong is said ---


def test_users_and_items_there_are_not_are_named() -> None:
    model = CollaborativeRanker(1).fit(VOTES)
    with pytest.raises(InvalidInput, match="no user 'anne' among the 3 ranked; did you mean 'ann'"):
        model.rank("anne")
    with pytest.raises(InvalidInput, match="population\\(\\) ranks for users nobody knows"):
        model.scores(["ann"])


def test_users_and_items_nobody_knows_are_predicted_by_the_population_and_warned_of() -> None:
    for parameters in ({"n_components": 1}, {}):
        model = CollaborativeRanker(**parameters).fit(VOTES)
        shared = model.population()
        score = dict(zip(shared["item"], shared["score"], strict=True))
        with pytest.warns(
            UnknownId, match=r"no user anne among the 3 .* population\(\) .*; did you mean 'ann'"
        ):
            chance = model.predict("anne", "tea", "cola")
        assert chance == pytest.approx(expit((score["tea"] - score["cola"]) / 0.18))
        with pytest.warns(UnknownId, match="no item cocoa among the 4 of the comparisons; given the average"):
            chance = model.predict("ann", ["cocoa", "tea"], ["tea", "cocoa"])
        mine = dict(zip(model.items_, model.result_.solution.scores("ann"), strict=True))
        np.testing.assert_allclose(chance, expit(np.array([-1, 1]) * mine["tea"] / 0.18))
        with pytest.warns(UnknownId, match="no user x, y among"):
            known = model.score(
                {"user": ["x", "y"], "left": ["tea"] * 2, "right": ["cola"] * 2, "label": ["tea"] * 2}
            )
        assert known == (score["tea"] > score["cola"])


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "rank above users and items": ({"n_components": 4}, "rank: is 4, but scores of 4 items for 3 users"),
    "rank by another word": ({"n_components": "best"}, "n_components must be a whole number or 'auto'"),
    "rank zero": ({"n_components": 0}, "rank: must be greater than 0, got 0"),
    "sigma zero": ({"sigma": 0.0}, "sigma: must be at least 1e-50"),
    "penalty there is not": ({"penalty": "ridge"}, "penalty: must be one of"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_parameters_are_refused_by_fit(case: str) -> None:
    parameters, sentence = BAD[case]
    with pytest.raises(InvalidInput, match=sentence):
        CollaborativeRanker(**parameters).fit(VOTES)


def test_nothing_can_be_asked_before_fit() -> None:
    model = CollaborativeRanker()
    for ask in (model.rank, model.scores, model.predict):
        with pytest.raises(InvalidInput, match="call fit"):
            ask("ann")
    with pytest.raises(InvalidInput, match="call fit"):
        model.suggest()
    assert not hasattr(model, "users_")
    with pytest.raises(UnknownName, match="trust-region"):
        CollaborativeRanker(solver="trust").fit(VOTES)
    fitted = CollaborativeRanker(1).fit(VOTES)
    with pytest.raises(InvalidInput, match="give user, left and right"):
        fitted.predict("ann", "tea")
    with pytest.raises(InvalidInput, match="differ in length"):
        fitted.predict(["ann", "bob"], ["tea"], "cola")


def test_contradictory_repeats_cancel_and_are_named() -> None:
    both = {"user": ["dee"] * 2, "left": ["tea"] * 2, "right": ["cola"] * 2, "label": ["tea", "cola"]}
    model = CollaborativeRanker(1).fit({name: [*VOTES[name], *both[name]] for name in VOTES})
    assert any("1 user whose choices cancel: dee" in finding.text for finding in model.findings_)
    assert model.predict("dee", "tea", "cola") == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("size", [np.nan, np.inf])
def test_a_start_that_is_not_finite_is_refused(size: float) -> None:
    problem = CollaborativeRanking(comparisons=VOTES, rank=1)
    start = problem.from_factors(LowRank(np.full((3, 1), size), np.ones((4, 1))))
    with pytest.raises(InvalidInput, match=r"start: (every entry|.*not finite|.*finite)"):
        optiframe.solve(problem, "manifold.trust-region", start=start)


def test_a_start_beyond_all_numbers_is_refused() -> None:
    problem = CollaborativeRanking(comparisons=VOTES, rank=1)
    start = problem.from_factors(LowRank(np.full((3, 1), 1e200), np.full((4, 1), 1e200)))
    with pytest.raises(InvalidInput, match="has entries of some ∞, beyond all numbers; give a smaller one"):
        optiframe.solve(problem, "manifold.trust-region", start=start)


@pytest.mark.parametrize("size", [10.0, 1e80])  # at the second the objective is infinite
def test_a_start_far_off_comes_back(size: float) -> None:
    problem = CollaborativeRanking(comparisons=VOTES, rank=1)
    start = problem.from_factors(LowRank(np.full((3, 1), size), np.arange(4.0)[:, None] * size))
    found = optiframe.solve(problem, "manifold.trust-region", start=start)
    assert found.status is optiframe.Status.CONVERGED
    assert found.objective <= problem.likelihood.value(LowRank(np.zeros((3, 1)), np.zeros((4, 1)))) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("size", [10.0, 1e3, 1e6])
@pytest.mark.parametrize("multiplier", [1.0, 1e-3])
def test_a_start_far_away_ends_where_any_other_does(size: float, multiplier: float) -> None:
    problem = CollaborativeRanking(comparisons=drawn()["comparisons"], rank=2, multiplier=multiplier)
    rng, (users, items) = np.random.default_rng(0), problem.shape
    factors = LowRank(rng.standard_normal((users, 2)) * size, rng.standard_normal((items, 2)))
    budget = {"iterations": 40}
    near = optiframe.solve(problem, "manifold.trust-region", budget=budget)
    far = optiframe.solve(
        problem, "manifold.trust-region", start=problem.from_factors(factors), budget=budget
    )
    assert far.status is optiframe.Status.CONVERGED
    assert far.objective == pytest.approx(near.objective, rel=1e-6)
    assert [f.identifier for f in far.findings].count("collaborative.far-start") == 1
    assert "collaborative.far-start" not in [f.identifier for f in near.findings]


def test_a_type_that_differs_is_said() -> None:
    votes = {"user": [5, 5], "left": [1, 2], "right": [2, 3], "label": [1, 2]}
    model = CollaborativeRanker(1).fit(votes)
    with pytest.raises(InvalidInput, match=r"no user '5' .* did you mean 5, which is of type int\?"):
        model.rank("5")
    model.partial_fit(votes | {"user": ["5", "5"]})  # tables are read by spelling: a file may hold text
    assert model.users_.tolist() == [5]


def test_tops_below_one_are_refused() -> None:
    model = CollaborativeRanker(1).fit(VOTES)
    for ask in (lambda: model.rank("ann", top=-1), lambda: model.result_.solution.frame(top=-3)):
        with pytest.raises(InvalidInput, match="top must be a whole number of at least 1"):
            ask()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["trust-region", "lbfgs"])
@pytest.mark.parametrize("penalty", ["log-sum-exp", "none"])
def test_ties_alone_rank_nothing(method: str, penalty: Any) -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(6, size=60)
    right = (left + rng.integers(1, 6, size=60)) % 6
    votes = {"user": rng.integers(7, size=60), "left": left, "right": right, "label": [None] * 60}
    model = CollaborativeRanker(2, solver=method, penalty=penalty).fit(votes)
    assert not model.result_.solution.served.dense().any()
    assert set(model.rank(0)["rank"]) == {1}
    said = [finding.text for finding in model.findings_]
    assert "all comparisons are ties: there is nothing to rank by" in said
    with pytest.raises(InvalidInput, match="give comparisons that are not ties"):
        model.suggest(1)
    chosen = CollaborativeRanker("auto", solver=method, penalty=penalty, folds=2).fit(votes)
    assert not chosen.result_.solution.served.dense().any()


# --- users and items nobody knows ---


def pooled_by_hand(problem: CollaborativeRanking, ridge: float) -> Array:
    """SciPy on the loss of all comparisons together."""
    table = problem.comparisons
    winner = np.where(table.outcome >= 0, table.left, table.right)
    loser = np.where(table.outcome >= 0, table.right, table.left)
    tie = table.outcome == 0

    def loss(p: Array) -> float:
        margin = (p[winner] - p[loser]) / problem.sigma
        each = np.logaddexp(0.0, -margin) + np.where(
            tie, np.logaddexp(0.0, margin), np.logaddexp(0.0, -margin)
        )
        return float(each.sum() / 2 + ridge / 2 * p @ p)

    found = minimize(loss, np.zeros(len(problem.item_ids)), method="BFGS", options={"gtol": 1e-7}).x
    return np.asarray(found - found.mean())


def test_pooled_scores_are_the_best_single_ranking() -> None:
    problem = CollaborativeRanking(comparisons=VOTES, rank=1)
    ridge = max(2 * problem.strength / 4, 1 / (4 * 0.18**2))
    np.testing.assert_allclose(pooled_scores(problem.likelihood), pooled_by_hand(problem, ridge), atol=1e-5)
    free = problem.model_copy(update={"penalty": "none"})
    assert np.isfinite(pooled_scores(free.likelihood)).all()


def test_a_user_nobody_knows_is_given_the_ranking_of_all() -> None:
    problem = CollaborativeRanking(comparisons=VOTES, users=["ann", "bob", "cy", "eve"], rank=1)
    result = optiframe.solve(problem, "manifold.trust-region")
    pooled = pooled_scores(problem.likelihood)
    np.testing.assert_allclose(result.solution.scores("eve"), pooled)
    assert result.solution.ranking("eve")["item"].tolist() == problem.item_ids[np.argsort(-pooled)].tolist()
    # Nobody else's scores change by it, nor do the factors, nor the objective.
    factors = result.solution.factors
    centred = factors.dense() - factors.dense().mean(axis=1, keepdims=True)
    np.testing.assert_allclose(result.solution.served.dense()[:3], centred[:3], atol=1e-12)
    assert problem.objective(result.solution) == result.objective == problem.likelihood.value(factors)
    assert any(
        "eve" in f.text and "the ranking of all users' comparisons together" in f.text
        for f in result.findings
    )
    tables = problem.to_tables(result.solution)
    assert tables["users"]["population"].tolist() == [0.0, 0.0, 0.0, 1.0]
    left = np.column_stack([tables["users"]["factor_1"], tables["users"]["population"]])
    right = np.column_stack([tables["items"]["factor_1"], tables["items"]["population"]])
    np.testing.assert_allclose(left @ right.T, result.solution.served.dense())


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_an_item_never_compared_is_put_at_the_average() -> None:
    for penalty in ("log-sum-exp", "frobenius", "none"):
        problem = CollaborativeRanking(
            comparisons=VOTES, items=["tea", "cocoa", "cola", "milk", "soda"], rank=1, penalty=penalty
        )
        answer = optiframe.solve(problem, "manifold.trust-region", budget={"iterations": 5}).solution
        assert answer.scores("ann")[1] == 0.0
        assert answer.scores("ann").sum() == pytest.approx(0.0, abs=1e-9)


def test_held_out_choices_of_a_user_nobody_knows_are_judged_by_the_population() -> None:
    held_out = {"user": ["eve"], "left": ["tea"], "right": ["soda"], "label": ["tea"]}
    problem = CollaborativeRanking(
        comparisons=VOTES, users=["ann", "bob", "cy", "eve"], rank=1, held_out=held_out
    )
    result = optiframe.solve(problem, "manifold.trust-region")
    pooled = pooled_scores(problem.likelihood)
    gap = pooled[problem.item_ids == "tea"] - pooled[problem.item_ids == "soda"]
    assert result.metrics["held_out_loss"] == pytest.approx(float(np.logaddexp(0, -gap / 0.18)[0]))


# --- comparisons that come later ---


def test_batches_give_the_answer_of_all_comparisons_at_once() -> None:
    late = drawn()["comparisons"]["user"] >= 26
    model = CollaborativeRanker(2).partial_fit(columns(~late)).partial_fit(columns(late))
    full = CollaborativeRanker(2).fit(drawn()["comparisons"])
    assert model.result_.objective == pytest.approx(full.result_.objective, rel=1e-9)
    assert model.users_.tolist() == full.users_.tolist()
    np.testing.assert_allclose(
        model.result_.solution.served.dense(), full.result_.solution.served.dense(), atol=1e-5
    )


def test_answers_stay_in_the_kind_of_frame_of_fit() -> None:
    model = CollaborativeRanker(1).fit(pd.DataFrame(VOTES)).partial_fit(VOTES)
    assert isinstance(model.rank("ann"), pd.DataFrame)


def test_new_users_begin_at_the_population_and_new_items_at_the_average() -> None:
    old = CollaborativeRanker(2).fit(columns(drawn()["comparisons"]["user"] < 28))
    fresh = {"user": [28, 28], "left": [0, 77], "right": [1, 2], "label": [0, 77]}
    larger = with_comparisons(old.result_.problem, fresh)
    start = carried(larger, old.result_.solution)
    assert larger.shape == (29, 21)
    assert larger.item_ids[-1] == 77
    before, now = old.result_.solution.factors, start.factors
    np.testing.assert_array_equal(now.left[:28], before.left)
    np.testing.assert_allclose(now.right[20], before.right.mean(axis=0))
    # The least-squares fit of the population by the items' factors.
    pooled = pooled_scores(larger.likelihood)[:20]
    centred = before.right - before.right.mean(axis=0)
    rest = pooled - pooled.mean() - centred @ now.left[28]
    np.testing.assert_allclose(centred.T @ rest, 0.0, atol=1e-9)


def test_a_problem_with_more_comparisons_keeps_what_it_knew() -> None:
    problem = CollaborativeRanking(
        comparisons=columns(slice(0, 900)), truth=drawn()["truth"], rank=2, sigma=0.3, penalty="frobenius"
    )
    larger = with_comparisons(problem, columns(slice(900, 1000)) | {"weight": np.full(100, 2.0)})
    assert (larger.rows, larger.sigma, larger.penalty, larger.rank) == (1000, 0.3, "frobenius", 2)
    assert larger.truth is not None
    assert larger.comparisons.weight is not None
    assert larger.comparisons.weight.tolist() == [1.0] * 900 + [2.0] * 100
    new_item = {"user": [0], "left": [0], "right": [99], "label": [None]}
    assert with_comparisons(problem, new_item).truth is None


def test_what_cannot_be_joined_says_why() -> None:
    result = CollaborativeRanker(1).fit(VOTES).result_
    with pytest.raises(InvalidInput, match=r"items so far are text, such as .*not text, such as 1"):
        update(result, {"user": ["ann"], "left": [1], "right": [2], "label": [1]})
    with pytest.raises(InvalidInput, match="the label is 9, which is neither"):
        update(result, {"user": ["ann"], "left": ["tea"], "right": ["cola"], "label": [9]})
    more = {"user": ["ann"], "left": ["tea"], "right": ["cola"], "label": ["tea"]}
    broken = result.problem.from_factors(LowRank(np.full((3, 1), np.nan), np.ones((4, 1))))
    with pytest.raises(InvalidInput, match="the earlier answer is not finite"):
        update(replace(result, solution=broken), more)
    stranger = Rankings(
        np.array(["x"]), result.solution.items, LowRank(np.ones((1, 1)), np.ones((4, 1))), 1.0
    )
    with pytest.raises(InvalidInput, match="users are not the first 1 of the problem's"):
        carried(result.problem, stranger)
    with pytest.raises((Unsuited, UnknownName)):
        update(result, more, "scipy.lbfgs")
