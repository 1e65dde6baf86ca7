"""SciPy and CVXPY as solvers: closed forms, each other, and what they say when they cannot."""

from __future__ import annotations

import threading
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint

import optiframe as of
from optiframe import Budget, CvxpyProgram, InvalidInput, Minimize, Objective, Problem, Projection, Status
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.constraint_set import ScipyConstraints, WholeSpace
from optiframe.problems.sets.vector_sets import Box, L1Ball, L2Ball, NonNegative, Simplex, ZeroSum
from optiframe.reference.cvxpy_solver import Cvxpy
from optiframe.reference.scipy_lbfgs import ScipyLBFGS
from optiframe.reference.scipy_trust_constr import ScipyTrustConstr
from optiframe.testing import SolverContract, check_against_cvxpy


def ridge() -> Minimize:
    rng = np.random.default_rng(5)
    return Minimize(LeastSquares(matrix=rng.normal(size=(12, 4)), target=rng.normal(size=12), l2=0.1))


def ridge_solution(problem: Minimize) -> np.ndarray:
    """From the normal equations of (1/2n) sum (a_i x - b_i)^2 + (l2/2) |x|^2."""
    a, b, rows = problem.function.matrix, problem.function.target, len(problem.function.target)
    return np.linalg.solve(a.T @ a / rows + problem.function.l2 * np.eye(a.shape[1]), a.T @ b / rows)


def logistic(over=None) -> Minimize:
    rng = np.random.default_rng(6)
    labels = np.where(rng.random(30) < 0.5, -1.0, 1.0)
    return Minimize(Logistic(matrix=rng.normal(size=(30, 3)), target=labels, l2=0.05), over=over)


def squares() -> Minimize:
    return Minimize(SquaredDistance(to=[[0.3, -1.5], [2.0, 0.0]]))


class OnRealLosses(SolverContract):
    """The contract on the built-in small problems, a ridge regression and a logistic one."""

    def instances(self):
        return [*super().instances(), ridge(), logistic(over=Box(lower=-0.2, upper=0.2))]

    def optimum(self, problem):
        if problem == ridge():
            return problem.objective(ridge_solution(problem))
        return super().optimum(problem)


@pytest.mark.slow
class TestLBFGS(OnRealLosses):
    solver = "scipy.lbfgs"


@pytest.mark.slow
class TestLBFGSWithLittleMemory(OnRealLosses):
    solver = ScipyLBFGS(memory=2)


@pytest.mark.slow
class TestTrustConstr(OnRealLosses):
    solver = "scipy.trust-constr"


@pytest.mark.slow
class TestCvxpy(OnRealLosses):
    solver = "cvxpy"


@pytest.mark.slow
class TestCvxpyWithAnotherEngine(OnRealLosses):
    solver = Cvxpy(engine="SCS")
    tolerance = 1e-3  # SCS stops at a residual of 1e-4 by default


NAMES = ["scipy.lbfgs", "scipy.trust-constr", "cvxpy"]
SMOOTH = NAMES[:2]


@pytest.mark.parametrize("name", NAMES)
def test_a_point_keeps_its_shape(name):
    result = of.solve(squares(), name)
    np.testing.assert_allclose(result.solution, squares().function.to, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_projection_is_solved_through_its_formulation(name):
    result = of.solve(Projection([2.0, -3.0, 0.5], onto=NonNegative()), name)
    np.testing.assert_allclose(result.solution, [2.0, 0.0, 0.5], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "over", [Simplex(), L2Ball(radius=0.4), ZeroSum(), Box(lower=-0.1, upper=[0.1, 0.2, 9])]
)
def test_trust_constr_agrees_with_cvxpy_over_each_set_it_can_take(over):
    assert check_against_cvxpy("scipy.trust-constr", logistic(over=over)).ok


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=4), st.floats(0, 2))
def test_lbfgs_projects_onto_a_box_like_clipping(point, half):
    problem = Minimize(SquaredDistance(to=point), over=Box(lower=-half, upper=half))
    np.testing.assert_allclose(
        of.solve(problem, "scipy.lbfgs").solution, np.clip(point, -half, half), atol=1e-6
    )


@pytest.mark.parametrize("name", SMOOTH)
def test_an_optimal_start_is_still_an_answer(name):
    problem = Minimize(SquaredDistance(to=[0.0, 0.0]))
    result = of.solve(problem, name, budget=Budget(tolerance=0.0))
    assert result.status is Status.CONVERGED
    assert (result.iterations, result.objective) == (1, 0.0)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(
    ("start", "words"),
    [
        (np.zeros(3), r"start: a point has the shape \(2, 2\), and this has \(3,\)"),
        ([[0, np.nan], [0, 0]], "finite"),
    ],
)
def test_a_start_that_cannot_be_is_refused_in_words(name, start, words):
    with pytest.raises(InvalidInput, match=words):
        of.solve(squares(), name, start=start)


def test_a_start_outside_the_box_is_brought_inside():
    problem = Minimize(SquaredDistance(to=[0.3]), over=Box(lower=0.0, upper=1.0))
    assert of.solve(problem, "scipy.lbfgs", start=[50.0]).solution == pytest.approx([0.3])


class Counted(Objective):
    """Rosenbrock's valley, counting evaluations."""

    name = "test.counted"

    counts: Any = None

    @property
    def shape(self):
        return (2,)

    def value(self, x):
        self.counts["value"] += 1
        return float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)

    def gradient(self, x):
        self.counts["gradient"] += 1
        return np.array([-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)])


def rosenbrock() -> Minimize:
    return Minimize(Counted(counts={"value": 0, "gradient": 0}), start=[-1.2, 1.0])


@pytest.mark.parametrize("name", SMOOTH)
def test_the_residual_costs_no_evaluation(name):
    problem = rosenbrock()
    result = of.solve(problem, name, budget=Budget(iterations=500, tolerance=1e-6), trace=False)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.solution, [1.0, 1.0], atol=1e-4)
    counts = problem.function.counts
    # The core judges the last iterate once or twice more; SciPy asks for both in pairs.
    assert counts["gradient"] <= counts["value"] <= counts["gradient"] * 2


def test_lbfgs_makes_the_same_iterates_as_scipy_by_itself():
    from scipy.optimize import minimize

    problem = rosenbrock()
    theirs: list[np.ndarray] = []
    minimize(
        problem.function.value,
        problem.start,
        jac=problem.function.gradient,
        method="L-BFGS-B",
        callback=lambda intermediate_result: theirs.append(intermediate_result.x.copy()),
        options={"maxiter": 10},
    )
    for limit, expected in enumerate(theirs, 1):
        with pytest.warns(of.NotConverged):
            result = of.solve(problem, "scipy.lbfgs", budget=Budget(iterations=limit, tolerance=0.0))
        np.testing.assert_array_equal(result.solution, expected)


def test_the_residual_is_the_projected_gradient():
    problem = logistic(over=Box(lower=-0.2, upper=0.2))
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, "scipy.lbfgs", budget=Budget(iterations=2, tolerance=0.0))
    x = result.solution
    expected = np.abs(x - problem.over.project(x - problem.function.gradient(x))).max()
    assert result.trace["residual"][-1] == pytest.approx(expected, rel=1e-12)


class Kink(Objective):
    """A gradient of the wrong sign: no step along it goes down."""

    name = "test.kink"

    @property
    def shape(self):
        return (1,)

    def value(self, x):
        return float(x[0])

    def gradient(self, x):
        return np.array([-1.0])


def test_a_failed_line_search_is_stalled_with_scipys_message():
    with pytest.warns(of.NotConverged, match=r"finds no lower point \(SciPy: ABNORMAL\)"):
        result = of.solve(Minimize(Kink()), "scipy.lbfgs")
    assert result.status is Status.STALLED


class Misled(Kink):
    """A bowl whose gradient is that of another bowl."""

    name = "test.misled"

    def value(self, x):
        return 1.0 + float(x[0] ** 2)

    def gradient(self, x):
        return 2 * (x - 5.0)


def test_a_line_search_that_fails_where_the_gradient_is_not_small_is_stalled():
    with pytest.warns(of.NotConverged, match="finds no lower point"):
        result = of.solve(Minimize(Misled()), "scipy.lbfgs")
    assert result.status is Status.STALLED


@pytest.mark.slow
def test_when_the_objective_stops_falling_lbfgs_comes_to_its_own_end():
    ends = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        function = LeastSquares(matrix=rng.normal(size=(12, 4)), target=rng.normal(size=12), l2=0.1)
        result = of.solve(Minimize(function), "scipy.lbfgs", budget=Budget(tolerance=1e-300))
        assert result.trace["residual"][-1] < 1e-6  # SciPy's own tolerances, 1e-5, are off
        assert result.status.complete
        ends.add(result.message.rpartition("SciPy: ")[2].rstrip(")"))
    # Which of the two SciPy says depends on the last bits of the objective, and so on the processor.
    assert ends >= {"ABNORMAL", "CONVERGENCE: RELATIVE REDUCTION OF F <= FACTR*EPSMCH"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("upper", [[0.5, 0.5, 0.5], [0.5, 2.0, 0.5]], ids=["all", "some"])
def test_equal_bounds_leave_one_point(name, upper):
    problem = Minimize(SquaredDistance(to=[3.0, 1.0, -4.0]), over=Box(lower=0.5, upper=upper))
    result = of.solve(problem, name)
    np.testing.assert_allclose(result.solution, np.clip([3.0, 1.0, -4.0], 0.5, upper), atol=1e-5)
    assert result.status.complete


def test_trust_constr_stalls_when_its_region_has_shrunk_to_nothing():
    with pytest.warns(of.NotConverged, match="SciPy: `xtol`"):
        result = of.solve(Minimize(Kink()), "scipy.trust-constr", budget=Budget(iterations=500))
    assert result.status is Status.STALLED


class Linear(Objective):
    """The sum of the entries: its gradient never changes, which SciPy's BFGS warns about."""

    name = "test.linear"

    @property
    def shape(self):
        return (3,)

    def value(self, x):
        return float(np.sum(x))

    def gradient(self, x):
        return np.ones(3)


class Doubled(WholeSpace):
    """One equation, written twice: a singular Jacobian, which SciPy warns about."""

    name = "test.doubled"

    def project(self, v):
        return v - np.mean(v)

    def as_scipy(self, shape):
        return ScipyConstraints(others=(LinearConstraint(np.ones((2, 3)), 0.0, 0.0),))


def test_scipys_warnings_are_not_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linear = of.solve(Minimize(Linear(), over=Box(lower=0.0, upper=1.0)), "scipy.trust-constr")
        doubled = of.solve(
            Minimize(SquaredDistance(to=[1.0, 2.0, 3.0]), over=Doubled()), "scipy.trust-constr"
        )
    np.testing.assert_allclose(linear.solution, 0.0, atol=1e-5)
    np.testing.assert_allclose(doubled.solution, [-1.0, 0.0, 1.0], atol=1e-6)


def test_the_two_warnings_would_be_shown_otherwise():
    from scipy.optimize import Bounds, minimize

    with pytest.warns(UserWarning, match="delta_grad"):
        minimize(np.sum, np.full(3, 0.5), jac=np.ones_like, method="trust-constr", bounds=Bounds(0.0, 1.0))
    with pytest.warns(UserWarning, match="Singular Jacobian"):
        minimize(
            lambda x: x @ x / 2,
            np.ones(3),
            jac=lambda x: x,
            hessp=lambda x, p: p,
            method="trust-constr",
            constraints=LinearConstraint(np.ones((2, 3)), 0.0, 0.0),
        )


def test_other_warnings_of_the_objective_are_shown():
    class Noisy(Linear):
        """Warns."""

        name = "test.noisy"

        def gradient(self, x):
            warnings.warn("near the edge", stacklevel=2)
            return np.ones(3)

    with pytest.warns(UserWarning, match="near the edge"):
        of.solve(Minimize(Noisy(), over=Box(lower=0.0, upper=1.0)), "scipy.trust-constr")


class Curved(SquaredDistance):
    """Refuses to be asked for anything but Hessian products, once a run has begun."""

    name = "test.curved"

    def hessian(self, x):
        raise AssertionError("the product is cheaper")


def test_trust_constr_uses_hessian_products_where_there_are_some():
    result = of.solve(Minimize(Curved(to=[3.0, -4.0])), "scipy.trust-constr")
    np.testing.assert_allclose(result.solution, [3.0, -4.0], atol=1e-9)


def test_the_barrier_parameter_counts_as_residual():
    problem = Minimize(SquaredDistance(to=[3.0, -4.0]), over=Box(lower=0.0, upper=1.0))
    result = of.solve(problem, "scipy.trust-constr", budget=Budget(tolerance=1e-7))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.solution, [1.0, 0.0], atol=1e-6)


class Failing(SquaredDistance):
    """Raises at the third gradient."""

    name = "test.failing"

    calls: Any = None

    def gradient(self, x):
        self.calls.append(1)
        if len(self.calls) == 3:
            raise ZeroDivisionError("in the objective")
        return super().gradient(x) * [1.0, 100.0]


@pytest.mark.parametrize("name", SMOOTH)
def test_an_error_in_the_objective_surfaces_and_no_thread_is_left(name):
    with pytest.raises(ZeroDivisionError, match="in the objective"):
        of.solve(Minimize(Failing(to=[1.0, 2.0], calls=[])), name)
    assert not [t for t in threading.enumerate() if "optiframe" in t.name]


# What cannot be taken, and the sentence for it.


class Value(SquaredDistance):
    """Has a value and no gradient."""

    name = "test.value"

    def offers(self, operation):
        return False


@pytest.mark.parametrize("name", SMOOTH)
def test_no_gradient_is_said(name):
    assert "'test.value' has no gradient" in of.why_unsuited(Minimize(Value(to=[1.0])), of.solver(name))


def test_lbfgs_says_that_a_set_is_more_than_bounds_and_who_may_take_it():
    reason = of.why_unsuited(Minimize(SquaredDistance(to=[1.0]), over=Simplex()), ScipyLBFGS())
    assert "'simplex' is more than bounds; scipy.trust-constr may take it" in reason


@pytest.mark.parametrize("solver", [ScipyLBFGS(), ScipyTrustConstr()])
def test_a_set_without_a_scipy_form_is_said(solver):
    reason = of.why_unsuited(Minimize(SquaredDistance(to=[1.0]), over=L1Ball(radius=1.0)), solver)
    assert "'l1-ball' cannot be written as SciPy constraints" in reason


# CVXPY


def test_cvxpy_reports_what_its_engine_did():
    result = of.solve(squares(), "cvxpy", engine="clarabel")
    assert (result.detail.status, result.detail.engine) == ("optimal", "CLARABEL")
    assert result.detail.value == pytest.approx(0.0, abs=1e-8)
    assert result.message == "CVXPY: CLARABEL says optimal"


def test_an_engine_that_is_not_installed_is_refused_with_those_that_are():
    with pytest.raises(InvalidInput, match=r"did you mean 'CLARABEL'\? \(installed: CLARABEL, "):
        Cvxpy(engine="clarabell")


class Program(Problem[Any]):
    """A problem made of one CVXPY program."""

    name = "test.program"

    make: Any

    def objective(self, solution):
        return float(solution[0])

    def as_cvxpy(self):
        import cvxpy as cp

        x = cp.Variable(1)
        return CvxpyProgram(self.make(cp, x), lambda: x.value)


def empty(cp, x):
    return cp.Problem(cp.Minimize(x[0]), [x >= 1, x <= 0])


def bottomless(cp, x):
    return cp.Problem(cp.Minimize(x[0]), [x <= 0])


def concave(cp, x):
    return cp.Problem(cp.Maximize(cp.square(x[0])), [x <= 1])


def whole(cp, x):
    n = cp.Variable(1, integer=True)
    return cp.Problem(cp.Minimize(x[0]), [x >= n, n >= 1.5])


def test_an_infeasible_program_is_infeasible():
    result = of.solve(Program(make=empty), "cvxpy")
    assert (result.status, result.solution) == (Status.INFEASIBLE, None)


def test_an_unbounded_program_is_diverged():
    with pytest.warns(of.NotConverged, match="the program is unbounded"):
        result = of.solve(Program(make=bottomless), "cvxpy")
    assert (result.status, result.solution) == (Status.DIVERGED, None)


def test_a_program_that_is_not_convex_is_unsuited():
    assert "not convex by CVXPY's rules" in of.why_unsuited(Program(make=concave), Cvxpy())


def test_whole_numbers_go_to_an_engine_that_knows_them():
    assert of.solve(Program(make=whole), "cvxpy").objective == pytest.approx(2.0)


def test_an_engine_that_cannot_take_the_program_is_stalled_with_its_message():
    with pytest.warns(of.NotConverged, match="CVXPY: "):
        result = of.solve(Program(make=whole), "cvxpy", engine="SCS")
    assert (result.status, result.solution) == (Status.STALLED, None)


def test_the_time_budget_reaches_the_engine():
    rng = np.random.default_rng(0)
    large = Minimize(
        LeastSquares(matrix=rng.normal(size=(60, 40)), target=rng.normal(size=60)), over=Simplex()
    )
    with pytest.warns(of.NotConverged):
        result = of.solve(large, "cvxpy", engine="SCS", budget=Budget(time=1e-6))
    assert result.status in (Status.STALLED, Status.TIME_LIMIT)


def test_lbfgs_goes_down_at_every_recorded_iterate():
    result = of.solve(logistic(), "scipy.lbfgs")
    assert all(after <= before for before, after in pairwise(result.trace["objective"]))


def test_a_gradient_that_is_nan_at_the_start_is_reported_as_that() -> None:
    slope = of.from_function(lambda x: x[0] ** 2, 2, gradient=lambda x: np.array([0.0, np.nan]))
    with pytest.warns(of.NotConverged):
        result = of.solve(Minimize(objective=slope), ScipyLBFGS())
    assert result.status is Status.DIVERGED
    assert "the gradient at the start is not finite: entry 1 is nan" in result.message
