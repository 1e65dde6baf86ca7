"""A Dask cluster of this machine's processes that listens on loopback alone.

Every user of the machine can reach it there, and whoever connects can run code on it.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from optiframe.errors import OptiframeError, require

# Dask's messages about a process that fails to start, or is killed: what follows from
# it is reported once, by whoever asked for the cluster.
_LOGGERS = ("nanny", "core", "scheduler", "worker", "client", "batched")


def loopback_cluster(processes: int | None, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
    """Start a cluster of processes with one thread each; a `distributed.LocalCluster`.

    Parameters
    ----------
    processes
        How many; None: as many as the machine has processors.
    settings
        Of Dask, while the cluster starts.
    arguments
        Further ones for `LocalCluster`.

    Raises
    ------
    MissingPackage
        Without Dask (the extra `dask`).
    OptiframeError
        When the processes do not start, as from a script without a guard.
    """
    distributed, dask = require("distributed", "dask"), require("dask", "dask")
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself asks
        raise SystemExit(1)  # we are such a process, and not asked for another cluster; the parent says why
    # The HTTP servers cannot be left out; without routes there is nothing to be had from them.
    routes: dict[str, Any] = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    try:
        with dask.config.set(routes | (settings or {})), quiet_dask():
            return distributed.LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # whichever port is free
                **arguments,
            )
    except RuntimeError as error:
        raise OptiframeError(
            "a Dask cluster of this machine's processes cannot be started: if this is a script, begin its "
            'work below `if __name__ == "__main__":`, since each of Dask\'s workers imports the script again '
            f"({error})"
        ) from None


@contextmanager
def quiet_dask() -> Iterator[None]:
    """Without Dask's own lines in the log about processes that do not start, or are killed."""
    loggers = [logging.getLogger(f"distributed.{name}") for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
