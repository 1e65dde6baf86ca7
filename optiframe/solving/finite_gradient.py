"""The end of a run at a gradient that is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.solving.result import Status


def not_finite(gradient: Any, where: str = "the point reached") -> tuple[Status, str] | None:
    """How a run ends at this gradient: `diverged`, with the first wrong entry; None where all are finite.

    One pass over the gradient. Sets that keep the largest entries, and comparisons of lengths, would else
    take nan for 0, and the point for a minimum.
    """
    flat = np.ravel(gradient)
    finite = np.isfinite(flat)
    if finite.all():
        return None
    wrong = int(np.argmin(finite))
    return Status.DIVERGED, (
        f"the gradient at {where} is not finite: entry {wrong} is {flat[wrong]:g}; "
        "check the gradient, or start elsewhere"
    )
