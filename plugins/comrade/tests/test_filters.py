"""Filters: what they keep, that order does not matter, and what it takes to break them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.parts.filters import (
    CoordinateMedian,
    DistanceToMedian,
    FromCallable,
    GeometricMedian,
    Krum,
    Mean,
    MultiKrum,
    Norm,
    TrimmedMean,
)
from optiframe_comrade.parts.kinds import Filter
from scipy.optimize import minimize

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array

ALL: list[Filter] = [
    Norm(),
    DistanceToMedian(),
    GeometricMedian(),
    Mean(),
    CoordinateMedian(),
    TrimmedMean(),
    Krum(),
    MultiKrum(),
]
ROBUST = [each for each in ALL if not isinstance(each, Mean)]


def title(each: Filter) -> str:
    return each.name


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Array, Array]:
    """Honest rows, and fewer lies: m > 2 f + 2."""
    lies, entries = draw(st.integers(0, 3)), draw(st.integers(1, 5))
    honest = draw(st.integers(lies + 3, lies + 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.0, 1e-3, 1.0, 50.0, 1e6, 1e140]))
    wrong = scale * rng.standard_normal((lies, entries))
    if lies and draw(st.booleans()):
        wrong[:] = wrong[0]  # they collude
    return rng.standard_normal((honest, entries)) + 1.0, wrong


def mixed(honest: Array, wrong: Array, seed: int = 0) -> Array:
    return np.random.default_rng(seed).permutation(np.vstack([honest, wrong]))


@given(crowds())
@settings(max_examples=40)
def test_norm_keeps_the_aggregate_no_longer_than_the_longest_honest_vector(
    crowd: tuple[Array, Array],
) -> None:
    honest, wrong = crowd
    answer = Norm().aggregate(mixed(honest, wrong), len(wrong))
    assert np.linalg.norm(answer) <= np.linalg.norm(honest, axis=1).max() * (1 + 1e-12)


@given(crowds())
@settings(max_examples=40)
def test_distance_to_median_keeps_nothing_farther_than_the_farthest_honest(
    crowd: tuple[Array, Array],
) -> None:
    honest, wrong = crowd
    rows = mixed(honest, wrong)
    centre = np.median(rows, axis=0)
    assert (honest.min(axis=0) <= centre + 1e-12).all()
    assert (centre <= honest.max(axis=0) + 1e-12).all()
    kept = DistanceToMedian().kept(rows, len(wrong))
    farthest = np.linalg.norm(honest - centre, axis=1).max()
    assert (np.linalg.norm(rows[kept] - centre, axis=1) <= farthest * (1 + 1e-12)).all()


@pytest.mark.parametrize("each", [CoordinateMedian(), TrimmedMean()], ids=title)
@given(crowd=crowds())
@settings(max_examples=40)
def test_a_coordinate_stays_within_the_honest_range(each: Filter, crowd: tuple[Array, Array]) -> None:
    honest, wrong = crowd
    answer = each.aggregate(mixed(honest, wrong), len(wrong))
    assert (honest.min(axis=0) - 1e-12 <= answer).all()
    assert (answer <= honest.max(axis=0) + 1e-12).all()


@given(crowds())
@settings(max_examples=40)
def test_the_geometric_median_stays_within_its_radius(crowd: tuple[Array, Array]) -> None:
    honest, wrong = crowd
    m, lies = len(honest) + len(wrong), len(wrong)
    centre = honest.mean(axis=0)
    radius = np.linalg.norm(honest - centre, axis=1).max()
    answer = GeometricMedian().aggregate(mixed(honest, wrong))
    assert np.linalg.norm(answer - centre) <= 2 * (m - lies) / (m - 2 * lies) * radius * (1 + 1e-6)


@pytest.mark.parametrize("each", [Krum(), MultiKrum()], ids=title)
@given(crowd=crowds())
@settings(max_examples=40)
def test_krum_stays_near_the_honest_however_far_the_lies(each: Filter, crowd: tuple[Array, Array]) -> None:
    honest, wrong = crowd
    far = wrong + np.sign(wrong) * 1e4 if len(wrong) else wrong
    if len(wrong) > 1:
        far *= np.arange(1, len(wrong) + 1)[:, np.newaxis]  # apart from each other, too
    answer = each.aggregate(mixed(honest, far), len(wrong))
    assert (np.abs(answer - honest.mean(axis=0)) <= 20).all()


@pytest.mark.slow
@pytest.mark.parametrize("each", ALL, ids=title)
@given(crowd=crowds(), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_the_order_of_the_workers_does_not_matter(
    each: Filter, crowd: tuple[Array, Array], seed: int
) -> None:
    rows = np.vstack(crowd)
    order = np.random.default_rng(seed).permutation(len(rows))
    trim = len(crowd[1])
    if trim > 1 and (crowd[1] == crowd[1][0]).all():
        rows[len(crowd[0]) :] += np.arange(trim)[:, np.newaxis]  # ties are decided by order; none here
    there, back = each.aggregate(rows, trim), each.aggregate(rows[order], trim)
    np.testing.assert_allclose(back, there, rtol=1e-6, atol=1e-9)
    kept, after = each.kept(rows, trim), each.kept(rows[order], trim)
    if kept is None or after is None:
        assert kept is None
        assert after is None
    else:
        assert sorted(order[after].tolist()) == kept.tolist()


@pytest.mark.parametrize("each", ALL, ids=title)
def test_without_lies_they_agree_on_equal_vectors(each: Filter) -> None:
    np.testing.assert_allclose(each.aggregate(np.ones((7, 3)) * [1, 2, 3], 2), [1, 2, 3])


@pytest.mark.parametrize("each", ALL, ids=title)
def test_a_list_of_vectors_is_taken_as_byzfl_takes_it(each: Filter) -> None:
    rows = np.random.default_rng(0).standard_normal((7, 3))
    np.testing.assert_array_equal(each.aggregate(list(rows)), each.aggregate(rows))


@pytest.mark.parametrize("each", ROBUST, ids=title)
def test_one_huge_vector_does_no_harm(each: Filter) -> None:
    rows = np.random.default_rng(0).standard_normal((9, 3))
    rows[4] = 1e150  # the coordinator refuses a reply whose squared norm overflows
    assert np.abs(each.aggregate(rows, 1)).max() < 5


def test_equal_norms_and_distances_keep_the_first_workers() -> None:
    rows = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    assert Norm().kept(rows, 2).tolist() == [0, 1]
    assert DistanceToMedian().kept(rows, 2).tolist() == [0, 1]
    assert MultiKrum().kept(np.ones((9, 2)), 2).tolist() == list(range(7))


def test_the_geometric_median_is_that_of_a_general_minimizer() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows = rng.standard_normal((8, 3))
        mine = GeometricMedian().aggregate(rows)
        start = rows.mean(axis=0)
        peer = minimize(
            lambda y, r=rows: np.linalg.norm(r - y, axis=1).sum(), start, tol=1e-12, method="BFGS"
        )
        assert np.linalg.norm(rows - mine, axis=1).sum() <= peer.fun + 1e-9


@pytest.mark.parametrize("weight", [3, 1])
def test_the_geometric_median_leaves_a_row_only_when_it_should(weight: int) -> None:
    corners = np.array([[0.0, 0], [4, 0], [0, 4]])
    rows = np.vstack([corners, np.repeat([[1.0, 1.0]], weight, axis=0)])
    answer = GeometricMedian().aggregate(rows)
    value = np.linalg.norm(rows - answer, axis=1).sum()
    grid = np.stack(np.meshgrid(np.linspace(0, 2, 81), np.linspace(0, 2, 81)), -1).reshape(-1, 2)
    best = np.linalg.norm(rows[:, None] - grid, axis=2).sum(axis=0).min()
    assert value <= best + 1e-9


def test_krum_scores_are_those_of_the_definition() -> None:
    rows = np.random.default_rng(2).standard_normal((8, 3))
    trim = 2
    scores = [
        min(
            sum(float((rows[i] - rows[j]) @ (rows[i] - rows[j])) for j in near)
            for near in combinations([j for j in range(8) if j != i], 8 - trim - 2)
        )
        for i in range(8)
    ]
    assert Krum().kept(rows, trim).tolist() == [int(np.argmin(scores))]
    assert MultiKrum().kept(rows, trim).tolist() == sorted(np.argsort(scores)[: 8 - trim].tolist())


def test_the_trimmed_mean_is_that_of_a_loop() -> None:
    rows = np.random.default_rng(3).standard_normal((7, 4))
    slow = [np.mean(sorted(rows[:, j])[2:5]) for j in range(4)]
    np.testing.assert_allclose(TrimmedMean().aggregate(rows, 2), slow)
    np.testing.assert_allclose(CoordinateMedian().aggregate(rows), np.median(rows, axis=0))


def test_any_aggregator_that_is_called_with_the_vectors_drops_in() -> None:
    rows = np.random.default_rng(4).standard_normal((5, 3))
    mine = FromCallable(function=lambda vectors: np.median(vectors, axis=0))
    np.testing.assert_allclose(mine.aggregate(rows, 1), np.median(rows, axis=0))
    assert mine.kept(rows, 1) is None
    with pytest.raises(InvalidInput, match=r"filter\.from-callable: .* finite vector of length 3"):
        FromCallable(function=lambda vectors: vectors[:, 0]).aggregate(rows)


@pytest.mark.parametrize(
    ("each", "trim", "said"),
    [
        (Krum(), 2, "more than 6 vectors"),
        (TrimmedMean(), 3, "none is left"),
        (DistanceToMedian(), 6, "it can be 0 to 5"),
    ],
)
def test_too_many_lies_are_refused_in_words(each: Filter, trim: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        each.aggregate(np.ones((6, 2)), trim)


@pytest.mark.parametrize("vectors", [[], [1.0, 2.0], [[1.0], [1.0, 2.0]]])
def test_what_is_no_list_of_vectors_is_refused(vectors: list[object]) -> None:
    with pytest.raises(InvalidInput, match="vectors must be"):
        CoordinateMedian().aggregate(vectors)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("each", ALL, ids=title)
def test_a_trim_that_leaves_nobody_is_refused(each: Filter) -> None:
    for trim in (-1, 3, 5):
        with pytest.raises(InvalidInput, match=f"trim is {trim}; of 3 vectors it can be 0 to 2"):
            each.aggregate(np.ones((3, 2)), trim)
    with pytest.raises(InvalidInput, match="got shape"):
        each.aggregate([])
