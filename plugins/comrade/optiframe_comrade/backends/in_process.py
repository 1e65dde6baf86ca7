"""Workers simulated in this process: the same messages, no wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.messages import Broadcast, Fault, Reply
from optiframe_comrade.parts.kinds import Rule
from optiframe_comrade.protocol.worker import Worker, WorkerConfig


class InProcess:
    """Implements `Workers` as a loop; memory is that of the shards.

    A worker that hangs is simulated by its silence: its fault "late" comes at once. Since all
    is in one place, colluding attacks learn what the honest workers send.
    """

    def __init__(self, shards: Sequence[FiniteSum], config: WorkerConfig | None = None) -> None:
        config = WorkerConfig() if config is None else config
        self._colluding = config.colludes
        self.rule: Rule | None = None  # the coordinator's; colluding workers are assumed to know it
        self.workers = [Worker(number, shard, config) for number, shard in enumerate(shards)]
        self.names = [f"worker {number}" for number in range(len(shards))]
        self.sizes = [len(shard) for shard in shards]

    def __len__(self) -> int:
        return len(self.workers)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        asked = list(range(len(self)) if to is None else to)
        computed = {number: self._compute(number, broadcast) for number in asked}
        honest = [
            vector
            for number, vector in computed.items()
            if not isinstance(vector, Fault) and not self.workers[number].hostile
        ]
        if self._colluding and not honest:  # a filter has let none but hostile workers into this round
            others = [n for n, worker in enumerate(self.workers) if not worker.hostile]
            honest = [v for n in others if not isinstance(v := self._compute(n, broadcast), Fault)]
        rows, plan = np.array(honest) if honest else None, None
        if self._colluding and rows is not None:
            first = next(worker for worker in self.workers if worker.hostile)
            plan = first.conspire(first.situation(broadcast, rows, self.rule))
        replies: list[Reply | Fault] = []
        for number, vector in computed.items():
            if isinstance(vector, Fault):
                replies.append(vector)
                continue
            worker = self.workers[number]
            known = replace(worker.situation(broadcast, rows, self.rule), plan=plan)
            replies.append(worker.send(broadcast, vector, known))
        return replies

    def close(self) -> None:
        """Nothing to let go of."""

    def _compute(self, number: int, broadcast: Broadcast) -> Array | Fault:
        try:
            return self.workers[number].compute(broadcast)
        except (ValueError, FloatingPointError) as error:
            return Fault.failed(number, broadcast.round, error)
