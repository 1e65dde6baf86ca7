"""The projection plan (first version, by SciPy's HiGHS; to be replaced by the compiled one)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from optiframe.values import Array
from optiframe_tvcs.certificate import Bounds, Prices, Selection, check, quantise


class ProjectionPlan:
    """Group structure kept for repeated projections."""

    def __init__(
        self,
        row_labels: NDArray[np.int32],
        row_caps: NDArray[np.int64],
        column_labels: NDArray[np.int32],
        column_caps: NDArray[np.int64],
        total: int,
    ) -> None:
        self.given = Bounds(row_labels, row_caps, column_labels, column_caps, total)
        p = len(row_labels)
        parts = [sp.csr_array(np.ones((1, p)))]
        for labels, caps in ((row_labels, row_caps), (column_labels, column_caps)):
            held = np.flatnonzero(labels >= 0)
            if len(caps):
                where = (labels[held], held)
                parts.append(sp.csr_array((np.ones(len(held)), where), shape=(len(caps), p)))
        self.matrix = sp.vstack(parts, format="csc")
        self.bounds = np.minimum(np.concatenate([[total], row_caps, column_caps]), p).astype(float)

    def solve(self, weights: Array) -> Selection:
        whole, scale = quantise(weights)
        support, y = np.zeros(len(whole), dtype=bool), np.zeros(len(self.bounds))
        if whole.any():
            top = whole.max()
            found = linprog(-whole / top, self.matrix, self.bounds, bounds=(0, 1), method="highs-ds")
            support = (found.x > 0.5) & (whole > 0)
            y = np.maximum(np.rint(-found.ineqlin.marginals * top), 0)
        rows = len(self.given[1])
        prices = Prices(float(y[0]), y[1 : 1 + rows], y[1 + rows :])
        certificate = check(whole, self.given, support, prices, scale)
        return Selection(support, prices.times(1 / scale), certificate)
