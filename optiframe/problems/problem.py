"""Problems: immutable data plus a way to judge an answer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.constraints import ConstraintSet, CvxpyProgram, WholeSpace
from optiframe.problems.objective import Objective, SquaredDistance
from optiframe.records.fields import Accepts, AnyArray, Array, as_array
from optiframe.records.record import Described

S = TypeVar("S")

Columns = Mapping[str, Any]
"""A table as column name -> sequence of values, all of one length."""


@dataclass(frozen=True)
class Finding:
    """One sentence on whether an answer can be believed.

    `level` is "note" (good to know), "warning" (part of the answer may be wrong) or
    "error" (do not use the answer); `about` names the workers, items or tasks meant.
    """

    level: Literal["note", "warning", "error"]
    text: str
    about: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Formulation:
    """A more basic problem with the same answer.

    `interpret` turns that problem's solution into the domain's; `encode`, where given, is
    its inverse: it carries a starting point inward and lets the domain problem be judged
    by the basic problem's objective.
    """

    problem: Problem[Any]
    interpret: Callable[[Any], Any]
    encode: Callable[[Any], Any] | None = None


class Problem(Described, Generic[S]):
    """What is to be solved, and how an answer (of type `S`) is judged.

    Lifetime: built once from validated inputs, never changed, shared between solvers and
    pickled to other processes (cached properties are dropped on the way and rebuilt).
    What changes the objective belongs here and not to a solver.

    Class attribute `better` says of each metric whether "lower" or "higher" is better; a
    comparison ranks solvers by those it names and only shows the others.
    """

    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {}

    @property
    def point_type(self) -> type | None:
        """What a point is, for problems over a space of points; None for any other problem."""
        return None

    def objective(self, solution: S) -> float:
        """Lower is better; nan when the problem has none or this solution carries too little.

        By default the objective of the formulated problem, where the solution can be encoded.
        """
        formulation = self.formulation
        if formulation is None or formulation.encode is None:
            return float("nan")
        encoded = formulation.encode(solution)
        return float("nan") if encoded is None else formulation.problem.objective(encoded)

    def violation(self, solution: S) -> float:
        """How far outside the constraints the solution is; 0.0 when feasible."""
        return 0.0

    def metrics(self, solution: S) -> dict[str, float]:
        """Scores against a known truth, when there is one; empty otherwise."""
        return {}

    def chance(self) -> dict[str, float]:
        """By metric, the score of an answer that never looked at the data; empty by default.

        The contract of a solver (`optiframe.testing`) holds its answer against these, in the direction
        that `better` gives: only scores that every sensible method beats on an easy problem.
        """
        return {}

    def progress(self, solution: S) -> dict[str, float]:
        """Scores of a recorded iterate, which become columns of the trace; empty by default.

        Asked off the solver's clock, for every recorded iterate: it should cost about as much as the
        objective. A column that the solver itself writes under such a name goes before it.
        """
        return {}

    def formulate(self) -> Formulation | None:
        """A more basic problem with the same answer, or None. Called once; see `formulation`."""
        return None

    @cached_property
    def formulation(self) -> Formulation | None:
        """`formulate()`, computed once and dropped when pickled."""
        return self.formulate()

    def diagnose(self, solution: S) -> tuple[Finding, ...]:
        """The trust report: what speaks for or against believing this solution, in words."""
        return ()

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` when this has not the form of a solution: its type, its shape.

        The core asks it about a solver's first iterate; fine by default.
        """

    def as_cvxpy(self) -> CvxpyProgram | None:
        """The whole problem as a CVXPY program, where it is convex; None otherwise."""
        return None

    def answer(self, solution: S) -> dict[str, Columns]:
        """The solution as tables, the main one first; written to CSV or Parquet by the command line.

        By default a record gives one table for each field, anything else one table.
        """
        if is_dataclass(solution):
            parts = {part.name: getattr(solution, part.name) for part in fields(solution)}
            return {name: flat_table(np.asarray(part)) for name, part in parts.items()}
        return {"solution": flat_table(np.asarray(solution))}


def flat_table(values: Array) -> Columns:
    """An array as a table of indices and values; a number is an array of one."""
    values = np.atleast_1d(values)
    if values.ndim == 1:
        return {"index": np.arange(len(values)), "value": values}
    grid = np.indices(values.shape).reshape(values.ndim, -1)
    names = ["row", "column"] if values.ndim == 2 else [f"index_{i}" for i in range(values.ndim)]
    return {**dict(zip(names, grid, strict=True)), "value": values.ravel()}


def _as_point(value: Any, info: ValidationInfo) -> Any:
    """A point of the set to minimize over, or an array."""
    over = info.data.get("over")
    points = np.ndarray if over is None else over.point_type
    if value is None or (points is not np.ndarray and isinstance(value, points)):
        return value
    return as_array(value)


def _named(kind: str) -> Callable[[Any], Any]:
    """A validator that builds an objective or set from the table that names it."""

    def build(value: Any) -> Any:
        if isinstance(value, str | Mapping):
            from optiframe.registry import registry

            return registry.build(kind, value)
        return value

    return build


class Minimize(Problem[Any]):
    """Minimize an objective over a constraint set.

    ``Minimize(objective, over=constraint_set)``. The objective is kept as `function`,
    since `objective(solution)` is how every problem judges an answer.
    """

    name = "minimize"

    function: Annotated[
        Objective,
        BeforeValidator(_named("objective")),
        Accepts("an objective by name with its parameters, [problem.objective]"),
    ] = Field(alias="objective", description="what to minimize")
    over: Annotated[
        ConstraintSet,
        BeforeValidator(_named("constraint set")),
        Accepts("a constraint set by name with its parameters, [problem.over]"),
    ] = Field(default_factory=WholeSpace, description="where the answer may lie; default: anywhere")
    start: Annotated[
        Any, PlainValidator(_as_point), Accepts("array, or path of a CSV or NPY file; a point of the set")
    ] = Field(default=None, description="where a solver begins unless told otherwise")

    def __init__(
        self,
        objective: Objective | Mapping[str, Any] | str,
        over: ConstraintSet | Mapping[str, Any] | str | None = None,
        start: Any = None,
        **unknown: Any,
    ) -> None:
        given = {"over": over, "start": start}
        Described.__init__(
            self, objective=objective, **{k: v for k, v in given.items() if v is not None}, **unknown
        )

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        self.over.check_shape(self.function.shape)
        takes, holds = self.function.point_type, self.over.point_type
        if takes is not holds:
            raise InvalidInput(
                f"the objective {self.function.name!r} takes {takes.__name__} points, "
                f"the set {self.over.name!r} holds {holds.__name__} points"
            )
        if self.start is not None and self.start.shape != self.function.shape:
            raise InvalidInput(
                f"start has shape {self.start.shape}, the objective takes {self.function.shape}"
            )
        return self

    def objective(self, solution: Array) -> float:
        return self.function.value(solution)

    def violation(self, solution: Array) -> float:
        return self.over.violation(solution)

    def check(self, solution: Any) -> None:
        _check_point(solution, self.point_type, self.function.shape)

    @property
    def point_type(self) -> type:
        return self.over.point_type

    def initial(self) -> Any:
        """The suggested start (a copy), or the point of the set nearest to the origin."""
        return self.over.origin(self.function.shape) if self.start is None else copy.deepcopy(self.start)

    def as_cvxpy(self) -> CvxpyProgram | None:
        cp = require("cvxpy", "reference")
        x = cp.Variable(self.function.shape)
        cost, constraints = self.function.as_cvxpy(x), self.over.as_cvxpy(x)
        if cost is None or constraints is None:
            return None
        return CvxpyProgram(cp.Problem(cp.Minimize(cost), constraints), lambda: np.asarray(x.value))


class Projection(Problem[Any]):
    """Find the point of a set nearest to a given point: least half squared distance."""

    name = "projection"

    point: AnyArray = Field(description="what to project")
    onto: Annotated[
        ConstraintSet,
        BeforeValidator(_named("constraint set")),
        Accepts("a constraint set by name with its parameters, [problem.onto]"),
    ] = Field(description="the set to project onto")

    def __init__(self, point: Any, onto: ConstraintSet | Mapping[str, Any] | str, **unknown: Any) -> None:
        Described.__init__(self, point=point, onto=onto, **unknown)

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        self.onto.check_shape(self.point.shape)
        return self

    def objective(self, solution: Array) -> float:
        return self.onto.distance(solution, self.point) ** 2 / 2

    def check(self, solution: Any) -> None:
        _check_point(solution, self.point_type, self.point.shape)

    def violation(self, solution: Array) -> float:
        return self.onto.violation(solution)

    @property
    def point_type(self) -> type:
        return self.onto.point_type

    def formulate(self) -> Formulation | None:
        # Half the squared distance over the set: lets every Minimize solver take a projection.
        if self.onto.point_type is not SquaredDistance.point_type:
            return None
        return Formulation(
            Minimize(SquaredDistance(to=self.point), over=self.onto), interpret=_same, encode=_same
        )

    def as_cvxpy(self) -> CvxpyProgram | None:
        require("cvxpy", "reference")
        return self.onto.projection_as_cvxpy(self.point)


def _same(x: Any) -> Any:
    return x


def _check_point(point: Any, kind: Any, shape: tuple[int, ...]) -> None:
    """Raise `InvalidInput` unless `point` is one of this type and shape."""
    if not isinstance(point, kind):
        raise InvalidInput(f"a point is of type {kind.__name__}, and this is of type {type(point).__name__}")
    if point.shape != shape:
        raise InvalidInput(f"a point has the shape {shape}, and this has {point.shape}")
    if kind is np.ndarray and point.dtype.kind not in "fiu":
        raise InvalidInput(f"a point holds real numbers, and this holds {point.dtype}")
