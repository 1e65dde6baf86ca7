"""Huber-LASSO on a grid of lambda: the same as the exact path, on graphs of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph import conjugate_gradients as conjugate
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.huber.newton import HuberNewton, least_squares
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso

from optiframe import Result, problem, solve

from .path_twins import ranking_of
from .test_multigrid import chain, graph_of, image


def says_not_unique(*results: Result[Any]) -> bool:
    return any("not unique" in finding.text for result in results for finding in result.findings)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    items=st.integers(2, 5),
    rows=st.integers(1, 13),
    kind=st.sampled_from(["votes", "tenths", "real"]),
    level=st.sampled_from([0.1, 0.5, 1.0]),
)
@example(seed=118, items=3, rows=13, kind="tenths", level=0.5)
def test_grid_and_exact_path_flag_the_same_rows_where_scores_are_unique(
    seed: int, items: int, rows: int, kind: str, level: float
) -> None:
    ranking = ranking_of(seed, items, rows, kind)
    graph = ranking.graph
    exact, grid = (solve(ranking, HuberLasso(method=m, lambda_=level)) for m in ("homotopy", "grid"))

    def loss(scores: np.ndarray) -> float:
        misfit = graph.margin - graph.differences(scores)
        held = np.clip(misfit, -level, level)
        return float((graph.weight * held) @ (misfit - held / 2))

    assert loss(grid.solution.scores) == pytest.approx(loss(exact.solution.scores), abs=1e-10)
    if not says_not_unique(exact, grid):
        assert grid.solution.scores == pytest.approx(exact.solution.scores, abs=1e-8)
        assert grid.solution.flagged.tolist() != [] or exact.solution.flagged.tolist() == []
        assert set(grid.solution.flagged.tolist()) == set(exact.solution.flagged.tolist())


def test_a_row_just_at_the_threshold_is_believed() -> None:
    # Three circles of votes: the scores at lambda = 1 are all 0, and every misfit is exactly 1.
    ranking = PairwiseRanking(
        comparisons={"left": [0, 1, 2] * 3, "right": [1, 2, 0] * 3, "margin": [1.0] * 9}
    )
    result = solve(ranking, HuberLasso(method="grid", lambda_=1.0))
    assert not len(result.solution.flagged)


def test_the_grid_says_where_scores_are_not_unique() -> None:
    ranking = PairwiseRanking(comparisons={"left": [0, 0, 1], "right": [1, 1, 2], "margin": [5.0, -5.0, 1.0]})
    loose = PairwiseRanking(
        comparisons={"left": [0, 0, 1, 1], "right": [1, 1, 2, 2], "margin": [1.0, -1.0, 1.0, -1.0]}
    )
    for given_rows, level, told in (
        (ranking, 1.0, True),
        (ranking, 6.0, False),
        (loose, 1.0, True),
        (loose, 1.0 - 1e-13, True),  # also within the tolerance of lambda
    ):
        assert says_not_unique(solve(given_rows, HuberLasso(method="grid", lambda_=level))) == told


def ring_with_chords() -> ComparisonGraph:
    at, rng = np.arange(2100), np.random.default_rng(0)
    chords = rng.permutation(2100)[:60].reshape(30, 2)
    return graph_of([*zip(at, (at + 1) % 2100, strict=True), *zip(at, (at + 2) % 2100, strict=True), *chords])


def barbell() -> ComparisonGraph:
    """Two sets of 40 items, each compared with every other of its set, and a chain of 20 between them."""
    i, j = np.triu_indices(40, 1)
    bridge = [(0, 80), *((at, at + 1) for at in range(80, 99)), (99, 40)]
    return graph_of([*zip(i, j, strict=True), *zip(i + 40, j + 40, strict=True), *bridge])


def preferential() -> ComparisonGraph:
    """Each item is compared with up to four before it, those the more often that were often before."""
    rng, ends, pairs = np.random.default_rng(0), list(range(4)), []
    for item in range(4, 800):
        others = {ends[at] for at in rng.integers(len(ends), size=4).tolist()}
        pairs += [(item, other) for other in sorted(others)]
        ends += [item] * len(others) + sorted(others)
    return graph_of(pairs)


def star_forest() -> ComparisonGraph:
    return graph_of([(8 * s, 8 * s + leaf) for s in range(300) for leaf in range(1, 8) for _ in range(3)])


SHAPES = {
    "image": (lambda: image(50, 45), "multigrid"),
    "chain": (lambda: chain(2500), "multigrid"),
    "ring with chords": (ring_with_chords, "multigrid"),
    "barbell": (barbell, "whole inverse"),
    "preferential attachment": (preferential, "diagonal"),
    "star forest": (star_forest, "diagonal"),
    "one pair": (lambda: graph_of([(0, 1), (0, 1)]), "diagonal"),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_forces_balance_on_graphs_of_any_shape(shape: str) -> None:
    make, expected = SHAPES[shape]
    graph = make()
    assert least_squares(graph).method == expected
    assert least_squares(graph).scores == pytest.approx(graph.scores(graph.margin), abs=1e-7)
    newton, scores = HuberNewton(graph), least_squares(graph).scores
    for level in (1.5, 0.8):
        scores = newton.scores(level, scores)
        held = np.clip(graph.margin - graph.differences(scores), -level, level)
        force = graph.divergence(graph.weight * held)
        assert np.abs(force).max() <= 1e-11 * level * graph.weight_of_items.max()
        assert graph.centred(scores) == pytest.approx(scores, abs=1e-9)


def test_the_answer_says_what_was_put_before_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conjugate, "DENSE", 100)
    graph = image(6, 150)
    ranking = PairwiseRanking(comparisons={"left": graph.left, "right": graph.right, "margin": graph.margin})
    found = solve(ranking, HuberLasso(method="grid", lambda_=1.0)).findings
    assert any(finding.text.endswith("by multigrid before conjugate gradients") for finding in found)


@pytest.mark.parametrize(
    ("solver", "before"),
    [
        ({"lambda_": 0.3}, {"lambda_": 0.1}),
        ({"lambda_": 0.3, "accuracy": 1e-2}, {"lambda_": 0.3}),
    ],
)
def test_the_answer_does_not_depend_on_what_was_solved_before(solver: Any, before: Any) -> None:
    ranking = ranking_of(3, 5, 13)
    first = solve(ranking, HuberLasso(method="grid", **solver)).solution.scores
    solve(ranking, HuberLasso(method="grid", **before))
    assert (solve(ranking, HuberLasso(method="grid", **solver)).solution.scores == first).all()


@pytest.mark.slow
def test_the_answer_keeps_its_meaning_where_the_grid_takes_over() -> None:
    drawn = {"name": "pairwise.random-order", "items": 201, "comparisons": 2000, "outlier_share": 0.1}
    ranking = problem(dataset=drawn)
    by_default, exact = solve(ranking, HuberLasso()), solve(ranking, HuberLasso(method="homotopy"))
    assert len(by_default.detail) < len(exact.detail)
    assert by_default.solution.scores == pytest.approx(exact.solution.scores, abs=1e-9)
    assert by_default.solution.outliers == pytest.approx(exact.solution.outliers, abs=1e-9)
    assert set(by_default.solution.flagged.tolist()) == set(exact.solution.flagged.tolist())


def test_a_share_that_is_never_reached_ends_where_the_exact_path_does() -> None:
    ranking = PairwiseRanking(
        comparisons={"left": [0] * 10, "right": [1] * 10, "margin": [1.0] * 6 + [-1.0] * 4}
    )
    for method in ("homotopy", "grid"):
        result = solve(ranking, HuberLasso(method=method, share=0.9))
        assert result.detail.knots[-1] == 0
        assert result.solution.scores == pytest.approx([0.5, -0.5], abs=1e-9)


@pytest.mark.slow
def test_forces_balance_as_nearly_as_asked_and_no_more_steps_are_taken() -> None:
    graph = image(60, 55)
    ranking = PairwiseRanking(comparisons={"left": graph.left, "right": graph.right, "margin": graph.margin})
    level, largest = 0.4, float(np.abs(graph.margin).max())
    exact = HuberNewton(ranking.graph).scores(level, np.zeros(graph.items))
    off = []
    for accuracy in (1e-2, 1e-5, 1e-8):
        solver = HuberLasso(method="grid", lambda_=level, per_decade=1, accuracy=accuracy)
        scores = solve(ranking, solver).solution.scores
        held = np.clip(ranking.graph.margin - ranking.graph.differences(scores), -level, level)
        pull = np.abs(ranking.graph.divergence(ranking.graph.weight * held)).max()
        assert pull <= accuracy * min(level, largest) * ranking.graph.weight_of_items.max()
        off.append(np.abs(scores - exact).max())
    assert off[0] > 10 * off[1] > 100 * off[2] > 0


@pytest.mark.slow
def test_an_item_of_very_many_comparisons_makes_no_other_count_as_nothing() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 200, 800), rng.integers(1, 200, 800)
    right = (left + right) % 200
    true = rng.normal(size=200)
    many = 3000
    ranking = PairwiseRanking(
        comparisons={
            "left": np.append(left, np.zeros(many, dtype=int)),
            "right": np.append(right, np.ones(many, dtype=int)),
            "margin": np.append(true[left] - true[right], rng.normal(size=many)),
        }
    )
    exact, rough = (
        solve(ranking, HuberLasso(method="grid", lambda_=0.3, per_decade=1, accuracy=accuracy)).solution
        for accuracy in (1e-12, 1e-2)
    )
    assert rough.scores == pytest.approx(exact.scores, abs=1e-2)


def test_scores_that_newton_steps_did_not_reach_are_told() -> None:
    rng = np.random.default_rng(50)
    left, right = rng.integers(0, 150, 600), rng.integers(1, 150, 600)
    ranking = PairwiseRanking(
        comparisons={
            "left": left,
            "right": (left + right) % 150,
            "margin": rng.integers(-3, 4, 600).astype(float),
            "weight": 10.0 ** rng.uniform(-3, 3, 600),
        }
    )
    for steps, told in ((100, False), (2, True)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("optiframe_hodgerank.huber.newton._STEPS", steps)
            result = solve(ranking, HuberLasso(method="grid", lambda_=0.5, per_decade=1))
        assert any("Newton's method gave up" in finding.text for finding in result.findings) == told


class Rounding:
    """Passes over rows whose loss is wrong by a share of itself, up and down in turn; counts them."""

    def __init__(self, newton: HuberNewton, share: float) -> None:
        self.exactly, self.share, self.passes = newton.rows.huber, share, 0

    def __call__(self, level: float, scores: np.ndarray) -> tuple[float, np.ndarray]:
        self.passes += 1
        loss, force = self.exactly(level, scores)
        return loss * (1 + self.share * (-1) ** self.passes), force


def test_newton_steps_are_not_halved_for_the_rounding_of_a_long_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, passes = image(20, 25), []
    for share in (0.0, 2e-13, -2e-13):  # sums over an image of real size are wrong by 1e-14
        newton = HuberNewton(graph)
        rounding = Rounding(newton, share)
        monkeypatch.setattr(newton.rows, "huber", rounding)
        newton.scores(0.4, least_squares(graph).scores)
        passes.append(rounding.passes)
    assert max(passes) == passes[0]
