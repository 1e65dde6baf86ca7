"""CUTEst problems by name: a collection, one of its members, and the objective."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from pydantic import AfterValidator, Field, PositiveInt, model_validator

from optiframe import DataSet, InvalidInput, Objective
from optiframe.problems.collection import Collection, in_library
from optiframe.problems.sets.constraint_set import ConstraintSet, ScipyConstraints, WholeSpace
from optiframe.problems.sets.intersection import Intersection
from optiframe.problems.sets.linear_sets import Polyhedron
from optiframe.problems.sets.nonlinear import excess, scipy_constraints
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array
from optiframe_optimizers.collections import s2mpj
from optiframe_optimizers.collections.choosing import Several, Sizes, evenly

Constraints = Literal["none", "bounds", "linear", "nonlinear"]
Instance = Annotated[
    str,
    AfterValidator(lambda given: s2mpj.find(given).name),
    Field(description="name of the problem, such as ROSENBR, in capitals or not"),
]


class CutestObjective(Objective):
    """The objective of a CUTEst problem, with gradient and Hessian.

    Only the name is kept; the problem is loaded from the library where it is used. What cannot be
    evaluated at a point is nan there. An evaluation costs some tenths of a millisecond, in Python.
    """

    name = "cutest"
    reference = (
        "Gratton and Toint, S2MPJ and CUTEst optimization problems for Matlab, Python and Julia (2024)"
    )
    requires = (s2mpj.LIBRARY,)

    instance: Instance

    @cached_property
    def problem(self) -> Any:
        """The problem as the library has it."""
        return s2mpj.load(self.instance)

    @property
    def shape(self) -> tuple[int, ...]:
        return (s2mpj.find(self.instance).variables,)

    def value(self, x: Array) -> float:
        with _quiet():
            try:
                return float(np.asarray(self.problem.fx(s2mpj.column(x))).reshape(()))
            except (ArithmeticError, ValueError, TypeError):  # outside of its domain; a complex number
                return float("nan")

    def gradient(self, x: Array) -> Array:
        with _quiet():
            try:
                return s2mpj.flat(self.problem.fgx(s2mpj.column(x))[1])
            except (ArithmeticError, ValueError, TypeError):
                return np.full(self.shape, np.nan)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        with _quiet():
            try:
                value, gradient = self.problem.fgx(s2mpj.column(x))
                return float(np.asarray(value).reshape(())), s2mpj.flat(gradient)
            except (ArithmeticError, ValueError, TypeError):
                return float("nan"), np.full(self.shape, np.nan)

    def hessian(self, x: Array) -> Array:
        with _quiet():
            try:
                found = self.problem.fgHx(s2mpj.column(x))[2]
                return np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
            except (ArithmeticError, ValueError, TypeError):
                return np.full(2 * self.shape, np.nan)

    def hessian_product(self, x: Array, v: Array) -> Array:
        with _quiet():
            try:
                return s2mpj.flat(self.problem.fHxv(s2mpj.column(x), s2mpj.column(v)))
            except (ArithmeticError, ValueError, TypeError):
                return np.full(self.shape, np.nan)


class CutestConstraints(ConstraintSet):
    """The points at which the constraints of a CUTEst problem lie between their bounds, without its box.

    Only the name is kept, as of the objective. There is no projection; solvers begin at the problem's start.
    """

    name = "cutest"
    convex = False
    reference = CutestObjective.reference
    requires = (s2mpj.LIBRARY,)

    instance: Instance

    @cached_property
    def problem(self) -> Any:
        """The problem as the library has it."""
        return s2mpj.load(self.instance)

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the values."""
        return s2mpj.bound(self.problem.clower), s2mpj.bound(self.problem.cupper)

    def values(self, x: Array) -> Array:
        """What lies between the bounds; nan where it cannot be evaluated."""
        with _quiet():
            try:
                return s2mpj.flat(self.problem.cx(s2mpj.column(x)))
            except (ArithmeticError, ValueError, TypeError):
                return np.full(len(self.sides[0]), np.nan)

    def jacobian(self, x: Array) -> Array:
        """Derivatives of the values."""
        with _quiet():
            try:
                found = self.problem.cJx(s2mpj.column(x))[1]
                return np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
            except (ArithmeticError, ValueError, TypeError):
                return np.full((len(self.sides[0]), x.size), np.nan)

    def violation(self, x: Array) -> float:
        return excess(self.values(x), *self.sides)

    def inside(self, shape: tuple[int, ...]) -> Array:
        """The problem's start, which need not be in the set: nobody knows a point of it."""
        return s2mpj.flat(self.problem.x0)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        size = s2mpj.find(self.instance).variables
        if shape != (size,):
            raise InvalidInput(f"{self.instance} has {size} variables, and the points have shape {shape}")

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints:
        return ScipyConstraints(others=scipy_constraints(self.values, self.jacobian, *self.sides))


class CutestProblem(DataSet):
    """A problem of CUTEst by name, with its constraints and its starting point, at its usual size.

    With the optimum, where its file states one for this size; some of these statements are wrong.
    """

    name = "cutest.problem"
    problem = "minimize"
    reference = CutestObjective.reference
    requires = (s2mpj.LIBRARY,)

    instance: Instance = "ROSENBR"

    def inputs(self) -> dict[str, Any]:
        objective = CutestObjective(instance=self.instance)
        return {
            "objective": objective,
            "over": _constraints(self.instance, objective.problem),
            "start": s2mpj.flat(objective.problem.x0),
            "optimum": s2mpj.optimum(self.instance),
        }

    def checksums(self) -> dict[str, str]:
        found = s2mpj.files(self.instance)
        return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()}

    @classmethod
    def where(cls) -> str:
        return in_library(cls)


class Cutest(Collection):
    """CUTEst problems chosen by size and kind of constraints.

    The problems in S2MPJ at their usual sizes; those that only ask for a feasible point are left out. With
    `count`, so many of them evenly along the alphabet.
    """

    name = "cutest"
    problem = "minimize"
    reference = CutestObjective.reference
    requires = (s2mpj.LIBRARY,)

    variables: Sizes = Field(default=(1, 1000), description="least and greatest number of variables")
    constraints: Annotated[tuple[Constraints, ...], Several] = Field(
        default=("none", "bounds", "linear", "nonlinear"), description="kinds of constraints: one or several"
    )
    count: PositiveInt | None = Field(default=None, description="how many at most; default: all")
    leave_out: Annotated[tuple[str, ...], Several] = Field(
        default=(), description="names of problems that are not wanted"
    )

    @model_validator(mode="after")
    def _names_known(self) -> Self:
        for name in self.leave_out:
            s2mpj.find(name)
        return self

    def members(self) -> Mapping[str, Mapping[str, Any]]:
        unwanted = {name.upper() for name in self.leave_out}
        low, high = self.variables
        found = [
            line.name
            for line in s2mpj.table().values()
            if low <= line.variables <= high
            and line.constraints in self.constraints
            and line.name.upper() not in unwanted
        ]
        if not found:
            kinds = " or ".join(self.constraints)
            raise InvalidInput(f"no CUTEst problem has {low} to {high} variables and constraints: {kinds}")
        return {name: {"name": CutestProblem.name, "instance": name} for name in evenly(found, self.count)}


def _constraints(name: str, problem: Any) -> ConstraintSet:
    """Bounds and rows as a set; linear rows say ``lower <= A x - b <= upper``."""
    sets: list[ConstraintSet] = []
    lower, upper = s2mpj.bound(problem.xlower), s2mpj.bound(problem.xupper)
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        sets.append(Box(lower=lower, upper=upper))
    if s2mpj.find(name).constraints == "nonlinear":
        sets.append(CutestConstraints(instance=name))
    elif getattr(problem, "m", 0):
        with _quiet():
            start = s2mpj.column(problem.x0)
            values, jacobian = problem.cJx(start)[:2]
        rows = sp.csr_array(jacobian)
        shift = rows @ start.reshape(-1) - s2mpj.flat(values)
        low, high = s2mpj.bound(problem.clower), s2mpj.bound(problem.cupper)
        sets.append(Polyhedron(matrix=rows, lower=low + shift, upper=high + shift))
    if len(sets) > 1:
        return Intersection(sets=tuple(sets))
    return sets[0] if sets else WholeSpace()


@contextmanager
def _quiet() -> Iterator[None]:
    """Overflow and the like show as values that are not finite."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
