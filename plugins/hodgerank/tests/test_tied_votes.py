"""Votes that are tied are not ranked; neither the order of rows nor the names of items decide anything."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import Path
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.homotopy import Homotopy
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.trust.ambiguity import View, exchangeable, loose_items, tied_at_the_cut

from optiframe import NotConverged, Result, solve, solver

Row = tuple[int, int, float]

SOLVERS: dict[str, Any] = {
    "iht": {"name": "hodge.iht"},
    "ilts": {"name": "hodge.ilts"},
    "capped": {"name": "hodge.capped"},
    "capped by pair": {"name": "hodge.capped", "per_pair": 2, "share": 0.2},
    "homotopy": {"name": "hodge.hlasso", "method": "homotopy"},
    "grid": {"name": "hodge.hlasso", "method": "grid"},
    "refit": {"name": "hodge.hlasso-l2"},
    "lbi": {"name": "hodge.lbi"},
    "lbi by gradient": {"name": "hodge.lbi", "variant": "gradient"},
    "iss": {"name": "hodge.iss"},
}


def votes_of(rows: list[Row]) -> PairwiseRanking:
    left, right, margin = zip(*rows, strict=True)
    return PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin})


def run(ranking: PairwiseRanking, table: dict[str, Any]) -> Result[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return solve(ranking, solver(**table), trace=False, budget={"iterations": 2000})


def warned(result: Result[Any]) -> str:
    return " ".join(finding.text for finding in result.findings if finding.level == "warning")


TIED: dict[str, list[Row]] = {
    "two items": [(0, 1, 1.0), (0, 1, -1.0)] * 5,
    "four items": [(i, j, y) for i in range(4) for j in range(i) for y in (1.0, -1.0)] * 5,
    "rock, paper, scissors": [(i, (i + 1) % 3, 1.0 if k < 6 else -1.0) for i in range(3) for k in range(10)],
}


@pytest.mark.parametrize("rows", TIED)
@pytest.mark.parametrize("name", SOLVERS)
def test_tied_votes_give_equal_scores_and_a_warning(name: str, rows: str) -> None:
    result = run(votes_of(TIED[rows]), SOLVERS[name])
    assert result.solution.scores == pytest.approx(0, abs=1e-12)
    assert (result.solution.rank == 1).all()
    assert not len(result.solution.flagged)
    assert "equal" in warned(result)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from([-1.0, 1.0])), min_size=4, max_size=30
    ),
    seed=st.integers(0, 10**6),
)
@pytest.mark.parametrize("name", list(SOLVERS))
def test_neither_the_order_of_rows_nor_the_names_of_items_change_a_score(
    name: str, rows: list[Row], seed: int
) -> None:
    rng, rows = np.random.default_rng(seed), [(i, (i + step) % 5, y) for i, step, y in rows]
    new_name = rng.permutation(5)
    again = [rows[at] for at in rng.permutation(len(rows))]
    again = [(int(new_name[i]), int(new_name[j]), y) for i, j, y in again]
    one, other = (run(votes_of(table), {**SOLVERS[name]}).solution for table in (rows, again))
    renamed = dict(zip(other.items.tolist(), other.scores.tolist(), strict=True))
    expected = [renamed[int(new_name[item])] for item in one.items.tolist()]
    assert one.scores == pytest.approx(expected, abs=1e-7)
    assert len(one.flagged) == len(other.flagged)


def test_a_tied_pair_beside_a_clear_order_is_named_and_the_order_kept() -> None:
    clear = [(i, j, 1.0 if k < 9 else -1.0) for i in range(4) for j in range(i + 1, 4) for k in range(10)]
    ranking = votes_of([*clear, *[(8, 9, 1.0), (8, 9, -1.0)] * 3])
    for method in ("homotopy", "grid"):
        result = run(ranking, {"name": "hodge.hlasso", "method": method, "lambda_": 0.5})
        assert result.solution.scores[4:] == pytest.approx(0, abs=1e-9)
        assert (np.diff(result.solution.scores[:4]) < 0).all()
        (finding,) = (f for f in result.findings if "not unique" in f.text)
        assert finding.about == (8, 9)


def test_parts_that_nothing_holds_stay_where_they_were() -> None:
    # Item 3 hangs on two votes that contradict each other; below lambda = 5 it may be anywhere between.
    rows = [(0, 1, 0.3), (1, 2, -0.1), (2, 0, 0.4)] * 5 + [(3, 0, 5.0), (3, 0, -5.0)]
    result = solve(votes_of(rows), HuberLasso(lambda_=1.0))
    assert result.solution.scores[3] == pytest.approx(result.solution.scores[0])
    assert "below lambda = 5 the scores are not unique" in warned(result)
    assert "not decided: 3" in warned(result)


def test_items_are_named_that_are_not_in_the_largest_part_of_their_component() -> None:
    component, part = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 2, 3, 4])
    assert loose_items(component, part).tolist() == [False, False, True, True, True, False]


def test_classes_of_one_size_are_tied_only_where_the_cut_goes_through_them() -> None:
    size, count = np.array([3.0, 1.0, 3.0, 3.0]), np.array([2, 5, 1, 1])
    assert tied_at_the_cut(size, count, np.array([2, 0, 1, 0]), 0.0).tolist() == [True, False, True, True]
    assert tied_at_the_cut(size, count, np.array([2, 3, 1, 1]), 0.0).tolist() == [False, True, False, False]
    assert not tied_at_the_cut(size, count, np.array([2, 5, 1, 1]), 0.0).any()
    assert not tied_at_the_cut(size, count, np.array([2, 0, 1, 1]), 0.0).any()
    assert not tied_at_the_cut(size, count, np.array([2, 0, 1, 0]), 3.0).any()


def test_a_row_may_only_be_exchanged_for_one_that_the_caps_leave_room_for() -> None:
    gain, alike = np.array([1.0, 1.0, 1.0, 2.0]), np.arange(4)
    pairs = View(np.array([0, 0, 1, 1]), 1)
    # Rows 0 and 1 share a full group, and nothing tells them apart; 3 gains more than 2.
    assert exchangeable(gain, alike, np.array([0, 3]), [pairs], 0.0).tolist() == [0]
    assert exchangeable(gain, alike, np.array([0, 3]), [], 0.0).tolist() == [0]
    assert not len(exchangeable(gain, np.array([0, 0, 0, 1]), np.array([0, 3]), [pairs], 0.0))
    # Of equal rows all are chosen or none where it is their number that ends, and not a cap.
    assert exchangeable(gain, np.array([0, 0, 0, 1]), np.array([0, 3]), [], 0.0).tolist() == [0]


@pytest.mark.parametrize("seed", range(12))
def test_no_row_is_passed_over_where_many_arrive_but_for_rounding_at_one_lambda(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 20, 80), rng.integers(1, 20, 80)
    # Up to three times what counts as the same: rows off the threshold by it move the scores as much.
    margin = rng.choice([-1.0, 1.0], 80) + rng.choice([0.0, 1e-10, -1e-10, 3e-10], 80)
    graph = ComparisonGraph(20, left, (left + right) % 20, margin)
    path = Path(graph, np.ones(80, dtype=np.int64), "lambda")
    for level, scores, _ in Homotopy(graph).run(path, 0.0):
        misfit = margin - graph.differences(scores)
        assert np.abs(graph.divergence(np.clip(misfit, -level, level))).max() < 1e-8
