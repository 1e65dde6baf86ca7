"""What a support that some other method found loses beside the best one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optiframe.numbers import percent
from optiframe_tvcs.projection.certificate import Certificate

_COUNTS_AS_NOTHING = 1e-6  # the default tolerance of a run


def relative_gap(found: Certificate) -> float:
    """What the best support is worth more, relative to this one's worth; 0.0 where the certificate holds.

    It is nan where the share is so small that a run would count it as nothing: `converged` means proved.
    """
    if found.holds:
        return 0.0
    share = _share_of_worth(found)
    share = found.loss if share is None else share
    return share if share > _COUNTS_AS_NOTHING else math.nan


def not_best(found: Certificate, support: NDArray[np.bool_]) -> str:
    """What a support loses, in words."""
    if found.gap == math.inf:  # it breaks a bound, or what it loses is beyond float64
        return f"{found.reason}; tvcs.exact finds the best"
    what = "the support is not the best" if support.any() else "nothing is chosen"
    share = _share_of_worth(found)
    # However little it loses, 0% would say that it is the best.
    lost = "" if share is None else f" and loses {percent(max(share, _COUNTS_AS_NOTHING))} of its worth"
    return f"{what}{lost}; tvcs.exact finds the best"


def _share_of_worth(found: Certificate) -> float | None:
    """The gap over the worth of the support; None where one of the two is beyond float64, or the worth 0."""
    return found.gap / found.primal if 0 < found.primal < math.inf > found.gap else None
