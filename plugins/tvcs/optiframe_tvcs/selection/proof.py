"""How good a choice is, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from optiframe_tvcs.selection.changes import Changes

Method = Literal["projection", "flow", "integer program"]


@dataclass(frozen=True)
class Proof:
    """How a choice was found, and how good it is.

    Parameters
    ----------
    method
        ``projection`` and ``flow`` are exact; ``integer program`` is as good as its bound.
    bound
        No choice within the bounds has a larger sum of values.
    best
        Whether the choice is proved best.
    changes
        What would change it; None where it is not proved best.
    """

    method: Method
    bound: float
    best: bool
    changes: Changes | None = field(default=None, repr=False)
