"""Blocks of a vector, each in a set of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import BeforeValidator, Field, PlainSerializer, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.points import table
from optiframe.problems.sets.constraint_set import ConstraintSet, LinearForm, ScipyConstraints
from optiframe.problems.sets.intersection import as_members
from optiframe.records.fields import Accepts, Array


class Product(ConstraintSet):
    """Vectors whose consecutive blocks lie each in a set of its own.

    In a file, ``over = {name = "product", sizes = [3, 2], sets = ["simplex", {name = "box", upper = 1.0}]}``.
    Projections and farthest points are those of the blocks.

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
        tuple[PositiveInt, ...],
        BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
        Accepts("a list of whole numbers"),
    ] = Field(description="number of entries in each block")

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
        if shape != (sum(self.sizes),):
            raise InvalidInput(
                f"the blocks have {sum(self.sizes)} entries together, and a point has the shape {shape}"
            )
        for each, size in zip(self.sets, self.sizes, strict=True):
            each.check_shape((size,))

    def offers(self, operation: Callable[..., Any]) -> bool:
        return super().offers(operation) and all(each.offers(operation) for each in self.sets)

    def project(self, v: Array) -> Array:
        return np.concatenate([each.project(part) for each, part in self._blocks(v)])

    def farthest(self, d: Array) -> Array:
        return np.concatenate([each.farthest(part) for each, part in self._blocks(d)])

    def inside(self, shape: tuple[int, ...]) -> Array:
        return np.concatenate([each.inside((n,)) for each, n in zip(self.sets, self.sizes, strict=True)])

    def violation(self, x: Array) -> float:
        """The largest violation of a block."""
        return max(each.violation(part) for each, part in self._blocks(x))

    def as_cvxpy(self, x: Any) -> list[Any] | None:
        forms = [each.as_cvxpy(part) for each, part in self._blocks(x)]
        known = [form for form in forms if form is not None]
        return [each for form in known for each in form] if len(known) == len(forms) else None

    def as_scipy(self, shape: tuple[int, ...]) -> ScipyConstraints | None:
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

        lower, upper, others = np.full(shape, -np.inf), np.full(shape, np.inf), []
        for each, place in zip(self.sets, self._places(), strict=True):
            form = each.as_scipy((place.stop - place.start,))
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
        forms = [each.as_linear((size,)) for each, size in zip(self.sets, self.sizes, strict=True)]
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

    def _places(self) -> list[slice]:
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def _blocks(self, x: Any) -> list[tuple[ConstraintSet, Any]]:
        return [(each, x[place]) for each, place in zip(self.sets, self._places(), strict=True)]


def _widened(matrix: Any, place: slice, columns: int) -> Any:
    """Rows of a block as rows of the whole vector."""
    rows = sp.csr_array(matrix if sp.issparse(matrix) else np.atleast_2d(matrix))
    before, after = (
        sp.csr_array((rows.shape[0], place.start)),
        sp.csr_array((rows.shape[0], columns - place.stop)),
    )
    return sp.hstack([before, rows, after], format="csr")
