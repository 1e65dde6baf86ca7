"""Vectors with few nonzeros: in all, in each group of one view and in each group of another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, SkipValidation, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.findings import Finding
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet, CvxpyProgram
from optiframe.records.fields import Accepts, Array
from optiframe.tables.ids import locked
from optiframe_tvcs.projection.certificate import compare
from optiframe_tvcs.projection.checked import as_point, refuse_infinite
from optiframe_tvcs.projection.closed import open_values
from optiframe_tvcs.projection.judged import not_best, relative_gap
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.projection.warm_start import WarmProjector
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.read import as_matrix_shape, read_views
from optiframe_tvcs.sets.without_groups import groups_cost_fit

_View = Annotated[
    SkipValidation[Groups | None],  # made by `read_views`
    Accepts("a table: bounds, and labels or groups (a matrix needs neither), or paths of CSV or NPY files"),
]


class ThreeView(ConstraintSet):
    """Vectors with few nonzeros: in all, in each row group and in each column group.

    The groups of one view do not overlap; those of different views may. Any view may be
    left out: two give a degree-bounded selection, one of groups a bound for each group, and
    the total alone keeps the `total` largest entries (top-k).

    Points are vectors of `size` entries, or, built with `of_matrix` (or the field `matrix`),
    matrices of that shape, whose rows and columns are the groups.

    The projection keeps those entries whose squares sum to the most. It is exact, whatever the entries:
    nothing is rounded, and among supports that tie the index decides (`ProjectionPlan.solve`). `select_for`
    gives the proof. The group structure is prepared once, on first use, and kept (`plan`). Memory: 8 bytes an
    element and 16 a group, and the plan.

    Raises
    ------
    InvalidInput
        When groups of a view overlap, are empty or of another length, an index is out of
        range, or a bound is negative or not whole, naming the view, the group and the index.
    """

    name = "three-view"
    reference = "Yang et al., Definition 1 and Theorem 2"
    convex = False

    total: NonNegativeInt | None = Field(default=None, description="nonzeros allowed in all; none: no bound")
    rows: _View = Field(default=None, description="first view: disjoint groups with a bound each")
    columns: _View = Field(default=None, description="second view: disjoint groups with a bound each")
    size: NonNegativeInt | None = Field(
        default=None, description="number of elements; none: as many as there are labels"
    )
    matrix: Annotated[
        tuple[int, int] | None, PlainValidator(as_matrix_shape), Accepts("two whole numbers: rows, columns")
    ] = Field(default=None, description="shape of matrix points, whose rows and columns are the groups")

    @model_validator(mode="before")
    @classmethod
    def _views(cls, given: Any) -> Any:
        return read_views(given) if isinstance(given, Mapping) else given

    @classmethod
    def of_matrix(
        cls,
        shape: Sequence[int] | NDArray[np.integer],
        total: int | None = None,
        per_row: Any = None,
        per_column: Any = None,
    ) -> Self:
        """Matrices with few nonzeros in all, in each row and in each column.

        Parameters
        ----------
        shape
            Rows and columns; points are matrices of this shape (or its entries row by row).
        total
            Nonzeros allowed in all; None: no bound.
        per_row, per_column
            One number for all, or one for each row (column); None: no bound.
        """
        views = {"rows": per_row, "columns": per_column}
        tables = {view: {"bounds": bounds} for view, bounds in views.items() if bounds is not None}
        return cls.load(total=total, matrix=shape, **tables)

    def enlarged(self, factor: int) -> Self:
        """The same groups with every bound multiplied (gradient matching pursuit doubles them)."""
        views = {"rows": self.rows, "columns": self.columns}
        changed = {view: groups.scaled(factor) for view, groups in views.items() if groups is not None}
        total = None if self.total is None else factor * self.total
        return self.model_copy(update={**changed, "total": total})

    def check_shape(self, shape: tuple[int, ...]) -> None:
        # A vector in a CSV file is one column or one row.
        lines = ((self.size, 1), (1, self.size)) if self.matrix is None else ()
        if shape not in (self.matrix, (self.size,), *lines):
            allowed = [str(known) for known in (self.matrix, (self.size,)) if known is not None]
            words = " or ".join(allowed)
            raise InvalidInput(f"the set holds points of shape {words}, not of shape {tuple(shape)}")

    @property
    def elements(self) -> int:
        """Number of elements p."""
        assert self.size is not None  # filled in when validated
        return self.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a point."""
        return self.matrix or (self.elements,)

    @cached_property
    def views(self) -> tuple[Groups, Groups]:
        """Row groups and column groups; a view left out has no groups."""
        none = Groups(locked(np.full(self.elements, -1, dtype=np.int32)), locked(np.zeros(0, dtype=np.int64)))
        return self.rows or none, self.columns or none

    @property
    def limit(self) -> int:
        """The bound on the whole vector, at most p."""
        return self.elements if self.total is None else min(self.total, self.elements)

    @cached_property
    def plan(self) -> ProjectionPlan:
        """The group structure prepared for repeated projections; dropped when pickled."""
        rows, columns = self.views
        return ProjectionPlan(rows.labels, rows.caps, columns.labels, columns.caps, self.limit)

    @cached_property
    def incidence(self) -> tuple[sp.csc_array, Array]:
        """A and s of Eq. 4, sparse: one row a bound (total, row groups, column groups)."""
        rows, columns = self.views
        p = self.elements
        parts: list[Any] = [sp.csr_array(np.ones((1, p)))]
        for groups in (rows, columns):
            held = np.flatnonzero(groups.labels >= 0)
            where = (groups.labels[held], held)
            parts.append(sp.csr_array((np.ones(len(held)), where), shape=(len(groups), p)))
        bounds = np.concatenate([[self.limit], rows.caps, columns.caps]).astype(np.float64)
        return sp.vstack([part for part in parts if part.shape[0]], format="csc"), np.minimum(bounds, p)

    def select(self, worths: Array) -> Selection:
        """The support of greatest total worth, its prices and the proof; nothing below zero is taken.

        Parameters
        ----------
        worths
            Real worths c of the elements, of a point's shape. The support has shape (p,) all the same:
            ``selection.support.reshape(np.shape(worths))`` is a mask of the worths.
        """
        return self.plan.solve(self._flat(worths))

    def select_for(self, v: Array) -> Selection:
        """The support that the projection of `v` keeps, with prices in the units of v squared.

        It has shape (p,), as that of `select`.
        """
        return self.plan.solve(self._flat(v), squared=True)

    def judge(self, v: Array, answer: Array) -> Selection:
        """What another method's projection of `v` loses, without rounding.

        Parameters
        ----------
        v
            The point.
        answer
            What that method made of it: its nonzeros are the support that is judged.

        Returns
        -------
        Selection
            The support of `answer`, with the prices of the best one. Its certificate says whether it is as
            good, and else how much it loses: `gap` in the units of v squared, inf outside the set.
        """
        best, flat = self.select_for(v), self._flat(v)
        kept = (self._flat(answer) != 0) & (flat != 0)
        found = compare(flat, self.plan.bounds, kept, best.support, squared=True)
        return replace(best, support=kept, certificate=found)

    def support(self, c: Array) -> Array:
        """The 0/1 point x of the set with the greatest <c, x>; a negative entry of c is never chosen.

        It is that of `select`, which proves it as well and takes several times as long.
        """
        return self.plan.support(self._flat(c)).reshape(np.shape(c)).astype(np.float64)

    def recommended(self, problem: str) -> Sequence[tuple[str, str]]:
        if problem == "projection":
            return (("tvcs.exact", "it finds the nearest point and proves it"),)
        return (("tvcs.iht", "it takes any objective with a gradient, and projects exactly"),)

    def diagnose(self, function: Objective, x: Any) -> tuple[Finding, ...]:
        return groups_cost_fit(function, x, self)

    def project(self, v: Array) -> Array:
        """The nearest point of the set, the same for the same entries and bounds, on every machine.

        Parameters
        ----------
        v
            Real numbers of any type and memory layout, of a point's shape; not changed.

        Returns
        -------
        Array
            A new float64 array of the shape of `v`, in the order of C: entries of `v` and zeros.

        Raises
        ------
        InvalidInput
            For another shape, and for entries that are masked, not finite or not real.
        """
        v = as_point(v)
        self.check_shape(v.shape)
        kept = np.empty(v.shape)
        while not self.plan.project(v, kept):
            self._flat(v)  # says what is wrong, unless it changed meanwhile
        return kept

    def projector(self) -> WarmProjector:
        """Projects a run of nearby points, each from the prices of the last, to what `project` gives."""
        return WarmProjector(self.plan, self._shaped)

    def excess(self, x: NDArray[Any]) -> int:
        """By how many nonzeros `x` is over the bounds, summed over all bounds; 0 inside."""
        used = self._flat(x) != 0
        rows, columns = self.views
        over = [max(int(np.count_nonzero(used)) - self.limit, 0)]
        over += [int(np.maximum(view.counts(used) - view.caps, 0).sum()) for view in (rows, columns)]
        return sum(over)

    def distance(self, x: Any, v: Any) -> float:
        # Squares of very large and very small entries are no ordinary numbers.
        difference = np.asarray(x) - v
        largest = float(np.max(np.abs(difference), initial=0.0))
        if not 0.0 < largest < math.inf or 1e-150 < largest < 1e150:
            return float(np.linalg.norm(difference))
        return float(np.linalg.norm(difference / largest) * largest)

    def violation(self, x: Array) -> float:
        """Euclidean distance of `x` to the set; counted where that suffices: 0.0 inside."""
        x = as_point(x)
        if not np.isfinite(x).all():
            return math.inf
        return self.distance(self.project(x), x) if self.excess(x) else 0.0

    def projection_as_cvxpy(self, v: Array) -> CvxpyProgram:
        """The linear program over supports (Eq. 5): keep as much squared magnitude as the bounds allow.

        Its vertices are supports (Theorem 2), so an engine is asked for that ends at one.
        """
        cp = require("cvxpy", "reference")
        flat, closed = self._flat(v), self.plan.closed
        opened = open_values(flat, closed)
        one = float(np.abs(opened).max(initial=0.0)) or 1.0
        worths = np.square(opened / one)
        with np.errstate(over="ignore"):  # of entries that no support can hold
            energy = float(np.square(flat / one).sum())
        matrix, bounds = self.incidence
        x = cp.Variable(self.elements)
        # Engines take what is below some 1e-7 for nothing: that shall be little beside the largest.
        kept = (worths * 2**20) @ x if self.elements else cp.Constant(0.0)
        program = cp.Problem(cp.Maximize(kept), [matrix @ x <= bounds, x >= 0, x <= 1])
        return CvxpyProgram(
            program,
            read=lambda: np.where(np.reshape(x.value > 0.5, np.shape(v)), v, 0.0),
            objective=lambda held: (energy - held / 2**20) / 2 * one * one,
            engine="SCIPY",  # HiGHS's simplex by SciPy; an interior-point method may end between vertices
            judge=lambda answer: self._judged(v, answer),
        )

    def _judged(self, v: Array, answer: Array) -> tuple[float, str]:
        judged = self.judge(v, answer)
        found = judged.certificate
        return relative_gap(found), "" if found.holds else not_best(found, judged.support)

    def hull_as_cvxpy(self, x: Any, magnitude: float) -> list[Any]:
        """The convex hull of the set's points with entries up to `magnitude`, as CVXPY constraints.

        ``A |x| <= magnitude s`` and ``|x| <= magnitude``: since A is totally unimodular, the 0/1
        supports are the vertices of the relaxation. The set itself is not convex and not
        bounded (the hull of all its points is the whole space unless a bound is 0), so
        `as_cvxpy` gives None and this asks for a bound on the entries.

        Parameters
        ----------
        x
            A CVXPY variable or expression of a point's shape.
        magnitude
            Largest size of an entry.

        Raises
        ------
        InvalidInput
            When `magnitude` is negative or not finite.
        """
        cp = require("cvxpy", "reference")
        if not 0 <= magnitude < math.inf:
            raise InvalidInput(f"magnitude must be a finite number of at least 0, got {magnitude}")
        matrix, bounds = self.incidence
        size = cp.abs(cp.vec(x, order="C"))
        return [matrix @ size <= magnitude * bounds, size <= magnitude]

    def _shaped(self, v: NDArray[Any]) -> NDArray[np.float64]:
        v = as_point(v)
        self.check_shape(v.shape)
        return v.reshape(-1)

    def _flat(self, v: NDArray[Any]) -> NDArray[np.float64]:
        flat = self._shaped(v)
        refuse_infinite(flat.reshape(np.shape(v)), "point")
        return flat
