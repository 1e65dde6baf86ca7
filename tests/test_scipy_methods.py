"""SciPy's methods by name: the contract, their limits, and what they cannot take."""

from __future__ import annotations

import numpy as np
import pytest

import optiframe as of
from optiframe import Budget, Minimize, Status, Unsuited
from optiframe.methods import scipy_global, scipy_local
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.nonlinear import Nonlinear
from optiframe.problems.sets.vector_sets import Box, L2Ball
from optiframe.testing import SolverContract

LOCAL = (
    scipy_local.NelderMead,
    scipy_local.Powell,
    scipy_local.Cobyla,
    scipy_local.Cobyqa,
    scipy_local.ConjugateGradients,
    scipy_local.Bfgs,
    scipy_local.NewtonCg,
    scipy_local.Tnc,
    scipy_local.Slsqp,
    scipy_local.Dogleg,
    scipy_local.TrustNcg,
    scipy_local.TrustExact,
)
LONG = (scipy_local.Cobyla, scipy_local.Cobyqa)  # ten times as long as the others
GLOBAL = (
    scipy_global.DifferentialEvolution,
    scipy_global.DualAnnealing,
    scipy_global.Shgo,
    scipy_global.Direct,
    scipy_global.BasinHopping,
    scipy_global.Brute,
)


def bowl() -> LeastSquares:
    return LeastSquares(matrix=[[2.0, 0.5], [0.0, 1.0], [1.0, 1.0]], target=[2.0, 3.0, 1.0])


class OfScipy(SolverContract):
    """The contract on two smooth problems and one within bounds, as far as the method takes them."""

    budget = Budget(iterations=500)

    def instances(self):
        problems = [Minimize(bowl()), Minimize(bowl(), over=Box(lower=-4.0, upper=[0.5, 4.0]))]
        return [each for each in problems if of.why_unsuited(each, self.solver) is None]


for _cls in (*LOCAL, scipy_global.DifferentialEvolution, scipy_global.Shgo):
    _name = f"Test{_cls.__name__}"
    _contract = type(_name, (OfScipy,), {"solver": _cls(), "__doc__": _cls.__doc__})
    globals()[_name] = pytest.mark.slow(_contract) if _cls in LONG else _contract


class TestLeastSquares(OfScipy):
    """Residuals within bounds and without."""

    solver = of.solver("scipy.least-squares")


class TestLsqLinear(OfScipy):
    """One matrix within bounds and without."""

    solver = of.solver("scipy.lsq-linear")


class TestNnls(SolverContract):
    """Active sets."""

    solver = "scipy.nnls"
    problem = staticmethod(lambda: Minimize(bowl(), over="non-negative"))


def program() -> Minimize:
    return Minimize(
        {"name": "linear", "cost": [1.0, -2.0]},
        over=[
            {"name": "box", "lower": 0.0, "upper": 3.0},
            {"name": "half-space", "normal": [1.0, 2.0], "offset": 4.5},
        ],
    )


class TestLinearProgram(SolverContract):
    """HiGHS, continuous."""

    solver = "scipy.linprog"
    problem = staticmethod(program)


class TestMilp(SolverContract):
    """HiGHS, branch and bound."""

    solver = "scipy.milp"
    problem = staticmethod(program)


def camel() -> of.Objective:
    """The six-hump camel function: six local minima, two of them global, of value -1.0316."""

    def value(x):
        a, b = x
        return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2

    return of.from_function(value, 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")  # a search may end at its limit
@pytest.mark.parametrize("method", GLOBAL, ids=lambda cls: cls.name)
def test_global_methods_find_the_lowest_of_six_minima(method: type) -> None:
    problem = Minimize(camel(), over=Box(lower=[-3.0, -2.0], upper=[3.0, 2.0]))
    result = of.solve(problem, method(), budget=Budget(iterations=400), progress=False)
    assert result.objective == pytest.approx(-1.0316285, abs=1e-4)
    again = of.solve(problem, method(), budget=Budget(iterations=400), progress=False)
    np.testing.assert_array_equal(result.solution, again.solution)


@pytest.mark.slow
@pytest.mark.parametrize("method", [scipy_local.Cobyla, scipy_local.Cobyqa, scipy_local.Slsqp])
def test_constraints_are_kept_and_their_multipliers_make_the_residual(method: type) -> None:
    problem = Minimize(bowl(), over=L2Ball(radius=1.0))
    result = of.solve(problem, method(), progress=False)
    exact = of.solve(problem, "gradient.projected", budget={"tolerance": 1e-10}, progress=False)
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)
    assert result.violation <= 1e-6
    if method is scipy_local.Slsqp:
        assert result.status is Status.CONVERGED
        assert result.trace["residual"][0] > 1e-3
    else:
        assert np.isnan(result.trace["residual"]).all()


def test_a_tighter_tolerance_reaches_the_methods_own() -> None:
    problem = Minimize(bowl())
    far, near = (
        of.solve(problem, "scipy.nelder-mead", budget={"tolerance": tolerance}, progress=False)
        for tolerance in (1e-1, 1e-9)
    )
    assert far.iterations < near.iterations
    assert near.objective < far.objective


@pytest.mark.parametrize(
    ("method", "problem", "reason"),
    [
        (
            "scipy.cg",
            Minimize(bowl(), over=Box(lower=0.0)),
            "the method takes no bounds, and the set is 'box'",
        ),
        ("scipy.tnc", Minimize(bowl(), over="simplex"), "more than bounds, and the method takes bounds only"),
        (
            "scipy.direct",
            Minimize(bowl(), over=Box(lower=0.0)),
            "not every entry of a point has a lower and an upper",
        ),
        (
            "scipy.slsqp",
            Minimize(bowl(), over={"name": "l1-ball", "radius": 1.0}),
            "cannot be written as SciPy",
        ),
        ("scipy.bfgs", Minimize(SquaredDistance(to=[1.0])), None),
    ],
)
def test_what_a_method_cannot_take_is_refused_in_words(
    method: str, problem: Minimize, reason: str | None
) -> None:
    if reason is None:
        assert of.why_unsuited(problem, of.solver(method)) is None
        return
    with pytest.raises(Unsuited, match=reason):
        of.solve(problem, method)


@pytest.mark.parametrize("method", ["scipy.cobyla", "scipy.dual-annealing", "scipy.shgo", "scipy.direct"])
def test_an_entry_with_one_value_only_is_refused_where_a_method_needs_an_interval(method: str) -> None:
    problem = Minimize(bowl(), over=Box(lower=[-1.0, 0.5], upper=[1.0, 0.5]))
    with pytest.raises(Unsuited, match="one value only"):
        of.solve(problem, method)


def test_a_method_without_a_callback_ends_at_its_evaluations_with_the_best_point() -> None:
    problem = Minimize(camel(), over=Box(lower=[-3.0, -2.0], upper=[3.0, 2.0]))
    with pytest.warns(of.NotConverged, match="with the best point of them"):
        result = of.solve(problem, "scipy.brute", budget=Budget(evaluations=50), progress=False)
    assert result.status is Status.EVALUATION_LIMIT
    assert problem.violation(result.solution) == 0.0


def plain(x):
    """A function that autograd cannot follow."""
    return float((x[0] - 1) ** 2 + abs(x[1] + 0.5) ** 1.5)


@pytest.mark.slow
def test_a_function_that_only_gives_values_is_solved_without_a_gradient() -> None:
    problem = Minimize(of.from_function(plain, 2))
    result = of.solve(problem, progress=False)
    assert result.settings["solver"]["name"] == "scipy.cobyqa"
    np.testing.assert_allclose(result.solution, [1.0, -0.5], atol=1e-4)
    with pytest.raises(Unsuited, match=r"autograd cannot follow the function 'plain' .* give its gradient"):
        of.solve(problem, "scipy.lbfgs")


@pytest.mark.parametrize("method", ["scipy.shgo", "scipy.dual-annealing"])
def test_a_search_that_meets_no_number_ends_without_an_answer(method: str) -> None:
    problem = Minimize(of.from_function(lambda x: np.nan, 2), over=Box(lower=-1.0, upper=1.0))
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, method, progress=False)
    assert result.status is Status.STALLED
    assert result.solution is None


def test_a_grid_that_fills_the_memory_and_a_point_without_entries_are_refused() -> None:
    with pytest.raises(Unsuited, match="20 points along each of 9 entries"):
        of.solve(Minimize(SquaredDistance(to=np.ones(9)), over=Box(lower=-1.0, upper=1.0)), "scipy.brute")
    for method in ("scipy.nelder-mead", "scipy.cobyla", "scipy.slsqp"):
        with pytest.raises(Unsuited, match="has no entries"):
            of.solve(Minimize(SquaredDistance(to=[])), method)


def test_constraints_whose_derivatives_become_infinite_end_the_run_in_words() -> None:
    def slopes(x):
        return np.diag(np.where(x < 2.0, np.inf, 1.0))

    over = Nonlinear(function=lambda x: x, lower=np.array([1.0, -9.0]), jacobian=slopes)
    problem = Minimize(SquaredDistance(to=[0.0, 0.0]), over=over, start=np.array([3.0, 3.0]))
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, "scipy.slsqp", progress=False)
    assert np.isnan(result.trace["residual"][-1])
