"""Slow, obvious twins of the projection, and small sets to try them on."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st
from optiframe_tvcs.kernels import projection, reference
from optiframe_tvcs.projection import plan as plans
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView

PATHS = ("kernel", "fallback", "reference")
BUILT = projection.project is not reference.project  # else the reference answers by every path


def solve(
    path: str, plan: ProjectionPlan, values: np.ndarray, start: Prices | None = None, *, squared: bool = False
) -> Selection:
    """What the plan chooses by its kernel, by the kernel's fallback, or by the reference of both."""
    if path != "reference":
        return plan.solve(values, start, forced=path == "fallback", squared=squared)
    with patch.multiple(plans, Layout=reference.Layout, project=reference.project):
        return ProjectionPlan(*plan.bounds).solve(values, start, squared=squared)


def best_worth(over: ThreeView, worth: np.ndarray) -> Any:
    """The largest total worth of any support, by trying all of them (2**p rows at once)."""
    p = len(worth)
    every = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
    fits = every.sum(axis=1) <= (p if over.total is None else over.total)
    for view in (over.rows, over.columns):
        if view is not None:
            for group, cap in enumerate(view.caps):
                fits &= every[:, view.labels == group].sum(axis=1) <= cap
    return (every[fits] * worth).sum(axis=1).max()


@st.composite
def sets(draw: Any, most: int = 9) -> ThreeView:
    """Small sets of every kind: views left out, elements in no group, bounds of 0 and far too large."""
    p = draw(st.integers(0, most))

    def view() -> Groups | None:
        groups = draw(st.integers(0, 4))
        if groups == 0:
            return None
        labels = draw(st.lists(st.integers(-1, groups - 1), min_size=p, max_size=p))
        caps = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 50]), min_size=groups, max_size=groups))
        return Groups.of_labels(np.array(labels, dtype=np.int64), caps)

    total = draw(st.sampled_from([None, 0, 1, 2, 3, 4, 100]))
    return ThreeView(total=total, rows=view(), columns=view(), size=p)


def points(p: int) -> st.SearchStrategy[np.ndarray]:
    """Vectors with ties and zeros, or of ordinary numbers, or of very different sizes."""
    entries = st.sampled_from(
        [
            st.integers(-2, 2).map(float),
            st.floats(-10, 10, allow_nan=False),
            st.sampled_from([0.0, 1e-9, -1e-160, 3e150, -1e3]),
        ]
    ).flatmap(lambda each: st.lists(each, min_size=p, max_size=p))
    return entries.map(np.array).map(lambda v: v.astype(np.float64))


def papers_set(p: int, seed: int) -> tuple[ThreeView, np.random.Generator]:
    """The set of Sec. 5.1: a square matrix, bounds uniform in [1, sqrt(p)], total .8 of the lower sum."""
    side = round(p**0.5)
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, side + 1, (2, side))
    total = int(0.8 * min(rows.sum(), columns.sum()))
    return ThreeView.of_matrix((side, side), total, rows, columns), rng
