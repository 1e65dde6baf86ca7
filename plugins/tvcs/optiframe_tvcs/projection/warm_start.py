"""A run of projections of nearby points, each begun with the prices of the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.projection.worths import squares

Entries = Callable[[Any], NDArray[np.float64]]


class WarmProjector:
    """Projects points onto a three-view set, one after another, and keeps the prices in between.

    The answers are those of `ThreeView.project`, each checked; where several supports are equally good,
    which of them is kept may depend on the points before. Prices from afar, as after a jump, cost no more
    than none: they are dropped. Memory: 8 bytes a group more.

    Parameters
    ----------
    plan
        The group structure.
    shaped, entries
        A point's entries in one row, its shape checked; the second checks that they are finite, too.
    """

    def __init__(self, plan: ProjectionPlan, shaped: Entries, entries: Entries) -> None:
        self.plan, self.shaped, self.entries = plan, shaped, entries
        self._packed: Array | None = None  # prices, as the plan's `keep` gives them
        # Those of the last point whose squares are no ordinary numbers, and the unit of its worths.
        self._last: tuple[float, Prices] | None = None

    def project(self, v: Array) -> Array:
        """The nearest point of the set; a nearest one where there are several."""
        quick = self.plan.keep(self.shaped(v), self._packed)
        if quick is not None:
            kept, self._packed = quick
            return kept.reshape(np.shape(v))
        flat = self.entries(v)
        worths, unit = squares(flat, self.plan.closed)
        start = self._last[1] if self._last is not None and self._last[0] == unit else None
        found = self.plan.solve(worths, start)
        if not found.certificate.exact:
            raise RuntimeError(f"the projection is not proved: {found.certificate.reason}; please report it")
        self._last = unit, found.prices
        return np.where(found.support, flat, 0.0).reshape(np.shape(v))
