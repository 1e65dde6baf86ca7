"""Takes the coordinator's part of a Flower run into this process, where the solver already runs.

Flower starts a ServerApp in a process of its own. A solver called from Python or the command
line is here, so this does what Flower's executor and `flwr-serverapp` would: start a run,
claim its ServerApp task, keep it alive. These are inner parts of Flower 1.41 and may move in
another version; the app started by ``flwr run`` (`server_app`) needs none of them but the address.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from flwr.cli.build import build_fab_from_disk
from flwr.common.constant import SubStatus
from flwr.common.serde import fab_to_proto, run_from_proto
from flwr.proto.control_pb2 import StartRunRequest
from flwr.proto.runtime_pb2 import (
    AcquireTaskRequest,
    PullTaskInputRequest,
    PushTaskOutputRequest,
    SendTaskHeartbeatRequest,
)
from flwr.supercore.constant import TaskType
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.fab import Fab
from flwr.supercore.interceptors import (
    RuntimeTokenHttpInterceptor,
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supercore.task_identity import TaskIdentity
from flwr.superlink.grid import HttpGrid

from optiframe_comrade.backends.flower import app, flower
from optiframe_comrade.backends.flower.loopback import only_loopback
from optiframe_comrade.backends.flower.processes import FederationFailed

_BEAT = 10.0  # seconds between signs of life; Flower gives a task up after 30 s or more
_PATIENCE = 20.0  # seconds without a SuperLink after which a run fails
_TIMEOUT = 10.0  # seconds for one answer of it, which takes some 20 ms; Flower's own are 30
_FAREWELL = 3.0  # seconds for the last word to one that may have gone, or hang
_AGAIN = frozenset({502, 503, 504})  # HTTP: of a SuperLink that is up and cannot answer at the moment
_CLAIM = 20.0  # seconds to wait for a run just started to be up for claiming
_AUTHENTICATED = frozenset({"/flwr.proto.Runtime/AcquireTask"})


@dataclass(frozen=True)
class Link:
    """How to reach a SuperLink without TLS: its address, the secret of its executors.

    Raises
    ------
    InvalidInput
        When the address is not on loopback.
    """

    address: str
    secret: bytes

    def __post_init__(self) -> None:
        only_loopback(self.address)

    def client(self, kind: Any, interceptors: list[Any]) -> Any:
        """A client of one of Flower's HTTP interfaces."""
        return kind.from_server_address(self.address, True, None, interceptors)


class EmbeddedServer:
    """A Flower run of the shipped app whose ServerApp is this process; `grid` speaks for it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        run = _start_run(link)
        token = _claim(link, run)
        self.grid = HttpGrid(link.address, True, None, token=token)
        # Flower would try for ever to reach a SuperLink that is gone, and interrupt this process, as a
        # Ctrl-C does, when one that was restarted does not know the task.
        self.grid._retry_invoker.max_time = _PATIENCE
        self.grid._retry_invoker.should_giveup = _hopeless
        self.grid._runtime_client._client.timeout = _TIMEOUT
        got = self.grid._runtime_client.PullTaskInput(PullTaskInputRequest())
        self._task, self._node = got.task_id, got.context.node_id
        self.run = run_from_proto(got.run)
        self.grid.set_run(self.run)
        self._over = threading.Event()
        self._pulse = threading.Thread(target=self._beat, name="flower-heartbeat", daemon=True)
        self._pulse.start()

    def identify(self) -> None:
        """Let messages made from now on be those of this task (Flower keeps one identity a process)."""
        TaskIdentity.task_id, TaskIdentity.run_id = self._task, self.run.run_id
        TaskIdentity.node_id = self._node

    def close(self) -> None:
        """End the task and its run; may be called twice, and when the SuperLink is gone."""
        if self._over.is_set():
            return
        self._over.set()
        self._pulse.join()
        self.grid._retry_invoker.max_tries = 1
        self.grid._runtime_client._client.timeout = _FAREWELL
        with contextlib.suppress(httpx.HTTPError):
            self.grid._runtime_client.PushTaskOutput(
                PushTaskOutputRequest(sub_status=SubStatus.COMPLETED, details="")
            )
        self.grid.close()

    def _beat(self) -> None:
        # Its own connection: the grid's belongs to the thread that runs the solver.
        client = self._link.client(
            RuntimeHttpClient,
            [RuntimeVersionHttpInterceptor("flwr-serverapp"), RuntimeTokenHttpInterceptor(self.grid._token)],
        )
        client._client.timeout = _FAREWELL
        with client:
            while not self._over.wait(_BEAT):
                try:
                    client.SendTaskHeartbeat(SendTaskHeartbeatRequest())
                except Exception:  # a lost beat is made good by the next
                    continue


def _hopeless(error: Exception) -> bool:
    """Whether the SuperLink has given an answer that asking again does not change."""
    return isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in _AGAIN


def _start_run(link: Link) -> int:
    with flower():
        bundle = build_fab_from_disk(Path(app()))
    fab = Fab(hashlib.sha256(bundle).hexdigest(), bundle, {})
    with link.client(ControlHttpClient, [RuntimeVersionHttpInterceptor("flwr CLI")]) as client:
        started = client.StartRun(StartRunRequest(fab=fab_to_proto(fab)))
    if not started.HasField("run_id"):
        raise FederationFailed("Flower's SuperLink did not start the run; see its log")
    return int(started.run_id)


def _claim(link: Link, run: int) -> str:
    signed = SuperExecAuthHttpInterceptor(master_secret=link.secret, protected_methods=_AUTHENTICATED)
    ends = time.monotonic() + _CLAIM
    with link.client(RuntimeHttpClient, [RuntimeVersionHttpInterceptor("SuperExec"), signed]) as client:
        while time.monotonic() < ends:
            got = client.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP]))
            if got.HasField("task") and got.token:
                if got.task.run_id != run:
                    raise FederationFailed("another run than ours is waiting at the SuperLink")
                return str(got.token)
            time.sleep(0.1)
    raise FederationFailed(f"the SuperLink offered no task of run {run} within {_CLAIM:g} s")
