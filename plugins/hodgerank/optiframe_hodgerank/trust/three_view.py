"""Caps on a total and on the groups of two views: the set `three-view` of the plugin tvcs, by its name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import remedy
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.registry.registry import build, registry

_SET = "three-view"

Groups = tuple[NDArray[np.int64], "int | NDArray[np.int64]"]
"""The group of each element (-1: none), and how many of any group, or of each, there may be."""


def lacks_three_view(what: str) -> str | None:
    """Why the set cannot be had, with the command that installs it; None where it can. `what` needs it."""
    if any(entry.name == _SET for entry in registry().entries("constraint set")):
        return None
    return f"{what} the set {_SET!r} of the plugin tvcs; run: {remedy(['optiframework-tvcs'])}"


def three_view(total: int, one: Groups, other: Groups) -> ConstraintSet:
    """The set of vectors with so many nonzeros in all and in each group of two views."""
    rows, columns = ({"labels": labels, "bounds": most} for labels, most in (one, other))
    found: ConstraintSet = build(
        "constraint set", {"name": _SET, "total": total, "rows": rows, "columns": columns}
    )
    return found
