"""The rank is chosen by comparisons held out, and by nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.read.folds import deal
from optiframe_manifold.read.subsets import some_rows
from optiframe_manifold.solvers.rank_increment import increment_rank
from optiframe_manifold.tools.cross_validation import Tried
from optiframe_manifold.tools.rank_choice import _findings, choose_rank

import optiframe
from optiframe import InvalidInput

from .cases import drawn

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def tastes() -> CollaborativeRanking:
    problem: CollaborativeRanking = drawn(40, 25, 20.0)
    return problem


def test_the_rank_of_a_drawing_is_found() -> None:
    choice = choose_rank(tastes(), folds=3)
    assert choice.rank == 2
    assert choice.problem.rank == 2
    # Two ranks in succession that predict no better end the search; rank 0 is one ranking for all.
    assert choice.table["rank"].tolist() == [0, 1, 2, 3, 4]
    assert choice.folds.shape == (5, 3)
    assert choice.table["loss"][0] > 0.69 > choice.table["loss"][1] > choice.table["loss"][2]


def test_the_loss_is_that_of_solving_without_the_fold() -> None:
    problem = tastes()
    choice = choose_rank(problem, (1, 2), folds=3, seed=1, budget={"tolerance": 1e-6})
    fold = deal(problem.comparisons, 3, 1)
    for k in range(3):
        train = some_rows(problem.comparisons, fold != k)
        held_out = some_rows(problem.comparisons, fold == k)
        part = problem.like(train, rank=2, held_out=held_out)
        alone = optiframe.solve(part, "manifold.trust-region")
        assert choice.folds[2, k] == pytest.approx(alone.metrics["held_out_loss"], rel=1e-5)


def test_the_truth_and_what_is_held_out_play_no_part() -> None:
    problem = tastes()
    rng = np.random.default_rng(0)
    lie = LowRank(rng.standard_normal((40, 5)), rng.standard_normal((25, 5)))
    other = problem.model_copy(
        update={"truth": lie, "held_out": some_rows(problem.comparisons, np.arange(9))}
    )
    np.testing.assert_array_equal(choose_rank(problem, (1, 2)).folds, choose_rank(other, (1, 2)).folds)


@pytest.mark.slow
def test_one_standard_error_takes_the_simplest_that_is_near() -> None:
    problem = drawn(25, 15, 6.0)
    best = choose_rank(problem, (1, 2, 3), multipliers=(1.0, 3.0), folds=3)
    simple = choose_rank(problem, (1, 2, 3), multipliers=(1.0, 3.0), folds=3, rule="one-standard-error")
    np.testing.assert_array_equal(best.folds, simple.folds)
    loss, error = best.table["loss"][1:], best.table["error"][1:]
    least = int(np.argmin(loss))
    near = loss <= loss[least] + error[least]
    rank, multiplier = best.table["rank"][1:], best.table["multiplier"][1:]
    assert (best.rank, best.multiplier) == (rank[least], multiplier[least])
    assert simple.rank == rank[near].min()
    assert simple.multiplier == multiplier[near & (rank == simple.rank)].max()


def test_users_of_one_taste_are_said_to_show_no_other() -> None:
    rng = np.random.default_rng(0)
    left, step = rng.integers(8, size=600), rng.integers(1, 8, size=600)
    right = (left + step) % 8
    score = np.linspace(-0.4, 0.4, 8)
    won = rng.random(600) < 1 / (1 + np.exp(-(score[left] - score[right]) / 0.18))
    table = {"user": rng.integers(60, size=600), "left": left, "right": right}
    problem = CollaborativeRanking(comparisons=table | {"label": np.where(won, left, right)})
    choice = choose_rank(problem, (1, 2, 3))
    assert choice.rank == 1
    assert any("better than any rank with this penalty" in finding.text for finding in choice.findings)


@given(st.integers(0, 1000), st.integers(2, 6))
def test_folds_are_even_within_each_user_and_keep_a_pair_together(seed: int, folds: int) -> None:
    rng = np.random.default_rng(seed)
    left = rng.integers(5, size=80)
    right = (left + rng.integers(1, 5, size=80)) % 5
    table = {"user": rng.integers(4, size=80), "left": left, "right": right, "label": left}
    comparisons = CollaborativeRanking(comparisons=table, rank=1).comparisons
    fold = deal(comparisons, folds, seed)
    of_pair: dict[Any, set[int]] = {}
    for u, j, k, f in zip(comparisons.user, comparisons.left, comparisons.right, fold, strict=True):
        of_pair.setdefault((u, min(j, k), max(j, k)), set()).add(int(f))
    assert all(len(one) == 1 for one in of_pair.values())
    for user in range(4):
        mine = [next(iter(f)) for (u, _, _), f in of_pair.items() if u == user]
        count = np.bincount(mine, minlength=folds)
        assert count.max() - count.min() <= 1


def test_a_further_rank_lowers_the_objective_at_once() -> None:
    problem = tastes()
    one = problem.model_copy(update={"rank": 1})
    x = optiframe.solve(one, "manifold.trust-region").solution.factors
    f = problem.likelihood
    more = increment_rank(f, x)
    assert more.rank == 2
    assert f.value(more) < f.value(x)


def test_the_same_seed_gives_the_same_folds_and_another_does_not() -> None:
    table = tastes().comparisons
    np.testing.assert_array_equal(deal(table, 5, 0), deal(table, 5, 0))
    assert (deal(table, 5, 0) != deal(table, 5, 1)).any()


def test_no_larger_rank_is_advised_where_there_is_none() -> None:
    row = {"losses": np.ones(2), "accuracy": 0.5}
    rows = [Tried(0, 1.0, 2 * np.ones(2), 0.5), Tried(1, 1.0, 1.5 * np.ones(2), 0.5), Tried(2, 1.0, **row)]

    def advised(most: int) -> bool:
        found = _findings(rows, rows[2], [1, 2], most=most, open_end=True, unfinished=0)
        return any("a larger one may predict better" in finding.text for finding in found)

    assert advised(3)
    assert not advised(2)


def test_an_unfinished_search_is_said() -> None:
    choice = choose_rank(tastes(), (1, 2), folds=2, budget={"iterations": 1})
    assert any("ended at a limit" in finding.text for finding in choice.findings)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a rank above the items": ({"ranks": (1, 26)}, "ranks: 26 is not possible; .* rank from 1 to 25"),
    "rank zero": ({"ranks": (0, 1)}, "ranks: 0 is not possible"),
    "a rank that is no number": ({"ranks": (1.5,)}, "ranks: 1.5 is not possible"),
    "no rank": ({"ranks": ()}, "at least one rank"),
    "no multiplier": ({"multipliers": ()}, "at least one multiplier"),
    "one fold": ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
    "more folds than pairs": ({"folds": 100_000}, "different pairs and 100000 folds; take fewer folds"),
    "another rule": ({"rule": "elbow"}, "rule must be 'best' or 'one-standard-error', got 'elbow'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_chosen_by_is_refused(case: str) -> None:
    given_, sentence = BAD[case]
    with pytest.raises(InvalidInput, match=sentence):
        choose_rank(tastes(), **given_)
