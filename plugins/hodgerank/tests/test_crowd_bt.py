"""ranking.crowd-bt: its likelihood against plain loops, its errors, and who is called unreliable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from optiframe_hodgerank import RobustRanker, intervals
from optiframe_hodgerank.kernels.shares import SHARES
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.votes.crowd import PRECISION, CrowdLikelihood, CrowdPoint, climb
from optiframe_hodgerank.votes.crowd_errors import _information, standard_errors
from optiframe_hodgerank.votes.maximum import Likelihood
from optiframe_hodgerank.votes.reading import worker_votes
from optiframe_hodgerank.votes.score_prior import chosen
from optiframe_hodgerank.votes.tally import tally
from optiframe_hodgerank.votes.workers import USUAL
from scipy.optimize import minimize

import optiframe
from optiframe import Unsuited, solve

Vector = NDArray[np.float64]


def crowd(
    seed: int,
    *,
    items: int = 8,
    workers: int = 12,
    each: int = 25,
    bad: int = 0,
    ties: float = 0.0,
    more: Any = (),
) -> tuple[dict[str, Any], Vector]:
    """A table of votes, of whose workers the first `bad` reverse every vote, and the true scores."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(-1.5, 1.5, items)
    worker = np.repeat(np.arange(workers), each)
    left = rng.integers(items, size=len(worker))
    right = (left + rng.integers(1, items, size=len(worker))) % items
    won = rng.random(len(worker)) < 1 / (1 + np.exp(truth[right] - truth[left]))
    label = np.where(won ^ (worker < bad), left, right).astype(object)
    label[rng.random(len(worker)) < ties] = None
    table = {"worker": worker, "left": left, "right": right, "label": label}
    return table | dict(more), truth


def slow_loss(problem: PairwiseRanking, theta: Vector, shares: Vector, evidence: float = 1.0) -> float:
    """Minus the log of the likelihood with shares summed out, times the priors: vote by vote."""
    table = problem.comparisons
    weight = np.ones(len(table)) if table.weight is None else table.weight
    total = PRECISION / 2 * float(theta @ theta) - 5 * float(USUAL @ np.log(shares)) / evidence
    voters = [np.flatnonzero(table.worker == w) for w in range(len(table.worker_ids))]
    voters += [np.array([row]) for row in np.flatnonzero(table.worker < 0)]
    for rows in voters:
        chance = 0.0
        for eta, share in zip(SHARES, shares, strict=True):
            product = 1.0
            for row in rows:
                y = table.margin[row]
                p = 1 / (1 + np.exp(-y * (theta[table.left[row]] - theta[table.right[row]])))
                product *= (eta * p + (1 - eta) * (1 - p)) ** (weight[row] if y else 0.0)
            chance += share * product**evidence
        total -= np.log(chance) / evidence
    return float(total)


def summit(problem: PairwiseRanking, evidence: float = 1.0) -> CrowdPoint:
    """Where the steps lead to."""
    pairs = tally(problem.graph)
    votes = CrowdLikelihood(pairs.decided, worker_votes(problem.comparisons), evidence=evidence)
    start = Likelihood(pairs, "half", 0.3).start().next().theta
    for point, size in climb(votes.start(start)):
        if size < 1e-9:
            return point
    raise AssertionError


def weighted() -> PairwiseRanking:
    """Votes with ties, weights and rows of nobody."""
    table, _ = crowd(1, items=5, workers=6, each=20, bad=1, ties=0.1)
    worker = table["worker"].astype(object)
    worker[::17] = None
    weight = np.random.default_rng(0).choice([1.0, 2.0, 0.5], len(worker))
    return PairwiseRanking(comparisons=table | {"worker": worker, "weight": weight})


@pytest.mark.parametrize("evidence", [1.0, 0.2])
def test_the_steps_end_at_the_maximum_of_the_written_out_likelihood(evidence: float) -> None:
    problem = weighted()
    point = summit(problem, evidence)

    def loss(theta: Vector) -> float:
        return slow_loss(problem, theta, point.workers.shares, evidence)

    assert point.loss == pytest.approx(loss(point.theta), rel=1e-9)
    best = minimize(loss, point.theta, method="BFGS").x
    centred = problem.graph.centred
    assert centred(point.theta) == pytest.approx(centred(best), abs=2e-4)
    # Shares are where a step of EM leaves them.
    named = point.of.votes.code >= 0
    counts = point.workers.belief[named].sum(axis=0) + 5 * USUAL
    assert point.workers.shares == pytest.approx(counts / counts.sum(), abs=1e-6)


@pytest.mark.slow
def test_scores_are_on_the_scale_of_the_truth_in_crowds_of_uneven_workers() -> None:
    slopes, inside = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal(30)
        worker, left = np.repeat(np.arange(100), 60), rng.integers(30, size=6000)
        right = (left + rng.integers(1, 30, size=6000)) % 30
        by_score = rng.random(6000) < rng.uniform(0.6, 1.0, 100)[worker]
        won = by_score == (rng.random(6000) < 1 / (1 + np.exp(truth[right] - truth[left])))
        table = {"worker": worker, "left": left, "right": right, "label": np.where(won, left, right)}
        answer = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False).solution
        true = truth[answer.items] - truth.mean()
        slopes.append(answer.scores @ true / (true @ true))
        inside.append(((answer.low < true) & (true < answer.high)).mean())
    assert 0.75 < np.mean(slopes) < 1.1  # 0.66 where the variance of the scores is estimated
    assert np.mean(inside) > 0.75  # and 0.54


def test_the_votes_of_one_worker_are_ranked_as_those_of_nobody() -> None:
    table, _ = crowd(6)
    one = PairwiseRanking(comparisons=table | {"worker": ["u"] * len(table["left"])})
    found = solve(one, "ranking.crowd-bt")
    alone = [each for each in found.findings if each.identifier == "ranking.one-worker"]
    assert [(each.level, each.about) for each in alone] == [("warning", ("u",))]
    assert alone[0].text.startswith("all votes are by worker u")
    del table["worker"]
    nobody = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt")
    np.testing.assert_array_equal(found.solution.scores, nobody.solution.scores)
    assert not any(each.identifier == "ranking.one-worker" for each in nobody.findings)


@pytest.mark.slow
@pytest.mark.parametrize("evidence", [1.0, 0.2])
def test_louis_information_is_the_curvature_of_the_written_out_likelihood(evidence: float) -> None:
    problem = weighted()
    point = summit(problem, evidence)
    items = len(point.theta)
    step = 1e-3 * np.eye(items)

    def loss(move: Vector) -> float:
        return slow_loss(problem, point.theta + move, point.workers.shares, evidence)

    hessian = [[(loss(a + b) - loss(a - b) - loss(b - a) + loss(-a - b)) / 4e-6 for b in step] for a in step]
    project = np.eye(items) - 1 / items
    errors = np.diag(project @ np.linalg.pinv(hessian, rcond=1e-6) @ project)
    # Chances of a share below RARE are left out; with less evidence more of them are near it.
    rel = 0.02 if evidence == 1 else 0.03
    assert _information(point).inverse_diagonal() == pytest.approx(errors, rel=rel)


def test_intervals_allow_for_how_reliable_the_crowd_is() -> None:
    problem = weighted()
    point = summit(problem)
    slope, own = point.workers.of_distribution(len(point.theta))
    directions = np.stack([SHARES, SHARES == 1.0])

    def tilted(*t: float) -> CrowdPoint:
        shares = point.workers.shares * np.exp(np.array(t) @ directions)
        return replace(point, workers=replace(point.workers, shares=shares / shares.sum()))

    h = 1e-3
    for at, (x, y) in enumerate([(h, 0.0), (0.0, h)]):
        assert slope[:, at] == pytest.approx((tilted(x, y).slope - tilted(-x, -y).slope) / (2 * h), abs=1e-5)
    corners = [s * u * tilted(s * h, u * h).loss for s in (1, -1) for u in (1, -1)]
    sides = [tilted(h, 0.0).loss + tilted(-h, 0.0).loss, tilted(0.0, h).loss + tilted(0.0, -h).loss]
    curve = np.array([[sides[0], sum(corners) / 4], [0.0, sides[1]]]) - 2 * point.loss * np.eye(2)
    nobody = point.workers.belief[point.of.votes.code < 0]  # whose shares are not estimated, but summed over
    for chances, sign in ((np.tile(point.workers.shares, (len(nobody), 1)), 1), (nobody, -1)):
        for chance in chances:
            mean = directions @ chance
            own = own + sign * ((directions * chance) @ directions.T - np.outer(mean, mean))
    assert own[np.triu_indices(2)] == pytest.approx(curve[np.triu_indices(2)] / h**2, rel=2e-3, abs=1e-4)
    assert (standard_errors(point) > np.sqrt(_information(point).inverse_diagonal())).all()


@pytest.mark.slow
def test_intervals_of_two_workers_are_about_equally_wide_for_all_items() -> None:
    for seed in range(4):
        table, _ = crowd(seed, items=8, workers=2, each=200)
        two = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False).solution
        del table["worker"]
        nobody = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False).solution
        widths = (two.high - two.low) / (nobody.high - nobody.low)
        assert widths.min() > 0.9
        assert widths.max() < 2 * widths.min()  # item by item, four to eight times


@pytest.mark.slow
def test_workers_who_reverse_votes_are_named_and_their_votes_help() -> None:
    table, truth = crowd(0, workers=30, each=40, bad=9)
    result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt")
    answer, known = result.solution, result.detail
    assert result.status == "converged"
    assert sorted(known.unreliable.tolist()) == list(range(9))
    assert known.reliability[:9].max() < 0.2
    assert known.reliability[9:].min() > 0.7
    assert np.abs(answer.scores - truth).max() < 0.4
    plain = solve(PairwiseRanking(comparisons=table), "hodge.bradley-terry").solution
    assert np.abs(plain.scores - truth).max() > 0.7
    found = next(each for each in result.findings if each.identifier == "ranking.unreliable-worker")
    assert found.about == tuple(range(9))
    assert found.text.startswith("9 workers vote against the ranking, and their votes count in reverse: 0, 1")
    assert answer.verdicts.tolist() == ["votes against the ranking"] * 9 + [""] * 21
    assert not any(each.identifier == "ranking.contradicting-worker" for each in result.findings)  # not twice
    remarks = result.to_tables()["workers"]["remark"]
    assert remarks.tolist() == answer.verdicts.tolist()
    shown = result.to_tables()["reliability"]
    assert shown["unreliable"][:9].all()
    assert not shown["unreliable"][9:].any()
    assert known.chance(1.0, worker=20) > 0.6
    assert known.chance(1.0, worker=3) < 0.4
    with pytest.raises(optiframe.InvalidInput, match="worker 99 cast no vote"):
        known.chance(1.0, worker=99)


def tastes(seed: int, workers: int = 60) -> dict[str, Any]:
    """Votes of workers who differ in one taste, which moves scores more than the crowd's ranking does."""
    rng, votes = np.random.default_rng(seed), 40 * workers
    crowds, taste = np.linspace(-1.5, 1.5, 12), 2 * rng.standard_normal(12)
    scores = crowds + np.outer(rng.standard_normal(workers), taste)
    worker, left = np.repeat(np.arange(workers), 40), rng.integers(12, size=votes)
    right = (left + rng.integers(1, 12, size=votes)) % 12
    won = rng.random(votes) < 1 / (1 + np.exp(3 * (scores[worker, right] - scores[worker, left])))
    return {"worker": worker, "left": left, "right": right, "label": np.where(won, left, right)}


@pytest.mark.slow
def test_votes_that_hang_together_count_for_less_and_predict_other_people_better() -> None:
    losses = np.zeros(2)
    for seed in range(4):
        table = tastes(seed, workers=300)
        first, other = table["worker"] < 60, table["worker"] >= 60
        problem = PairwiseRanking(comparisons={name: column[first] for name, column in table.items()})
        results = [solve(problem, "ranking.crowd-bt", trace=False, evidence=e) for e in (None, 1.0)]
        assert results[0].detail.evidence < 1
        note = next(each for each in results[0].findings if each.identifier == "ranking.dependent-votes")
        assert f"each vote counts as {results[0].detail.evidence:g} of an independent one" in note.text
        left, right, label = (table[name][other] for name in ("left", "right", "label"))
        for at, result in enumerate(results):
            scores = result.solution.scores  # of items 0 to 11, in order
            chance = result.detail.chance(np.where(label == left, 1, -1) * (scores[left] - scores[right]))
            losses[at] -= np.log(chance).mean() / 4
    assert losses[0] < losses[1] - 0.002


@pytest.mark.slow
def test_votes_as_the_model_has_them_all_count() -> None:
    for seed, bad in ((0, 0), (1, 9)):
        table, _ = crowd(seed, workers=40, each=40, bad=bad)
        result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False)
        assert result.detail.evidence == 1
        assert not any(each.identifier == "ranking.dependent-votes" for each in result.findings)


@pytest.mark.slow
def test_what_a_vote_tells_of_its_worker_does_not_depend_on_writing_rows_twice_or_in_another_order() -> None:
    table = tastes(0)
    order = np.random.default_rng(1).permutation(2400)
    shuffled = {name: column[order] for name, column in table.items()}
    twice = {name: np.concatenate([column, column]) for name, column in table.items()}
    found = [
        solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt", trace=False)
        for rows in (table, shuffled, twice, table | {"weight": np.full(2400, 2.0)})
    ]
    np.testing.assert_allclose(found[1].solution.scores, found[0].solution.scores, atol=1e-6)
    assert found[2].detail.evidence == found[3].detail.evidence
    np.testing.assert_allclose(found[2].solution.scores, found[3].solution.scores, atol=1e-6)


@pytest.mark.slow
def test_nobody_is_called_unreliable_in_honest_crowds() -> None:
    for seed in range(5):
        table, truth = crowd(seed, workers=30, each=30)
        result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False)
        assert len(result.detail.unreliable) == 0
        assert not any(each.identifier == "ranking.unreliable-worker" for each in result.findings)
        assert ((result.solution.low < truth) & (truth < result.solution.high)).mean() >= 0.6


def test_ties_move_no_score_and_give_the_chance_of_a_tie() -> None:
    table, _ = crowd(2, each=60, ties=0.25)
    decided = {name: column[table["label"] != None] for name, column in table.items()}  # noqa: E711
    both = [solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt") for rows in (table, decided)]
    np.testing.assert_allclose(both[0].solution.scores, both[1].solution.scores, atol=1e-9)
    assert both[0].detail.model.ties == "davidson"
    scores, rows = both[0].solution.scores, both[0].problem.comparisons
    win, tie, loss = both[0].detail.model.chances(scores[rows.left] - scores[rows.right])
    np.testing.assert_allclose(win + tie + loss, 1.0)
    assert tie.mean() == pytest.approx((rows.margin == 0).mean(), abs=0.01)  # as many as were expected
    assert both[1].detail.model.ties == "half"


@pytest.mark.slow
def test_a_weight_of_two_is_a_row_written_twice() -> None:
    table, _ = crowd(3, bad=2)
    twice = {name: np.concatenate([column, column[:50]]) for name, column in table.items()}
    weight = np.where(np.arange(len(table["left"])) < 50, 2.0, 1.0)
    a, b = (
        solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt").solution
        for rows in (twice, table | {"weight": weight})
    )
    np.testing.assert_allclose(a.scores, b.scores, atol=1e-6)
    np.testing.assert_allclose(a.low, b.low, rtol=1e-5)


def test_without_workers_it_is_bradley_terry_with_the_chosen_prior() -> None:
    table, _ = crowd(4, each=60)
    del table["worker"]
    problem = PairwiseRanking(comparisons=table)
    result = solve(problem, "ranking.crowd-bt", budget={"tolerance": 1e-9})
    assert len(result.detail.worker) == 0
    prior = chosen(tally(problem.graph))
    assert prior.why == result.detail.prior == "normal scores: votes are plenty"
    theta, rows = result.solution.scores, problem.comparisons
    p = 1 / (1 + np.exp(theta[rows.right] - theta[rows.left]))
    pull = p - (rows.margin > 0)
    slope = np.bincount(rows.left, pull, len(theta)) - np.bincount(rows.right, pull, len(theta))
    assert slope + prior.precision * theta == pytest.approx(np.zeros(len(theta)), abs=1e-6)
    assert result.solution.low is not None


def test_of_few_votes_random_ones_make_scores_spread_less() -> None:
    table, _ = crowd(5, items=40, workers=20, each=20)
    del table["worker"]
    result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt")
    assert "which the votes make likely" in result.detail.prior
    pairs = tally(PairwiseRanking(comparisons=table).graph)
    weak = {
        **table,
        "label": np.where(np.random.default_rng(0).random(400) < 0.5, table["left"], table["right"]),
    }
    noise = tally(PairwiseRanking(comparisons=weak).graph)
    assert chosen(noise).precision > 2 * chosen(pairs).precision


@pytest.mark.parametrize(
    ("table", "scores"),
    [
        ({"worker": ["a"], "left": [1], "right": [2], "label": [1]}, 2),
        ({"worker": ["a", "a"], "left": [1, 2], "right": [2, 3], "label": [0, 0]}, 3),
        ({"worker": ["a", "b"], "left": [1, 3], "right": [2, 4], "label": [1, 4]}, 4),
        ({"worker": [None, "b"], "left": [1, 1], "right": [2, 2], "label": [1, 0]}, 2),
    ],
)
def test_hardly_any_votes_have_finite_scores_and_intervals(table: dict[str, Any], scores: int) -> None:
    result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt")
    answer = result.solution
    assert result.status == "converged"
    assert answer.scores.shape == (scores,)
    assert np.isfinite([answer.scores, answer.low, answer.high]).all()
    assert (answer.low <= answer.high).all()


def test_margins_are_refused_and_keep_the_robust_default() -> None:
    graded = PairwiseRanking(comparisons={"left": [1, 2], "right": [2, 1], "margin": [0.5, 1.0]})
    assert "needs who won" in str(optiframe.why_unsuited(graded, optiframe.solver("ranking.crowd-bt")))
    assert graded.recommended()[0][0] == "hodge.iss"


def test_it_is_recommended_for_votes_with_a_reason_that_speaks_of_workers() -> None:
    table, _ = crowd(0)
    name, reason = PairwiseRanking(comparisons=table).recommended()[0]
    assert name == "ranking.crowd-bt"
    assert "how reliable each worker is" in reason
    model = RobustRanker().fit(table)
    assert model.result_.detail.shares.shape == (11,)
    assert RobustRanker("crowd-bt").fit(table).ranking_.tolist() == model.ranking_.tolist()
    del table["worker"]
    name, reason = PairwiseRanking(comparisons=table).recommended()[0]
    assert name == "ranking.crowd-bt"
    assert "worker" not in reason


def test_its_intervals_widen_with_the_level_and_are_those_of_the_answer_at_90_percent() -> None:
    table, _ = crowd(0)
    result = solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt")
    at_90, at_50 = intervals(result), intervals(result, level=0.5)
    best = result.solution.order
    np.testing.assert_allclose(at_90["low"], result.solution.low[best])
    assert (np.asarray(at_50["high"]) < np.asarray(at_90["high"])).all()
    none = replace(result.solution, low=None, high=None)
    with pytest.raises(optiframe.InvalidInput, match="has no intervals"):
        intervals(result.problem, none, solver="ranking.crowd-bt")


def test_beyond_2000_items_there_are_scores_and_no_intervals() -> None:
    rng = np.random.default_rng(0)
    items, rows = 2001, 8_000
    left = np.r_[np.arange(items - 1), rng.integers(items, size=rows)]
    right = np.r_[np.arange(1, items), rng.integers(items, size=rows)]
    keep = left != right
    left, right = left[keep], right[keep]
    label = np.where(rng.random(len(left)) < 1 / (1 + np.exp((left - right) / 400)), left, right)
    problem = PairwiseRanking(
        comparisons={"worker": np.arange(len(left)) % 20, "left": left, "right": right, "label": label}
    )
    result = solve(problem, "ranking.crowd-bt", trace=False, budget={"tolerance": 1e-3})
    assert result.solution.low is None
    assert np.corrcoef(result.solution.scores, -result.solution.items)[0, 1] > 0.8


def test_weights_beside_which_rounding_swallows_the_prior_are_refused() -> None:
    rows = {"left": [1, 2], "right": [2, 3], "label": [1, 2], "worker": [1, 2], "weight": [1e11, 1e11]}
    with pytest.raises(Unsuited, match=r"they add up to 2.00e11; .*divide the weights by one number"):
        optiframe.solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt", progress=False)
