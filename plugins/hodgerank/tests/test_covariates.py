"""Covariates of comparisons: effects beside the scores, against logistic regression, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import optiframe_hodgerank
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.votes.covariates import covariate_votes
from optiframe_hodgerank.votes.crowd import CrowdLikelihood, CrowdPoint, climb
from optiframe_hodgerank.votes.crowd_covariates import CovariateCrowd
from optiframe_hodgerank.votes.reading import worker_votes
from optiframe_hodgerank.votes.score_prior import nearly
from optiframe_hodgerank.votes.tally import tally
from scipy.optimize import minimize

import optiframe
from optiframe import InvalidInput, solve, why_unsuited

EXACT = {"tolerance": 1e-10}
POSITION, LENGTH = 0.4, 0.15


def voted(seed: int, items: int = 8, rows: int = 600, nu: float = 0.0) -> dict[str, Any]:
    """Votes by Davidson's model that lean to the left item and to the longer one."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=items)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    longer = np.round(rng.normal(0, 4, rows))
    d = score[left] - score[right] + POSITION + LENGTH * longer
    odds = np.array([np.exp(d / 2), np.full(rows, nu), np.exp(-d / 2)])
    outcome = (rng.random(rows) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
    label = np.where(outcome == 0, left, right).astype(object)
    label[outcome == 1] = None
    return {"left": left, "right": right, "label": label, "longer": longer}


def asked(table: dict[str, Any], **more: Any) -> PairwiseRanking:
    given = {"covariates": ["longer"], "position": True} | more
    return PairwiseRanking(comparisons=table, **given)


def design(problem: PairwiseRanking) -> NDArray[np.float64]:
    """A column for each item and one for each covariate."""
    table = problem.comparisons
    x = np.zeros((len(table), len(table.item_ids)))
    x[np.arange(len(table)), table.left] = 1
    x[np.arange(len(table)), table.right] -= 1
    return np.column_stack([x, table.covariates.values])


def test_without_a_prior_it_is_logistic_regression_on_items_and_covariates() -> None:
    problem = asked(voted(0))
    result = solve(problem, BradleyTerry(prior=0), budget=EXACT)
    won = (problem.comparisons.margin > 0).astype(float)
    fit = sm.Logit(won, design(problem)[:, 1:]).fit(disp=0, tol=1e-14)
    scores = np.append(0.0, fit.params[:7])
    assert result.solution.scores == pytest.approx(scores - scores.mean(), abs=1e-6)
    assert result.detail.effect == pytest.approx(fit.params[7:], abs=1e-6)
    assert result.detail.error == pytest.approx(fit.bse[7:], abs=1e-6)
    centre = np.eye(8)[:, 1:] - 1 / 8
    spread = np.sqrt(np.diag(centre @ fit.cov_params()[:7, :7] @ centre.T))
    assert result.solution.high - result.solution.scores == pytest.approx(1.6448536 * spread, abs=1e-6)
    surprise = -np.log(np.where(won > 0, fit.predict(), 1 - fit.predict()))
    assert result.solution.strength == pytest.approx(surprise, abs=1e-6)


def test_the_order_of_the_items_in_a_row_does_not_matter() -> None:
    table = voted(1, nu=0.5)
    turned = {"left": table["right"], "right": table["left"], "label": table["label"]}
    one = solve(asked(table, position=False), "hodge.bradley-terry", budget=EXACT)
    other = solve(
        asked(turned | {"longer": -table["longer"]}, position=False), "hodge.bradley-terry", budget=EXACT
    )
    assert other.solution.scores == pytest.approx(one.solution.scores, abs=1e-9)
    assert other.detail.effect == pytest.approx(one.detail.effect, abs=1e-9)
    assert other.detail.model.tie == pytest.approx(one.detail.model.tie, abs=1e-9)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper", "half"])
def test_a_weak_prior_and_ties_are_those_of_the_written_out_likelihood(ties: str) -> None:
    problem, prior = asked(voted(2, items=4, rows=60, nu=0.6)), 0.3
    x, y = design(problem), np.sign(problem.comparisons.margin)
    scale = covariate_votes(problem.comparisons).scale
    compared = np.unique(
        np.sort(np.column_stack([problem.comparisons.left, problem.comparisons.right])), axis=0
    )

    def chances(d: NDArray[np.float64], tie: float) -> NDArray[np.float64]:
        if ties == "davidson":
            odds = np.array([np.exp(d / 2), np.full_like(d, np.exp(tie)), np.exp(-d / 2)])
            return odds / odds.sum(axis=0)
        first, last = 1 / (1 + np.exp(tie - d)), 1 / (1 + np.exp(tie + d))
        return np.array([first, 1 - first - last, last])

    def loss(free: NDArray[np.float64]) -> float:
        of_all, tie = np.append(0.0, free[:-1]), free[-1]
        d = x @ of_all
        gaps = np.append(of_all[compared[:, 0]] - of_all[compared[:, 1]], of_all[4:] * scale)
        total = prior / 2 * np.sum(np.logaddexp(0, gaps) + np.logaddexp(0, -gaps))
        if ties == "half":
            won = (1 + y) / 2
            return float(total + won @ np.logaddexp(0, -d) + (1 - won) @ np.logaddexp(0, d) + tie**2)
        extra = -np.log(chances(np.zeros(1), tie)[:, 0]) @ [0.25, 0.5, 0.25]
        return float(total + extra - np.log(chances(d, tie)[(1 - y).astype(int), np.arange(len(y))]).sum())

    best = minimize(loss, np.full(6, 0.1), method="BFGS", options={"gtol": 1e-9}).x
    result = solve(problem, BradleyTerry(prior=prior, ties=ties), budget=EXACT)
    scores = np.append(0.0, best[:3])
    assert result.solution.scores == pytest.approx(scores - scores.mean(), abs=2e-5)
    assert result.detail.effect == pytest.approx(best[3:5], abs=2e-5)
    if ties != "half":
        assert result.detail.model.tie == pytest.approx(best[5], abs=2e-5)


def test_weights_count_votes_and_equal_votes_are_counted_together() -> None:
    table = voted(3, rows=60)
    twice = {name: np.repeat(column, 2) for name, column in table.items()}
    once = solve(asked(table | {"weight": np.full(60, 2.0)}), "hodge.bradley-terry", budget=EXACT)
    again = solve(asked(twice), "hodge.bradley-terry", budget=EXACT)
    assert again.solution.scores == pytest.approx(once.solution.scores, abs=1e-9)
    assert again.detail.effect == pytest.approx(once.detail.effect, abs=1e-9)
    votes = covariate_votes(asked(twice).comparisons)
    assert len(votes.won) <= 60
    assert votes.won.sum() + votes.lost.sum() + votes.tied.sum() == 120


def test_effects_are_a_table_beside_the_ranking_and_ignore_the_unit() -> None:
    table = voted(4)
    result = solve(asked(pd.DataFrame(table)), "hodge.bradley-terry", budget=EXACT)
    frame = result.detail.frame()
    assert frame["covariate"].tolist() == ["longer", "position"]
    assert result.to_tables()["effects"]["effect"].tolist() == frame["effect"].tolist()
    assert (frame["low"] < frame["effect"]).all()
    assert (frame["effect"] < frame["high"]).all()
    assert frame["effect"].tolist() == pytest.approx([LENGTH, POSITION], abs=0.2)
    scaled = solve(asked(table | {"longer": table["longer"] * 1e6}), "hodge.bradley-terry", budget=EXACT)
    assert scaled.detail.effect[0] * 1e6 == pytest.approx(result.detail.effect[0], rel=1e-9)
    assert scaled.detail.columns()["standardized"] == pytest.approx(frame["standardized"], rel=1e-9)
    chances = result.detail.chances(0.5, [2.0, 1.0])
    d = 0.5 + result.detail.effect @ [2.0, 1.0]
    assert chances.win == pytest.approx(1 / (1 + np.exp(-d)))
    with pytest.raises(InvalidInput, match=r"must have 2 values \(longer, position\)"):
        result.detail.chances(0.5, [2.0])
    errors = optiframe.solver("hodge.bradley-terry").standard_errors(result.problem, result.solution)
    assert 1.6448536 * errors == pytest.approx(result.solution.high - result.solution.scores, rel=1e-6)


@pytest.mark.slow
def test_only_solvers_that_use_covariates_take_them() -> None:
    problem = asked(voted(5), outlier_price=1.0)
    for name in ("hodge.lbi", "hodge.l2", "scipy.lbfgs", "hodge.bootstrap"):
        reason = why_unsuited(problem, optiframe.solver(name))
        assert reason is not None
        assert "it would ignore the covariates of the comparisons (longer, position)" in reason
    assert "two workers or more" in str(why_unsuited(problem, optiframe.solver("ranking.crowd-bt")))
    assert solve(problem).settings["solver"]["name"] == "hodge.bradley-terry"
    around = optiframe.solver("hodge.bootstrap", of="hodge.bradley-terry", draws=20)
    assert solve(asked(voted(5)), around).solution.low is not None


@pytest.mark.slow
def test_margins_with_covariates_are_refused_with_the_reason() -> None:
    table = voted(5)
    margins = {name: table[name] for name in ("left", "right", "longer")} | {"margin": table["longer"] / 3}
    with pytest.raises(InvalidInput, match=r"none that is installed takes it; .*no method finds"):
        solve(asked(margins))


def test_what_is_wrong_with_covariates_is_said_with_its_rows(tmp_path: Path) -> None:
    table = voted(6, rows=5)
    for values, said in (
        ([1, 2, np.nan, 3, np.nan], "row 2, row 4: longer is empty"),
        ([1, 2, np.inf, 3, 4], "row 2: the longer is inf; it must be a finite number"),
        (["1", "2", "3", "x", "4"], "row 3: the longer is x; it must be a finite number"),
        (
            [3, 3, 3, 3, 3],
            r"the covariate longer is 3 in every comparison \(row 0 to 4\).*set position = true",
        ),
        (
            [0, 0, 0, 0, 0],
            r"the covariate longer is 0 in every comparison \(row 0 to 4\), so it has no effect",
        ),
    ):
        with pytest.raises(InvalidInput, match=said):
            asked(table | {"longer": values})
    pd.DataFrame(table | {"longer": 1.5}).to_csv(tmp_path / "votes.csv", index=False)
    with pytest.raises(InvalidInput, match=r"longer is 1.5 in every comparison \(line 2 to 6\)"):
        asked(tmp_path / "votes.csv")  # type: ignore[arg-type]
    for names, said in (
        ("longer", "must be a list of names of columns, got 'longer'"),
        (["weight"], "the column weight already has a fixed meaning"),
        (["longer", "longer"], "the column longer is named twice"),
        ([3], "3 is not a name"),
        (["length"], "no column 'length'"),
    ):
        with pytest.raises(InvalidInput, match=said):
            asked(table, covariates=names)
    with pytest.raises(InvalidInput, match="a covariate is called position, as is the effect of the side"):
        asked(table | {"position": table["longer"]}, covariates=["position"])


def test_covariates_that_cannot_be_told_from_the_scores_are_refused() -> None:
    table, solver = voted(7), BradleyTerry()
    price = np.arange(8.0) ** 2
    table["price"] = price[table["left"]] - price[table["right"]]
    reason = why_unsuited(asked(table, covariates=["price"]), solver)
    assert reason is not None
    assert "the covariate price is a difference of values of the two items" in reason
    table["both"] = 2 * table["longer"] + table["price"] - 1
    reason = why_unsuited(asked(table, covariates=["longer", "both"]), solver)
    assert reason is not None
    assert "longer, both, position follow from each other" in reason
    assert why_unsuited(asked(table, covariates=["longer", "both"], position=False), solver) is None


def test_effects_that_the_votes_do_not_determine_are_refused_without_a_prior_and_named_with_one() -> None:
    table = voted(8)
    table["oracle"] = np.where(table["label"] == table["left"], 1.0, -1.0)
    problem = asked(table, covariates=["longer", "oracle"])
    reason = why_unsuited(problem, BradleyTerry(prior=0))
    assert reason is not None
    assert "oracle and the scores together tell who won without an exception" in reason
    result = solve(problem, "hodge.bradley-terry")
    (found,) = [each for each in result.findings if each.identifier == "ranking.vague-effect"]
    assert "oracle" in found.about
    assert np.isfinite(result.detail.effect).all()
    assert why_unsuited(asked(table), BradleyTerry(prior=0)) is None


def test_problems_with_covariates_are_pickled_and_told_apart_by_content() -> None:
    table = voted(9)
    problem = asked(table)
    back = pickle.loads(pickle.dumps(problem))
    assert back.fingerprint() == problem.fingerprint()
    other = asked(table | {"longer": table["longer"] + 1})
    assert len({each.fingerprint() for each in (problem, other, asked(table, position=False))}) == 3


@pytest.mark.thorough
def test_intervals_of_effects_and_scores_hold_the_truth_as_often_as_they_say() -> None:
    inside, scores = [], []
    for seed in range(200):
        result = solve(asked(voted(seed, nu=0.3)), "hodge.bradley-terry", budget=EXACT)
        columns = result.detail.columns()
        truth = np.array([LENGTH, POSITION])
        inside.append((columns["low"] <= truth) & (truth <= columns["high"]))
        score = np.random.default_rng(seed).normal(size=8)
        score -= score.mean()
        scores.append((result.solution.low <= score) & (score <= result.solution.high))
    for share, count in ((np.mean(inside), 400), (np.mean(scores), 200)):
        assert abs(share - 0.9) < 3 * np.sqrt(0.09 / count), share


def crowded(seed: int, liars: int, workers: int = 30, each: int = 30, nu: float = 0.0) -> dict[str, Any]:
    """As `voted`, by workers of whom the first vote the other way round."""
    table = voted(seed, rows=workers * each, nu=nu)
    table["worker"] = np.repeat(np.arange(workers), each)
    other = np.where(table["label"] == table["left"], table["right"], table["left"])
    lies = (table["worker"] < liars) & (table["label"] != None)  # noqa: E711
    return table | {"label": np.where(lies, other, table["label"])}


def summit(problem: PairwiseRanking) -> CrowdPoint:
    """Where the likelihood with workers is largest, and the effects' scale is taken out of `theta`."""
    pairs, rows = tally(problem.graph).decided, covariate_votes(problem.comparisons)
    likelihood = CovariateCrowd.of(problem.comparisons, pairs, worker_votes(problem.comparisons), rows)
    first = nearly(pairs, rows._replace(tied=np.zeros_like(rows.tied)))
    for point, size in climb(likelihood.start(np.append(first.centred(), first.effects))):
        if size < 1e-9:
            return point
    raise AssertionError


def test_a_crowd_with_liars_shows_effects_that_plain_bradley_terry_halves() -> None:
    problem = asked(crowded(0, liars=7))
    result = solve(problem)
    assert result.settings["solver"]["name"] == "ranking.crowd-bt"
    assert result.detail.effects.names == ("longer", "position")
    true, plain = np.array([LENGTH, POSITION]), solve(problem, "hodge.bradley-terry").detail
    assert (np.abs(result.detail.effects.effect - true) < 3 * result.detail.effects.error).all()
    assert (np.abs(plain.effect - true) > 2 * plain.error).all()
    assert set(result.detail.unreliable) <= set(range(7))
    assert len(result.detail.unreliable) > 4
    tables = result.to_tables()
    assert tables["effects"]["covariate"].tolist() == ["longer", "position"]
    assert len(tables["reliability"]["worker"]) == 30
    model = optiframe_hodgerank.RobustRanker(covariates=["longer"], position=True)
    model.fit(pd.DataFrame(crowded(0, liars=7)))
    assert model.effects_["effect"].to_numpy() == pytest.approx(result.detail.effects.effect, rel=1e-6)


def test_the_slope_of_a_crowd_with_covariates_is_that_of_its_likelihood() -> None:
    point = summit(asked(crowded(1, liars=3, workers=10)))
    theta = point.theta + np.random.default_rng(0).normal(0, 0.2, len(point.theta))
    here = point.moved(theta)
    for at in (0, 5, 8, 9):  # scores and both effects
        step = 1e-5 * np.eye(len(theta))[at]
        change = point.moved(theta + step).loss - point.moved(theta - step).loss
        assert here.slope[at] == pytest.approx(change / 2e-5, abs=1e-5)
    assert np.abs(point.slope).max() < 1e-5


def test_information_with_covariates_is_the_second_derivative_with_shares_held() -> None:
    point = summit(asked(crowded(2, liars=2, workers=8)))
    size = len(point.theta)
    steps = 1e-5 * np.eye(size)
    curve = [(point.moved(point.theta + e).slope - point.moved(point.theta - e).slope) / 2e-5 for e in steps]
    information = point.of.curvature(point.weights, less=point.of.doubt(point.workers))
    assert information.solve(np.array(curve)) == pytest.approx(np.eye(size), abs=2e-3)


def test_covariates_without_effect_change_nothing_of_a_crowd() -> None:
    """The passes that see an item for each vote agree with those by items."""
    problem = asked(crowded(3, liars=4))
    pairs, votes = tally(problem.graph).decided, worker_votes(problem.comparisons)
    rows, theta = covariate_votes(problem.comparisons), np.random.default_rng(0).normal(size=8)
    plain = CrowdLikelihood(pairs, votes).start(theta)
    joint = CovariateCrowd.of(problem.comparisons, pairs, votes, rows).start(np.append(theta, [0.0, 0.0]))
    assert joint.loss == pytest.approx(plain.loss, rel=1e-12)
    assert joint.slope[:8] == pytest.approx(plain.slope, abs=1e-9)
    assert np.bincount(votes.pair, joint.weights) == pytest.approx(plain.weights, abs=1e-9)
    doubt = plain.of.doubt(plain.workers)
    assert np.tril(joint.of.doubt(joint.workers)[:8, :8]) == pytest.approx(doubt, abs=1e-9)
    group = np.arange(30) % 4
    found, expected = (each.of.derivatives(each.workers, group, 4)[0] for each in (joint, plain))
    assert found[:8] == pytest.approx(expected, abs=1e-9)


def test_a_crowd_with_covariates_and_ties_counts_weights_and_refuses_what_cannot_be_told() -> None:
    table = crowded(4, liars=2, workers=12, nu=0.5)
    twice = {name: np.repeat(column, 2) for name, column in table.items()}
    weighed = table | {"weight": np.full(len(table["left"]), 2.0)}
    one, other = (solve(asked(each), "ranking.crowd-bt", budget=EXACT) for each in (weighed, twice))
    assert one.detail.effects.effect == pytest.approx(other.detail.effects.effect, abs=1e-7)
    assert one.solution.high == pytest.approx(other.solution.high, abs=1e-7)
    assert one.detail.model.tie == pytest.approx(other.detail.model.tie, abs=1e-7)
    shift = one.detail.effects.shift(asked(table).comparisons.covariates.values)
    lead = (
        one.solution.scores[one.problem.comparisons.left] - one.solution.scores[one.problem.comparisons.right]
    )
    told = one.detail.model.surprise(one.problem.comparisons.margin, lead + shift)
    assert one.solution.strength == pytest.approx(told)
    price = np.arange(8.0) ** 2
    table["price"] = price[table["left"]] - price[table["right"]]
    reason = why_unsuited(asked(table, covariates=["price"]), optiframe.solver("ranking.crowd-bt"))
    assert "the covariate price is a difference of values of the two items" in str(reason)
