"""The manner of scikit-learn, without it: parameters by name, and what was learnt ends in `_`."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from optiframe.errors import InvalidInput, nearest
from optiframe.findings import Finding
from optiframe.solving.budget import Budget
from optiframe.solving.result import Result
from optiframe.solving.solver import Solver


class Estimator:
    """What estimators share: reading and changing parameters, and asking for what was learnt.

    Imports nothing of scikit-learn; with it, `sklearn.base.clone` and pipelines take such objects
    for estimators. A subclass has an ``__init__`` that keeps each argument, unchanged and under its
    own name, and a `fit` that sets `result_`, `findings_` and `n_iter_` and gives the object back.

    Attributes
    ----------
    result_
        The `Result` of the last run.
    findings_
        What to know before trusting the answer, in sentences.
    n_iter_
        Iterations of the last run.
    """

    nested: ClassVar[tuple[str, ...]]  # parameters that hold parameters: a solver, a budget

    result_: Result[Any, Any]
    findings_: tuple[Finding, ...]
    n_iter_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those inside a solver or budget, as ``budget__time``."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        found = {name: getattr(self, name) for name in names}
        if deep:
            for name in self.nested:
                inside = {k: v for k, v in self._table(found[name]).items() if k != "name"}
                found |= {f"{name}__{key}": value for key, value in inside.items()}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; ``budget__time=5.0`` changes one inside `budget`, likewise for a solver.

        Raises
        ------
        InvalidInput
            For a name there is not, with the nearest. Nothing is changed then.
        """
        known = self.get_params(deep=False)
        changed: dict[str, Any] = {}
        for key in sorted(parameters, key=lambda key: "__" in key):  # budget before budget__time
            name, _, inside = key.partition("__")
            if name not in known or (inside and name not in self.nested):
                raise InvalidInput(
                    f"{type(self).__name__} has no parameter {key!r}{nearest(key, known)} "
                    f"(parameters: {', '.join(known)})"
                )
            if inside:
                before = self._table(changed.get(name, known[name]))
                changed[name] = before | {inside: parameters[key]}
            else:
                changed[name] = parameters[key]
        for name, value in changed.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = inspect.signature(type(self).__init__).parameters
        given = {k: v for k, v in self.get_params(deep=False).items() if v is not default[k].default}
        shown = (f"{k}={v!r}" for k, v in given.items() if v != default[k].default)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def _table(self, chosen: Any) -> dict[str, Any]:
        """A name, a table or an object that was chosen, as a table."""
        if chosen is None:
            return {}
        if isinstance(chosen, str):
            return {"name": chosen}
        if isinstance(chosen, Solver | Budget):
            own = {key: getattr(chosen, key) for key in type(chosen).model_fields}
            return own if isinstance(chosen, Budget) else {"name": chosen.name, **own}
        return dict(chosen)

    def _learnt(self, name: str) -> Result[Any, Any]:
        """The result, for an attribute that comes of it; AttributeError before `fit`."""
        if not hasattr(self, "result_"):
            raise AttributeError(f"{name} is learnt by fit(frame); call it first")
        return self.result_

    def _solution(self) -> Any:
        """The answer, for a method that needs it; InvalidInput before `fit`."""
        if not hasattr(self, "result_"):
            raise InvalidInput("nothing has been learnt yet; call fit(frame) first")
        return self.result_.solution
