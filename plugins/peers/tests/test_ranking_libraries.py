"""Ranking libraries agree with our own twin where the model is the same; ties count as the pages say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import evalica
import numpy as np
import pytest
from crowdkit import aggregation as kit
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_peers.ranking.choix_likelihood import Mm, Opt
from optiframe_peers.ranking.choix_spectral import Ilsr, RankCentrality
from optiframe_peers.ranking.crowdkit_models import BradleyTerry as CrowdBradleyTerry
from optiframe_peers.ranking.crowdkit_models import NoisyBradleyTerry
from optiframe_peers.ranking.evalica_elo import Elo
from optiframe_peers.ranking.evalica_likelihood import BradleyTerry, Newman
from optiframe_peers.ranking.evalica_shares import AverageWinRate, Counting, Eigen, PageRank
from scipy.optimize import approx_fprime

import optiframe as of
from optiframe.testing import SolverContract

SAME_MODEL = ("evalica.bradley-terry", "choix.ilsr", "choix.mm", "choix.opt", "crowdkit.bradley-terry")
ORDERS = ("evalica.counting", "evalica.average-win-rate", "evalica.pagerank")


def votes(seed: int, *, items: int = 6, rows: int = 200, ties: float = 0.0, **more: Any) -> PairwiseRanking:
    """Comparisons by 4 workers of items whose scores go from -1.5 to 1.5; a share of them ties."""
    rng = np.random.default_rng(seed)
    score = np.linspace(-1.5, 1.5, items)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    won = rng.random(rows) < 1 / (1 + np.exp(score[right] - score[left]))
    label = np.where(rng.random(rows) < ties, None, np.where(won, left, right))
    return PairwiseRanking(
        comparisons={
            "left": left,
            "right": right,
            "label": label,
            "worker": rng.integers(4, size=rows),
            **more,
        },
        truth={"item": np.arange(items), "score": score},
    )


@pytest.mark.slow  # seconds together; `make quick` has others of their kind
class OnVotes(SolverContract):
    ties: ClassVar[float] = 0.3
    seconds = 5.0  # a black box does not look at the clock

    def instances(self) -> Iterable[PairwiseRanking]:
        return [votes(1, rows=100, ties=self.ties), votes(2, items=4, rows=60, ties=self.ties)]


class TestBradleyTerryOfEvalica(OnVotes):
    solver: of.Solver = BradleyTerry()


class TestNewman(OnVotes):
    solver: of.Solver = Newman()


class TestElo(OnVotes):
    solver: of.Solver = Elo()


class TestCounting(OnVotes):
    solver: of.Solver = Counting()


class TestAverageWinRate(OnVotes):
    solver: of.Solver = AverageWinRate()


class TestEigen(OnVotes):
    solver: of.Solver = Eigen(reverse=True)


class TestPageRank(OnVotes):
    solver: of.Solver = PageRank()


class TestIlsr(OnVotes):
    solver: of.Solver = Ilsr()


class TestIlsrWithAPrior(OnVotes):
    solver: of.Solver = Ilsr(alpha=0.1)


class TestRankCentrality(OnVotes):
    solver: of.Solver = RankCentrality()


class TestOpt(OnVotes):
    solver: of.Solver = Opt()


class TestMm(OnVotes):
    solver: of.Solver = Mm()


class TestBradleyTerryOfCrowdKit(OnVotes):
    solver: of.Solver = CrowdBradleyTerry(rounds=50)


class TestNoisyBradleyTerry(OnVotes):
    solver: of.Solver = NoisyBradleyTerry(rounds=5)
    ties = 0.0


def ours(problem: PairwiseRanking) -> np.ndarray:
    return of.solve(problem, "hodge.bradley-terry", prior=0, ties="half").solution.scores


@pytest.mark.parametrize("ties", [0.0, 0.3])
@pytest.mark.parametrize("name", SAME_MODEL)
def test_maximum_likelihood_scores_are_ours(name: str, ties: float) -> None:
    problem = votes(0, ties=ties)
    answer = of.solve(problem, name).solution
    assert answer.scores == pytest.approx(ours(problem), abs=2e-5)
    assert answer.scale == "log-odds"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME_MODEL)
def test_a_weight_is_as_good_as_a_repeated_row(name: str) -> None:
    weight = np.random.default_rng(1).integers(1, 4, size=200)
    problem = votes(1, ties=0.2, weight=weight)
    assert of.solve(problem, name).solution.scores == pytest.approx(ours(problem), abs=2e-5)


def test_broken_weights_are_for_those_who_take_them() -> None:
    problem = votes(1, weight=np.full(200, 0.5))
    for name in ("evalica.bradley-terry", "choix.ilsr"):
        assert of.solve(problem, name).solution.scores == pytest.approx(ours(problem), abs=1e-5)
    for name in ("choix.mm", "choix.opt", "choix.rank-centrality", "crowdkit.bradley-terry"):
        with pytest.raises(of.Unsuited, match="not whole numbers"):
            of.solve(problem, name)
    with pytest.raises(of.Unsuited, match="give no weights"):
        of.solve(problem, "evalica.elo")


@pytest.mark.parametrize("name", [*ORDERS, "evalica.newman", "evalica.elo", "choix.rank-centrality"])
def test_the_order_of_clear_votes_is_found(name: str) -> None:
    answer = of.solve(votes(2, rows=1500), name)
    assert answer.metrics["kendall_tau"] > 0.85
    assert answer.solution.scale == ("order" if name in ORDERS else "log-odds")


def test_scores_that_are_only_an_order_have_no_objective() -> None:
    given = votes(0)
    priced = PairwiseRanking(comparisons=given.comparisons, outlier_price=1.0)
    assert np.isnan(of.solve(priced, "evalica.counting").objective)


def test_newman_without_ties_is_bradley_terry_and_with_ties_is_not() -> None:
    plain, tied = votes(0), votes(0, ties=0.4)
    assert of.solve(plain, "evalica.newman").solution.scores == pytest.approx(ours(plain), abs=1e-5)
    spread = np.ptp(of.solve(tied, "evalica.newman").solution.scores)
    assert spread > 1.1 * np.ptp(ours(tied))


def test_eigen_puts_the_worst_first_unless_reversed() -> None:
    problem = votes(2, rows=1500)
    assert of.solve(problem, "evalica.eigen").metrics["kendall_tau"] < -0.85
    assert of.solve(problem, "evalica.eigen", reverse=True).metrics["kendall_tau"] > 0.85
    # The same of evalica itself: a beats b and c, and b beats c, five times of six.
    won = [*[evalica.Winner.X] * 5, evalica.Winner.Y]
    scores = evalica.eigen(["a"] * 12 + ["b"] * 6, ["b"] * 6 + ["c"] * 12, won * 3).scores
    assert scores["c"] > scores["b"] > scores["a"]


def two_items() -> PairwiseRanking:
    """One of two items wins three times of four: no ties, and no circle of odd length."""
    return PairwiseRanking(comparisons={"left": ["a"] * 4, "right": ["b"] * 4, "label": ["a", "a", "a", "b"]})


@pytest.mark.parametrize("name", ["evalica.newman", "evalica.eigen"])
def test_an_iteration_of_evalica_that_swings_is_not_taken_for_done(name: str) -> None:
    with pytest.warns(of.NotConverged, match="made all 100 iterations"):
        result = of.solve(two_items(), name)
    assert result.status == "iteration_limit"
    assert np.allclose(result.solution.scores, 0.0)
    assert of.solve(two_items(), "evalica.bradley-terry").solution.scores == pytest.approx(
        [np.log(3) / 2, -np.log(3) / 2]
    )


def test_eigens_residual_tells_an_eigenvector() -> None:
    for reverse in (False, True):
        assert of.solve(votes(2, rows=1500), "evalica.eigen", reverse=reverse).status == "converged"


@pytest.mark.parametrize("name", ["evalica.pagerank", "crowdkit.bradley-terry"])
def test_a_budget_below_the_fixed_number_of_rounds_is_said(name: str) -> None:
    with pytest.warns(of.NotConverged, match=r"4 (iterations|of the 1000 rounds)"):
        result = of.solve(votes(0), name, budget={"iterations": 4})
    assert (result.status, result.iterations) == ("iteration_limit", 4)


def test_weights_that_would_fill_the_memory_as_a_list_are_refused() -> None:
    table = {"left": [0, 1, 2], "right": [1, 2, 0], "label": [0, 1, 2], "weight": [1e9] * 3}
    problem = PairwiseRanking(comparisons=table)
    for name in ("choix.mm", "choix.opt", "choix.rank-centrality", "crowdkit.bradley-terry"):
        with pytest.raises(of.Unsuited, match=r"3e\+09 are too many"):
            of.solve(problem, name)
    assert of.solve(problem, "evalica.bradley-terry").solution.scores == pytest.approx(0.0)


def test_dense_matrices_of_very_many_items_are_refused() -> None:
    chain = np.arange(10_000)
    problem = PairwiseRanking(comparisons={"left": chain, "right": chain + 1, "label": chain})
    for name in ("evalica.counting", "choix.ilsr", "crowdkit.bradley-terry"):
        with pytest.raises(of.Unsuited, match="10001 x 10001"):
            of.solve(problem, name)
    assert of.solve(problem, "evalica.elo").solution is not None


def test_the_order_of_rows_matters_to_elo() -> None:
    given = votes(0)
    table = given.comparisons
    columns = {
        "left": table.left,
        "right": table.right,
        "label": np.where(table.margin > 0, table.left, table.right),
    }
    turned = PairwiseRanking(comparisons={name: values[::-1] for name, values in columns.items()})
    first, second = (of.solve(one, "evalica.elo").solution.scores for one in (given, turned))
    assert not np.allclose(first, second)


def test_elo_ratings_are_evalicas_in_log_odds() -> None:
    problem = votes(0, ties=0.2)
    table, who = problem.comparisons, evalica.Winner
    won = [{1: who.X, -1: who.Y, 0: who.Draw}[int(sign)] for sign in table.margin]
    rated = evalica.elo(table.left.tolist(), table.right.tolist(), won).scores.sort_index().to_numpy()
    expected = (rated - rated.mean()) * np.log(10) / 400
    assert of.solve(problem, "evalica.elo").solution.scores == pytest.approx(expected)


def test_an_item_that_never_loses_is_named_where_its_score_would_be_infinite() -> None:
    problem = PairwiseRanking(
        comparisons={"left": ["a", "b", "c"], "right": ["b", "c", "b"], "label": ["a", "b", "c"]}
    )
    for name in (*SAME_MODEL[:3], "choix.rank-centrality", "crowdkit.bradley-terry", "evalica.newman"):
        with pytest.raises(of.Unsuited, match=r"a never loses to the rest \(1 of 3 items\), so"):
            of.solve(problem, name)
    for name in ("choix.ilsr", "choix.mm", "choix.rank-centrality"):
        assert of.solve(problem, name, alpha=0.1).solution.order[0] == 0


def test_separate_groups_need_a_prior_or_a_method_that_does_not_mind() -> None:
    pairs = {"left": [0, 1, 2, 3] * 2, "right": [1, 0, 3, 2] * 2, "label": [0, 1, 2, 3, 0, 0, 3, 3]}
    problem = PairwiseRanking(comparisons=pairs)
    with pytest.raises(of.Unsuited, match="not compared with the others"):
        of.solve(problem, "choix.ilsr")
    expected = ours(problem)
    for name in ("evalica.bradley-terry", "choix.opt", "crowdkit.bradley-terry"):
        assert of.solve(problem, name).solution.scores == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", [*SAME_MODEL, *ORDERS, "evalica.elo", "crowdkit.noisy-bradley-terry"])
def test_margins_are_refused(name: str) -> None:
    graded = PairwiseRanking(comparisons={"left": [0, 1, 2], "right": [1, 2, 0], "margin": [0.5, 0.2, -0.1]})
    with pytest.raises(of.Unsuited, match="not margins"):
        of.solve(graded, name)


def test_crowd_kits_bradley_terry_stops_after_two_iterations_with_any_tolerance() -> None:
    problem = votes(0)
    early = of.solve(problem, "crowdkit.bradley-terry", change=1e-12)
    two = of.solve(problem, "crowdkit.bradley-terry", rounds=2)
    assert early.iterations == 2
    assert np.array_equal(early.solution.scores, two.solution.scores)
    assert np.abs(early.solution.scores - ours(problem)).max() > 0.1
    assert kit.BradleyTerry(n_iter=5).tol > 0  # its own default


def test_the_noisy_models_gradient_is_wrong_for_workers_and_the_last_item() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(4, size=100)
    right = (left + rng.integers(1, 4, size=100)) % 4
    rows = 1 + np.column_stack([left, right, np.where(rng.random(100) < 0.5, left, right)])
    given = (rows, rng.integers(3, size=100), 4, 3, 1e-5)
    x = rng.normal(size=11)
    found = kit.NoisyBradleyTerry._compute_gradient(x, *given)
    expected = approx_fprime(x, lambda y: kit.NoisyBradleyTerry._compute_log_likelihood(y, *given), 1e-7)
    wrong = np.abs(found - expected) > 1e-2
    assert wrong.tolist() == [False] * 4 + [True] * 7


def test_the_noisy_model_says_what_it_found_of_workers() -> None:
    result = of.solve(votes(0), "crowdkit.noisy-bradley-terry")
    assert result.detail.workers.tolist() == [0, 1, 2, 3]
    assert ((result.detail.skill > 0) & (result.detail.skill < 1)).all()
    assert len(result.detail.bias) == 4
    with pytest.raises(of.Unsuited, match="takes no ties"):
        of.solve(votes(0, ties=0.2), "crowdkit.noisy-bradley-terry")
    nameless = PairwiseRanking(comparisons={"left": [0, 1], "right": [1, 0], "label": [0, 0]})
    with pytest.raises(of.Unsuited, match="column worker"):
        of.solve(nameless, "crowdkit.noisy-bradley-terry")
