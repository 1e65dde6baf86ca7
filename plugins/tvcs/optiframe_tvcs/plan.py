"""The projection plan: group structure prepared once, for repeated certified projections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.values import Array
from optiframe_tvcs.certificate import Certificate, Prices, Selection


class ProjectionPlan:
    def __init__(self, row_labels, row_caps, column_labels, column_caps, total):
        p = len(row_labels)
        self.given = (row_labels, row_caps, column_labels, column_caps, int(total))
        R, C = len(row_caps) + 1, len(column_caps) + 1
        r = np.where(row_labels < 0, R - 1, row_labels).astype(np.int32)
        c = np.where(column_labels < 0, C - 1, column_labels).astype(np.int32)
        self.row_caps = np.append(np.minimum(row_caps, p + 1), p + 1).astype(np.int64)
        self.column_caps = np.append(np.minimum(column_caps, p + 1), p + 1).astype(np.int64)
        self.total = min(int(total), p + 1)
        if (r[1:] >= r[:-1]).all():
            self.order = np.empty(0, np.int32)
        else:
            self.order = np.argsort(r, kind="stable").astype(np.int32)
            r, c = r[self.order], c[self.order]
        self.column = c
        self.row_length = np.bincount(r, minlength=R).astype(np.float64)
        self.column_length = np.bincount(c, minlength=C).astype(np.float64)
        self.first = np.concatenate([[0], np.cumsum(self.row_length)]).astype(np.int64)
        coin = np.random.default_rng(0).random(p, dtype=np.float32)
        self.samples = []
        for size in (32, 140):
            probability = np.maximum(
                (size / np.maximum(self.row_length, 1))[r], (size / np.maximum(self.column_length, 1))[c]
            )
            place = np.flatnonzero(coin < probability).astype(np.int32)
            if len(place) > 0.22 * p:
                place = place[:0]
            first = np.searchsorted(place, self.first).astype(np.int64)
            self.samples += [first, c[place], place, 1 / np.minimum(probability[place], 1)]

    def solve(self, weights, start=None, forced=False, window=2.0, keep=24.0, warm_window=2.0):
        from optiframe_tvcs.compiled import project
        p = len(weights)
        R, C = len(self.row_caps), len(self.column_caps)
        u, w, y0 = np.zeros(R), np.zeros(C), 0.0
        if start is not None:
            u[:-1], w[:-1], y0 = start.rows, start.columns, start.total
        support = np.empty(p, np.bool_)
        sums = np.zeros(6, np.int64)
        record = np.zeros(8, np.int64)
        failures, scale, y0 = project(
            weights, self.order, self.first, self.column, self.row_length, self.column_length,
            self.row_caps, self.column_caps, self.total, *self.samples,
            start is not None, y0, u, w, window if start is None else warm_window, keep, 200 * p + 10**6, forced, support, sums, record)
        self.record = record
        primal = (int(sums[0]) << 26) + int(sums[1])
        dual = (int(sums[2]) << 26) + int(sums[3])
        cert = Certificate(failures == 0, primal / scale, dual / scale, (dual - primal) / scale, None, 0.0, 0.0, "" if failures == 0 else "x")
        return Selection(support, Prices(y0 / scale, u[:-1] / scale, w[:-1] / scale), cert)
