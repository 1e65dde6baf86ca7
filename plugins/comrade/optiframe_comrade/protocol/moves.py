"""Shards that went to another machine, because the one they were on was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optiframe.tables.columns import Columns
from optiframe_comrade.messages import Fault


@dataclass(frozen=True)
class Move:
    """One shard, sent to another machine.

    Attributes
    ----------
    fault
        Whose shard it was, in which round it was lost, and how. From that round on the worker
        of that number answers from its new place.
    source, target
        Addresses.
    nbytes
        Bytes sent there: the shard, how to work on it, and the round's broadcast once more.
    """

    fault: Fault
    source: str
    target: str
    nbytes: int

    def __str__(self) -> str:
        return (
            f"round {self.fault.round}: worker {self.fault.worker} at {self.source} was lost "
            f"({self.fault.kind}: {self.fault.text}); its rows went to {self.target} ({self.nbytes} bytes)"
        )


def move_table(moves: Sequence[Move]) -> Columns:
    """One row a move: round, worker, kind of fault, from where, where to, bytes."""
    return {
        "round": [move.fault.round for move in moves],
        "worker": [move.fault.worker for move in moves],
        "fault": [move.fault.kind for move in moves],
        "source": [move.source for move in moves],
        "target": [move.target for move in moves],
        "bytes": [move.nbytes for move in moves],
    }
