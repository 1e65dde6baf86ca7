"""Which workers' updates differ from the others' by more than chance makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from optiframe.records.fields import Array

_ROUNDS = 4  # looked at: while updates are alike; at the floor they are noise
_LEVEL = 0.01  # chance that a run in which nobody lies names anybody
# Where shards are small, honest distances have a longer tail than normal ones, however many there are:
# with (m - 1)/2 alone, 38 of 200 clean runs on a9a with 50 workers named somebody. Set on seeds apart.
_DEGREES = 8.0
_DEVIATION = 1.4826022185056018  # standard deviation of a normal variable over its median absolute deviation
_LEAST = 6.0  # times the median: what is nearer is no matter, however improbable


def differing(apart: Sequence[Array]) -> dict[int, float]:
    """Workers whose squared distance from the geometric median stands out, and how many times the median.

    In each of the first four rounds the logarithms of the distances are centred at their median and
    divided by their scaled median absolute deviation; that is compared with Student's t of (m - 1)/2 degrees
    of freedom, at most 8. The smallest p-value times four must be below .01/m, and the distance beyond 6
    times the median: with honest workers alone about one run in a hundred names anybody.

    Parameters
    ----------
    apart
        `Ledger.apart`: for each round the squared distances, shape (m,); nan for who sent nothing.

    That a worker differs says nothing of why: its data may be unusual.
    """
    found: dict[int, float] = {}
    for distances in apart[:_ROUNDS]:
        here = np.flatnonzero(np.isfinite(distances))
        if len(here) < 3:
            continue
        ratios, chances = outlying(distances[here])
        for at in np.flatnonzero((len(apart[:_ROUNDS]) * chances < _LEVEL / len(here)) & (ratios > _LEAST)):
            worker = int(here[at])
            found[worker] = max(found.get(worker, 0.0), float(ratios[at]))
    return dict(sorted(found.items()))


def outlying(distances: Array) -> tuple[Array, Array]:
    """Each distance over their median, and the chance of one as large or larger; both of shape (m,)."""
    middle = float(np.median(distances))
    if middle == 0.0:  # most agree to the last bit
        return np.where(distances > 0.0, np.inf, 1.0), np.where(distances > 0.0, 0.0, 1.0)
    ratios = distances / middle
    logs = np.log(np.maximum(ratios, np.finfo(np.float64).tiny))
    spread = _DEVIATION * float(np.median(np.abs(logs - np.median(logs))))
    z = np.divide(logs, spread, out=np.where(logs > 0.0, np.inf, 0.0), where=spread > 0.0)
    return np.asarray(ratios), np.asarray(t.sf(z, min((len(distances) - 1) / 2, _DEGREES)))
