"""Triangles of a graph: enough of them to span all, by sets of neighbours held as bits."""

from __future__ import annotations

import numpy as np

from optiframe_hodgerank.graph.comparison_graph import Codes


def neighbours(items: int, left: Codes, right: Codes) -> list[int]:
    """The neighbours of each item as a whole number whose bit i is set for neighbour i."""
    found = [0] * items
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        found[i] |= 1 << j
        found[j] |= 1 << i
    return found


def spanning_triangles(items: int, left: Codes, right: Codes) -> Codes:
    """Triangles a < b < c whose boundaries span those of all triangles, shape (triangles, 3).

    For each pair b < c the common neighbours below b are taken in rising order, leaving out those
    with a common neighbour v taken before: the boundary of (a, b, c) is then that of (v, a, b),
    (v, b, c) and (v, a, c), whose lowest items are lower; so, by induction, no triangle that is left
    out is missed.

    Parameters
    ----------
    items
        Number of items.
    left, right
        The pairs, each once, ``left < right``, shape (pairs,).
    """
    near = neighbours(items, left, right)
    below = [bits & ((1 << i) - 1) for i, bits in enumerate(near)]
    found: list[tuple[int, int, int]] = []
    for b, c in zip(left.tolist(), right.tolist(), strict=True):
        common = below[b] & below[c]
        while common:
            lowest = common & -common
            a = lowest.bit_length() - 1
            found.append((a, b, c))
            common &= ~(near[a] | lowest)
    return np.array(found, dtype=np.int64).reshape(-1, 3)
