"""Cells on a Dask cluster: the same child processes, started by Dask's workers.

The cluster is one of yours (pickled requests move over its network). Only this process writes
to the store. Files and data sets must be found on the workers under the same paths. Whoever can
connect to a cluster without TLS can run code on it: one on this machine listens on loopback, where
every user of the machine can.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

from optiframe.comparison.cells import Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.executor import Tell
from optiframe.comparison.run.isolation import run_isolated
from optiframe.dask_connection import DaskConnection
from optiframe.errors import require
from optiframe.loopback_cluster import loopback_cluster
from optiframe.solving.result import Status

_PATIENCE = 30.0  # seconds to wait for a cluster, and for a first worker of it
_FAREWELL = 5.0  # seconds to wait until the workers know that a run is over
_RETRIES = 3  # a cell whose worker died is given to another this many times


class DaskExecutor:
    """Runs cells on a cluster: at `address`, or one of this machine's own processes.

    A cell is handed out only when a thread of the cluster is free. When a Dask worker dies, its
    cell is given to another, at most three times; then it is a row with the status `crashed`.

    Raises
    ------
    MissingPackage
        Without Dask (the extra `dask`).
    InvalidInput
        When nothing answers at the address.
    OptiframeError
        When the workers of a local cluster do not start.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        distributed = require("distributed", "dask")
        self._dask = distributed
        self._connection = DaskConnection(
            address,
            # Its cells are processes of its own, which a daemon cannot have.
            lambda: loopback_cluster(workers, {"distributed.worker.daemon": False}),
            _PATIENCE,
            asked="executor.address",
            remedy="try again when the machine is less busy, or with fewer `workers`",
        )
        self._client = self._connection.client
        self._limit = workers if address is not None else None

    def run(self, requests: Iterator[Request], tell: Tell | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Outcomes as they come; a request is drawn when a thread of the cluster is free for it."""
        running: dict[Any, Request] = {}
        run = uuid4().hex
        done = self._dask.as_completed(loop=self._client.loop)
        exhausted = False
        try:
            while True:
                while not exhausted and len(running) < self._slots():
                    request = next(requests, None)
                    if request is None:
                        exhausted = True
                        break
                    future = self._client.submit(
                        _run_there,
                        request,
                        run,
                        key=f"{request.key[:12]}-{uuid4().hex[:8]}",
                        pure=False,
                        retries=_RETRIES,
                    )
                    running[future] = request
                    done.add(future)
                if not running:
                    return
                future = next(done)
                request = running.pop(future)
                yield request, _outcome(future)
                future.release()
                exhausted = False  # another process may have left a cell since
        finally:
            if running:
                self._stop(run)
            for future in running:
                future.cancel()

    def _stop(self, run: str) -> None:
        """Have the workers kill the children of a run: a task that is cancelled goes on to its end."""

        def tell() -> None:
            with suppress(Exception):  # a worker or the whole cluster goes while it is asked
                self._client.run(_stop_there, run, on_error="ignore")

        # In a thread, since a cluster that is gone keeps its client waiting.
        told = threading.Thread(target=tell, daemon=True)
        told.start()
        told.join(_FAREWELL)

    def _slots(self) -> int:
        threads: int = sum(self._client.nthreads().values())
        return max(1, threads if self._limit is None else min(self._limit, threads))

    def close(self) -> None:
        """Leave the cluster; one of our own is shut down with its workers."""
        self._connection.close()


# On the workers: which runs go on; an event is set to kill the children of its run.
_stops: dict[str, threading.Event] = {}


def _run_there(request: Request, run: str) -> Outcome:
    return run_isolated(request, None, _stops.setdefault(run, threading.Event()))


def _stop_there(run: str) -> None:
    _stops.setdefault(run, threading.Event()).set()


def _outcome(future: Any) -> Outcome:
    try:
        outcome = future.result()
    except Exception as error:  # whatever the far side raised: the cell failed, the run goes on
        return Outcome(
            Status.CRASHED,
            f"the Dask worker that ran it failed {_RETRIES + 1} times ({type(error).__name__}: {error})",
        )
    assert isinstance(outcome, Outcome)
    return outcome
