"""The ready-made sets: every projection against its optimality condition, CVXPY and SciPy."""

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import approx_fprime, minimize

import optiframe
from optiframe import InvalidInput, Minimize, Projection
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.problems.sets.vector_sets import (
    Box,
    Cardinality,
    L1Ball,
    L2Ball,
    NonNegative,
    Simplex,
    ZeroSum,
)

CONVEX = {
    "whole-space": WholeSpace(),
    "box": Box(lower=-1.0, upper=2.0),
    "half-open box": Box(upper=0.5),
    "non-negative": NonNegative(),
    "l1-ball": L1Ball(radius=3.0),
    "l2-ball": L2Ball(radius=3.0),
    "simplex": Simplex(),
    "simplex of 5": Simplex(total=5.0),
    "zero-sum": ZeroSum(),
}
ALL = {**CONVEX, "cardinality": Cardinality(size=2)}

# Whole numbers among the entries make ties; shapes go from a single number to three dimensions.
entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))
points = hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, max_side=4), elements=entries)


def rng(seed=0):
    return np.random.default_rng(seed)


def farthest_along(constraint_set, d):
    """The largest inner product of a member of the set with `d` (its support function)."""
    match constraint_set:
        case Box(lower=lower, upper=upper):
            return float(
                np.sum(np.where(d == 0, 0.0, d) * np.where(d == 0, 0.0, np.where(d > 0, upper, lower)))
            )
        case NonNegative():
            return 0.0 if (d <= 0).all() else math.inf
        case L1Ball(radius=radius):
            return radius * float(np.abs(d).max())
        case L2Ball(radius=radius):
            return radius * float(np.linalg.norm(d))
        case Simplex(total=total):
            return total * float(d.max())
        case ZeroSum():
            return 0.0 if np.ptp(d) <= 1e-10 else math.inf
        case WholeSpace():
            return 0.0 if (d == 0).all() else math.inf
    raise NotImplementedError(constraint_set)


@pytest.mark.slow
@pytest.mark.parametrize("constraint_set", CONVEX.values(), ids=CONVEX)
@given(v=points)
def test_projection_is_the_nearest_point(constraint_set, v):
    # p is the projection of v on a convex set exactly when p is a member and no member
    # lies farther along v - p than p does (the variational inequality, at its worst).
    p = constraint_set.project(v)
    gap = farthest_along(constraint_set, v - p) - float(np.sum((v - p) * p))
    assert gap <= 1e-9 * (1 + float(np.sum(v**2)))
    assert is_member(constraint_set, p)


def is_member(constraint_set, p, tolerance=1e-9):
    """Membership by the definition of each set, without its projection."""
    match constraint_set:
        case Box(lower=lower, upper=upper):
            return bool((p >= lower).all() and (p <= upper).all())
        case NonNegative():
            return bool((p >= 0).all())
        case L1Ball(radius=radius):
            return bool(np.abs(p).sum() <= radius + tolerance)
        case L2Ball(radius=radius):
            return bool(np.sqrt(np.sum(p**2)) <= radius + tolerance)
        case Simplex(total=total):
            return bool((p >= 0).all() and abs(p.sum() - total) <= tolerance)
        case ZeroSum():
            return bool(abs(p.sum()) <= tolerance)
        case Cardinality(size=size):
            return bool(np.count_nonzero(p) <= size)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("constraint_set", ALL.values(), ids=ALL)
@given(v=points)
def test_projection_is_a_new_array_of_the_same_shape_and_stays_put(constraint_set, v):
    before = v.copy()
    p = constraint_set.project(v)
    assert isinstance(p, np.ndarray)
    assert p.shape == v.shape
    assert p.dtype == np.float64
    assert not np.shares_memory(p, v)
    assert np.array_equal(v, before)
    assert np.abs(constraint_set.project(p) - p).max() <= 1e-10
    assert constraint_set.contains(p)


@pytest.mark.slow
@pytest.mark.parametrize("constraint_set", ALL.values(), ids=ALL)
@given(v=points)
def test_violation_is_the_distance_to_the_projection(constraint_set, v):
    distance = math.sqrt(float(np.sum((v - constraint_set.project(v)) ** 2)))
    assert constraint_set.violation(v) == pytest.approx(distance, rel=1e-12)


@pytest.mark.parametrize(
    ("constraint_set", "inside"),
    [
        (WholeSpace(), [1e9, -1e9]),
        (Box(lower=-1.0, upper=2.0), [-1.0, 2.0]),
        (NonNegative(), [0.0, 7.0]),
        (L1Ball(radius=3.0), [-1.0, 2.0]),
        (L2Ball(radius=5.0), [3.0, -4.0]),
        (Simplex(), [0.4, 0.59, 0.01]),  # where sorting would round
        (ZeroSum(), [-1.5, 1.5]),
        (Cardinality(size=1), [0.0, 3.0]),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_violation_of_a_member_is_exactly_zero(constraint_set, inside):
    inside = np.array(inside)
    assert constraint_set.violation(inside) == 0.0
    assert np.array_equal(constraint_set.project(inside), inside)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("constraint_set", ALL.values(), ids=ALL)
def test_a_point_that_is_not_finite_is_in_no_set(constraint_set, bad):
    assert constraint_set.violation(np.array([1.0, bad])) == math.inf
    assert not constraint_set.contains(np.array([1.0, bad]))


@given(v=hnp.arrays(np.float64, st.integers(1, 6), elements=entries), size=st.integers(0, 7))
def test_cardinality_keeps_as_much_as_the_best_support(v, size):
    best = max(
        sum(v[list(s)] ** 2) for k in range(min(size, len(v)) + 1) for s in combinations(range(len(v)), k)
    )
    p = Cardinality(size=size).project(v)
    assert np.count_nonzero(p) <= size
    assert ((p == 0) | (p == v)).all()
    assert np.sum(p**2) == pytest.approx(best)


def test_cardinality_resolves_ties_by_lowest_index():
    v = np.array([[1.0, -2.0, 2.0], [0.0, 2.0, -2.0]])
    assert Cardinality(size=2).project(v).tolist() == [[0, -2, 2], [0, 0, 0]]
    assert Cardinality(size=3).project(v).tolist() == [[0, -2, 2], [0, 2, 0]]
    assert Cardinality(size=5).project(v).tolist() == v.tolist()
    assert not Cardinality(size=0).project(v).any()


@pytest.mark.parametrize("ball", [Simplex(), L1Ball(radius=1.0)], ids=["simplex", "l1-ball"])
def test_projection_by_sorting_keeps_its_digits_far_from_the_origin(ball):
    # The simplex does not see a common part. The l1 ball does not either, where all are positive.
    v = np.array([0.5, 0.25, 0.125, -3.0])
    expected = Simplex().project(v)
    assert np.abs(ball.project(v + 2.0**40) - expected).max() <= 1e-12


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 2, 2), ()], ids=str)
@pytest.mark.parametrize("constraint_set", CONVEX.values(), ids=CONVEX)
def test_projection_agrees_with_cvxpy(constraint_set, shape):
    problem = Projection(3 * rng(1).standard_normal(shape), onto=constraint_set)
    check_against_program(problem, tolerance=1e-5)


def test_bounds_of_their_own_shapes_agree_with_cvxpy():
    lower = [[-1.0, -np.inf, 0.5], [-np.inf, -2.0, 1.0]]
    problem = Projection(3 * rng(2).standard_normal((2, 3)), onto=Box(lower=lower, upper=[2.0, 0.1, np.inf]))
    check_against_program(problem, tolerance=1e-5)
    assert Box().as_cvxpy(problem.point) == []


@pytest.mark.parametrize(("shape", "size"), [((6,), 2), ((2, 3), 4), ((3,), 9), ((4,), 0)], ids=str)
def test_cardinality_agrees_with_its_linear_program(shape, size):
    problem = Projection(rng(3).standard_normal(shape), onto=Cardinality(size=size))
    check_against_program(problem, tolerance=1e-9)


def check_against_program(problem, tolerance):
    expected = problem.onto.project(problem.point)
    program = problem.as_cvxpy()
    # The backend that CVXPY picks with a warning above two dimensions.
    program.program.solve(solver="CLARABEL", canon_backend="SCIPY")
    answer = program.read()
    assert answer.shape == problem.point.shape
    assert np.abs(answer - expected).max() <= tolerance
    assert program.objective(program.program.value) == pytest.approx(problem.objective(expected), abs=1e-6)


def test_the_linear_program_with_ties_still_gives_a_support():
    v = np.array([1.0, -1.0, 1.0, 0.5])
    problem = Projection(v, onto=Cardinality(size=2))
    program = problem.as_cvxpy()
    program.program.solve(solver="CLARABEL")
    answer = program.read()
    assert np.count_nonzero(answer) == 2
    assert problem.objective(answer) == pytest.approx(problem.objective(problem.onto.project(v)))
    assert program.objective(program.program.value) == pytest.approx(problem.objective(answer), abs=1e-6)


def test_cardinality_is_not_written_as_a_convex_set():
    assert not Cardinality.convex
    assert Cardinality(size=1).as_cvxpy(None) is None
    assert Minimize(SquaredDistance(to=[1.0, 2.0]), over=Cardinality(size=1)).as_cvxpy() is None


@pytest.mark.parametrize(
    "constraint_set",
    [s for name, s in CONVEX.items() if name != "l1-ball"],
    ids=[name for name in CONVEX if name != "l1-ball"],
)
def test_projection_agrees_with_scipy(constraint_set):
    v = 3 * rng(4).standard_normal((2, 2))
    told = constraint_set.as_scipy(v.shape)
    found = minimize(
        lambda x: np.sum((x - v.ravel()) ** 2) / 2,
        np.full(v.size, 0.25),
        jac=lambda x: x - v.ravel(),
        bounds=told.bounds,
        constraints=told.others,
        hess=lambda x: np.eye(v.size),
        method="trust-constr",
        options={"gtol": 1e-9},
    )
    # SciPy ends with a barrier of about 2e-4 left, which is how far inside it stays.
    assert np.abs(found.x.reshape(v.shape) - constraint_set.project(v)).max() <= 1e-3


def test_the_l2_ball_tells_scipy_its_true_derivatives():
    (inside,) = L2Ball(radius=2.0).as_scipy((2, 2)).others
    x = rng(5).standard_normal(4)
    assert np.allclose(inside.jac(x), approx_fprime(x, inside.fun), atol=1e-6)
    bend = approx_fprime(x, lambda at: 3.0 * inside.jac(at).ravel())
    assert np.allclose(inside.hess(x, np.array([3.0])).toarray(), bend, atol=1e-6)
    on_the_sphere = 2 * x / np.linalg.norm(x)
    assert inside.fun(on_the_sphere) == pytest.approx(inside.ub)


def test_sets_that_scipy_cannot_take_say_so():
    assert L1Ball(radius=1.0).as_scipy((3,)) is None
    assert Cardinality(size=1).as_scipy((3,)) is None


@pytest.mark.parametrize("constraint_set", ALL.values(), ids=ALL)
def test_a_set_survives_pickling_and_equals_its_copy(constraint_set):
    copy = pickle.loads(pickle.dumps(constraint_set))
    assert copy == constraint_set
    assert copy.fingerprint() == constraint_set.fingerprint()
    v = rng(6).standard_normal(4)
    assert np.array_equal(copy.project(v), constraint_set.project(v))


def test_different_sets_differ_in_content():
    assert len({s.fingerprint() for s in ALL.values()}) == len(ALL)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("box", {"lower": [0.0, 1.0], "upper": 2}),
        ("box", {}),
        ("non-negative", {}),
        ("l1-ball", {"radius": 1}),
        ("l2-ball", {"radius": 1.5}),
        ("simplex", {}),
        ("cardinality", {"size": 3}),
        ("zero-sum", {}),
        ("whole-space", {}),
    ],
)
def test_every_set_can_be_chosen_by_name(name, parameters):
    chosen = optiframe.constraint_set(name, **parameters)
    assert chosen.name == name
    assert chosen.contains(chosen.project(np.array([0.3, -4.0])))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: Box(lower=[0.0, 3.0], upper=1.0),
            r"entry \[1\]: no number lies between lower 3 and upper 1",
        ),
        (lambda: Box(lower=2.0, upper=1.0), "no number lies between lower 2 and upper 1"),
        (lambda: Box(upper=[[1.0, -np.inf]]), r"entry \[0, 1\]"),
        (lambda: Box(lower=np.inf), "lower inf"),
        (lambda: Box(lower=[0.0, 0.0], upper=[1.0, 1.0, 1.0]), r"shape \(2,\) and upper \(3,\)"),
        (lambda: Box(lower=np.nan), "lower: must not be nan"),
        (lambda: Box(lower="low"), "lower: must be a number or an array"),
        (lambda: Box(lower=[[0.0], [1.0, 2.0]]), "lower: rows differ in length"),
        (lambda: Box(lower=1j), "lower: must be a number"),
        (lambda: L1Ball(radius=0.0), "radius: must be greater than 0"),
        (lambda: L2Ball(radius=-1.0), "radius: must be greater than 0"),
        (L2Ball, "radius: is missing"),
        (lambda: L2Ball(radius=np.inf), "radius: must be a finite number"),
        (lambda: Simplex(total=0.0), "total: must be greater than 0"),
        (lambda: Cardinality(size=-1), "size: must be at least 0"),
        (lambda: Cardinality(size=2.5), "size: must be a whole number"),
        (lambda: L1Ball(radus=1.0), "did you mean 'radius'"),
        (lambda: Projection(np.zeros(4), onto=Box(lower=[0.0, 1.0])), r"shape \(2,\) and the point \(4,\)"),
        (lambda: Projection(np.zeros(2), onto=Box(upper=[[1.0, 1.0]])), "upper bound has shape"),
        (lambda: Projection(np.zeros(0), onto=Simplex()), "no entries that could sum to 1"),
    ],
)
def test_wrong_parameters_are_named(build, words):
    with pytest.raises(InvalidInput, match=words):
        build()
