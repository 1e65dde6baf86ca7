"""Bradley-Terry: the maximum with a prior and without one, and who prevents it where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.votes.maximum import Point
from scipy.optimize import minimize

import optiframe
from optiframe import Result, Unsuited, solve, why_unsuited


def drawn(seed: int, items: int = 4, rows: int = 14) -> PairwiseRanking:
    rng = np.random.default_rng(seed)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    label = np.where(rng.random(rows) < 0.6, left, right).astype(object)
    label[rng.random(rows) < 0.15] = None
    return PairwiseRanking(
        comparisons={"left": left, "right": right, "label": label, "weight": rng.choice([1.0, 2.0], rows)}
    )


def has_maximum(problem: PairwiseRanking) -> bool:
    """Ford's condition by brute force: every split of a component is crossed by wins both ways."""
    table, items = problem.comparisons, len(problem.item_ids)
    beats = np.zeros((items, items), dtype=bool)
    for i, j, y in zip(table.left, table.right, table.margin, strict=True):
        beats[i, j] |= y >= 0
        beats[j, i] |= y <= 0
    for mask in range(1, 2**items - 1):
        inside = np.array([mask >> k & 1 for k in range(items)], dtype=bool)
        there, back = beats[inside][:, ~inside].any(), beats[~inside][:, inside].any()
        if there != back:
            return False
    return True


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_it_is_refused_exactly_where_there_is_no_maximum(seed: int) -> None:
    problem = drawn(seed, rows=9)
    assert (why_unsuited(problem, BradleyTerry(prior=0)) is None) == has_maximum(problem)
    assert why_unsuited(problem, BradleyTerry()) is None


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_expected_wins_are_observed_wins(seed: int) -> None:
    problem = drawn(seed)
    if not has_maximum(problem):
        return
    result = solve(problem, BradleyTerry(prior=0, ties="half"), budget={"tolerance": 1e-10})
    assert result.status == "converged"
    theta, table = result.solution.scores, problem.comparisons
    chance = 1 / (1 + np.exp(theta[table.right] - theta[table.left]))
    won = (table.margin + 1) / 2
    for item in range(len(theta)):
        mine = (table.left == item) * 1.0 - (table.right == item)
        assert abs(mine @ (table.weight * (chance - won))) < 1e-8
    assert result.violation < 1e-9
    assert np.isnan(result.objective)


def test_two_items_have_the_log_odds_of_their_wins() -> None:
    problem = PairwiseRanking(
        comparisons={"left": [1] * 5, "right": [2] * 5, "label": [1, 1, 1, 2, 0]}, outlier_price=1.0
    )
    result = solve(problem, BradleyTerry(prior=0, ties="half"))
    ranking = result.solution
    assert ranking.scores == pytest.approx([np.log(3.5 / 1.5) / 2, -np.log(3.5 / 1.5) / 2])
    assert ranking.strength[3] > ranking.strength[4] > ranking.strength[0]
    assert ranking.strength[0] == pytest.approx(-np.log(0.7))
    # Information of the difference: 5 p (1 - p); each score is half of it.
    half = 1.6448536269514722 * np.sqrt(1 / (5 * 0.7 * 0.3)) / 2
    assert ranking.high - ranking.scores == pytest.approx([half, half], rel=1e-6)
    assert np.isnan(result.objective)


def pairs_compared(problem: PairwiseRanking) -> set[tuple[int, int]]:
    table = problem.comparisons
    pairs = zip(table.left.tolist(), table.right.tolist(), strict=True)
    return {(min(pair), max(pair)) for pair in pairs}


def slow_loss(problem: PairwiseRanking, theta: NDArray[np.float64], prior: float) -> float:
    """Minus the penalized log-likelihood as the docstring writes it, comparison by comparison."""
    table, total = problem.comparisons, 0.0
    weight = np.ones(len(table)) if table.weight is None else table.weight
    for i, j, y, w in zip(table.left, table.right, table.margin, weight, strict=True):
        share = (y + 1) / 2  # a tie is half a win of each
        total += w * (share * np.log1p(np.exp(theta[j] - theta[i])))
        total += w * ((1 - share) * np.log1p(np.exp(theta[i] - theta[j])))
    for i, j in pairs_compared(problem):
        total += prior / 2 * (np.log1p(np.exp(theta[j] - theta[i])) + np.log1p(np.exp(theta[i] - theta[j])))
    return float(total)


def slow_information(
    problem: PairwiseRanking, theta: NDArray[np.float64], prior: float
) -> NDArray[np.float64]:
    """The Hessian of `slow_loss`."""
    table, hessian = problem.comparisons, np.zeros((len(theta),) * 2)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    rows = [*zip(table.left, table.right, weight, strict=True)]
    rows += [(i, j, prior) for i, j in pairs_compared(problem)]
    for i, j, w in rows:
        e = np.zeros(len(theta))
        e[i], e[j] = 1, -1
        p = 1 / (1 + np.exp(theta[j] - theta[i]))
        hessian += w * p * (1 - p) * np.outer(e, e)
    return hessian


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0]), st.sampled_from([5, 12]))
def test_scores_and_intervals_are_those_of_the_written_out_penalized_likelihood(
    seed: int, prior: float, rows: int
) -> None:
    problem = drawn(seed, items=6, rows=rows)  # few rows: often in several groups, often separated
    half = BradleyTerry(prior=prior, ties="half")
    ranking = solve(problem, half, budget={"tolerance": 1e-10}).solution
    start = np.zeros(len(problem.item_ids))
    best = minimize(lambda theta: slow_loss(problem, theta, prior), start, method="BFGS").x
    assert ranking.scores == pytest.approx(problem.graph.centred(best), abs=1e-3)
    assert slow_loss(problem, ranking.scores, prior) <= slow_loss(problem, best, prior) + 1e-12
    spread = np.sqrt(np.diag(np.linalg.pinv(slow_information(problem, ranking.scores, prior))))
    assert ranking.high - ranking.scores == pytest.approx(1.6448536269514722 * spread, rel=1e-6)
    assert ranking.scores - ranking.low == pytest.approx(1.6448536269514722 * spread, rel=1e-6)


def slow_chances(ties: str, gap: float, tie: float) -> tuple[float, float, float]:
    """Chance of a win, a tie and a loss, as the papers write them."""
    if ties == "davidson":
        odds = np.exp(gap / 2), np.exp(tie), np.exp(-gap / 2)
        return tuple(each / sum(odds) for each in odds)
    win, loss = 1 / (1 + np.exp(tie - gap)), 1 / (1 + np.exp(tie + gap))
    return win, 1 - win - loss, loss


def slow_loss_with_ties(problem: PairwiseRanking, ties: str, x: NDArray[np.float64], prior: float) -> float:
    """Minus the penalized log-likelihood of scores and, last, the parameter of ties, vote by vote."""
    table, theta, tie = problem.comparisons, x[:-1], x[-1]
    weight = np.ones(len(table)) if table.weight is None else table.weight
    total = -np.log(slow_chances(ties, 0.0, tie)) @ [0.25, 0.5, 0.25]  # the vote that keeps it finite
    for i, j, y, w in zip(table.left, table.right, table.margin, weight, strict=True):
        total -= w * np.log(slow_chances(ties, theta[i] - theta[j], tie)[1 - int(y)])
    for i, j in pairs_compared(problem):
        gap = theta[i] - theta[j]
        total += prior / 2 * (np.log1p(np.exp(-gap)) + np.log1p(np.exp(gap)))
    return float(total)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
@pytest.mark.parametrize(("seed", "prior"), [(0, 0.1), (1, 0.1), (3, 1.0)])
def test_scores_and_intervals_with_ties_are_those_of_the_written_out_likelihood(
    ties: str, seed: int, prior: float
) -> None:
    problem = drawn(seed, items=5, rows=30)
    assert (problem.comparisons.margin == 0).any()
    result = solve(problem, BradleyTerry(prior=prior, ties=ties), budget={"tolerance": 1e-10})
    ranking, model = result.solution, result.detail
    x = np.append(ranking.scores, model.tie)
    bounds = [*[(None, None)] * 5, (0.01, None) if ties == "rao-kupper" else (None, None)]
    start = np.append(np.zeros(5), 0.5)
    near = minimize(lambda v: slow_loss_with_ties(problem, ties, v, prior), start, bounds=bounds, tol=1e-12)
    assert slow_loss_with_ties(problem, ties, x, prior) <= near.fun + 1e-9
    assert ranking.scores == pytest.approx(near.x[:-1] - near.x[:-1].mean(), abs=1e-3)
    assert model.ties == ties
    assert model.tie == pytest.approx(near.x[-1], abs=1e-3)
    step = 1e-3 * np.eye(6)
    f = lambda v: slow_loss_with_ties(problem, ties, x + v, prior)  # noqa: E731
    hessian = [[(f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / 4e-6 for b in step] for a in step]
    errors = np.sqrt(np.diag(np.linalg.pinv(hessian, rcond=1e-5)))[:-1]
    assert ranking.high - ranking.scores == pytest.approx(1.6448536269514722 * errors, rel=1e-3)
    for gap in (-1.0, 0.0, 2.5):
        assert [float(each) for each in model.chances(np.array(gap))] == pytest.approx(
            slow_chances(ties, gap, model.tie)
        )


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper", "half"])
def test_where_all_votes_tie_all_scores_are_equal_and_without_ties_models_agree(ties: str) -> None:
    tied = PairwiseRanking(comparisons={"left": [1, 2], "right": [2, 3], "label": [0, 0]})
    assert solve(tied, BradleyTerry(ties=ties)).solution.scores == pytest.approx([0, 0, 0], abs=1e-9)
    decided = ring(4, (0, 2), (0, 2))
    scores = [solve(decided, BradleyTerry(ties=each)).solution.scores for each in (ties, "half")]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-12)  # sums depend on where arrays lie in memory


def test_counting_ties_as_half_wins_pulls_scores_together_and_a_model_of_ties_does_not() -> None:
    rng = np.random.default_rng(0)
    truth = np.linspace(-2, 2, 12)
    left = rng.integers(12, size=20_000)
    right = (left + rng.integers(1, 12, size=20_000)) % 12
    gap = truth[left] - truth[right]
    chances = np.array([slow_chances("davidson", each, 0.5) for each in gap])
    draw = rng.random(20_000)
    outcome = np.where(
        draw < chances[:, 0], left + 1, np.where(draw < chances[:, :2].sum(axis=1), 0, right + 1)
    )
    problem = PairwiseRanking(comparisons={"left": left + 1, "right": right + 1, "label": outcome})
    ours, half = (solve(problem, BradleyTerry(ties=ties)).solution for ties in ("davidson", "half"))
    inside = [((each.low < truth) & (truth < each.high)).mean() for each in (ours, half)]
    assert inside[0] >= 0.7
    assert inside[1] <= 0.4
    assert np.ptp(half.scores) < 0.8 * np.ptp(ours.scores)


def test_intervals_are_computed_once_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    errors = Point.errors
    monkeypatch.setattr(Point, "errors", lambda point: made.append(1) or errors(point))
    result = solve(drawn(0, items=6, rows=60), "hodge.bradley-terry")
    assert result.iterations >= 3
    assert len(made) == 1
    assert result.solution.low is not None
    with pytest.warns(optiframe.NotConverged):
        limited = solve(drawn(0, items=6, rows=60), "hodge.bradley-terry", budget={"iterations": 2})
    assert limited.solution.low is not None


def test_the_default_is_a_tenth_of_a_tie_for_each_compared_pair() -> None:
    problem = PairwiseRanking(comparisons={"left": [1, 1, 3], "right": [2, 2, 4], "label": [1, 1, 3]})
    result = solve(problem, "hodge.bradley-terry", budget={"tolerance": 1e-12})
    assert BradleyTerry().prior == 0.1
    half_gaps = [np.log(2.05 / 0.05) / 2, np.log(1.05 / 0.05) / 2]
    assert result.solution.scores == pytest.approx(
        [half_gaps[0], -half_gaps[0], half_gaps[1], -half_gaps[1]], abs=1e-10
    )


@pytest.mark.parametrize("votes", [10, 10_000, 10**8])
def test_a_score_that_only_the_prior_holds_is_at_the_maximum_however_many_votes(votes: int) -> None:
    comparisons = {
        "left": ["ann", "bob", "cy"],
        "right": ["bob", "cy", "bob"],
        "label": ["ann", "bob", "cy"],
        "weight": [votes, 1, 1],
    }
    result = solve(PairwiseRanking(comparisons=comparisons), BradleyTerry(prior=0.1))
    assert result.status == "converged"
    ann, bob, _ = result.solution.scores
    assert ann - bob == pytest.approx(np.log((votes + 0.05) / 0.05), abs=1e-5)


def ring(items: int, *more: tuple[int, int]) -> PairwiseRanking:
    """Items that each beat the next one around a ring, and further (winner, loser)."""
    won = [*((i, (i + 1) % items) for i in range(items)), *more]
    winner, loser = zip(*won, strict=True)
    return PairwiseRanking(comparisons={"left": winner, "right": loser, "label": winner})


@pytest.mark.parametrize(
    ("problem", "said", "unsaid"),
    [
        (
            ring(998, (3, 1000), (4, 1001)),
            "1000, 1001 never win against the rest (2 of 1,000 items), so without a prior",
            "lose",
        ),
        (ring(20, (99, 0)), "99 never loses to the rest (1 of 21 items)", "win"),
        (
            ring(20, (99, 0), (99, 1), (5, 50), (5, 51), (50, 51), (51, 50)),
            "99 never loses to the rest (1 of 23 items) and 50, 51 never win against the rest",
            "more",
        ),
        (
            PairwiseRanking(comparisons={"left": ["a"], "right": ["b"], "label": ["a"]}),
            "a never loses to the rest (1 of 2 items) and b never wins against the rest",
            "more",
        ),
    ],
)
def test_the_smaller_side_or_both_are_named_where_a_score_would_be_infinite(
    problem: PairwiseRanking, said: str, unsaid: str
) -> None:
    reason = str(why_unsuited(problem, BradleyTerry(prior=0)))
    assert said in reason
    assert unsaid not in reason
    assert "set prior above 0, such as 0.1" in reason


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_who_is_named_is_indeed_never_beaten_or_never_the_winner(seed: int) -> None:
    problem = drawn(seed, rows=9)
    named = about(solve(problem, BradleyTerry()))
    assert (named is None) == has_maximum(problem)
    if named is None:
        return
    table = problem.comparisons
    inside = np.isin(problem.item_ids, named)
    out = inside[table.left] != inside[table.right]
    for item in np.flatnonzero(inside):  # in comparisons with those not named, all wins or all losses
        mine = out & ((table.left == item) | (table.right == item))
        outcome = np.where(table.left[mine] == item, 1, -1) * table.margin[mine]
        assert len(set(outcome.tolist()) - {0.0}) <= 1
        assert not (outcome == 0).any()


def about(result: Result) -> tuple[Any, ...] | None:
    """The items whose scores a finding says the prior determines."""
    found = [finding for finding in result.findings if "determined by the method's prior" in finding.text]
    assert len(found) <= 1
    return found[0].about if found else None


def test_who_wins_everything_has_a_score_from_the_prior_and_a_warning_says_so() -> None:
    comparisons: dict[str, Any] = {"left": ["ann", "bob", "cy"], "right": ["bob", "cy", "bob"]}
    problem = PairwiseRanking(comparisons={**comparisons, "label": ["ann", "bob", "cy"]})
    with pytest.raises(Unsuited, match=r"ann never loses to the rest .*; set prior above 0"):
        solve(problem, BradleyTerry(prior=0))
    result = solve(problem, BradleyTerry())
    assert result.solution.order[0] == 0
    assert np.isfinite(result.solution.scores).all()
    assert about(result) == ("ann",)
    level, text = next((one.level, one.text) for one in result.findings if "ann" in one.text)
    assert level == "warning"
    assert text.startswith("ann never loses to the rest (1 of 3 items): ")
    assert not any("y = 1 or -1" in finding.text for finding in result.findings)
    assert about(solve(ring(5), BradleyTerry())) is None  # votes bound every score


def test_margins_are_refused() -> None:
    problem = PairwiseRanking(comparisons={"left": [1, 2], "right": [2, 1], "margin": [0.5, 1.0]})
    assert "needs who won" in str(why_unsuited(problem, BradleyTerry()))


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_it_ranks_real_videos_as_least_squares_does_but_for_neighbours() -> None:
    problem = optiframe.problem(dataset="pairwise.pc-vqa")
    likely = solve(problem, "hodge.bradley-terry").solution
    squares = solve(problem, "hodge.l2").solution
    assert np.abs(likely.rank - squares.rank).max() <= 1


@pytest.mark.slow
# Shipped sets, and a share of their votes at which maximum likelihood has no finite answer.
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("name", "parameters", "share"),
    [("pairwise.human-age", {}, 0.02), ("pairwise.pc-vqa", {"ref": None}, 0.05)],
)
def test_few_votes_of_a_real_set_are_ranked_and_not_refused(
    name: str, parameters: dict[str, Any], share: float
) -> None:
    whole = optiframe.problem(dataset={"name": name, **parameters}).comparisons
    rows = np.random.default_rng(0).permutation(len(whole))[: int(share * len(whole))]
    left, right, margin = (
        whole.item_ids[whole.left[rows]],
        whole.item_ids[whole.right[rows]],
        whole.margin[rows],
    )
    label = [None if y == 0 else a if y > 0 else b for a, b, y in zip(left, right, margin, strict=True)]
    problem = PairwiseRanking(comparisons={"left": left, "right": right, "label": label})
    with pytest.raises(Unsuited, match="set prior above 0"):
        solve(problem, BradleyTerry(prior=0))
    result = solve(problem, "hodge.bradley-terry", ties="half")
    assert result.status == "converged"
    ranking, theta = result.solution, result.solution.scores
    assert np.isfinite([theta, ranking.low, ranking.high]).all()
    assert about(result)
    # The gradient of the written out likelihood.
    step = 1e-4 * np.random.default_rng(0).standard_normal(len(theta))
    rise = slow_loss(problem, theta + step, 0.1) - slow_loss(problem, theta - step, 0.1)
    assert abs(rise) / 2 <= 1e-5 * np.linalg.norm(step)
