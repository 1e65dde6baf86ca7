"""Low-rank matrices are what their dense twins are, and the sets project onto the nearest point."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.low_rank import LowRank, Rank, leading
from optiframe_manifold.objective.completion import KnownEntries

import optiframe
from optiframe import InvalidInput, Minimize, Projection, Unsuited
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.matrix_sets import NuclearBall

sizes = st.tuples(st.integers(2, 9), st.integers(2, 9), st.integers(1, 4), st.integers(0, 2**32 - 1))


def drawn(m: int, n: int, r: int, seed: int = 0) -> LowRank:
    rng = np.random.default_rng(seed)
    return LowRank(rng.standard_normal((m, r)), rng.standard_normal((n, r)))


KNOWN = KnownEntries(rows=5, columns=4, row=[0, 1], column=[1, 2], entry=[1.0, 2.0])


def test_entries_rows_and_norm_are_those_of_the_dense_matrix() -> None:
    x = drawn(7, 5, 3)
    dense = x.left @ x.right.T
    rows, columns = np.indices(x.shape).reshape(2, -1)
    assert np.allclose(x.at(rows, columns), dense.ravel())
    assert np.allclose(x.row(4), dense[4])
    assert np.allclose(x.dense(), dense)
    assert np.isclose(x.norm(), np.linalg.norm(dense))
    assert (x.shape, x.rank, repr(x)) == ((7, 5), 3, "<7 x 5 matrix of rank 3>")


def test_entries_beyond_one_block_are_all_computed() -> None:
    x = drawn(3, 4, 2)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(3, size=70_000), rng.integers(4, size=70_000)
    assert np.allclose(x.at(rows, columns), x.dense()[rows, columns])


def test_points_with_equal_factors_are_equal_and_others_are_not() -> None:
    x, same = drawn(4, 3, 2), drawn(4, 3, 2)
    turned = LowRank(-x.left, -x.right)  # the same matrix by other factors
    assert x == same
    assert hash(x) == hash(same)
    assert x != turned
    assert x != "x"
    assert pickle.loads(pickle.dumps(x)) == x  # our own bytes


def test_a_point_never_becomes_an_array_unasked() -> None:
    x = drawn(4, 3, 2)
    for attempt in (lambda: np.asarray(x), lambda: np.ones((4, 3)) + x, lambda: np.isfinite(x)):
        with pytest.raises(TypeError):
            attempt()


@given(sizes)
def test_projection_keeps_the_largest_singular_values(size: tuple[int, int, int, int]) -> None:
    m, n, r, seed = size
    r = min(r, m, n)
    v = np.random.default_rng(seed).standard_normal((m, n))
    u, values, wt = np.linalg.svd(v, full_matrices=False)
    nearest = (u[:, :r] * values[:r]) @ wt[:r]
    longer = LowRank(v, np.eye(n))
    for point in (v, sp.csr_array(v), longer):
        x = Rank(m, n, r).project(point)
        assert x.rank == r
        assert np.allclose(x.dense(), nearest)
        assert np.isclose(Rank(m, n, r).distance(x, point), np.linalg.norm(values[r:]), atol=1e-9)
    balanced = Rank(m, n, r).project(v)
    for factor in (balanced.left, balanced.right):
        assert np.allclose(factor.T @ factor, np.diag(values[:r]))


@given(sizes)
def test_distances_between_factors_are_those_of_the_matrices(size: tuple[int, int, int, int]) -> None:
    m, n, r, seed = size
    r = min(r, m, n)
    x, v = drawn(m, n, r, seed), drawn(m, n, r + 1, seed)
    expected = np.linalg.norm(x.dense() - v.dense())
    assert np.isclose(Rank(m, n, r).distance(x, v), expected)
    assert np.isclose(Rank(m, n, r).distance(x, sp.csr_array(v.dense())), expected)


def test_a_point_of_the_set_stays_as_it_is_and_a_lower_rank_gets_empty_columns() -> None:
    over = Rank(6, 5, 3)
    x = drawn(6, 5, 3)
    assert over.project(x) == x
    assert over.violation(x) == 0.0
    lower = drawn(6, 5, 1)
    found = over.project(lower)
    assert found.rank == 3
    assert np.array_equal(found.dense(), lower.dense())
    assert over.violation(lower) == 0.0


def test_the_violation_is_the_distance_to_the_set() -> None:
    longer = drawn(6, 5, 4)
    values = np.linalg.svd(longer.dense(), compute_uv=False)
    assert np.isclose(Rank(6, 5, 2).violation(longer), np.linalg.norm(values[2:]))
    assert Rank(6, 5, 2).violation(LowRank(np.full((6, 2), np.nan), np.ones((5, 2)))) == np.inf


def test_a_large_sparse_matrix_is_projected_without_being_filled() -> None:
    rng = np.random.default_rng(1)
    sparse = sp.random_array((700, 400), density=0.01, rng=rng).tocsr()
    u, values, w = leading(sparse, 4)
    _, expected, _ = np.linalg.svd(sparse.toarray(), full_matrices=False)
    assert np.allclose(values, expected[:4])
    assert np.allclose(sparse @ w, u * values, atol=1e-8)
    again = leading(sparse, 4)
    assert np.array_equal(again[0], u)


def test_projection_problems_over_low_rank_matrices_are_judged_by_distance() -> None:
    v = np.diag([3.0, 2.0, 1.0])
    problem = Projection(v, onto=Rank(3, 3, 2))
    x = problem.onto.project(v)
    assert np.isclose(problem.objective(x), 0.5)
    assert problem.violation(x) == 0.0


def test_a_projection_onto_low_rank_matrices_is_not_formulated_for_arrays() -> None:
    assert Projection(np.eye(3), onto=Rank(3, 3, 2)).formulation is None


def test_solvers_that_calculate_with_arrays_are_refused_low_rank_points() -> None:
    problem = Minimize(KNOWN, over=Rank(5, 4, 2))
    for solver in ("scipy.lbfgs", "scipy.trust-constr"):
        with pytest.raises(Unsuited, match="its points are LowRank, the solver works with ndarray"):
            optiframe.solve(problem, solver)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objective": KNOWN}, "takes LowRank points, the set 'whole-space' holds ndarray"),
        ({"objective": SquaredDistance(to=np.ones((5, 4))), "over": Rank(5, 4, 1)}, "takes ndarray points"),
        ({"objective": KNOWN, "over": Rank(5, 4, 2), "start": drawn(3, 3, 1)}, "start has shape"),
    ],
)
def test_an_objective_a_set_and_a_start_of_different_points_do_not_go_together(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Minimize(**given)


def test_the_origin_and_the_dimension_of_the_set() -> None:
    over = Rank(6, 5, 2)
    assert over.origin((6, 5)).norm() == 0.0
    assert over.freedom == 2 * (6 + 5 - 2)
    assert over == optiframe.constraint_set("rank", rows=6, columns=5, rank=2)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 5.0))
def test_the_nuclear_ball_projection_satisfies_its_optimality_condition(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    ball, v = NuclearBall(radius=radius), rng.standard_normal((4, 3))
    x = ball.project(v)
    assert np.linalg.norm(x, "nuc") <= radius * (1 + 1e-9)
    assert np.allclose(ball.project(x), x)
    # The nearest point makes an obtuse angle with every point of the set, the vertices being enough:
    # max over the ball of <v - x, y> is radius |v - x|_2.
    assert np.sum((v - x) * x) >= radius * np.linalg.norm(v - x, 2) - 1e-8 or np.array_equal(x, v)


def test_the_nuclear_ball_projection_is_cvxpys() -> None:
    v = np.random.default_rng(3).standard_normal((4, 3))
    ball = NuclearBall(radius=1.5)
    program = ball.projection_as_cvxpy(v)
    assert program is not None
    program.program.solve(solver="SCS", eps=1e-9)
    assert np.allclose(program.read(), ball.project(v), atol=1e-5)


def test_a_large_sparse_matrix_of_zeros_is_its_own_projection() -> None:
    empty = sp.csr_array((400, 350))
    stored = sp.csr_array((np.zeros(1), ([3], [4])), shape=(400, 350))
    for zeros in (empty, stored):
        assert Rank(400, 350, 3).project(zeros).norm() == 0.0


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: LowRank(np.ones((4, 2)), np.ones((3, 3))), "2 and 3 columns"),
        (lambda: LowRank(np.ones(4), np.ones((3, 1))), r"left factor must be a matrix .* shape \(4,\)"),
        (
            lambda: LowRank(np.ones((4, 1)), np.array([["a"]])),
            "right factor must be a matrix of real numbers",
        ),
        (lambda: LowRank([[1.0], [2.0, 3.0]], [[1.0]]), "left factor must be a matrix; its rows differ in"),
        (lambda: Rank(4, 3, 5), "rank 5 is more than a 4 x 3 matrix can have; give at most 3"),
        (lambda: Rank(4, 3, 0), "rank: must be greater than 0"),
        (lambda: Rank(4, 3), "rank: is missing"),
        (lambda: Rank(4.5, 3, 1), "rows: must be a whole number"),
        (lambda: Rank(4, 3, 2).project(np.ones((3, 4))), "holds 4 x 3 matrices"),
        (lambda: Rank(2, 2, 1).project(np.array([[np.nan, 0.0], [0.0, 1.0]])), "not finite"),
        (lambda: NuclearBall(radius=1.0).project(np.array([[1.0, np.nan]])), "no nearest one in the ball"),
        (lambda: NuclearBall(radius=1.0).check_shape((3,)), "one of matrices"),
    ],
)
def test_what_makes_no_matrix_or_no_set_is_refused(made: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        made()
