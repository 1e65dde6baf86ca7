"""Shortest paths on the graph of groups, in plain Python: the repair of prices that are nearly right."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


class Flow:
    """Units on the graph of groups: S to rows to columns to T, and back to S."""

    def __init__(  # the parts of an instance
        self,
        whole: Array,
        row: Codes,
        column: Codes,
        row_bounds: Counts,
        column_bounds: Counts,
        total: int,
        y0: float,
        u: Array,
        w: Array,
    ) -> None:
        self.rows, self.columns = len(row_bounds), len(column_bounds)
        self.source = self.rows + self.columns
        self.sink = self.source + 1
        potential = np.concatenate([y0 + u, -w, [y0, 0.0]])
        reduced = whole - (y0 + u[row]) - w[column]
        chosen = reduced > 0
        count_r = np.bincount(row[chosen], minlength=self.rows)
        count_c = np.bincount(column[chosen], minlength=self.columns)
        # Elements at their threshold may be on either side: what fits is taken at once.
        room = total - int(count_r.sum())
        for e in np.flatnonzero((reduced == 0) & (whole > 0)).tolist():
            i, j = row[e], column[e]
            if room > 0 and count_r[i] < row_bounds[i] and count_c[j] < column_bounds[j]:
                chosen[e] = True
                count_r[i] += 1
                count_c[j] += 1
                room -= 1
        fed = np.where(u > 0, row_bounds, np.minimum(count_r, row_bounds))
        drained = np.where(w > 0, column_bounds, np.minimum(count_c, column_bounds))
        self.back = total if y0 > 0 else min(total, int(drained.sum()))
        excess = [*(fed - count_r), *(count_c - drained)]
        excess += [self.back - int(fed.sum()), int(drained.sum()) - self.back]
        # plain lists: the search below reads one number at a time
        self.excess: list[int] = [int(e) for e in excess]
        self.phi: list[float] = potential.tolist()
        self.fed: list[int] = fed.tolist()
        self.drained: list[int] = drained.tolist()
        self.bounds: list[int] = [*row_bounds.tolist(), *column_bounds.tolist()]
        self.total = total
        self.worth: list[float] = whole.tolist()
        self.chosen: list[bool] = chosen.tolist()
        self.ends: tuple[list[int], list[int]] = (row.tolist(), (column + self.rows).tolist())
        self.elements: list[list[int]] = [[] for _ in range(self.source)]
        for e in np.flatnonzero(whole > 0).tolist():
            self.elements[self.ends[0][e]].append(e)
            self.elements[self.ends[1][e]].append(e)

    def arcs(self, v: int) -> Iterator[tuple[int, int, float]]:
        """Where a unit can go from node v: (node, element or -1, length)."""
        phi, p = self.phi, self.phi[v]
        if v < self.rows:
            for e in self.elements[v]:
                if not self.chosen[e]:
                    u = self.ends[1][e]
                    yield u, e, p - phi[u] - self.worth[e]
            if self.fed[v] > 0:
                yield self.source, -1, p - phi[self.source]
        elif v < self.source:
            for e in self.elements[v]:
                if self.chosen[e]:
                    u = self.ends[0][e]
                    yield u, e, p - phi[u] + self.worth[e]
            if self.drained[v - self.rows] < self.bounds[v]:
                yield self.sink, -1, p - phi[self.sink]
        elif v == self.source:
            for i in range(self.rows):
                if self.fed[i] < self.bounds[i]:
                    yield i, -1, p - phi[i]
            if self.back > 0:
                yield self.sink, -1, p - phi[self.sink]
        else:
            for j in range(self.columns):
                if self.drained[j] > 0:
                    yield self.rows + j, -1, p - phi[self.rows + j]
            if self.back < self.total:
                yield self.source, -1, p - phi[self.source]

    def push(self, v: int, u: int, e: int) -> None:
        """Carry one unit from node v to node u."""
        if e >= 0:
            self.chosen[e] = not self.chosen[e]
        elif v == self.source and u == self.sink:
            self.back -= 1
        elif v == self.sink and u == self.source:
            self.back += 1
        elif v == self.source:
            self.fed[u] += 1
        elif u == self.source:
            self.fed[v] -= 1
        elif u == self.sink:
            self.drained[v - self.rows] += 1
        else:
            self.drained[u - self.rows] -= 1

    def units(self) -> int:
        """Units in the wrong place."""
        return sum(max(each, 0) for each in self.excess)

    def balance(self) -> int:
        """Carry every excess to a lack along shortest paths; returns how many these were."""
        paths = 0
        for start in range(self.sink + 1):
            while self.excess[start] > 0:
                self._carry(start)
                paths += 1
        return paths

    def _carry(self, start: int) -> None:
        distance: dict[int, float] = {start: 0.0}
        before: dict[int, tuple[int, int]] = {}
        done: set[int] = set()
        heap = [(0.0, start)]
        nearest, end = np.inf, -1  # of the lacks reached so far; what is not nearer is of no use
        while heap and heap[0][0] < nearest:  # some lack is reached: emptying all groups is always possible
            d, v = heapq.heappop(heap)
            if v in done:
                continue
            done.add(v)
            for u, e, length in self.arcs(v):
                # A lack that was reached before may be farther than the nearest one is now.
                if d + length < min(nearest, distance.get(u, nearest)):
                    distance[u] = d + length
                    before[u] = (v, e)
                    heapq.heappush(heap, (d + length, u))
                    if self.excess[u] < 0:
                        nearest, end = d + length, u
                        if length == 0:
                            break  # none can be nearer
        for u in done:
            self.phi[u] -= nearest - distance[u]
        v = end
        self.excess[start] -= 1
        self.excess[v] += 1
        while v != start:
            u, e = before[v]
            self.push(u, v, e)
            v = u

    def answer(self) -> tuple[NDArray[np.bool_], float, Array, Array]:
        """What is chosen, and the prices y0, u, w of the bounds."""
        phi: Any = np.array(self.phi)
        source, sink = phi[self.source], phi[self.sink]
        most = max(self.worth, default=0.0)  # a higher price forbids no more
        u = np.clip(phi[: self.rows] - source, 0.0, most)
        w = np.clip(sink - phi[self.rows : self.source], 0.0, most)
        return np.array(self.chosen, dtype=np.bool_), max(source - sink, 0.0), u, w
