"""The manner of scikit-learn, without it: parameters by name, and what was learnt ends in `_`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar, get_args

import narwhals as nw

from optiframe.errors import InvalidInput, nearest, require
from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.registry import registry
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import build
from optiframe.solving.budget import Budget
from optiframe.solving.recommend import Recommendation, recommend
from optiframe.solving.result import Result
from optiframe.solving.solve import solve
from optiframe.solving.solver import Solver
from optiframe.solving.sources import SolverChoice
from optiframe.tables.columns import as_column
from optiframe.tables.frames import to_frame

P = TypeVar("P", bound=Problem[Any])
S = TypeVar("S")

Output: TypeAlias = Literal["default", "pandas", "polars", "pyarrow"]
"""Kinds of data frames that answers come in."""

BudgetLike: TypeAlias = Budget | Mapping[str, Any] | None
"""How an estimator is given its budget."""


class Estimator(Generic[P, S]):
    """What estimators share: the choice of a solver, parameters by name, and asking for what was learnt.

    Works without scikit-learn and imports nothing of it unasked. With it, `sklearn.base.clone`, `get_params`,
    `set_params` and `check_is_fitted` do what they do for any estimator; asked before `fit`, one raises an
    error that is also scikit-learn's `NotFittedError`; and it may be the last step of a pipeline whose other
    steps pass frames on. Tables are not matrices of features, so scikit-learn's scorers do not apply, and
    its searches only to an estimator that has a `score`.

    A subclass, for problems `P` and answers `S`, has an ``__init__`` that gives these parameters to this
    one and keeps each of its own, unchanged and under its own name; and a `fit` that builds the problem and
    ends with ``return self._learn(problem)``.

    Parameters
    ----------
    solver
        A solver's name, in full or within the `families` of the estimator; a table with `name` and
        parameters as in a configuration file (``{"name": "hodge.lbi", "kappa": 100.0}``); or a solver.
        One parameter is changed with ``set_params(solver__kappa=100.0)``. None, or a table without
        a name, takes the solver that the problem recommends for its data; `findings_` says which and why.
    seed
        Fixes every random choice.
    budget
        Limits, as for `optiframe.solve`: a `Budget` or a table such as ``{"time": 10.0}``.
    columns
        Our column name -> yours, where they differ: ``{"left": "first"}``.

    Attributes
    ----------
    result_
        The `Result` of the last run: status, metrics, trace, and `solution`, the answer.
    findings_
        What to know before trusting the answer, in sentences.
    n_iter_
        Iterations of the last run.

    Notes
    -----
    Wrong parameters and wrong data are reported by `fit`, as `InvalidInput`. One object may be read by
    many threads; it must not be fitted by two at the same time.
    """

    families: ClassVar[tuple[str, ...]] = ()
    """Families of solvers whose names may be shortened: ``lbi`` for ``hodge.lbi``."""

    nested: ClassVar[tuple[str, ...]] = ("solver", "budget")
    """Parameters that hold parameters."""

    result_: Result[S, Any]
    findings_: tuple[Finding, ...]
    n_iter_: int

    def __init__(
        self,
        solver: SolverChoice = None,
        *,
        seed: int = 0,
        budget: BudgetLike = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        # Kept exactly as given and checked by `fit`: cloning compares the very objects.
        self.solver = solver
        self.seed = seed
        self.budget = budget
        self.columns = columns

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

    def set_output(self, *, transform: Output | None = None) -> Self:
        """Choose the kind of data frame that answers come in.

        Parameters
        ----------
        transform
            "pandas", "polars" or "pyarrow"; "default": the kind that the data came in. None changes nothing.
            The name is scikit-learn's; `sklearn.base.clone` keeps the choice.

        Raises
        ------
        InvalidInput
            For any other kind.
        """
        if transform is not None:
            known = get_args(Output)
            if transform not in known:
                hint = nearest(str(transform), known)
                raise InvalidInput(f"transform must be one of {', '.join(known)}, got {transform!r}{hint}")
            self._sklearn_output_config = {"transform": transform}
        return self

    def _given_out(self, frame: Any) -> Any:
        """An answer, a frame or a dict of columns, in the kind that was chosen by `set_output`."""
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if kind == "default":
            return frame
        if not isinstance(frame, Mapping):
            frame = nw.from_native(frame, eager_only=True).to_dict(as_series=False)
        require(kind)
        return to_frame({name: as_column(list(values)) for name, values in frame.items()}, kind)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        """Asked by pipelines, searches and checks of scikit-learn, never here."""
        from sklearn.utils import InputTags, Tags, TargetTags

        # Rows of a table are no samples with features.
        table = InputTags(two_d_array=False, string=True, categorical=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=table)

    def _table(self, chosen: Any) -> dict[str, Any]:
        """A name, a table or an object that was chosen, as a table; a solver's name in full."""
        if chosen is None:
            return {}
        if isinstance(chosen, Solver | Budget):
            own = {key: getattr(chosen, key) for key in type(chosen).model_fields}
            return own if isinstance(chosen, Budget) else {"name": chosen.name, **own}
        table = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
        name = table.get("name")
        if self.families and isinstance(name, str) and "." not in name:
            name = normalise(name)
            known = {entry.name for entry in registry.registry().entries("solver")}
            full = [name, *(f"{family}.{name}" for family in self.families)]
            table["name"] = next((one for one in full if one in known), full[1])
        return table

    def _choose(self, problem: P) -> tuple[Solver[Any, Any, Any], Recommendation | None]:
        """The solver for a problem, and how it was recommended, where nobody named it."""
        given = self.solver
        if isinstance(given, Solver):
            return given, None
        table = self._table(given) if given is None or isinstance(given, str | Mapping) else given
        if isinstance(table, Mapping) and "name" not in table:
            found = recommend(problem, **table)
            return found.solver, found
        return build("solver", table), None

    def _learn(self, problem: P, *, start: Callable[[], S | None] | None = None) -> Self:
        """Solve the problem and keep what was learnt; `start` is asked only for a solver that takes one."""
        solver, recommended = self._choose(problem)
        begin = start() if start is not None and solver.accepts_start else None
        # Without a trace: the answer is judged at the end, curves are for `optiframe.solve`.
        result = solve(problem, solver, seed=self.seed, budget=self.budget, start=begin, trace=False)
        self.result_ = result if recommended is None else recommended.noted(result)
        self.findings_ = self.result_.findings
        self.n_iter_ = result.iterations
        return self

    def _learnt(self, name: str) -> Result[S, Any]:
        """The result, for an attribute that comes of it; AttributeError before `fit`."""
        if not hasattr(self, "result_"):
            raise AttributeError(f"{name} is learnt by fit(frame); call it first")
        return self.result_

    def _answer(self) -> S:
        """The answer, for a method that needs it; InvalidInput before `fit`, or where none was found."""
        if not hasattr(self, "result_"):
            raise _not_fitted("nothing has been learnt yet; call fit(frame) first")
        if self.result_.solution is None:
            raise InvalidInput(f"the last run found no answer: {self.result_.message}")
        return self.result_.solution

    def _asked(self) -> P:
        """The problem of the last run; InvalidInput before `fit`."""
        self._answer()
        problem: P = self.result_.problem  # type: ignore[assignment]  # `fit` built it
        return problem


def _not_fitted(text: str) -> InvalidInput:
    """An error that scikit-learn takes for its own, where it is imported: nobody else waits for that one."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return InvalidInput(text)

    class NotFitted(InvalidInput, exceptions.NotFittedError):  # type: ignore[misc, name-defined]
        """Asked before `fit`."""

        def __reduce__(self) -> tuple[Any, ...]:  # joblib brings errors of its workers home
            return _not_fitted, (text,)

    return NotFitted(text)
