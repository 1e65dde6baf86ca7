"""The solvers of a projection: the contract, agreement with each other, and what they say when inexact."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.program.support_program import SupportProgram
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.three_view import ThreeView
from optiframe_tvcs.solvers.exact import ExactProjection
from optiframe_tvcs.solvers.first_order import FirstOrderProjection, balance, lipschitz, steps_of
from optiframe_tvcs.solvers.greedy import GreedyProjection
from optiframe_tvcs.solvers.pdhg import PrimalDualProjection

import optiframe
from optiframe import Projection, Solver, solve
from optiframe.solving.result import Status
from optiframe.solving.solve import NotConverged
from optiframe.testing import SolverContract, check_against_cvxpy

from .support_twins import best_worth, papers_set, sets

EXACT: list[Solver] = [ExactProjection(), PrimalDualProjection()]


def gaussian(p: int = 25, seed: int = 0) -> Projection:
    over, rng = papers_set(p, seed)
    return Projection(rng.standard_normal(over.shape), over)


def tied(p: int = 25, seed: int = 0) -> Projection:
    over, rng = papers_set(p, seed)
    return Projection(rng.integers(0, 4, over.shape).astype(np.float64), over)


class _Contract(SolverContract):
    def instances(self) -> Iterable[Projection]:
        return [gaussian(), tied(16, 1)]

    def optimum(self, problem: Projection) -> float:
        return problem.objective(problem.onto.project(problem.point))


class TestPrimalDual(_Contract):
    solver: Solver = PrimalDualProjection()


class TestGreedy(_Contract):
    solver: Solver = GreedyProjection()

    def optimum(self, problem: Projection) -> float | None:
        return None  # it need not reach it


class TestFirstOrder(_Contract):
    solver: Solver = FirstOrderProjection(check=100)
    budget = optiframe.Budget(iterations=40_000)

    def instances(self) -> Iterable[Projection]:
        over = ThreeView.of_matrix((2, 3), total=2, per_row=1, per_column=1)
        return [Projection(np.array([[1.0, 0.3, 0.2], [0.9, -0.6, 0.1]]), over)]


@given(st.data())
def test_exact_solvers_keep_as_much_as_trying_every_support(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    p = over.elements
    v = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=p, max_size=p)), dtype=float)
    for solver in EXACT:
        result = solve(Projection(v, over), solver)
        assert result.status is Status.CONVERGED, solver.name
        assert result.violation == 0.0
        assert float(result.solution @ result.solution) == best_worth(over, v**2)
        assert result.detail.certificate.holds
        assert result.detail.certificate.primal == float(result.solution @ result.solution)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [gaussian, tied])
def test_exact_solvers_agree_with_highs_through_cvxpy(make: type, seed: int) -> None:
    problem = make(100, seed)
    for solver in EXACT:
        assert check_against_cvxpy(solver, problem).ok, solver.name


def test_prices_are_in_the_units_of_the_point_squared() -> None:
    problem = gaussian(100, 3)
    doubled = Projection(2 * problem.point, problem.onto)
    for solver in EXACT:
        prices, four_times = (solve(each, solver).detail.prices for each in (problem, doubled))
        assert four_times.total == 4 * prices.total
        assert np.array_equal(four_times.rows, 4 * prices.rows)


def test_greedy_bounds_what_it_loses() -> None:
    lost = 0
    for seed in range(10):
        problem = gaussian(100, seed)
        best = problem.onto.select_for(problem.point).certificate.primal
        result = solve(problem, GreedyProjection())
        found = result.detail.certificate
        assert found.primal <= best * (1 + 1e-12)
        assert found.primal + found.gap >= best * (1 - 1e-12)
        assert found.primal >= best / 2
        assert found.holds == (not result.findings)
        lost += not found.holds
    assert lost > 0


def test_greedy_can_lose_nearly_half_and_says_so() -> None:
    # The largest element is in the row of the second and the column of the third.
    over = ThreeView.load(rows={"labels": [0, 0, 1], "bounds": 1}, columns={"labels": [0, 1, 0], "bounds": 1})
    result = solve(Projection(np.array([1.001, 1.0, 1.0]), over), GreedyProjection())
    found = result.detail.certificate
    assert found.primal == pytest.approx(1.001**2)
    assert not found.holds
    assert found.primal + found.gap >= 2.0
    assert "loses" in result.findings[0].text


def test_a_support_that_loses_next_to_nothing_is_not_said_to_lose_nothing() -> None:
    over = ThreeView.load(rows={"labels": [0, 0, 1], "bounds": 1}, columns={"labels": [0, 1, 0], "bounds": 1})
    result = solve(Projection(np.sqrt([1.0, 1 - 1e-12, 2e-12]), over), GreedyProjection())
    assert "is not the best and loses under 0.1% of its worth" in result.findings[0].text


@pytest.mark.parametrize("solver", [*EXACT, GreedyProjection(), FirstOrderProjection()], ids=lambda s: s.name)
def test_nothing_to_choose_is_proved_at_once(solver: Solver) -> None:
    for over in (ThreeView(size=0, total=2), ThreeView.of_matrix((3, 3), 2, 1, [0, 1, 1])):
        result = solve(Projection(np.zeros(over.shape), over), solver)
        assert not result.solution.any()
        assert result.detail.certificate.holds
        assert result.detail.certificate.gap == 0.0


def hessian(program: SupportProgram, worth: np.ndarray) -> np.ndarray:
    """That of Eq. 7 with all its squares at work."""
    a = program.matrix.toarray()
    groups, p = a.shape
    gap = np.concatenate([-worth, program.bounds, np.ones(p)])
    short = np.hstack([np.zeros((p, p)), a.T, np.eye(p)])
    over = np.hstack([a, np.zeros((groups, groups + p))])
    return np.outer(gap, gap) + short.T @ short + over.T @ over


def test_the_papers_gradient_has_the_curvature_that_is_claimed() -> None:
    program = SupportProgram.of(gaussian(25, 0))
    largest = np.linalg.eigvalsh(hessian(program, program.relative * float(program.point.max() ** 2)))[-1]
    assert largest <= lipschitz(program, program.relative * float(program.point.max() ** 2)) <= 1.2 * largest


@pytest.mark.parametrize("form", ["balanced", pytest.param("printed", marks=pytest.mark.slow)])
def test_the_papers_gradient_reaches_the_best_support_at_p_25(form: str) -> None:
    problem = gaussian(25, 0)
    result = solve(problem, FirstOrderProjection(form=form), budget={"iterations": 100_000})
    assert result.detail.certificate.holds
    assert result.findings == ()
    assert result.objective == pytest.approx(problem.objective(problem.onto.project(problem.point)))
    assert (result.iterations > 1000) == (form == "printed")


_UNEVEN = np.array([[1, 2, 3, 4], [5, -6, 7, 8], [0.1, 0.2, 0.3, 9]])


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1 / 30, 1e150, 1e-150])
def test_the_unit_of_the_point_changes_no_step_of_the_balanced_gradient(unit: float) -> None:
    plain = gaussian(100, 1)
    found = solve(Projection(plain.point * unit, plain.onto), FirstOrderProjection())
    assert found.status is Status.CONVERGED
    assert found.detail.certificate.holds
    assert np.array_equal(found.solution, plain.onto.project(plain.point) * unit)
    assert found.iterations == 2000


def test_of_supports_whose_gaps_are_no_float64_the_better_is_kept() -> None:
    plain = gaussian(100, 1)
    huge = Projection(plain.point * 2.0**664, plain.onto)
    few = {"iterations": 200}  # it proves its answer after 2,000
    with pytest.warns(NotConverged):
        ends = [solve(each, FirstOrderProjection(), budget=few).solution for each in (plain, huge)]
    assert ends[0].any()
    assert np.array_equal(ends[0] * 2.0**664, ends[1])


def test_tied_shares_below_one_half_are_rounded_to_what_fits() -> None:
    over = ThreeView.of_matrix((4, 5), total=6, per_row=2, per_column=[1, 2, 1, 2, 1])
    found = solve(Projection(np.ones((4, 5)), over), FirstOrderProjection())
    assert (found.status, found.objective) == (Status.CONVERGED, pytest.approx(7.0))


def test_the_balanced_steps_are_no_longer_than_the_hessian_allows() -> None:
    program = SupportProgram.of(gaussian(25, 0))
    worth = program.relative * balance(program)
    roots = np.sqrt(steps_of(program, worth))
    assert np.linalg.eigvalsh(roots[:, None] * hessian(program, worth) * roots)[-1] <= 1.0


def test_the_papers_gradient_says_what_it_has_not_proved_and_stays_in_the_set() -> None:
    over = ThreeView.of_matrix((3, 4), total=4, per_row=2, per_column=1)
    with pytest.warns(optiframe.NotConverged):
        found = solve(
            Projection(_UNEVEN, over), FirstOrderProjection(form="printed"), budget={"iterations": 2000}
        )
    assert not found.detail.certificate.holds
    assert found.violation == 0.0
    assert [finding.level for finding in found.findings] == ["warning"]
    assert "not the best" in found.findings[0].text


@pytest.mark.parametrize("solver", [*EXACT, GreedyProjection()], ids=lambda solver: solver.name)
def test_small_entries_are_kept_beside_large_ones(solver: Solver) -> None:
    v = np.array([1e4, 1.0, 2.0, 3.0])  # squares beyond the tolerances of floating-point engines
    found = solve(Projection(v, ThreeView(size=4, total=3)), solver)
    assert found.solution.tolist() == [1e4, 0.0, 2.0, 3.0]
    assert found.detail.certificate.holds


@pytest.mark.parametrize(
    "solver", [*EXACT, GreedyProjection(), FirstOrderProjection()], ids=lambda solver: solver.name
)
def test_entries_whose_squares_are_no_float64_are_projected_all_the_same(solver: Solver) -> None:
    over = ThreeView.of_matrix((4, 5), total=6, per_row=2, per_column=1)
    v = np.random.default_rng(0).standard_normal((4, 5))
    huge, plain = (solve(Projection(v * size, over), solver) for size in (2.0**664, 1.0))
    assert (huge.status, huge.objective) == (plain.status, np.inf)
    assert np.array_equal(huge.solution, plain.solution * 2.0**664)
    assert [each.identifier for each in huge.findings] == [each.identifier for each in plain.findings]


@pytest.mark.parametrize(("size", "said"), [(1e-200, "too small"), (1e200, "too large")])
def test_the_printed_form_says_when_squares_leave_the_numbers(size: float, said: str) -> None:
    problem = Projection(np.full(3, size), ThreeView(size=3, total=1))
    with pytest.warns(UserWarning, match=said):
        found = solve(problem, FirstOrderProjection(form="printed"))
    assert found.status is Status.DIVERGED


@pytest.mark.parametrize("solver", ["cvxpy", "cvxpy.highs"])
def test_answers_of_cvxpy_are_judged_by_the_exact_certificate(solver: str) -> None:
    over = ThreeView(total=2, size=4)
    proved = optiframe.solve(Projection([1e200, 3e200, 2e200, -4e200], onto=over), solver, progress=False)
    assert (proved.status, proved.findings) == ("converged", ())  # and not diverged as the objective is inf
    worse = optiframe.solve(Projection([1e200, 1, 2, 3], onto=over), solver, progress=False)
    assert worse.status == "finished"
    assert [finding.identifier for finding in worse.findings] == ["projection.not-proved-best"]


@pytest.mark.parametrize("solver", ["cvxpy", "cvxpy.highs"])
def test_cvxpy_refuses_a_point_without_entries(solver: str) -> None:
    problem = Projection(np.zeros(0), onto=ThreeView(total=0, size=0))
    with pytest.raises(optiframe.Unsuited, match="the point has no entries"):
        optiframe.solve(problem, solver, progress=False)


class Overconfident(Solver[Projection, np.ndarray, Selection]):
    """Says that the best entry alone is the projection, and carries the judgement that it is not."""

    name = "test.overconfident"
    solves = Projection

    def iterates(self, problem: Projection, run: optiframe.Run) -> optiframe.Iterates:
        x = np.where(problem.point == problem.point.max(), problem.point, 0.0)
        yield optiframe.Iterate(x, residual=0.0, detail=problem.onto.judge(problem.point, x))


def test_an_answer_that_is_not_proved_best_has_a_finding_whatever_the_solver_says() -> None:
    found = solve(gaussian(), Overconfident())
    assert (found.status, found.detail.certificate.holds) == (Status.CONVERGED, False)
    assert [each.identifier for each in found.findings] == ["projection.not-proved-best"]
    with pytest.warns(NotConverged):
        early = solve(gaussian(100, 1), PrimalDualProjection(check=1), budget={"iterations": 1})
    assert [each.identifier for each in early.findings] == ["projection.not-proved-best"]
