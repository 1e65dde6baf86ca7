"""The quotient geometry: its metric, projection, derivatives, transport; pymanopt's view of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, balanced, stacked
from optiframe_manifold.geometry.quotient_manifold import quotient_manifold
from optiframe_manifold.low_rank import LowRank

from optiframe.records.fields import Array

from .cases import Terrain, planted, random_factors

ROWS, COLUMNS, RANK = 9, 7, 3
SPACE = FixedRank(ROWS, COLUMNS, RANK)
seeds = st.integers(0, 10_000)


def drawn(seed: int, count: int = 2) -> tuple[Factors, list[Array], np.random.Generator]:
    """A point whose factors are not balanced, and vectors of the ambient space."""
    rng = np.random.default_rng(seed)
    matrix = random_factors(ROWS, COLUMNS, RANK, rng)
    point = Factors(LowRank(matrix.left, 3.0 * matrix.right))
    return point, [rng.standard_normal((ROWS + COLUMNS, RANK)) for _ in range(count)], rng


def regauged(x: LowRank, change: Array) -> LowRank:
    return LowRank(x.left @ np.linalg.inv(change), x.right @ change.T)


def change_of_basis(rng: np.random.Generator) -> Array:
    return np.eye(RANK) + 0.5 * rng.standard_normal((RANK, RANK))


def movement(point: Factors, v: Array) -> Array:
    """How a tangent vector moves the matrix."""
    along, across = SPACE.split(v)
    return along @ point.right.T + point.left @ across.T


def tangent(point: Factors, rng: np.random.Generator) -> Array:
    """A horizontal vector of length 1 and random direction."""
    v = SPACE.projection(point, rng.standard_normal((ROWS + COLUMNS, RANK)))
    return v / SPACE.norm(point, v)


@given(seeds)
def test_a_change_of_basis_does_not_alter_the_metric(seed: int) -> None:
    point, (a, b), rng = drawn(seed)
    change = change_of_basis(rng)
    moved = Factors(regauged(point.matrix, change))
    a_moved, b_moved = (stacked(regauged(LowRank(*SPACE.split(v)), change)) for v in (a, b))
    here = SPACE.inner_product(point, a, b)
    there = SPACE.inner_product(moved, a_moved, b_moved)
    assert there == pytest.approx(here, rel=1e-7, abs=1e-7 * SPACE.norm(point, a) * SPACE.norm(point, b))


@given(seeds)
def test_the_metric_is_the_papers_trace(seed: int) -> None:
    point, (a, b), _ = drawn(seed)
    (al, ar), (bl, br) = SPACE.split(a), SPACE.split(b)
    left, right = point.left, point.right
    expected = np.trace(np.linalg.inv(left.T @ left) @ al.T @ bl) + np.trace(
        np.linalg.inv(right.T @ right) @ ar.T @ br
    )
    assert SPACE.inner_product(point, a, b) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@given(seeds)
def test_projection_removes_what_leaves_the_matrix_where_it_is(seed: int) -> None:
    point, (v, _), rng = drawn(seed)
    vertical = SPACE.vertical(point, rng.standard_normal((RANK, RANK)))
    np.testing.assert_allclose(movement(point, vertical), 0.0, atol=1e-12)
    np.testing.assert_allclose(SPACE.projection(point, vertical), 0.0, atol=1e-9)
    horizontal = SPACE.projection(point, v)
    assert abs(SPACE.inner_product(point, horizontal, vertical)) < 1e-9 * SPACE.norm(point, vertical)
    np.testing.assert_allclose(movement(point, horizontal), movement(point, v), atol=1e-9)


@given(seeds)
def test_projection_is_idempotent_and_self_adjoint(seed: int) -> None:
    point, (a, b), _ = drawn(seed)
    once = SPACE.projection(point, a)
    np.testing.assert_allclose(SPACE.projection(point, once), once, atol=1e-9)
    left = SPACE.inner_product(point, once, b)
    assert left == pytest.approx(SPACE.inner_product(point, a, SPACE.projection(point, b)), abs=1e-8)


def test_horizontal_vectors_are_as_many_as_the_dimension() -> None:
    point, _, _ = drawn(0)
    basis = np.eye(SPACE.rank * (ROWS + COLUMNS)).reshape(-1, ROWS + COLUMNS, RANK)
    images = np.array([SPACE.projection(point, v).ravel() for v in basis])
    assert np.linalg.matrix_rank(images, tol=1e-8) == SPACE.dim == RANK * (ROWS + COLUMNS - RANK)


@given(seeds)
def test_balancing_keeps_the_matrix_and_makes_the_gram_matrices_its_singular_values(seed: int) -> None:
    point, _, _ = drawn(seed)
    even = balanced(point.matrix)
    np.testing.assert_allclose(even.dense(), point.matrix.dense(), atol=1e-12)
    values = np.linalg.svd(point.matrix.dense(), compute_uv=False)[:RANK]
    np.testing.assert_allclose(even.left.T @ even.left, np.diag(values), atol=1e-12 * values[0])
    np.testing.assert_allclose(even.right.T @ even.right, np.diag(values), atol=1e-12 * values[0])
    np.testing.assert_allclose(point.singular_values, values, rtol=1e-8)


@given(seeds)
def test_retraction_moves_the_matrix_by_the_vector_to_first_order(seed: int) -> None:
    point, (v, _), _ = drawn(seed)
    v, step = SPACE.projection(point, v), 1e-6
    forth, back = (SPACE.retraction(point, sign * step * v).matrix.dense() for sign in (1, -1))
    np.testing.assert_allclose((forth - back) / (2 * step), movement(point, v), atol=1e-6)
    np.testing.assert_allclose(
        SPACE.retraction(point, 0 * v).matrix.dense(), point.matrix.dense(), atol=1e-12
    )


def terrains() -> tuple[Terrain, Terrain]:
    """Two objectives that differ, on one manifold."""
    shape = {"rows": ROWS, "columns": COLUMNS, "rank": RANK}
    return Terrain(planted(1, **shape)[0]), Terrain(planted(2, ridge=0.7, **shape)[0])


@given(seeds)
def test_gradient_is_horizontal_and_the_rate_of_change_along_the_retraction(seed: int) -> None:
    terrain, _ = terrains()
    point, (v, _), _ = drawn(seed)
    v, step = SPACE.projection(point, v), 1e-6
    gradient = terrain.gradient(point)
    size = SPACE.norm(point, gradient) * SPACE.norm(point, v)
    np.testing.assert_allclose(SPACE.projection(point, gradient), gradient, rtol=1e-6, atol=1e-7 * size)
    forth, back = (terrain.value(SPACE.retraction(point, sign * step * v)) for sign in (1, -1))
    assert (forth - back) / (2 * step) == pytest.approx(
        SPACE.inner_product(point, gradient, v), rel=1e-5, abs=1e-6 * size
    )


@given(seeds)
def test_hessian_is_symmetric_and_horizontal(seed: int) -> None:
    terrain, _ = terrains()
    point, (a, b), _ = drawn(seed)
    a, b = SPACE.projection(point, a), SPACE.projection(point, b)
    bent, other = terrain.hessian(point, a), terrain.hessian(point, b)
    size = SPACE.norm(point, bent) * SPACE.norm(point, b)
    assert abs(SPACE.inner_product(point, bent, b) - SPACE.inner_product(point, a, other)) < 1e-8 * size
    np.testing.assert_allclose(SPACE.projection(point, bent), bent, atol=1e-6 * np.abs(bent).max())


@given(seeds)
def test_hessian_differentiates_the_product_of_two_gradients(seed: int) -> None:
    # Together with the symmetry this is what makes a connection that of the metric: along any
    # curve d g(grad f, grad h) = g(Hess f, grad h) + g(grad f, Hess h).
    one, two = terrains()
    point, (v, _), _ = drawn(seed)
    v, step = SPACE.projection(point, v), 1e-6

    def product(at: Factors) -> float:
        return SPACE.inner_product(at, one.gradient(at), two.gradient(at))

    forth, back = (product(SPACE.retraction(point, sign * step * v)) for sign in (1, -1))
    expected = SPACE.inner_product(point, one.hessian(point, v), two.gradient(point))
    expected += SPACE.inner_product(point, one.gradient(point), two.hessian(point, v))
    assert (forth - back) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-7 * product(point))


def test_hessian_is_the_second_difference_along_the_retraction_at_a_stationary_point() -> None:
    problem, truth = planted(3, rows=ROWS, columns=COLUMNS, rank=RANK, share=0.9)
    terrain, point, step = Terrain(problem), Factors(truth), 1e-4
    rng = np.random.default_rng(0)
    v = tangent(point, rng)
    values = [terrain.value(SPACE.retraction(point, t * v)) for t in (-step, 0.0, step)]
    second = (values[0] - 2 * values[1] + values[2]) / step**2
    assert second == pytest.approx(SPACE.inner_product(point, terrain.hessian(point, v), v), rel=1e-5)


@given(seeds)
def test_derivatives_do_not_depend_on_the_factorization(seed: int) -> None:
    terrain, _ = terrains()
    point, (v, _), rng = drawn(seed)
    v, change = SPACE.projection(point, v), change_of_basis(rng)
    other = Factors(regauged(point.matrix, change))
    w = stacked(regauged(LowRank(*SPACE.split(v)), change))
    size = np.abs(movement(point, terrain.hessian(point, v))).max()
    np.testing.assert_allclose(
        movement(other, terrain.hessian(other, w)),
        movement(point, terrain.hessian(point, v)),
        atol=1e-6 * size,
    )


@given(seeds)
def test_preconditioner_is_symmetric_and_positive(seed: int) -> None:
    point, (a, b), _ = drawn(seed)
    a, b = SPACE.projection(point, a), SPACE.projection(point, b)
    left = SPACE.inner_product(point, SPACE.precondition(point, a), b)
    right = SPACE.inner_product(point, a, SPACE.precondition(point, b))
    assert left == pytest.approx(right, rel=1e-7, abs=1e-7)
    assert SPACE.inner_product(point, SPACE.precondition(point, a), a) > 0


def test_preconditioner_inverts_the_hessian_where_all_entries_are_known() -> None:
    problem, truth = planted(4, rows=ROWS, columns=COLUMNS, rank=RANK, share=2.0)
    terrain, point = Terrain(problem), Factors(truth)
    v = tangent(point, np.random.default_rng(0))
    undone = SPACE.precondition(point, terrain.hessian(point, v)) / np.mean(point.singular_values**2)
    np.testing.assert_allclose(undone, v, atol=1e-8)


@given(seeds)
def test_transport_keeps_the_tangent_part_of_the_movement(seed: int) -> None:
    point, (v, w), _ = drawn(seed)
    v = SPACE.projection(point, v)
    other = SPACE.retraction(point, 0.3 * SPACE.projection(point, w))
    carried = SPACE.transport(point, other, v)
    onto_left, onto_right = (factor @ np.linalg.pinv(factor) for factor in (other.left, other.right))
    moved = movement(point, v)
    tangent = onto_left @ moved + moved @ onto_right - onto_left @ moved @ onto_right
    np.testing.assert_allclose(movement(other, carried), tangent, atol=1e-6)
    np.testing.assert_allclose(SPACE.transport(point, point, v), v, atol=1e-8)


def test_a_matrix_of_lower_rank_gives_finite_numbers() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((ROWS, RANK)), rng.standard_normal((COLUMNS, RANK))
    left[:, 2] = 0.0
    point = Factors(LowRank(left, right))
    v = rng.standard_normal((ROWS + COLUMNS, RANK))
    assert np.isfinite(SPACE.projection(point, v)).all()
    assert np.isfinite(SPACE.inner_product(point, v, v))
    assert np.isfinite(Factors(LowRank(0 * left, 0 * right)).inverses[0]).all()


def test_pymanopts_manifold_agrees_with_the_geometry_in_every_operation() -> None:
    manifold = quotient_manifold(ROWS, COLUMNS, RANK)
    terrain, _ = terrains()
    point, (a, b), _ = drawn(5)
    array = stacked(point.matrix)
    a, b = SPACE.projection(point, a), SPACE.projection(point, b)
    slope = terrain.ambient(point)
    change = stacked(terrain.f.hessian_product(point.matrix, LowRank(*SPACE.split(a))))
    assert manifold.dim == SPACE.dim
    for name, *vectors in (
        ("inner_product", a, b),
        ("norm", a),
        ("zero_vector",),
        ("projection", slope),
        ("to_tangent_space", slope),
        ("euclidean_to_riemannian_gradient", slope),
        ("euclidean_to_riemannian_hessian", slope, change, a),
    ):
        found, expected = getattr(manifold, name)(array, *vectors), getattr(SPACE, name)(point, *vectors)
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(manifold.preconditioner(array, a), SPACE.precondition(point, a))
    reached = manifold.retraction(array, b)
    np.testing.assert_array_equal(reached, stacked(SPACE.retraction(point, b).matrix))
    carried = manifold.transport(array, reached, a)
    np.testing.assert_allclose(carried, SPACE.transport(point, SPACE.retraction(point, b), a), atol=1e-12)


def test_pymanopts_manifold_draws_points_and_unit_tangent_vectors() -> None:
    manifold = quotient_manifold(ROWS, COLUMNS, RANK)
    before = np.random.get_state()
    try:
        np.random.seed(0)
        point = manifold.random_point()
        v = manifold.random_tangent_vector(point)
    finally:
        np.random.set_state(before)
    assert point.shape == (ROWS + COLUMNS, RANK)
    assert manifold.norm(point, v) == pytest.approx(1.0)
    np.testing.assert_allclose(manifold.projection(point, v), v, atol=1e-9)
