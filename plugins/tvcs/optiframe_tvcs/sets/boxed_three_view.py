"""Three-view sets with entries between 0 and 1: assignments, relaxed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator

from optiframe.errors import InvalidInput
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Accepts, Array
from optiframe_tvcs.projection.checked import as_point
from optiframe_tvcs.sets.three_view import ThreeView

_FAR = 1e300  # twice it is a finite number; what is as large is chosen anyway, or ties


def _as_views(value: Any) -> ThreeView:
    if isinstance(value, Mapping):
        return ThreeView.load(**{str(key): part for key, part in value.items() if key != "name"})
    if not isinstance(value, ThreeView):
        raise InvalidInput("must be a three-view set, or a table with its keys")
    return value


class BoxedThreeView(ConstraintSet):
    """Vectors with entries from 0 to 1, few of them nonzero: in all, in each row and in each column group.

    The 0/1 points of it are the assignments. The projection onto a plain three-view set keeps
    the largest squares, and so large negative entries; here an entry v that is kept becomes
    clip(v, 0, 1) and lowers the squared distance by ``c (2 v - c)``, c its clipped value, which
    is nothing for a negative one. So the best support is the one of greatest total worth
    (`ThreeView.support`), and the projection is exact.

    Memory and time are those of one projection onto the three-view set.
    """

    name = "three-view-box"
    reference = "Yang et al., Eq. 8 with X relaxed to [0, 1]"
    convex = False

    views: Annotated[ThreeView, PlainValidator(_as_views), Accepts("the keys of a three-view set")] = Field(
        description="where entries may be nonzero, and how many"
    )

    def check_shape(self, shape: tuple[int, ...]) -> None:
        self.views.check_shape(shape)

    def project(self, v: Array) -> Array:
        v = as_point(v)
        clipped = np.clip(v, 0.0, 1.0)
        near = np.where(np.isfinite(v), np.clip(v, -_FAR, _FAR), v)  # the views refuse what is not finite
        worths = clipped * (2.0 * near - clipped)
        return np.asarray(clipped * self.views.support(worths))

    def violation(self, x: Array) -> float:
        x = as_point(x)
        if not np.isfinite(x).all():
            return math.inf
        inside = bool(((x >= 0) & (x <= 1)).all()) and not self.views.excess(x)
        return 0.0 if inside else self.distance(self.project(x), x)
