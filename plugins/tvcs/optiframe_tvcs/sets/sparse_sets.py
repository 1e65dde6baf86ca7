"""What the sparse solvers ask of a constraint set beyond `project`.

Both are optional methods of a set, found by name, so that any plugin's set can offer them:

``projector()``
    An object with ``project(v)`` for a run of many projections of nearby points; it may keep
    what it learned (prices, say) for the next one. Where it is missing, the set itself serves.
``enlarged(factor)``
    The same kind of set with every bound multiplied by a whole number. Only sets of supports have
    it: those that restrict which entries may be nonzero, and not their values.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.minimize import Minimize
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.solving.solver import Run


class Projector(Protocol):
    """Projects points, one after another."""

    def project(self, v: Array) -> Array:
        """A nearest point of the set."""
        ...


def projector(over: ConstraintSet) -> Projector:
    """The set's own projector for a run of projections, else the set itself."""
    make = getattr(over, "projector", None)
    found: Projector = over if make is None else make()
    return found


def enlarged(over: ConstraintSet, factor: int) -> ConstraintSet | None:
    """The set with its bounds multiplied by `factor`; None when it cannot say what that is."""
    if type(over) is Cardinality:
        return Cardinality(size=factor * over.size)
    make = getattr(over, "enlarged", None)
    if make is None:
        return None
    found: ConstraintSet = make(factor)
    return found


def support(x: Array) -> NDArray[np.bool_]:
    """Which entries are not zero; of the shape of `x`."""
    return np.asarray(x != 0)


def digest(chosen: NDArray[np.bool_]) -> bytes:
    """A support in 16 bytes, for a record of those met; two of them agree by chance once in 2^64 runs."""
    return blake2b(np.packbits(chosen).tobytes(), digest_size=16).digest()


def first_point(problem: Minimize, run: Run) -> Array:
    """The caller's start, else the problem's, brought into the set: descent begins inside it."""
    start = problem.initial() if run.start is None else run.start
    return np.array(problem.over.project(np.asarray(start, dtype=np.float64)))


def not_of_supports(problem: Minimize) -> str | None:
    """A sentence when the set is not one of supports: free values on any of certain supports."""
    if enlarged(problem.over, 1) is not None:
        return None
    return (
        f"the set {problem.over.name!r} does not say that it bounds supports only "
        "(it has no method enlarged); tvcs.iht takes any set that can project"
    )


def norm(x: Any) -> float:
    """Euclidean length of all entries, whatever the shape."""
    return float(np.linalg.norm(np.ravel(x)))
