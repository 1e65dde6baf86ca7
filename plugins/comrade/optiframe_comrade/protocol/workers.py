"""Who computes: the one interface between the algorithm and where the workers live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from optiframe.errors import OptiframeError
from optiframe_comrade.messages import Broadcast, Fault, Reply


class WorkersLost(OptiframeError):
    """Too few workers answer, or none can be reached, so the run cannot go on.

    A run that has reached a point by then ends with it.
    """


class Workers(Protocol):
    """Workers that hold one shard each and answer broadcasts.

    Backends are `in_process.InProcess`, and those on Dask and on Flower. A backend delivers what
    a worker sent and does not judge it: replies are opened and checked by the coordinator.

    Attributes
    ----------
    names
        One for each worker, for people; by default "worker 0", "worker 1", ...
    moves
        Shards that went to another machine so far, the latest last; none where none ever do.
    sizes
        Terms of the finite sum each worker holds, as the coordinator handed them out.
    """

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def sizes(self) -> Sequence[int]: ...

    def __len__(self) -> int: ...

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        """Send the broadcast and wait for the replies.

        Parameters
        ----------
        broadcast
            What is asked.
        deadline
            Seconds to wait at most; what has not come by then is a `Fault` of kind "late". None
            waits for ever, which suits workers that cannot hang.
        to
            Numbers of the workers to ask; None asks all.

        Returns
        -------
        One `Reply` or `Fault` for each worker asked, in the order of `to`. A worker's misdeed
        never raises; an error here is one of the backend itself.
        """
        ...

    def close(self) -> None:
        """Let go of the workers; may be called twice."""
        ...
