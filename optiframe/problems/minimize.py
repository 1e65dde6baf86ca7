"""The basic problems of optimization: an objective over a constraint set, with regularizers or without."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, ValidationInfo, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.findings import Finding
from optiframe.problems.duality import duality_gap
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.points import check_point, named, table
from optiframe.problems.problem import Formulation, Problem
from optiframe.problems.regularizers.proximal import Proximal
from optiframe.problems.regularizers.regularizer import Regularizer, Terms
from optiframe.problems.sets.constraint_set import ConstraintSet, CvxpyProgram, WholeSpace
from optiframe.problems.splitting import without_regularizers
from optiframe.problems.stated_optimum import beside_optimum
from optiframe.records.fields import Accepts, Array, as_array
from optiframe.records.record import Record


def _as_point(value: Any, info: ValidationInfo) -> Any:
    """A point of the set to minimize over, or an array."""
    over = info.data.get("over")
    points = np.ndarray if over is None else over.point_type
    if value is None or (points is not np.ndarray and isinstance(value, points)):
        return value
    return as_array(value)


class Composite(Problem[Any]):
    """Minimize an objective plus regularizers over a constraint set.

    ``Composite(objective, over=constraint_set, plus=regularizer)``. The objective is kept as `function`,
    since `objective(solution)` is how every problem judges an answer. `plus` may be one regularizer or
    several, which are added up; without any the problem is a `Minimize`, which is the special case that
    most solvers take. Where the `optimum` is known, results say how far above it they end, and comparisons
    measure their gaps from it.
    """

    name = "composite"
    hashed_where_given = ("optimum",)

    function: Annotated[
        Objective,
        BeforeValidator(named("objective")),
        PlainSerializer(table),
        Accepts("an objective by name with its parameters, [problem.objective]"),
    ] = Field(alias="objective", description="what to minimize")
    over: Annotated[
        ConstraintSet,
        BeforeValidator(named("constraint set")),
        PlainSerializer(table),
        Accepts("a constraint set by name with its parameters, [problem.over]"),
    ] = Field(default_factory=WholeSpace, description="where the answer may lie; default: anywhere")
    plus: Terms = Field(default=(), description="regularizers added to the objective; default: none")
    start: Annotated[
        Any, PlainValidator(_as_point), Accepts("array, or path of a CSV or NPY file; a point of the set")
    ] = Field(default=None, description="where a solver begins unless told otherwise")
    optimum: float | None = Field(default=None, description="the least objective, where it is known")

    def __init__(
        self,
        objective: Objective | Mapping[str, Any] | str | None = None,
        over: ConstraintSet | Mapping[str, Any] | str | Sequence[Any] | None = None,
        plus: Regularizer | Mapping[str, Any] | str | Sequence[Any] | None = None,
        start: Any = None,
        optimum: float | None = None,
        **unknown: Any,
    ) -> None:
        given = {"objective": objective, "over": over, "plus": plus, "start": start, "optimum": optimum}
        Record.__init__(self, **{k: v for k, v in given.items() if v is not None}, **unknown)

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        self.over.check_shape(self.function.shape)
        for term in self.plus:
            term.check_shape(self.function.shape)
        takes, holds = self.function.point_type, self.over.point_type
        if takes is not holds:
            raise InvalidInput(
                f"the objective {self.function.known_as!r} takes {takes.__name__} points, "
                f"the set {self.over.name!r} holds {holds.__name__} points"
            )
        if self.start is not None and self.start.shape != self.function.shape:
            raise InvalidInput(
                f"start has shape {self.start.shape}, the objective takes {self.function.shape}"
            )
        return self

    def objective(self, solution: Array) -> float:
        return self.function.value(solution) + sum(term.value(solution) for term in self.plus)

    def violation(self, solution: Array) -> float:
        return self.over.violation(solution)

    def duality_gap(self, solution: Any) -> float | None:
        return duality_gap(self.function, self.proximal, solution)

    def known_optimum(self) -> float | None:
        return self.optimum

    def diagnose(self, solution: Any) -> tuple[Finding, ...]:
        return beside_optimum(self, solution)

    def check(self, solution: Any) -> None:
        check_point(solution, self.point_type, self.function.shape)

    @property
    def point_type(self) -> type:
        return self.over.point_type

    def initial(self) -> Any:
        """The suggested start (a copy), or a point of the set: the nearest to the origin, where it tells."""
        return self.over.inside(self.function.shape) if self.start is None else copy.deepcopy(self.start)

    @cached_property
    def proximal(self) -> Proximal:
        """The constraint set and the regularizers together: their proximal step, or why there is none."""
        return Proximal(self.over, self.plus)

    def lacks(self, operations: Sequence[Callable[..., Any]]) -> str | None:
        """Which of these operations its objective and its set have not, in words; None when they have all."""
        of_set = [each for each in operations if hasattr(ConstraintSet, each.__name__)]
        of_objective = [each for each in operations if hasattr(Objective, each.__name__)]
        return self.function.lacks(*of_objective) or self.over.lacks(*of_set)

    def formulate(self) -> Formulation | None:
        if not self.plus:
            same = Minimize(self.function, over=self.over, start=self.start, optimum=self.optimum)
            return Formulation(same, interpret=_same, encode=_same)
        split = without_regularizers(self.function, self.over, self.plus)
        if split is None:
            return None
        start = None if self.start is None else split.encode(self.start)
        return Formulation(
            Minimize(split.objective, over=split.over, start=start, optimum=self.optimum),
            split.interpret,
            split.encode,
        )

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (
            ("coordinate.lasso", "the objective is least squares, the regularizer a sum of absolute values"),
            ("gradient.proximal", "the regularizer has a proximal step"),
            ("cvxpy", "the problem is convex and can be written for CVXPY"),
            ("primal-dual.pdhg", "the objective is quadratic and the constraints are linear"),
            ("scipy.lbfgs", "the regularizer can be split into bounds and smooth terms"),
        )

    def as_cvxpy(self) -> CvxpyProgram | None:
        cp = require("cvxpy", "reference")
        x = cp.Variable(self.function.shape)
        terms = [self.function.as_cvxpy(x), *(term.as_cvxpy(x) for term in self.plus)]
        constraints = self.over.as_cvxpy(x)
        if constraints is None or any(term is None for term in terms):
            return None
        cost = cp.Minimize(sum(terms[1:], start=terms[0]))
        return CvxpyProgram(cp.Problem(cost, constraints), lambda: np.asarray(x.value))


class Minimize(Composite):
    """Minimize an objective over a constraint set.

    ``Minimize(objective, over=constraint_set)``: a `Composite` without regularizers. A solver of `Minimize`
    never meets one that it would have to add.
    """

    name = "minimize"

    plus: ClassVar[tuple[Regularizer, ...]] = ()  # type: ignore[misc]  # no field: nobody can give one

    def __init__(
        self,
        objective: Objective | Mapping[str, Any] | str | None = None,
        over: ConstraintSet | Mapping[str, Any] | str | Sequence[Any] | None = None,
        start: Any = None,
        optimum: float | None = None,
        **unknown: Any,
    ) -> None:
        given = {"objective": objective, "over": over, "start": start, "optimum": optimum}
        Record.__init__(self, **{k: v for k, v in given.items() if v is not None}, **unknown)

    @classmethod
    def hint_for_unknown_key(cls, key: str, value: Any) -> str:
        if key == "plus":
            return 'regularizers belong to the problem "composite": write name = "composite"'
        return super().hint_for_unknown_key(key, value)

    def formulate(self) -> None:
        return None

    def diagnose(self, solution: Any) -> tuple[Finding, ...]:
        return (*super().diagnose(solution), *self.over.diagnose(self.function, solution))

    def recommended(self) -> Sequence[tuple[str, str]]:
        nonlinear = not self.function.offers(Objective.quadratic)
        least_squares = [("scipy.least-squares", "the objective is a sum of squared residuals")] * nonlinear
        return (
            *self.over.recommended(self.name),
            ("scipy.linprog", "the objective and the constraints are linear"),
            ("scipy.milp", "the objective and the constraints are linear, and entries are whole numbers"),
            *least_squares,
            ("scipy.lbfgs", "the objective has a gradient and the constraints are at most bounds"),
            *self._of_quadratic_programs(),
            ("gradient.projected", "the objective has a gradient and the set a projection"),
            ("scipy.trust-constr", "the constraints are ones that SciPy takes"),
            ("cvxpy", "the problem is convex and can be written for CVXPY"),
            ("scipy.cobyqa", "the objective gives values only"),
        )

    def _of_quadratic_programs(self) -> Sequence[tuple[str, str]]:
        """Before projections, where the objective is quadratic and the set has several linear rows."""
        form = self.over.as_linear(self.function.shape) if self.function.offers(Objective.quadratic) else None
        if form is None or form.rows.shape[0] < 2:
            return ()
        why = "the objective is quadratic and the constraints are linear"
        return (("cvxpy", why), ("primal-dual.pdhg", why))


def _same(x: Any) -> Any:
    return x
