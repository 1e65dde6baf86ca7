"""The proximal operator of the exclusive LASSO's penalty."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_tvcs.sets.groups import Groups


def shrink_groups(v: Array, groups: Groups, weight: float) -> Array:
    """The point u of least ``|u - v|^2/2 + weight * sum over groups of (sum of |u| in the group)^2``.

    In a group the k largest entries remain, each smaller by ``2 weight S`` with S the sum of
    what remains, ``S = (sum of the k largest) / (1 + 2 weight k)``; k is the most for which the
    smallest of them stays positive. Sorts once: O(p log p). Entries in no group stay.
    """
    u = np.array(v, dtype=np.float64)
    held = np.flatnonzero(groups.labels >= 0)
    if not len(held):
        return u
    labels, size = groups.labels[held], np.abs(u[held])
    order = np.lexsort((-size, labels))
    falling, group = size[order], labels[order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    length = np.diff(np.append(begins, len(group)))
    running = np.cumsum(falling)
    running -= np.repeat(running[begins] - falling[begins], length)
    rank = np.arange(len(group)) - np.repeat(begins, length) + 1
    remain = running / (1 + 2 * weight * rank)  # S if just the first `rank` entries remained
    stays = falling > 2 * weight * remain
    count = np.add.reduceat(stays.astype(np.intp), begins)  # those that stay are the first of their group
    cut = np.zeros(len(groups))
    some = count > 0
    cut[group[begins[some]]] = 2 * weight * remain[begins[some] + count[some] - 1]
    u[held] = np.sign(u[held]) * np.maximum(size - cut[labels], 0.0)
    return u
