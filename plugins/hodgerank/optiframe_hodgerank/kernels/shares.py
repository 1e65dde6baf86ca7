"""Shares of right votes that a worker may have, and what each makes of a vote."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array

SHARES: Array = np.linspace(0.0, 1.0, 11)
"""Shares that a worker may have, shape (grid,)."""


def ratios(chance: Array) -> Array:
    """(2 eta - 1) / q of each vote and share, shape (votes, 11)."""
    return np.asarray((2 * SHARES - 1) / ((1 - SHARES) + (2 * SHARES - 1) * chance[:, None]))
