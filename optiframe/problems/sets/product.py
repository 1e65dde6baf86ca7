"""Blocks of a vector, each in a set of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import BeforeValidator, Field, PlainSerializer, PositiveInt, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.points import table
from optiframe.problems.sets.constraint_set import ConstraintSet, LinearForm, ScipyConstraints
from optiframe.problems.sets.intersection import as_members
from optiframe.records.fields import Accepts, Array


class Product(ConstraintSet):
    """Vectors whose consecutive blocks lie each in a set of its own.

    In a file, ``over = {name = "product", sizes = [3, 2], sets = ["simplex", {name = "box", upper = 1.0}]}``.
    A block may be a matrix, row after row: ``sizes = [[4, 2], 3]``. Projections and farthest points are those
    of the blocks.

    Raises
    ------
    InvalidInput
        When there are not as many sizes as sets, or a point has another length.
    """

    name = "product"

    sets: Annotated[
        tuple[ConstraintSet, ...],
        BeforeValidator(as_members),
        PlainSerializer(lambda sets: [table(each) for each in sets]),
        Accepts("a list of sets, each by name with its parameters"),
    ] = Field(description="the sets, one for each block")
    sizes: Annotated[
        tuple[PositiveInt | tuple[PositiveInt, ...], ...],
        Accepts("a list of whole numbers, or of lists of them for matrices"),
    ] = Field(description="number of entries in each block, or its shape")

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if len(self.sizes) != len(self.sets) or not self.sets:
            raise InvalidInput(
                f"there are {len(self.sets)} sets and {len(self.sizes)} sizes; give one for each"
            )
        return self

    @property
    def convex(self) -> bool:  # type: ignore[override]  # of the members
        return all(each.convex for each in self.sets)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        entries = sum(map(math.prod, self.shapes))
        if shape != (entries,):
            raise InvalidInput(
                f"the blocks have {entries} entries together, and a point has the shape {shape}"
            )
        for each, block in zip(self.sets, self.shapes, strict=True):
            each.check_shape(block)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each block."""
        return tuple((size,) if isinstance(size, int) else size for size in self.sizes)

    def recommended(self, problem: str) -> Sequence[tuple[str, str]]:
        return tuple(dict.fromkeys(told for each in self.sets for told in each.recommended(problem)))

    def offers(self, operation: Callable[..., Any]) -> bool:
        return super().offers(operation) and all(each.offers(operation) for each in self.sets)

    def project(self, v: Array) -> Array:
        return np.concatenate([np.ravel(each.project(part)) for each, part in self._blocks(v)])

    def farthest(self, d: Array) -> Array:
        return np.concatenate([np.ravel(each.farthest(part)) for each, part in self._blocks(d)])

    def inside(self, shape: tuple[int, ...]) -> Array:
        return np.concatenate(
            [np.ravel(each.inside(block)) for each, block in zip(self.sets, self.shapes, strict=True)]
        )

    def violation(self, x: Array) -> float:
        """The largest violation of a block."""
        return max(each.violation(part) for each, part in self._blocks(x))

    def as_cvxpy(self, x: Any) -> list[Any] | None:
        cp = require("cvxpy", "reference")
        parts = [
            x[place] if len(block) == 1 else cp.reshape(x[place], block, order="C")
            for place, block in zip(self.places(), self.shapes, strict=True)
        ]
        forms = [each.as_cvxpy(part) for each, part in zip(self.sets, parts, strict=True)]
        known = [form for form in forms if form is not None]
        return [each for form in known for each in form] if len(known) == len(forms) else None

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints | None:
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

        lower, upper, others = np.full(shape, -np.inf), np.full(shape, np.inf), []
        for each, place, block in zip(self.sets, self.places(), self.shapes, strict=True):
            form = each.as_scipy(block)
            if form is None:
                return None
            if form.bounds is not None:
                lower[place], upper[place] = form.bounds.lb, form.bounds.ub
            for other in form.others:
                if isinstance(other, NonlinearConstraint):
                    return None
                others.append(LinearConstraint(_widened(other.A, place, shape[0]), other.lb, other.ub))
        return ScipyConstraints(Bounds(lower, upper), tuple(others))

    def as_linear(self, shape: tuple[int, ...]) -> LinearForm | None:
        forms = [each.as_linear(block) for each, block in zip(self.sets, self.shapes, strict=True)]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms):
            return None
        return LinearForm(
            np.concatenate([form.lower for form in known]),
            np.concatenate([form.upper for form in known]),
            sp.block_diag([sp.csr_array(form.rows) for form in known], format="csr"),
            np.concatenate([form.least for form in known]),
            np.concatenate([form.most for form in known]),
            np.concatenate([form.whole for form in known]),
        )

    def places(self) -> list[slice]:
        """Where each block lies in a point."""
        sizes = [math.prod(block) for block in self.shapes]
        ends = np.cumsum(sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    def _blocks(self, x: Array) -> list[tuple[ConstraintSet, Array]]:
        blocks = zip(self.sets, self.places(), self.shapes, strict=True)
        return [(each, x[place].reshape(block)) for each, place, block in blocks]


def _widened(matrix: Any, place: slice, columns: int) -> Any:
    """Rows of a block as rows of the whole vector."""
    rows = sp.csr_array(matrix if sp.issparse(matrix) else np.atleast_2d(matrix))
    before, after = (
        sp.csr_array((rows.shape[0], place.start)),
        sp.csr_array((rows.shape[0], columns - place.stop)),
    )
    return sp.hstack([before, rows, after], format="csr")
