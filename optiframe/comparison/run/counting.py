"""Counting how often a solver asks an objective, by an objective that stands in for it."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from optiframe.problems.minimize import Minimize
from optiframe.problems.objective import FiniteSum, Objective
from optiframe.problems.problem import Problem

_COUNTED = ("value", "gradient", "hessian_product", "hessian")


def counted(problem: Problem[Any]) -> tuple[Problem[Any], Mapping[str, float]]:
    """A problem with the same content whose objective counts its evaluations, and the counts.

    The counts are by kind ("value", "gradient", "hessian_product", "hessian") in full passes over
    the objective's terms: an evaluation of a `FiniteSum` over a tenth of its terms counts a tenth.
    What a method of the objective calls inside does not count again. Only a `Minimize` has an
    objective to observe; any other problem comes back as it is, and its counts stay empty.

    The stand-in is of the objective's own type, with its fields and fingerprint; pickled or sent
    to another process it is the original, which does not count.
    """
    counts: Counter[str] = Counter()
    if not isinstance(problem, Minimize):
        return problem, counts
    observed = _observed(problem.function, counts, 1.0)
    return _twin(problem, type(problem), function=observed), counts


def _observed(objective: Objective, counts: Counter[str], share: float) -> Objective:
    cls = _observing(type(objective))
    twin: Objective = _twin(objective, cls, _original=objective, _counts=counts, _share=share)
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
            self._original.model_copy(**how), self._counts, self._share
        ),
    }
    for kind in _COUNTED:
        if getattr(cls, kind) is not getattr(Objective, kind):  # what it lacks, the stand-in lacks
            body[kind] = _counting(kind)
    if issubclass(cls, FiniteSum):
        body["take"] = _take
    made: type[Objective] = types.new_class(cls.__name__, (cls,), exec_body=lambda names: names.update(body))
    return made


def _itself(original: Objective) -> Objective:
    return original


def _counting(kind: str) -> Callable[..., Any]:
    def evaluate(self: Any, *point: Any, **named: Any) -> Any:
        self._counts[kind] += self._share
        return getattr(self._original, kind)(*point, **named)

    evaluate.__name__ = kind
    return evaluate


def _take(self: Any, indices: Any) -> Any:
    part = self._original.take(indices)
    return _observed(part, self._counts, self._share * len(part) / len(self._original))
