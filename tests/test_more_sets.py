"""Linear sets, cones, matrix balls and intersections: against CVXPY, definitions and each other."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import optiframe as of
from optiframe import ConstraintSet, InvalidInput, Minimize, Unsuited
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.intersection import Intersection, NotAccurate
from optiframe.problems.sets.linear_sets import (
    Affine,
    HalfSpace,
    Polyhedron,
    onto_polyhedron,
    row_violation,
)
from optiframe.problems.sets.matrix_sets import PositiveSemidefinite, SecondOrderCone, SpectralBall
from optiframe.problems.sets.vector_sets import (
    Box,
    Integers,
    L1Ball,
    L2Ball,
    LInfBall,
    NonNegative,
    Simplex,
    ZeroSum,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def polyhedron(seed: int, rows: int, columns: int) -> Polyhedron:
    """Rows around a known point, some of them equations, some two-sided."""
    random = rng(seed)
    matrix = random.normal(size=(rows, columns))
    middle = matrix @ random.normal(size=columns)
    kind = random.integers(3, size=rows)
    kind[np.cumsum(kind == 0) > columns // 2] = 1  # not more equations than entries
    upper = middle + np.where(kind == 0, 0.0, random.random(rows))
    lower = np.where(kind == 0, upper, np.where(kind == 1, -np.inf, middle - random.random(rows)))
    return Polyhedron(matrix=matrix, lower=lower, upper=upper)


VECTOR_SETS = {
    "affine": Affine(matrix=[[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, -1.0, 0.0]], target=[1.0, 2.0]),
    "half-space": HalfSpace(normal=[1.0, -2.0, 0.5, 0.0], offset=-1.0),
    "polyhedron": polyhedron(0, 3, 4),
    "polyhedron of many rows": polyhedron(1, 30, 4),
    "second-order-cone": SecondOrderCone(),
    "linf-ball": LInfBall(radius=0.8),
    "bounded simplex": Intersection(sets=[Simplex(), Box(upper=0.4)]),
    "box in a box": Intersection(sets=[Box(lower=-1.0), NonNegative(), Box(upper=0.5)]),
    "capped ball": Intersection(
        sets=[L2Ball(radius=1.0), HalfSpace(normal=[1.0, 1.0, 0.0, 0.0], offset=0.2)]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("over", VECTOR_SETS.values(), ids=VECTOR_SETS)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_the_projection_is_the_nearest_member(over: ConstraintSet, seed: int, scale: float) -> None:
    random = rng(seed)
    v = scale * random.normal(size=4)
    p = over.project(v)
    assert over.violation(p) <= 1e-8 * max(1.0, scale)
    # p is nearest exactly when no member lies farther along v - p: members near p are those that show it.
    for direction in random.normal(size=(10, 4)):
        member = over.project(p + 0.1 * direction)
        assert float((v - p) @ (member - p)) <= 1e-7 * (1 + scale**2)


@pytest.mark.slow
@pytest.mark.parametrize("over", VECTOR_SETS.values(), ids=VECTOR_SETS)
def test_the_projection_agrees_with_cvxpy(over: ConstraintSet) -> None:
    pytest.importorskip("cvxpy")
    for seed in range(5):
        v = 2 * rng(seed).normal(size=4)
        program = over.projection_as_cvxpy(v)
        assert program is not None
        value = program.program.solve(solver="CLARABEL")
        assert float(np.sum((over.project(v) - v) ** 2)) / 2 == pytest.approx(value, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("over", [PositiveSemidefinite(), SpectralBall(radius=0.7)])
def test_the_projection_of_a_matrix_agrees_with_cvxpy(over: ConstraintSet) -> None:
    pytest.importorskip("cvxpy")
    v = rng(2).normal(size=(3, 3))
    value = over.projection_as_cvxpy(v).program.solve(solver="CLARABEL")
    p = over.project(v)
    assert over.violation(p) <= 1e-12
    assert float(np.sum((p - v) ** 2)) / 2 == pytest.approx(value, rel=1e-5)


@pytest.mark.slow
def test_bounded_rows_are_met_by_the_active_set_that_brute_force_finds() -> None:
    for seed in range(20):
        over = polyhedron(seed, 5, 3)
        v = 3 * rng(seed + 100).normal(size=3)
        best = math.inf
        sides = [
            (row, side)
            for row in range(5)
            for side in (over.lower[row], over.upper[row])
            if np.isfinite(side)
        ]
        for size in range(4):
            for chosen in itertools.combinations(sides, size):
                rows, targets = [row for row, _ in chosen], [side for _, side in chosen]
                normals = over.matrix[rows]
                move = (
                    np.linalg.lstsq(normals, np.array(targets) - normals @ v, rcond=None)[0] if rows else 0.0
                )
                if over.violation(v + move) <= 1e-9:
                    best = min(best, float(np.sum((np.zeros(3) + move) ** 2)))
        assert float(np.sum((over.project(v) - v) ** 2)) == pytest.approx(best, rel=1e-8, abs=1e-12)


def test_whole_numbers_are_the_nearest_ones_between_the_bounds() -> None:
    over = Integers(lower=-1.5, upper=3.2)
    np.testing.assert_array_equal(over.project(np.array([-4.0, -0.6, 0.4, 2.7, 9.0])), [-1, -1, 0, 3, 3])
    with pytest.raises(InvalidInput, match=r"no whole number lies between lower 0\.2 and upper 0\.8"):
        Integers(lower=0.2, upper=0.8)


def test_violation_is_in_units_of_the_point_whatever_the_rows_are_scaled_by() -> None:
    for scale in (1e-6, 1.0, 1e6):
        over = Polyhedron(matrix=[[3.0 * scale, 4.0 * scale]], upper=[0.0])
        assert over.violation(np.array([3.0, 4.0])) == pytest.approx(5.0)
    assert over.violation(np.array([np.nan, 0.0])) == math.inf


def test_the_violation_of_an_intersection_is_the_largest_of_its_members() -> None:
    over = Intersection(sets=[ZeroSum(), Box(upper=1.0)])
    assert over.violation(np.array([3.0, -3.0])) == 2.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Affine(matrix=[[1.0, 1.0], [2.0, 2.0]], target=[1.0, 3.0]), "they contradict each other"),
        (lambda: Affine(matrix=[[1.0, 1.0]], target=[1.0, 3.0]), "matrix has 1 rows, target 2 values"),
        (lambda: HalfSpace(normal=[0.0, 0.0], offset=1.0), "must have an entry that is not zero"),
        (lambda: Polyhedron(matrix=[[1.0, 0.0]], upper=[1.0, 2.0]), r"upper has shape \(2,\)"),
        (
            lambda: Polyhedron(matrix=[[1.0, 0.0]], upper=1.0, lower=2.0),
            "row 1: no number lies between 2 and 1",
        ),
        (
            lambda: Polyhedron(matrix=[[1.0], [-1.0]], upper=[0.0, -1.0]),
            "the inequalities contradict each other",
        ),
        (
            lambda: Minimize(SquaredDistance(to=[1.0]), over=HalfSpace(normal=[1.0, 1.0], offset=0.0)),
            "is for points of 2",
        ),
        (
            lambda: Minimize(SquaredDistance(to=[1.0]), over=["simplex", {"name": "box", "lower": 2.0}]),
            "no point lies",
        ),
        (
            lambda: Minimize(SquaredDistance(to=[1.0, 2.0]), over=[Box(lower=2.0), Box(upper=[3.0, 1.0])]),
            "entry 2 would have to be at least 2 and at most 1",
        ),
        (lambda: Intersection(sets=[]), "give at least one set"),
    ],
)
def test_sets_without_a_point_and_wrong_sizes_are_refused_in_words(make, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make()


class Round(ConstraintSet):
    """A disc that is known only by its projection."""

    name = "test.round"

    def project(self, v):
        return v / max(1.0, float(np.linalg.norm(v)))


class Leaning(HalfSpace):
    """A half-space that is known only by its projection."""

    name = "test.leaning"

    def as_scipy(self, shape):
        return None


@pytest.mark.slow
def test_a_projection_that_did_not_reach_its_accuracy_warns() -> None:
    sharp = [Leaning(normal=[1.0, 1e-5], offset=0.0), Leaning(normal=[-1.0, 1e-5], offset=0.0)]
    with pytest.warns(NotAccurate, match="the sets meet at a small angle, or not at all"):
        Intersection(sets=sharp).project(np.array([3.0, 1.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linear = [HalfSpace(normal=[1.0, 1e-5], offset=0.0), HalfSpace(normal=[-1.0, 1e-5], offset=0.0)]
        np.testing.assert_allclose(Intersection(sets=linear).project(np.array([3.0, 1.0])), 0.0, atol=1e-9)
        Intersection(sets=[Round(), Leaning(normal=[1.0, 0.0], offset=0.3)]).project(np.array([3.0, 1.0]))


@pytest.mark.parametrize(
    "sets",
    [
        [{"name": "l2-ball", "radius": 0.5}, "simplex"],
        [
            {"name": "l2-ball", "radius": 1.0},
            {"name": "affine", "matrix": [[1.0, 1.0, 1.0]], "target": [5.0]},
        ],
        [
            {"name": "l2-ball", "radius": 1.0},
            {"name": "l1-ball", "radius": 1.2},
            {"name": "half-space", "normal": [-1.0, -1.0, 0.0], "offset": -1.3},
        ],
    ],
    ids=["two", "an affine one", "three, any two of which meet"],
)
@pytest.mark.slow
def test_sets_without_a_common_point_are_refused_and_never_converged(sets) -> None:
    problem = Minimize(SquaredDistance(to=[2.0, 0.0, 1.0]), over=sets)
    with pytest.raises(InvalidInput, match="no point lies in all of 'l2-ball' and"):
        of.solve(problem, "gradient.projected", progress=False)


@pytest.mark.filterwarnings("ignore::optiframe.problems.sets.intersection.NotAccurate")
@pytest.mark.slow
def test_sets_that_touch_end_stalled_where_the_answer_lies_outside() -> None:
    touching = [
        {"name": "l2-ball", "radius": 1.0},
        {"name": "half-space", "normal": [-1.0, 0.0], "offset": -1.0},
    ]
    problem = Minimize(SquaredDistance(to=[2.0, 0.5]), over=touching)
    with pytest.warns(of.NotConverged, match="the answer violates the constraints by"):
        result = of.solve(problem, "gradient.projected", progress=False)
    assert result.status == "stalled"


class Ring(ConstraintSet):
    """Points at a distance of at least 1 from the origin, without a projection."""

    name = "test.ring"
    convex = False

    def violation(self, x):
        return max(0.0, 1.0 - float(np.linalg.norm(x)))

    def inside(self, shape):
        return np.ones(shape)

    def as_scipy(self, shape):
        from scipy.optimize import NonlinearConstraint

        return of.ScipyConstraints(
            others=(NonlinearConstraint(lambda x: x @ x, 1.0, np.inf, jac=lambda x: 2 * x[np.newaxis]),)
        )


class Nowhere(ConstraintSet):
    """Neither a projection nor a violation."""

    name = "test.nowhere"


@pytest.mark.usefixtures("fresh_registry")
def test_a_set_may_lack_a_projection_and_solvers_that_use_it_are_refused() -> None:
    of.register(Ring)
    problem = Minimize(SquaredDistance(to=[0.3, 0.4]), over=Ring())
    result = of.solve(problem, progress=False)
    assert result.settings["solver"]["name"] == "scipy.trust-constr"
    np.testing.assert_allclose(result.solution, [0.6, 0.8], atol=1e-3)
    with pytest.raises(Unsuited, match=r"the set 'test\.ring' has no projection"):
        of.solve(problem, "gradient.projected")
    with pytest.raises(Unsuited, match="no projection"):
        of.solve(of.Projection([0.3, 0.4], onto=Ring()), "gradient.projected")
    with pytest.raises(of.BrokenPlugin, match="lacks project, or else violation and inside"):
        of.register(Nowhere)


def test_an_intersection_is_solved_by_every_kind_of_solver() -> None:
    problem = Minimize(SquaredDistance(to=[1.0, 2.0, -1.0]), over=["simplex", {"name": "box", "upper": 0.7}])
    for name in ("scipy.trust-constr", "gradient.projected", "cvxpy"):
        np.testing.assert_allclose(
            of.solve(problem, name, progress=False).solution, [0.3, 0.7, 0.0], atol=1e-5
        )
    assert pickle.loads(pickle.dumps(problem)) == problem


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e25, 1e200])
def test_the_size_of_the_numbers_of_a_row_does_not_matter(size: float) -> None:
    far = np.array([5.0, 5.0])
    for row in (
        Polyhedron(matrix=[[size, 0.0]], upper=[size]),
        Polyhedron(matrix=sparse.csr_array([[size, 0.0]]), upper=[size]),
        HalfSpace(normal=[size, 0.0], offset=size),
        Affine(matrix=[[size, 0.0]], target=[size]),
        Affine(matrix=[[size, 0.0], [2.0, 0.0]], target=[size, 2.0]),
    ):
        np.testing.assert_allclose(row.project(far), [1.0, 5.0], rtol=1e-12)
        assert row.violation(far) == pytest.approx(4.0)


def test_rows_are_checked_for_contradictions_in_units_of_their_sides() -> None:
    np.testing.assert_allclose(Polyhedron(matrix=[[1e-10]], lower=[1.0]).project(np.zeros(1)), [1e10])
    np.testing.assert_allclose(Polyhedron(matrix=[[1.0]], lower=[1e25]).project(np.zeros(1)), [1e25])
    for contradiction in (
        lambda: Polyhedron(matrix=[[1.0], [-1.0]], upper=[1e-9, -2e-9]),
        lambda: Affine(matrix=[[0.0, 0.0]], target=[1.0]),
    ):
        with pytest.raises(InvalidInput, match="contradict each other"):
            contradiction()


def test_a_second_order_cone_takes_large_points() -> None:
    nearest = SecondOrderCone().project(np.array([0.0, 1e200, 0.0]))
    np.testing.assert_allclose(nearest, [5e199, 5e199, 0.0])


@pytest.mark.parametrize(
    ("over", "shape"),
    [
        (PositiveSemidefinite(), (0, 0)),
        (L1Ball(radius=1.0), (0,)),
        (Intersection(sets=["zero-sum", "non-negative"]), (0,)),
    ],
)
def test_points_without_entries_are_in_sets_that_hold_them(over: ConstraintSet, shape) -> None:
    problem = Minimize(SquaredDistance(to=np.zeros(shape)), over=over)
    result = of.solve(problem, "gradient.projected", progress=False)
    assert result.solution.shape == shape


def test_an_intersection_with_a_set_that_is_not_convex_has_no_projection() -> None:
    sets = [{"name": "cardinality", "size": 1}, {"name": "box", "upper": [1.0, 10.0]}]
    problem = Minimize(SquaredDistance(to=[5.0, 4.0]), over=sets)
    with pytest.raises(Unsuited, match="'intersection' has no projection: not convex is 'cardinality'"):
        of.solve(problem, "gradient.projected")
    alone = Intersection(sets=sets[:1])
    np.testing.assert_array_equal(alone.project(np.array([5.0, 4.0])), [5.0, 0.0])


def test_dykstras_method_goes_on_while_the_point_only_seems_to_rest() -> None:
    # The point stays at a corner of the box for many sweeps, until the corrections outgrow it.
    over = Intersection(sets=[Leaning(normal=[-1.0, 1.0], offset=-1.0), Box(lower=0.0, upper=[1.5, 10.0])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nearest = over.project(np.array([0.0, 100.0]))
    np.testing.assert_allclose(nearest, [1.5, 0.5], atol=1e-9)


@pytest.mark.slow
def test_rows_that_contradict_each_other_by_rounding_only_leave_a_point() -> None:
    rng = np.random.default_rng(11)
    for _ in range(1500):
        size, count = int(rng.integers(1, 9)), int(rng.integers(1, 25))
        some, member = rng.normal(size=(count, size)), rng.normal(size=size)
        rows = np.vstack([some, some * 1e-6, -some[:1] * (1 + 1e-9)])
        room = np.linalg.norm(rows, axis=1) * (rng.random(len(rows)) < 0.7)
        far = rng.normal(size=size) * 10.0 ** rng.integers(-2, 4)
        upper = rows @ member + room
        nearest = onto_polyhedron(far, rows, np.full(len(rows), -np.inf), upper)
        assert row_violation(nearest, rows, -np.inf, upper) <= 1e-8 * max(1.0, float(np.abs(far).max()))


@given(seed=st.integers(0, 10_000), size=st.integers(1, 8), equation=st.booleans())
def test_one_row_between_bounds_is_met_as_by_general_rows(seed: int, size: int, equation: bool) -> None:
    random = rng(seed)
    row = np.where(random.random(size) < 0.2, 0.0, random.normal(size=size))
    row[0] = 1.0
    lower = np.where(random.random(size) < 0.3, -np.inf, -random.random(size))
    upper = np.where(random.random(size) < 0.3, np.inf, random.random(size))
    middle = float(row @ np.clip(random.normal(size=size), lower, upper))
    sides = (middle, middle) if equation else (middle - 0.1, middle + 0.1)
    v = 3 * random.normal(size=size)
    over = Intersection(
        sets=[Box(lower=lower, upper=upper), Polyhedron(matrix=row[None], lower=sides[0], upper=sides[1])]
    )
    p = over.project(v)
    assert over.violation(p) <= 1e-12 * max(1.0, float(np.abs(p).max()))
    closed = np.vstack([row, np.eye(size)])
    slow = onto_polyhedron(v, closed, np.append(sides[0], lower), np.append(sides[1], upper))
    np.testing.assert_allclose(p, slow, atol=1e-9)


def test_a_simplex_in_a_box_of_many_entries_is_met_to_rounding() -> None:
    over, v = Intersection(sets=[Simplex(), Box(upper=1e-4)]), rng(3).normal(size=100_000)
    p = over.project(v)
    assert over.violation(p) <= 1e-12
    np.testing.assert_allclose(over.project(p), p, atol=1e-15)


@pytest.mark.parametrize("rows", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_trust_constr_takes_more_equations_than_entries(rows) -> None:
    sides = np.array([1.0, 2.0])
    over = Polyhedron(matrix=rows([[1.0], [2.0]]), lower=sides, upper=sides)
    result = of.solve(Minimize(SquaredDistance(to=[0.0]), over=over), "scipy.trust-constr")
    assert result.solution == pytest.approx([1.0], abs=1e-6)
