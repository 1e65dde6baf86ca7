"""Sets that are manifolds: their contract, nearest points, and the geometry that pymanopt has for them."""

from __future__ import annotations

import math
from typing import Any

import autograd.numpy as anp
import numpy as np
import pymanopt
import pytest
from optiframe_manifold.sets.gram_factors import horizontal
from optiframe_manifold.sets.manifold_of import manifold_of
from optiframe_manifold.sets.manifold_set import ManifoldSet, QuotientSet
from optiframe_manifold.sets.spheres import Elliptope, Sphere

import optiframe as of
from optiframe import InvalidInput, Minimize, from_function
from optiframe.records.fields import Array
from optiframe.testing import check_part
from optiframe.testing.parts.checks import outcomes

SHAPES = {
    "sphere": [(5,), (3, 2), (1,)],
    "oblique": [(4, 3), (2, 5)],
    "elliptope": [(5, 2)],
    "stiefel": [(5, 2), (3, 3), (4, 1)],
    "grassmann": [(5, 2), (4, 1)],
    "rotations": [(3, 3), (2, 2)],
    "positive-definite": [(3, 3), (1, 1)],
    "psd-fixed-rank": [(5, 2)],
}
EACH = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]
SEVERAL = [(name, shapes[0]) for name, shapes in SHAPES.items()]


def a_set(name: str) -> ManifoldSet:
    found = of.constraint_set(name)
    assert isinstance(found, ManifoldSet)
    return found


def tangent(manifold: Any, point: Array, rng: np.random.Generator) -> Any:
    return manifold.projection(point, rng.standard_normal(point.shape))


@pytest.mark.parametrize(("name", "shape"), EACH)
def test_a_set_keeps_its_contract(name: str, shape: tuple[int, ...]) -> None:
    check_part(of.constraint_set(name), shape=shape)
    check_part(of.constraint_set(name), shape=shape, seed=1)


class Twin(Sphere):
    """A sphere with one operation of its manifold exchanged."""

    name = "twin.sphere"
    operation: str

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        manifold = super().as_pymanopt(shape)
        right = getattr(manifold, self.operation)
        wrong = {
            "retraction": lambda x, v: x + v,
            "projection": lambda x, v: v - 2 * x * np.vdot(x, v),
            "euclidean_to_riemannian_gradient": lambda x, g: -right(x, g),
            "euclidean_to_riemannian_hessian": lambda x, g, h, v: right(x, g, h, v) + np.roll(v, 1),
        }[self.operation]
        setattr(manifold, self.operation, wrong)
        return manifold


class Halved(Sphere):
    """A sphere whose retraction goes half the way."""

    name = "twin.halved"

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        manifold = super().as_pymanopt(shape)
        right = manifold.retraction
        manifold.retraction = lambda x, v: right(x, v / 2)
        return manifold


class AsReleased(QuotientSet):
    """The elliptope with the projection of directions of pymanopt 2.2.1."""

    name = "twin.as-released"
    unrotated = "oblique"
    project = Elliptope.project
    check_shape = Elliptope.check_shape
    dimension = Elliptope.dimension

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return pymanopt.manifolds.Elliptope(*shape)


@pytest.mark.parametrize(
    ("twin", "shape", "check"),
    [
        (Twin(operation="retraction"), (4,), "a retraction stays in the set"),
        (Halved(), (4,), "a retraction follows its direction"),
        (Twin(operation="projection"), (4,), "projecting a direction twice changes nothing"),
        (
            Twin(operation="euclidean_to_riemannian_gradient"),
            (4,),
            "the gradient is the slope along the retraction",
        ),
        (Twin(operation="euclidean_to_riemannian_hessian"), (4,), "the hessian is symmetric"),
        (AsReleased(), (5, 3), "projecting a direction twice changes nothing"),
    ],
    ids=lambda each: getattr(each, "operation", getattr(each, "name", None)),
)
def test_a_manifold_that_breaks_a_rule_fails_for_it(
    twin: ManifoldSet, shape: tuple[int, ...], check: str
) -> None:
    failed = {each.name for each in outcomes(twin, shape=shape) if each.failure}
    assert check in failed


BLOCKS = {"name": "product", "sizes": [[4, 2], 3, 2], "sets": ["stiefel", "sphere", "whole-space"]}


class Blocks(ManifoldSet):
    """A product as if it were one manifold, so that the contract of manifolds looks at it."""

    name = "twin.blocks"

    def project(self, v: Array) -> Array:
        return np.asarray(of.constraint_set(**BLOCKS).project(v))

    def dimension(self, shape: tuple[int, ...]) -> int:
        return 5 + 2 + 2

    def as_pymanopt(self, shape: tuple[int, ...]) -> Any:
        return manifold_of(of.constraint_set(**BLOCKS), shape)


def test_a_product_of_manifolds_is_one() -> None:
    check_part(of.constraint_set(**BLOCKS), shape=(13,))
    check_part(Blocks(), shape=(13,))


@pytest.mark.parametrize(("name", "shape"), EACH)
def test_a_set_has_the_dimension_of_its_manifold(name: str, shape: tuple[int, ...]) -> None:
    assert a_set(name).dimension(shape) == a_set(name).as_pymanopt(shape).dim


@pytest.mark.parametrize(("name", "shape"), [each for each in SEVERAL if each[0] != "positive-definite"])
def test_no_random_member_is_nearer_than_the_projection(name: str, shape: tuple[int, ...]) -> None:
    rng, over = np.random.default_rng(0), a_set(name)
    manifold = over.as_pymanopt(shape)
    v = 1.5 * rng.standard_normal(shape)
    reached = np.linalg.norm(over.project(v) - v)
    at = over.project(v)
    for size in (2.0, 0.3, 0.03):
        for _ in range(50):
            member = manifold.retraction(at, size * tangent(manifold, at, rng))
            assert over.violation(member) < 1e-12
            assert np.linalg.norm(member - v) >= reached - 1e-12


def test_the_nearest_rotation_is_no_reflection() -> None:
    turned = np.diag([1.0, 1.0, -0.4])
    found = a_set("rotations").project(turned)
    assert np.linalg.det(found) == pytest.approx(1.0)
    assert np.linalg.norm(found - turned) == pytest.approx(1.4)
    assert np.linalg.norm(a_set("stiefel").project(turned) - turned) == pytest.approx(0.6)


def test_points_without_a_direction_have_a_nearest_point_too() -> None:
    assert a_set("sphere").project(np.zeros(3)).tolist() == [1.0, 0.0, 0.0]
    column = a_set("oblique").project(np.array([[0.0, 3.0], [0.0, 4.0]]))
    assert column.tolist() == [[1.0, 0.6], [0.0, 0.8]]
    found = a_set("stiefel").project(np.zeros((4, 2)))
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_lengths_neither_overflow_nor_vanish(size: float) -> None:
    for name, shape in (("sphere", (2,)), ("oblique", (2, 1)), ("stiefel", (2, 1))):
        found = a_set(name).project(size * np.reshape([3.0, 4.0], shape))
        np.testing.assert_allclose(found.ravel(), [0.6, 0.8], rtol=1e-15)


def test_the_violation_of_a_matrix_that_is_not_definite_is_its_distance_to_those_that_are() -> None:
    over = a_set("positive-definite")
    x = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -3.0]])
    nearest = of.constraint_set("positive-semidefinite").project(x)
    assert over.violation(x) == pytest.approx(float(np.linalg.norm(nearest - x)))
    assert over.violation(np.eye(3)) == 0.0
    assert over.violation(np.full((2, 2), math.nan)) == math.inf
    with pytest.raises(of.Unsuited, match="has no projection"):
        over.project(x)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("sphere", (), "holds arrays with entries"),
        ("sphere", (0,), "holds arrays with entries"),
        ("oblique", (3,), "holds matrices, and a point has the shape"),
        ("stiefel", (2, 3), "at least as many rows as columns.*transpose it"),
        ("grassmann", (3, 0), "holds matrices"),
        ("rotations", (3, 2), "holds square matrices"),
        ("positive-definite", (3,), "holds square matrices"),
        ("elliptope", (2, 4), "transpose it"),
        ("psd-fixed-rank", (4,), "holds matrices"),
    ],
)
def test_points_of_another_shape_are_refused(name: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Minimize(from_function(anp.sum, shape), over=name)


def test_what_is_not_finite_has_no_nearest_point() -> None:
    with pytest.raises(InvalidInput, match="not finite has no nearest one in the set 'stiefel'"):
        a_set("stiefel").project(np.full((3, 2), math.inf))


@pytest.mark.parametrize(("name", "shape"), SEVERAL)
def test_gradient_and_hessian_of_the_manifold_are_slopes_along_its_geodesics(
    name: str, shape: tuple[int, ...]
) -> None:
    """By differences along the exponential map, or a retraction that is as exact to second order."""
    rng, over = np.random.default_rng(3), a_set(name)
    manifold, point = over.as_pymanopt(shape), over.inside(shape)
    weights = rng.standard_normal((shape[0], shape[0]))

    def value(x: Any) -> Any:
        asked = anp.dot(x, x.T) if isinstance(over, QuotientSet) else x
        return anp.sum(anp.sin(anp.dot(weights, asked))) + anp.sum(asked**3)

    function = from_function(value, shape)
    v = tangent(manifold, point, rng)
    v = v / manifold.norm(point, v)
    ambient = manifold.embedding(point, v)
    slope, bend = function.gradient(point), function.hessian_product(point, ambient)
    gradient = manifold.euclidean_to_riemannian_gradient(point, slope)
    hessian = manifold.euclidean_to_riemannian_hessian(point, slope, bend, v)
    curve = manifold.retraction if name in ("elliptope", "psd-fixed-rank") else manifold.exp
    step = 1e-4
    before, here, after = (value(curve(point, size * v)) for size in (-step, 0.0, step))
    assert manifold.inner_product(point, gradient, v) == pytest.approx(
        (after - before) / (2 * step), rel=1e-5
    )
    assert manifold.inner_product(point, hessian, v) == pytest.approx(
        (after - 2 * here + before) / step**2, rel=1e-4, abs=1e-5
    )


@pytest.mark.parametrize("name", ["elliptope", "psd-fixed-rank"])
def test_projecting_a_direction_takes_away_what_only_rotates_the_factor(name: str) -> None:
    rng, over = np.random.default_rng(0), a_set(name)
    manifold, point = over.as_pymanopt((6, 3)), over.inside((6, 3))
    skew = rng.standard_normal((3, 3))
    np.testing.assert_allclose(manifold.projection(point, point @ (skew - skew.T)), 0.0, atol=1e-12)
    v = tangent(manifold, point, rng)
    np.testing.assert_allclose(manifold.projection(point, v), v, atol=1e-12)
    np.testing.assert_allclose(point.T @ v, v.T @ point, atol=1e-12)


def test_the_projection_of_a_direction_holds_where_the_rank_drops() -> None:
    rng = np.random.default_rng(0)
    point = np.column_stack([rng.standard_normal((6, 1)), np.zeros((6, 2))])
    v = rng.standard_normal((6, 3))
    found = horizontal(point, v)
    np.testing.assert_allclose(point.T @ found, found.T @ point, atol=1e-12)
    np.testing.assert_allclose(horizontal(point, found), found, atol=1e-12)
