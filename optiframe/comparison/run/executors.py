"""The executor that a plan names."""

from __future__ import annotations

import os

from optiframe.comparison.cells import ExecutorChoice, Limits
from optiframe.comparison.environment import usable_cores
from optiframe.comparison.run.executor import Executor
from optiframe.errors import OptiframeError


def workers_of(choice: ExecutorChoice, limits: Limits) -> int | None:
    """How many cells run at once: as said, or as many as this machine's cores have threads for.

    None for a cluster somewhere else that is to take as many as it has room for.
    """
    if choice.workers is not None or choice.address is not None:
        return choice.workers
    return max(1, usable_cores() // limits.threads)


def executor_for(choice: ExecutorChoice, cells: int, limits: Limits) -> Executor:
    """The executor a plan names, for at most this many cells at once, each within the limits.

    Raises
    ------
    MissingPackage, InvalidInput
        When it cannot be had.
    OptiframeError
        Outside of POSIX systems.
    """
    if os.name != "posix":
        raise OptiframeError(
            "a comparison needs a POSIX system (Linux, macOS): it locks files and kills whole process groups"
        )
    workers = workers_of(choice, limits)
    if choice.name == "dask":
        from optiframe.comparison.run.dask import DaskExecutor

        return DaskExecutor(choice.address, workers)
    from optiframe.comparison.run.local import LocalExecutor

    return LocalExecutor(workers or 1, cells)
