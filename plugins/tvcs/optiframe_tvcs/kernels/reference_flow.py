"""Shortest paths on the graph of groups, in plain Python: the repair of prices that are nearly right."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


class Flow:
    """Units on the graph of groups: S to rows to columns to T, and back to S. Whole numbers of any length."""

    def __init__(  # the parts of an instance
        self,
        worth: list[int],
        row: Codes,
        column: Codes,
        row_bounds: Counts,
        column_bounds: Counts,
        total: int,
        y0: list[int],
        u: list[int],
        w: list[int],
    ) -> None:
        self.rows, self.columns = len(row_bounds), len(column_bounds)
        self.source = self.rows + self.columns
        self.sink = self.source + 1
        self.worth, self.total = worth, total
        self.phi: list[int] = [*(y0[0] + price for price in u), *(-price for price in w), y0[0], 0]
        self.ends: tuple[list[int], list[int]] = (row.tolist(), (column + self.rows).tolist())
        count = [0] * (self.source + 2)
        self.chosen: list[bool] = [False] * len(worth)
        level: list[int] = []
        for e, (q, i, j) in enumerate(zip(worth, *self.ends, strict=True)):
            reduced = q - self.phi[i] + self.phi[j]
            if reduced > 0 and q:
                self.chosen[e] = True
                count[i] += 1
                count[j] += 1
            elif reduced == 0 and q:
                level.append(e)
        bounds: list[int] = [*row_bounds.tolist(), *column_bounds.tolist()]
        # Elements at their threshold may be on either side: what fits is taken at once.
        room = total - sum(self.chosen)
        for e in level:
            i, j = self.ends[0][e], self.ends[1][e]
            if room > 0 and count[i] < bounds[i] and count[j] < bounds[j]:
                self.chosen[e] = True
                count[i] += 1
                count[j] += 1
                room -= 1
        used = [
            bound if price > 0 else min(held, bound)
            for bound, price, held in zip(bounds, [*u, *w], count[: self.source], strict=True)
        ]
        self.fed, self.drained = used[: self.rows], used[self.rows :]
        self.back = total if y0[0] > 0 else min(total, sum(self.drained))
        self.excess: list[int] = [fed - held for fed, held in zip(self.fed, count, strict=False)]
        self.excess += [held - out for held, out in zip(count[self.rows :], self.drained, strict=False)]
        self.excess += [self.back - sum(self.fed), sum(self.drained) - self.back]
        self.bounds = bounds
        self.elements: list[list[int]] = [[] for _ in range(self.source)]
        for e, q in enumerate(worth):
            if q:
                self.elements[self.ends[0][e]].append(e)
                self.elements[self.ends[1][e]].append(e)

    def arcs(self, v: int) -> Iterator[tuple[int, int, int]]:
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
        distance: dict[int, int] = {start: 0}
        before: dict[int, tuple[int, int]] = {}
        done: set[int] = set()
        heap = [(0, start)]
        nearest: Any = math.inf
        end = -1  # of the lacks reached so far; what is not nearer is of no use
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

    def answer(self) -> tuple[NDArray[np.bool_], list[int]]:
        """What is chosen, and the prices y0, u, w of the bounds that were given."""
        source, sink = self.phi[self.source], self.phi[self.sink]
        most = max(self.worth, default=0)  # a higher price forbids no more
        u = [min(max(phi - source, 0), most) for phi in self.phi[: self.rows - 1]]
        w = [min(max(sink - phi, 0), most) for phi in self.phi[self.rows : self.source - 1]]
        return np.array(self.chosen, dtype=np.bool_), [max(source - sink, 0), *u, *w]
