"""Backends: where the workers live, chosen by name (``backend = "in-process"``)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.registry.by_name import Part
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers


class Backend(Part):
    """Where workers live; a piece whose parameters say how to get there.

    `start` hands each worker its shard and its configuration and gives the interface to them; the
    solver closes it when the run ends.
    """

    family = "backend"
    waits: ClassVar[bool] = True  # False: rounds end when all have answered, whatever the deadline

    @abstractmethod
    def start(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        """Workers, one for each shard."""

    def unsuited(self, function: FiniteSum, config: WorkerConfig) -> str | None:
        """Why this backend cannot take the function or the configuration, in words; None when it can."""
        return None

    @property
    def patience(self) -> float | None:
        """Seconds a round may take unless the solver's options say otherwise; None waits for ever."""
        return None


class InProcessBackend(Backend):
    """Simulated workers in this process, one after the other."""

    name = "backend.in-process"
    waits = False

    def start(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        from optiframe_comrade.backends.in_process import InProcess

        return InProcess(shards, config)
