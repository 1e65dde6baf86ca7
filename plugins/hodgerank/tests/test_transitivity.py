"""Transitivity satisfaction rate against counting triplets one by one."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.triplets import CHANCE, Transitivity, transitivity, worker_transitivity

import optiframe
from optiframe.errors import InvalidInput

rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([1, -1, 0]), st.integers(0, 2)).filter(
        lambda row: row[0] != row[1]
    ),
    min_size=1,
    max_size=40,
)


def table(votes: list[tuple[int, int, int, int]]) -> dict[str, list[float]]:
    left, right, margin, worker = (list(column) for column in zip(*votes, strict=True))
    return {"left": left, "right": right, "margin": margin, "worker": worker}


def one_by_one(votes: list[tuple[int, int, int, int]]) -> Transitivity:
    net: dict[tuple[int, int], int] = {}
    for left, right, margin, _ in votes:
        net[left, right] = net.get((left, right), 0) + margin
        net[right, left] = net.get((right, left), 0) - margin
    triplets = circular = undecided = 0
    for three in combinations(range(7), 3):
        if not all(pair in net for pair in combinations(three, 2)):
            continue
        if any(net[pair] == 0 for pair in combinations(three, 2)):
            undecided += 1
            continue
        triplets += 1
        orders = permutations(three)
        circular += not any(net[a, b] > 0 and net[b, c] > 0 and net[a, c] > 0 for a, b, c in orders)
    return Transitivity(triplets, circular, undecided)


@pytest.mark.slow
@settings(max_examples=40)
@given(rows)
def test_triplets_are_those_counted_one_by_one(votes: list[tuple[int, int, int, int]]) -> None:
    problem = PairwiseRanking(comparisons=table(votes))
    assert transitivity(problem) == one_by_one(votes)
    workers = worker_transitivity(problem)
    for at, worker in enumerate(workers["worker"].tolist()):
        mine = one_by_one([vote for vote in votes if vote[3] == worker])
        found = (workers["triplets"][at], workers["circular"][at], workers["undecided"][at])
        assert found == (mine.triplets, mine.circular, mine.undecided)
        np.testing.assert_equal(workers["rate"][at], mine.rate)


@pytest.mark.slow
def test_an_order_satisfies_it_and_coins_do_in_three_of_four() -> None:
    left, right = np.triu_indices(60, 1)
    ordered = PairwiseRanking(comparisons={"left": left, "right": right, "label": left})
    assert transitivity(ordered).rate == 1.0
    coin = np.where(np.random.default_rng(0).random(len(left)) < 0.5, left, right)
    tossed = transitivity(PairwiseRanking(comparisons={"left": left, "right": right, "label": coin}))
    assert tossed.triplets == 60 * 59 * 58 / 6
    assert tossed.rate == pytest.approx(CHANCE, abs=0.01)


def test_weights_that_cancel_but_for_rounding_are_a_tie() -> None:
    votes = {"left": [1] * 4, "right": [2] * 4, "label": [1, 1, 1, 2], "weight": [0.1, 0.1, 0.1, 0.3]}
    rest = {"left": [2, 1], "right": [3, 3], "label": [2, 1], "weight": [1, 1]}
    both = {name: [*votes[name], *rest[name]] for name in votes}
    found = transitivity(PairwiseRanking(comparisons=both))
    assert (found.triplets, found.undecided) == (0, 1)
    assert np.isnan(found.rate)


def test_workers_answers_come_in_the_kind_of_frame_given() -> None:
    frame = pd.DataFrame({"left": [1, 2, 3], "right": [2, 3, 1], "label": [1, 2, 3], "worker": ["ann"] * 3})
    found = worker_transitivity(PairwiseRanking(comparisons=frame))
    assert isinstance(found, pd.DataFrame)
    assert found.iloc[0].to_dict() == {
        "worker": "ann",
        "triplets": 1,
        "circular": 1,
        "undecided": 0,
        "rate": 0.0,
    }


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_without_workers_there_are_no_single_workers_rates() -> None:
    problem = optiframe.problem(dataset="pairwise.pc-vqa")
    assert transitivity(problem).triplets + transitivity(problem).undecided == 16 * 15 * 14 / 6
    with pytest.raises(InvalidInput, match="no column worker"):
        worker_transitivity(problem)
