"""The basic problem of optimization: an objective over a constraint set."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.constraints import ConstraintSet, CvxpyProgram, WholeSpace
from optiframe.problems.objective import Objective
from optiframe.problems.points import check_point, named
from optiframe.problems.problem import Problem
from optiframe.records.fields import Accepts, Array, as_array
from optiframe.records.record import Record


def _as_point(value: Any, info: ValidationInfo) -> Any:
    """A point of the set to minimize over, or an array."""
    over = info.data.get("over")
    points = np.ndarray if over is None else over.point_type
    if value is None or (points is not np.ndarray and isinstance(value, points)):
        return value
    return as_array(value)


class Minimize(Problem[Any]):
    """Minimize an objective over a constraint set.

    ``Minimize(objective, over=constraint_set)``. The objective is kept as `function`,
    since `objective(solution)` is how every problem judges an answer.
    """

    name = "minimize"

    function: Annotated[
        Objective,
        BeforeValidator(named("objective")),
        Accepts("an objective by name with its parameters, [problem.objective]"),
    ] = Field(alias="objective", description="what to minimize")
    over: Annotated[
        ConstraintSet,
        BeforeValidator(named("constraint set")),
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
        Record.__init__(
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
        check_point(solution, self.point_type, self.function.shape)

    @property
    def point_type(self) -> type:
        return self.over.point_type

    def initial(self) -> Any:
        """The suggested start (a copy), or the point of the set nearest to the origin."""
        return self.over.origin(self.function.shape) if self.start is None else copy.deepcopy(self.start)

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (
            *self.over.recommended(self.name),
            ("scipy.lbfgs", "the objective has a gradient and the constraints are at most bounds"),
            ("scipy.trust-constr", "the constraints are ones that SciPy takes"),
            ("cvxpy", "the problem is convex and can be written for CVXPY"),
        )

    def as_cvxpy(self) -> CvxpyProgram | None:
        cp = require("cvxpy", "reference")
        x = cp.Variable(self.function.shape)
        cost, constraints = self.function.as_cvxpy(x), self.over.as_cvxpy(x)
        if cost is None or constraints is None:
            return None
        return CvxpyProgram(cp.Problem(cp.Minimize(cost), constraints), lambda: np.asarray(x.value))
