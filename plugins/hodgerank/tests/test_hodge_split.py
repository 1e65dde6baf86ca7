"""The Hodge split against dense projections, and on graphs whose cycles are known."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.triangles import spanning_triangles
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust import findings as trust
from optiframe_hodgerank.trust.hodge_parts import HodgeSplit, NotSplit, hodge_split, pair_means

import optiframe
from optiframe.numbers import percent

from .path_twins import ranking_of


def drawn(seed: int, items: int, rows: int) -> PairwiseRanking:
    return ranking_of(seed, items, rows, weights=(1.0, 2.0, 3.0, 4.0))


problems = st.builds(drawn, st.integers(0, 10**6), st.integers(3, 9), st.integers(1, 30))


def every_triangle(split: HodgeSplit) -> list[tuple[int, int, int]]:
    compared = set(zip(split.left.tolist(), split.right.tolist(), strict=True))
    return [
        corners
        for corners in combinations(range(len(split.items)), 3)
        if all(pair in compared for pair in combinations(corners, 2))
    ]


def boundaries(split: HodgeSplit, triangles: Any) -> np.ndarray:
    """C, dense: a row for each triangle."""
    place = {pair: e for e, pair in enumerate(zip(split.left.tolist(), split.right.tolist(), strict=True))}
    c = np.zeros((len(triangles), len(place)))
    for row, (i, j, k) in enumerate(triangles):
        c[row, place[i, j]] = c[row, place[j, k]] = 1.0
        c[row, place[i, k]] = -1.0
    return c


def projection(columns: np.ndarray, weight: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """Weighted projection onto the span of the columns, by a dense pseudo-inverse."""
    root = np.sqrt(weight)
    scaled = root[:, None] * columns
    return scaled @ np.linalg.lstsq(scaled, root * flow, rcond=None)[0] / root


@pytest.mark.slow
@settings(max_examples=25)
@given(problems)
def test_the_parts_are_those_of_dense_projections(problem: PairwiseRanking) -> None:
    split = hodge_split(problem)
    w, y, pairs = split.weight, split.margin, len(split.margin)
    x = np.zeros((pairs, len(split.items)))
    x[np.arange(pairs), split.left], x[np.arange(pairs), split.right] = 1.0, -1.0
    c = boundaries(split, every_triangle(split))
    gradient = projection(x, w, y)
    curl = projection(c.T / w[:, None], w, y) if len(c) else np.zeros(pairs)
    np.testing.assert_allclose(split.gradient_flow, gradient, atol=1e-8)
    np.testing.assert_allclose(split.curl_flow, curl, atol=1e-8)
    np.testing.assert_allclose(split.harmonic_flow, y - gradient - curl, atol=1e-8)


@pytest.mark.slow
@settings(max_examples=25)
@given(problems)
def test_the_parts_are_orthogonal_and_their_energies_add_up(problem: PairwiseRanking) -> None:
    split = hodge_split(problem)
    flows = (split.gradient_flow, split.curl_flow, split.harmonic_flow)
    for one, other in combinations(flows, 2):
        assert abs(split.weight @ (one * other)) < 1e-8
    np.testing.assert_allclose(sum(flows), split.margin)
    table = problem.comparisons
    assert table.weight is not None
    assert split.total == pytest.approx(table.weight @ table.margin**2)
    # Harmonic flows go around no triangle and leave as much as they bring to every item.
    around = boundaries(split, every_triangle(split)) @ split.harmonic_flow
    np.testing.assert_allclose(around, 0.0, atol=1e-7)
    assert sum(split.shares.values()) == pytest.approx(1.0)


@settings(max_examples=25)
@given(problems)
def test_the_triangles_kept_span_all_triangles(problem: PairwiseRanking) -> None:
    split = hodge_split(problem)
    every = every_triangle(split)
    kept = spanning_triangles(len(split.items), split.left, split.right)
    assert {tuple(corners) for corners in kept.tolist()} <= set(every)
    if every:
        rank = np.linalg.matrix_rank(boundaries(split, every))
        assert np.linalg.matrix_rank(boundaries(split, kept.tolist())) == rank


def test_a_complete_graph_keeps_only_the_triangles_at_one_item() -> None:
    left, right = np.triu_indices(30, 1)
    kept = spanning_triangles(30, left, right)
    assert len(kept) == 29 * 28 / 2
    assert set(kept[:, 0].tolist()) == {0}


RING = {"left": [0, 1, 2, 3], "right": [1, 2, 3, 0], "label": [0, 1, 2, 3]}
TRIANGLE = {"left": [0, 1, 2], "right": [1, 2, 0], "label": [0, 1, 2]}


def test_a_ring_of_four_is_harmonic_and_a_ring_of_three_is_curl() -> None:
    ring = hodge_split(PairwiseRanking(comparisons=RING))
    assert (ring.harmonic, ring.curl) == (pytest.approx(4.0), 0.0)
    triangle = hodge_split(PairwiseRanking(comparisons=TRIANGLE))
    assert (triangle.curl, triangle.harmonic) == (pytest.approx(3.0), pytest.approx(0.0))
    assert triangle.cyclicity == pytest.approx(1.0)
    assert repr(triangle) == "<Hodge split: gradient 0.0%, curl 100.0%, harmonic 0.0%, disagreement 0.0%>"


def test_votes_of_one_pair_that_differ_are_disagreement_and_not_cycles() -> None:
    votes = {"left": [0] * 4, "right": [1] * 4, "label": [0, 0, 0, 1]}
    split = hodge_split(PairwiseRanking(comparisons=votes))
    assert split.disagreement == pytest.approx(4 - 4 * 0.5**2)
    assert split.gradient == pytest.approx(4 * 0.5**2)
    assert split.cyclicity == 0.0


def test_all_ties_have_no_energy_to_share() -> None:
    split = hodge_split(PairwiseRanking(comparisons={**TRIANGLE, "label": [None] * 3}))
    assert split.total == 0.0
    assert all(np.isnan(share) for share in [*split.shares.values(), split.cyclicity])


def test_the_table_puts_the_most_cyclic_pair_first() -> None:
    rows = {"left": ["a", "b", "c", "c"], "right": ["b", "c", "a", "d"], "label": ["a", "b", "c", "c"]}
    table = hodge_split(PairwiseRanking(comparisons=rows)).frame()
    assert list(table) == ["left", "right", "weight", "margin", "gradient", "curl", "harmonic"]
    assert (table["left"][-1], table["right"][-1]) == ("c", "d")


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_complete_data_have_no_harmonic_part() -> None:
    split = hodge_split(optiframe.problem(dataset="pairwise.pc-vqa"))
    assert split.harmonic < 1e-12 * split.total
    assert split.triangles == 15 * 14 / 2
    means, _ = pair_means(optiframe.problem(dataset="pairwise.pc-vqa").graph)
    assert means.rows == 120


def test_not_reaching_the_accuracy_is_said() -> None:
    with pytest.raises(NotSplit, match="was not found in 1 steps of LSQR"):
        hodge_split(drawn(0, 12, 100), steps=1)


def test_least_squares_gives_the_split_with_its_answer_when_asked() -> None:
    problem = drawn(4, 7, 30)
    assert optiframe.solve(problem, "hodge.l2").detail is None
    result, split = optiframe.solve(problem, "hodge.l2", split=True), hodge_split(problem)
    for name, column in result.to_tables()["hodge_split"].items():
        np.testing.assert_array_equal(column, split.columns()[name])
    said = next(f.text for f in result.findings if f.text.startswith("Hodge split"))
    assert f"curl {100 * split.shares['curl']:.1f}%" in said
    assert "transitive triplets, by majority: " in said


def test_a_split_that_fails_is_said_and_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(hodge_split.__kwdefaults__, "steps", 1)
    result = optiframe.solve(drawn(4, 7, 30), "hodge.l2", split=True)
    assert result.detail is None
    assert "no Hodge split: the curl of" in result.findings[0].text
    assert result.solution.low is not None


@pytest.mark.slow
@settings(max_examples=20)
@given(problems)
def test_the_energy_of_the_comparisons_is_told_in_shares_of_the_split(problem: PairwiseRanking) -> None:
    shares = hodge_split(problem).shares
    text = " ".join(finding.text for finding in trust.energy(problem.comparisons))
    cyclic, apart = shares["curl"] + shares["harmonic"], shares["disagreement"]
    assert (f"{percent(cyclic)} form cycles" in text) == (cyclic >= 0.005)
    assert (f"{percent(apart)} contradict others on the same pair" in text) == (apart >= 0.005)
    assert (f"a ranking explains {percent(shares['gradient'])} " in text) == (
        cyclic >= 0.005 or apart >= 0.005
    )


def test_nothing_is_told_of_energy_where_scores_explain_all_or_nobody_preferred_anything() -> None:
    chain = {"left": [1, 2, 3], "right": [2, 3, 4], "margin": [1.0, 0.5, 2.0]}
    assert not list(trust.energy(PairwiseRanking(comparisons=chain).comparisons))
    tied = PairwiseRanking(comparisons={**chain, "margin": [0.0, 0.0, 0.0]})
    assert not list(trust.energy(tied.comparisons))


def test_the_energy_of_large_problems_is_left_to_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = drawn(4, 7, 30)
    assert list(trust.energy(problem.comparisons))
    monkeypatch.setattr(trust, "_SPLIT_ITEMS", 6)
    assert not list(trust.energy(problem.comparisons))


def test_votes_that_all_agree_on_an_order_are_a_third_curl() -> None:
    pairs = np.array(list(combinations(range(60), 2)))
    votes = PairwiseRanking(comparisons={"left": pairs[:, 0], "right": pairs[:, 1], "label": pairs[:, 0]})
    assert hodge_split(votes).shares["curl"] == pytest.approx((60 - 2) / (3 * 60))
