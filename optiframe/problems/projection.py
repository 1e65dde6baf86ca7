"""The nearest point of a set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from optiframe.errors import require
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.points import check_point, named, table
from optiframe.problems.problem import Formulation, Problem
from optiframe.problems.sets.constraint_set import ConstraintSet, CvxpyProgram
from optiframe.records.fields import Accepts, AnyArray, Array
from optiframe.records.record import Record


class Projection(Problem[Any]):
    """Find the point of a set nearest to a given point: least half squared distance."""

    name = "projection"

    point: AnyArray = Field(description="what to project")
    onto: Annotated[
        ConstraintSet,
        BeforeValidator(named("constraint set")),
        PlainSerializer(table),
        Accepts("a constraint set by name with its parameters, [problem.onto]"),
    ] = Field(description="the set to project onto")

    def __init__(
        self,
        point: Any = None,
        onto: ConstraintSet | Mapping[str, Any] | str | Sequence[Any] | None = None,
        **unknown: Any,
    ) -> None:
        given = {"point": point, "onto": onto}
        Record.__init__(self, **{k: v for k, v in given.items() if v is not None}, **unknown)

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        self.onto.check_shape(self.point.shape)
        return self

    def objective(self, solution: Array) -> float:
        distance = self.onto.distance(solution, self.point)
        return distance * distance / 2  # a power would raise where this is inf

    def check(self, solution: Any) -> None:
        check_point(solution, self.point_type, self.point.shape)

    def violation(self, solution: Array) -> float:
        return self.onto.violation(solution)

    def lacks(self, operations: Sequence[Callable[..., Any]]) -> str | None:
        return self.onto.lacks(*(each for each in operations if hasattr(ConstraintSet, each.__name__)))

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

    def recommended(self) -> Sequence[tuple[str, str]]:
        return self.onto.recommended(self.name)

    def as_cvxpy(self) -> CvxpyProgram | None:
        require("cvxpy", "reference")
        return self.onto.projection_as_cvxpy(self.point)


def _same(x: Any) -> Any:
    return x
