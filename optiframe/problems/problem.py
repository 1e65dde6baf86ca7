"""Problems: immutable data plus a way to judge an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from optiframe.findings import Finding
from optiframe.notebook import block, facts, paragraph
from optiframe.problems.sets.constraint_set import CvxpyProgram
from optiframe.records.fields import Array
from optiframe.records.record import Record
from optiframe.tables.columns import Columns

S = TypeVar("S")
_LONGEST = 200
"""Letters of a problem's `repr`; printing it shows all that was given."""


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


class Problem(Record, Generic[S]):
    """What is to be solved, and how an answer (of type `S`) is judged.

    Lifetime: built once from validated inputs, never changed, shared between solvers and
    pickled to other processes (cached properties are dropped on the way and rebuilt).
    What changes the objective belongs here and not to a solver.

    Class attribute `better` says of each metric whether "lower" or "higher" is better; a
    comparison ranks solvers by those it names and only shows the others. `formulated_as` may give the
    registered name of the problem that `formulate` returns, so that `optiframe list solvers` can name
    its solvers without data.
    """

    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {}
    formulated_as: ClassVar[str] = ""

    def __str__(self) -> str:
        """The class with what was given, without the fields that kept their defaults."""
        given = (f"{key}={value!r}" for key, value in self.__repr_args__() if key in self.model_fields_set)
        return f"{type(self).__name__}({', '.join(given)})"

    def __repr__(self) -> str:
        text = str(self)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...)"

    def _repr_html_(self) -> str:
        given = {key: repr(value) for key, value in self.__repr_args__() if key in self.model_fields_set}
        title = f"{self.name or type(self).__name__}: {self.summary()}"
        return block([paragraph(title, strong=True), facts(given)])

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

    def baseline_metrics(self) -> dict[str, float]:
        """By metric, the score of an answer that never looked at the data; empty by default.

        The contract of a solver (`optiframe.testing`) holds its answer against these, in the direction
        that `better` gives: only scores that every sensible method beats on an easy problem.
        """
        return {}

    def trace_metrics(self, solution: S) -> dict[str, float]:
        """Scores of a recorded iterate, which become columns of the trace; empty by default.

        Asked off the solver's clock, for every recorded iterate: it should cost about as much as the
        objective. A column that the solver itself writes under such a name goes before it.
        """
        return {}

    def refuses(self, solver: Record) -> str | None:
        """Why this solver may have neither this problem nor what it formulates to, or None.

        For what a solver has to know of and could ignore in silence, such as weights. `Solver.unsuited` is
        the solver's own word, for one problem of the chain.
        """
        return None

    def duality_gap(self, solution: S) -> float | None:
        """How much lower the objective can be at most; None where that is not known.

        Asked off the solver's clock for every recorded iterate of whatever solver; it becomes the column
        `duality_gap` of the trace.
        """
        return None

    def known_optimum(self) -> float | None:
        """The least objective, where somebody has stated it; None where it is not known.

        A statement may be wrong: comparisons take the lower one of it and of what their runs found.
        """
        return None

    def lacks(self, operations: Sequence[Callable[..., Any]]) -> str | None:
        """What its parts lack of the operations that a solver `uses`, in words; None when nothing."""
        return None

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

    def recommended(self) -> Sequence[tuple[str, str]]:
        """Names of solvers for this problem's data, best first, each with the reason in one sentence.

        `optiframe.solve` without a solver takes the first that is installed and suits the problem, and
        asks the formulated problem next; nothing is recommended by default.
        """
        return ()

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` when this has not the form of a solution: its type, its shape.

        The core asks it about a solver's first iterate; fine by default.
        """

    def as_cvxpy(self) -> CvxpyProgram | None:
        """The whole problem as a CVXPY program, where it is convex; None otherwise."""
        return None

    def in_words(self, solution: S) -> Sequence[str]:
        """The solution in a few sentences, for people; the command line prints them. None by default."""
        return ()

    def to_tables(self, solution: S) -> dict[str, Columns]:
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
