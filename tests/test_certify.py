"""Answers are certified against CVXPY by their objectives."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import optiframe as of
from optiframe import (
    Budget,
    CvxpyProgram,
    Formulation,
    Iterate,
    Minimize,
    Objective,
    Problem,
    Projection,
    Solver,
    Status,
)
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.problems.sets.vector_sets import Box, Cardinality, Simplex
from optiframe.testing.certificate import certify, check_against_cvxpy


def boxed(upper=1.0) -> Minimize:
    return Minimize(SquaredDistance(to=[3.0, -2.0, 0.5]), over=Box(lower=0.0, upper=upper))


class Fixed(Solver[Minimize, Any, None]):
    """Answers what it is told to."""

    name = "test.fixed"
    solves = Minimize
    answer: tuple[float, ...]

    def iterates(self, problem, run):
        yield Iterate(np.array(self.answer))


def test_an_optimal_answer_is_certified():
    certificate = check_against_cvxpy("scipy.lbfgs", boxed())
    assert certificate.ok
    assert certificate.problem == "minimize"
    # By hand: the nearest point is (1, 0, .5), half of 2^2 + 2^2 away.
    assert certificate.ours == pytest.approx(4.0)
    assert certificate.reference == pytest.approx(4.0)
    assert abs(certificate.gap) < 1e-6
    assert certificate.violation == 0.0


def test_a_worse_answer_is_an_assertion_error_in_words():
    with pytest.raises(
        AssertionError, match=r"test\.fixed: the answer is worse than CVXPY's: objective 6\.625"
    ):
        check_against_cvxpy(Fixed(answer=(0.0, 0.0, 0.0)), boxed())


def test_an_infeasible_answer_is_named_even_when_its_objective_is_better():
    with pytest.raises(AssertionError, match=r"the answer is 2\.8\d outside the constraints"):
        check_against_cvxpy(Fixed(answer=(3.0, -2.0, 0.5)), boxed())


def test_another_point_with_the_same_objective_is_as_good():
    class Flat(Objective):
        """Sum of the entries: every point of the simplex is optimal."""

        name = "test.flat"

        @property
        def shape(self):
            return (3,)

        def value(self, x):
            return float(np.sum(x))

        def as_cvxpy(self, x):
            import cvxpy as cp

            return cp.sum(x)

    problem = Minimize(Flat(), over=Simplex())
    for corner in np.eye(3):
        assert check_against_cvxpy(Fixed(answer=tuple(corner)), problem).ok


def test_the_tolerance_is_relative_to_the_objective():
    far = Minimize(SquaredDistance(to=[1e4]), over=Box(lower=0.0, upper=1.0))  # optimum about 5e7
    answer = Fixed(answer=(1.0 - 1e-3,))  # costs 10 more: 2e-7 of the optimum
    assert check_against_cvxpy(answer, far, tolerance=1e-6).ok
    with pytest.raises(AssertionError, match="worse"):
        check_against_cvxpy(answer, far, tolerance=1e-7)


class Halved(Minimize):
    """A problem whose program forgets the box."""

    name = "test.halved"

    def as_cvxpy(self):
        import cvxpy as cp

        x = cp.Variable(3)
        return CvxpyProgram(cp.Problem(cp.Minimize(self.function.as_cvxpy(x))), lambda: x.value)


class Scaled(Minimize):
    """A problem whose program has twice its objective."""

    name = "test.scaled"

    def as_cvxpy(self):
        import cvxpy as cp

        x = cp.Variable(3)
        cost = 2 * self.function.as_cvxpy(x)
        return CvxpyProgram(cp.Problem(cp.Minimize(cost), self.over.as_cvxpy(x)), lambda: x.value)


@pytest.mark.parametrize("kind", [Halved, Scaled])
def test_a_program_that_is_not_the_problem_is_found_out(kind):
    problem = kind(boxed().function, over=boxed().over)
    result = of.solve(problem, "scipy.lbfgs")
    certificate = certify(result)
    assert certificate.verdict == "wrong program"
    assert "is not the problem" in certificate.text


def test_a_better_answer_than_the_optimum_is_reported():
    result = of.solve(boxed(), "scipy.lbfgs")

    class Lenient(Minimize):
        """A problem that takes a tighter box for its program than for its answers."""

        name = "test.lenient"

        def as_cvxpy(self):
            return boxed(upper=0.75).as_cvxpy()

    problem = Lenient(boxed().function, over=boxed().over)
    certificate = certify(dataclasses.replace(result, problem=problem))
    assert certificate.verdict == "better"
    assert "better than the optimum" in certificate.text


def test_nothing_with_a_program_is_unsuited():
    problem = Minimize(SquaredDistance(to=[1.0, 2.0]), over=Cardinality(size=1))
    with pytest.raises(of.Unsuited, match="cannot be checked against CVXPY"):
        check_against_cvxpy(Fixed(answer=(0.0, 2.0)), problem)
    assert certify(of.solve(problem, Fixed(answer=(0.0, 2.0)))).verdict == "unsuited"


class Shifted(Problem[Any]):
    """A domain problem: answers are text; the basic problem is a projection onto a box."""

    name = "test.shifted"

    can_encode: bool = True

    def formulate(self):
        return Formulation(
            boxed(),
            interpret=lambda x: " ".join(repr(float(v)) for v in x),
            encode=(lambda text: np.array(text.split(), dtype=float)) if self.can_encode else None,
        )


@pytest.mark.parametrize("can_encode", [True, False])
def test_a_domain_problem_is_certified_where_its_formulation_has_a_program(can_encode):
    result = of.solve(Shifted(can_encode=can_encode), "scipy.lbfgs")
    assert isinstance(result.solution, str)
    certificate = certify(result)
    assert certificate.ok, certificate.text
    assert certificate.problem == "minimize"
    assert certificate.ours == pytest.approx(4.0)


def test_a_projection_is_certified():
    problem = Projection([0.2, -1.0, 3.0], onto=Simplex())
    assert check_against_cvxpy("scipy.trust-constr", problem).ok


class Empty(WholeSpace):
    """No point at all."""

    name = "test.empty"

    def as_cvxpy(self, x):
        return [x >= 1, x <= 0]

    def violation(self, x):
        return 1.0


class SaysInfeasible(Solver[Minimize, Any, None]):
    """Says that there is no feasible point."""

    name = "test.says-infeasible"
    solves = Minimize

    def iterates(self, problem, run):
        return Status.INFEASIBLE, "so it says"
        yield


def test_two_sides_that_find_no_feasible_point_agree():
    certificate = check_against_cvxpy(SaysInfeasible(), Minimize(SquaredDistance(to=[1.0]), over=Empty()))
    assert certificate.text == "both say there is no feasible point"


def test_an_answer_to_an_infeasible_problem_is_refused():
    problem = Minimize(SquaredDistance(to=[1.0]), over=Empty())
    with pytest.warns(of.NotConverged, match="left the set"):
        result = of.solve(problem, Fixed(answer=(1.0,)))
    assert certify(result).verdict == "infeasible"


def test_claiming_infeasibility_of_a_feasible_problem_is_refused():
    with pytest.raises(AssertionError, match="CVXPY says there is an answer with objective 4"):
        check_against_cvxpy(SaysInfeasible(), boxed())


class Falling(Objective):
    """The first entry: no lower bound."""

    name = "test.falling"

    @property
    def shape(self):
        return (2,)

    def value(self, x):
        return float(x[0])

    def gradient(self, x):
        return np.array([1.0, 0.0])

    def as_cvxpy(self, x):
        return x[0]


def test_an_answer_to_an_unbounded_problem_is_refused():
    certificate = certify(of.solve(Minimize(Falling()), Fixed(answer=(-5.0, 0.0))))
    assert certificate.verdict == "worse"
    assert "no lower bound" in certificate.text


def test_cvxpy_certifies_itself_and_a_budget_can_be_given():
    assert check_against_cvxpy("cvxpy", boxed(), budget=Budget(iterations=2), seed=3).ok
