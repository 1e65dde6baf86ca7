"""A Dask cluster for tests that stop and kill its processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import LocalCluster, utils

# Nothing here may depend on being quick: for workers that answer this is for ever.
LONG = 120.0
# Dask's processes are forked, and started again, as in a moment: what they import first stays as conftest.py
# says, for all that is forked in this process.
utils._forkserver_preload_set = True


@contextmanager
def cluster_of(processes: int) -> Iterator[LocalCluster]:
    """That many on loopback with one thread each, started again however long that takes."""
    with (
        # Else Dask gives up a killed process that takes more than 15 s to start again.
        dask.config.set(
            {
                "distributed.deploy.lost-worker-timeout": "10 minutes",
                "distributed.worker.multiprocessing-method": "forkserver",
            }
        ),
        LocalCluster(
            n_workers=processes,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=60,
        ) as cluster,
    ):
        yield cluster
