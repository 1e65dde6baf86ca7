"""Error feedback: what a compressor left out of one message is added to the next."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_comrade.parts.kinds import Compressor


class ErrorFeedback:
    """A worker's memory around a compressor: it sends Q(p + e) and keeps e = p + e - Q(p + e).

    One for each worker and kind of message; memory O(d). It helps where Definition 2 holds:
    where it fails the memory may grow without end.

    Parameters
    ----------
    compressor
        What makes the bytes.

    References
    ----------
    Karimireddy et al. 2019, Error feedback fixes SignSGD, Algorithm 2 (the step size left to
    the coordinator).
    """

    def __init__(self, compressor: Compressor) -> None:
        self.compressor = compressor
        self.memory: Array | None = None

    def encode(self, vector: Array, rng: np.random.Generator) -> bytes:
        """The payload for `vector` plus what is owed; what it lacks is owed from now on."""
        due = vector if self.memory is None else vector + self.memory
        payload = self.compressor.encode(due, rng)
        self.memory = due - self.compressor.decode(payload, len(due))
        return payload
