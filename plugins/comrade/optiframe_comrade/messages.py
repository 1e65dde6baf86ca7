"""What travels between the coordinator and a worker: plain arrays and numbers.

Nothing here is code or is turned into code: a backend may carry these over any wire that
moves arrays. A reply is data of someone who may lie: see `optiframe_comrade.protocol.reply_checks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from optiframe.records.fields import Array

NEWTON_STEP = "newton-step"
"""Asks for the local Hessian's inverse times the local gradient at the point."""
STEP_WITH_VALUE = "newton-step-with-objective"
"""Asks for the same and, as one number more, the local objective at the point."""
GRADIENT = "gradient"
"""Asks for the local gradient at the point."""
STEP_WITH_GRADIENT = "newton-step-with-gradient"
"""Asks for the local Hessian's inverse times the gradient sent along (array "gradient")."""
OBJECTIVE = "objective"
"""Asks for the local objective at point - t * direction (arrays "direction", "steps"), for each t."""

HESSIAN_DIAGONAL = "hessian-diagonal"
"""Asks for the diagonal of the local Hessian at the point."""
HESSIAN_BLOCK = "hessian-block"
"""Asks for S^-1 H_i S^-1 v for vectors v (arrays "scale", S's diagonal, and "block", one v after another)."""

FaultKind: TypeAlias = Literal[
    "crashed",  # no worker, or an error in it
    "late",  # nothing by the deadline
    "old-round",  # a reply to another broadcast
    "wrong-type",  # not an array of float64, or not bytes where bytes are due
    "wrong-shape",
    "too-large",
    "malformed",  # bytes that the compressor cannot decode
    "not-finite",
]

NUMBER = 8
"""Bytes of a float64, and of the round number."""


@dataclass(frozen=True)
class Broadcast:
    """What the coordinator sends to every worker it asks.

    Parameters
    ----------
    round
        Counts the broadcasts of a run from 1; a reply must repeat it.
    kind
        What is asked for; one of the constants of this module.
    point
        Where, of shape (d,).
    arrays
        What else the kind needs, by name.
    """

    round: int
    kind: str
    point: Array
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and the round number, as they would lie on the wire for one worker."""
        return NUMBER + self.point.nbytes + sum(array.nbytes for array in self.arrays.values())

    @property
    def size(self) -> int:
        """How many numbers a reply to this holds."""
        if self.kind == OBJECTIVE:
            return len(self.arrays["steps"])
        if self.kind == HESSIAN_BLOCK:
            return len(self.arrays["block"])
        return len(self.point) + (self.kind == STEP_WITH_VALUE)

    @property
    def exact(self) -> int:
        """How many of them, the last, never go through the compressor.

        Updates and gradients do; objectives, and what a metric is made of once in a run, do not.
        """
        if self.kind == STEP_WITH_VALUE:
            return 1
        return self.size if self.kind in (OBJECTIVE, HESSIAN_DIAGONAL, HESSIAN_BLOCK) else 0

    @property
    def compressible(self) -> bool:
        """Whether some of the reply goes through the compressor."""
        return self.exact < self.size


@dataclass(frozen=True)
class Reply:
    """What a worker sends back.

    Parameters
    ----------
    worker
        Its number, filled in by the backend (which knows the line it came on), not by the worker.
    round
        The broadcast it answers, as the worker says.
    payload
        An array of float64 of shape (d,) when nothing is compressed, else the compressor's bytes.
    """

    worker: int
    round: int
    payload: Any

    @property
    def nbytes(self) -> int:
        """Bytes of the payload and the round number on the wire; of no payload at all, the latter."""
        try:
            size = getattr(self.payload, "nbytes", None)
            return NUMBER + (int(size) if size is not None else len(self.payload))
        except Exception:  # neither an array nor bytes, and perhaps an object made to annoy
            return NUMBER


@dataclass(frozen=True)
class Fault:
    """Why a worker counts as absent in a round: one word for counting, one sentence for reading."""

    worker: int
    round: int
    kind: FaultKind
    text: str

    @classmethod
    def silent(cls, worker: int, round: int, kind: str = "late") -> Fault:
        """Of a worker that has sent nothing: it is "late", or else it has crashed."""
        if kind == "late":
            return cls(worker, round, "late", "no reply by the deadline")
        return cls(worker, round, "crashed", "the worker is gone")

    @classmethod
    def failed(cls, worker: int, round: int, error: BaseException) -> Fault:
        """Of a worker whose computation has raised an error."""
        return cls(worker, round, "crashed", f"its computation failed: {error!s:.80}")
