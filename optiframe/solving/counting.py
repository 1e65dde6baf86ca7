"""Counting, and limiting, how often a solver asks an objective, by an objective that stands in for it."""

from __future__ import annotations

import copy
import math
import types
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, OptiframeError
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.problems.problem import Problem
from optiframe.solving.budget import Budget
from optiframe.solving.result import FEASIBLE, Trace
from optiframe.solving.solver import Iterate, Solver

_COUNTED = ("value", "gradient", "hessian_product", "hessian", "residuals", "jacobian")


class Spent(BaseException):
    """The budget of evaluations is used up; not an `Exception`, so that a solver lets it pass."""

    def __init__(self, of: Evaluations) -> None:
        super().__init__()
        self.of = of


class Evaluations:
    """How often an objective was asked, and the best point that was seen on the way.

    Parameters
    ----------
    limit
        How many evaluations there may be, all kinds together; the next one raises `Spent`.
    problem
        Judges whether a point that would be the best is feasible; without it none is kept.
    """

    def __init__(self, limit: float = math.inf, problem: Problem[Any] | None = None) -> None:
        self.counts: defaultdict[str, float] = defaultdict(float)
        self.limit = limit
        self.best: Any = None  # the feasible point with the least value so far, a copy
        self.least = math.inf  # what the objective is there
        self.history = Trace()  # what was better than all before, by evaluations
        self._merit = merit_of(problem)
        self._least_merit = math.inf
        self._problem = problem

    @property
    def total(self) -> float:
        """All evaluations so far."""
        return sum(self.counts.values())

    def before(self, kind: str, share: float) -> None:
        """One more evaluation, of a share of the terms."""
        if self.total + share > self.limit:
            raise Spent(self)
        self.counts[kind] += share

    def after(self, share: float, value: Any, point: Any) -> None:
        """What the objective's value at a point was."""
        if self._problem is None or share < 1:
            return
        whole = value + self._problem.proximal.value(point)  # type: ignore[attr-defined]  # a Composite
        if not whole < max(self.least, self._least_merit):
            return
        outside = self._problem.violation(point)
        merit = self._merit(whole, outside)
        better = whole < self.least and outside <= FEASIBLE
        if better:
            self.least, self.best = whole, copy.deepcopy(point)
        if better or merit < self._least_merit or not len(self.history):
            self._least_merit = min(merit, self._least_merit)
            self.history.append(
                {"evaluations": self.total, "objective": self.least, "merit": self._least_merit}
            )

    def noted(self, iterate: Iterate) -> Iterate:
        """The iterate with the evaluations so far, as a copy: the solver may be stopped in mid-step."""
        info = {**(iterate.info or {}), "evaluations": self.total}
        x, detail = copy.deepcopy((iterate.x, iterate.detail))
        return Iterate(x, iterate.residual, iterate.steps, info, detail)

    def better_than(
        self, iterate: Iterate | None, solver: Solver[Any, Any, Any], problem: Problem[Any]
    ) -> Iterate | None:
        """The best point seen, at the limit, where it is better than the last iterate; else None.

        An iterate that is more than its point (the solver has a detail, or makes an answer of it) stays.
        `problem` judges without counting.
        """
        plain = iterate is None or (iterate.detail is None and type(solver).finish is Solver.finish)
        if not plain or self.best is None:
            return None
        feasible = iterate is not None and problem.violation(iterate.x) <= FEASIBLE
        if iterate is not None and feasible and problem.objective(iterate.x) <= self.least:
            return None
        return Iterate(self.best, info={"evaluations": self.total})


def limited(problem: Problem[Any], solver: Solver[Any, Any, Any], budget: Budget) -> Evaluations | None:
    """What counts the evaluations of the problem that a solver takes, where the budget limits them.

    Raises
    ------
    InvalidInput
        Where the problem has no evaluations to count, or points without entries.
    """
    most, each = budget.evaluations, budget.evaluations_per_variable
    if most is None and each is None:
        return None
    if not isinstance(problem, Composite):
        raise InvalidInput(
            f"budget: evaluations: {solver.name} takes the problem {problem.name!r}, whose "
            "evaluations are not counted; only those of an objective are. Limit iterations or time"
        )
    limits = [] if most is None else [most]
    if each is not None:
        if problem.point_type is not np.ndarray:
            raise InvalidInput(
                "budget: evaluations_per_variable: points are "
                f"{problem.function.point_type.__name__}, which have no entries to count; give "
                "evaluations"
            )
        limits.append(each * (math.prod(problem.function.shape) + 1))
    return Evaluations(min(limits), problem)


def merit_of(problem: Problem[Any] | None) -> Callable[[float, float], float]:
    """OptiProfiler's merit of an objective and a violation: the penalty depends on the start's violation v0.

    The objective up to a violation of min(.01, 1e-10 max(1, v0)), infinite beyond max(.1, 2 v0), and
    between them the objective plus 1e5 times the excess.
    """
    start = 0.0
    if problem is not None:
        with suppress(OptiframeError):  # of a set without any point that is easily found
            start = float(problem.violation(problem.initial()))  # type: ignore[attr-defined]  # a Composite
    free, most = min(0.01, 1e-10 * max(1.0, start)), max(0.1, 2 * start)

    def merit(objective: float, violation: float) -> float:
        if math.isnan(objective) or not violation <= most:
            return math.inf
        return objective if violation <= free else objective + 1e5 * (violation - free)

    return merit


def counted(problem: Problem[Any]) -> tuple[Problem[Any], Mapping[str, float]]:
    """A problem with the same content whose objective counts its evaluations, and the counts.

    The counts are by kind ("value", "gradient", "hessian_product", "hessian", "residuals", "jacobian") in
    full passes over the objective's terms: an evaluation of a `FiniteSum` over a tenth of its terms counts a
    tenth. A value and a gradient in one call count as one of each.
    What a method of the objective calls inside does not count again. Only a `Composite` (or
    `Minimize`) has an objective to observe; any other problem comes back as it is, and its counts
    stay empty.

    The stand-in is of the objective's own type, with its fields and fingerprint; pickled or sent
    to another process it is the original, which does not count.
    """
    seen = Evaluations()
    return observed(problem, seen), seen.counts


def observed(problem: Problem[Any], seen: Evaluations) -> Problem[Any]:
    """The problem whose objective tells `seen` of its evaluations, as `counted` explains."""
    if not isinstance(problem, Composite):
        return problem
    twin: Problem[Any] = _twin(problem, type(problem), function=_observed(problem.function, seen, 1.0))
    twin.__dict__.pop("formulation", None)  # made again, of the stand-in
    return twin


def type_of(objective: Objective) -> type[Objective]:
    """Its type; of a stand-in that only counts, the original's.

    For solvers that read the data of objectives they know and hardly ask them: a comparison counts, and is to
    run them in the same way. Where evaluations are limited the stand-in has its own type, so that they ask.
    """
    seen = getattr(objective, "_seen", None)
    if isinstance(seen, Evaluations) and seen.limit == math.inf:
        return type(objective._original)  # type: ignore[attr-defined]  # a stand-in
    return type(objective)


def _observed(objective: Objective, seen: Evaluations, share: float, *, whole: bool = True) -> Objective:
    """The stand-in; `whole`: its points are those of the problem, of which the best is kept."""
    cls = _observing(type(objective))
    twin: Objective = _twin(objective, cls, _original=objective, _seen=seen, _share=share, _whole=whole)
    return twin


def _twin(thing: Any, cls: type[Any], **changes: Any) -> Any:
    """A record of class `cls` with the content of `thing`, without validating it all again."""
    twin: Any = object.__new__(cls)
    object.__setattr__(twin, "__dict__", {**thing.__dict__, **changes})
    for slot in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(twin, slot, getattr(thing, slot))
    return twin


@cache
def _observing(cls: type[Objective]) -> type[Objective]:
    """A subclass that hands every evaluation on to the original, after counting it."""
    body: dict[str, Any] = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        # The original answers: what it offers may depend on its fields.
        "offers": lambda self, operation: self._original.offers(operation),
        "__reduce_ex__": lambda self, protocol: (_itself, (self._original,)),
        "model_copy": lambda self, **how: _observed(
            self._original.model_copy(**how), self._seen, self._share, whole=self._whole
        ),
    }
    for kind in _COUNTED:
        if getattr(cls, kind) is not getattr(Objective, kind):  # what it lacks, the stand-in lacks
            body[kind] = _counting(kind)
    if cls.value_and_gradient is not Objective.value_and_gradient:
        body["value_and_gradient"] = _both
    if issubclass(cls, FiniteSum):
        body["take"] = _take
    if hasattr(cls, "on_columns"):  # a `LinearModel`, which makes another one of its own type
        body["on_columns"] = lambda self, indices: _observed(
            self._original.on_columns(indices), self._seen, self._share, whole=False
        )
    made: type[Objective] = types.new_class(cls.__name__, (cls,), exec_body=lambda names: names.update(body))
    return made


def _itself(original: Objective) -> Objective:
    return original


def _counting(kind: str) -> Callable[..., Any]:
    def evaluate(self: Any, *point: Any, **named: Any) -> Any:
        self._seen.before(kind, self._share)
        answer = getattr(self._original, kind)(*point, **named)
        if not self._whole:
            return answer
        if kind == "value" and point:
            self._seen.after(self._share, answer, point[0])
        elif kind == "residuals" and point:
            self._seen.after(self._share, float(answer @ answer) / 2, point[0])
        return answer

    evaluate.__name__ = kind
    return evaluate


def _both(self: Any, x: Any) -> Any:
    """Two evaluations, in the order of two calls."""
    self._seen.before("value", self._share)
    value, gradient = self._original.value_and_gradient(x)
    if self._whole:
        self._seen.after(self._share, value, x)
    self._seen.before("gradient", self._share)
    return value, gradient


def _take(self: Any, indices: Any) -> Any:
    part = self._original.take(indices)
    return _observed(part, self._seen, self._share * len(part) / len(self._original), whole=self._whole)
