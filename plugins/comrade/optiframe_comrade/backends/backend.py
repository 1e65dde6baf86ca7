"""Homes: where the workers live, chosen by name (``home = "in-process"``)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from optiframe.problems.objective import FiniteSum
from optiframe.registry.by_name import Part
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import Workers


class Home(Part):
    """Where workers live; a piece whose parameters say how to get there.

    `hire` hands each worker its shard and its configuration and gives the interface to them; the
    solver closes it when the run ends.
    """

    family = "home"
    waits: ClassVar[bool] = True  # False: rounds end when all have answered, whatever the deadline

    @abstractmethod
    def hire(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        """Workers, one for each shard."""

    def unsuited(self, function: FiniteSum, config: WorkerConfig) -> str | None:
        """Why this home cannot take the function or the configuration, in words; None when it can."""
        return None

    @property
    def patience(self) -> float | None:
        """Seconds a round may take unless the solver is told otherwise; None waits for ever."""
        return None


class InProcessHome(Home):
    """Simulated workers in this process, one after the other."""

    name = "home.in-process"
    waits = False

    def hire(self, shards: Sequence[FiniteSum], config: WorkerConfig) -> Workers:
        from optiframe_comrade.backends.in_process import InProcess

        return InProcess(shards, config)
