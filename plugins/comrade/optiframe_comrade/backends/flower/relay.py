"""Carries the rounds of a trial from the solver's process to the ServerApp's, which Flower starts.

A solver runs where it is called, and Flower runs a ServerApp in a process of its own. So each round goes
there, and its replies come back, through a socket in a folder that only its owner can open. Both ends are
this user's processes: what travels is pickled. Nothing here needs an inner part of Flower.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from multiprocessing.connection import Connection, Listener
from typing import Any

from optiframe.errors import OptiframeError
from optiframe_comrade.backends.flower.processes import FederationFailed
from optiframe_comrade.backends.flower.protocol import Work
from optiframe_comrade.messages import Broadcast, Fault, Reply

_LOOK = 2.0  # seconds between two looks whether the SuperLink is still there
_TIMEOUT = 20.0  # seconds for its answer, which takes some 20 ms


def serve(grid: Any, path: str) -> None:
    """The ServerApp's end, at a new socket: ask nodes for what comes, until the other end is gone."""
    from optiframe_comrade.backends.flower.grid_workers import GridWorkers

    workers: GridWorkers | None = None
    with Listener(path, "AF_UNIX") as listener, listener.accept() as line, contextlib.suppress(EOFError):
        while True:
            nodes, work, *asked = line.recv()
            if workers is None or workers.work != work:  # another run of a solver
                workers = GridWorkers(grid, nodes, work, work.compressor)
            try:
                line.send(workers.ask(*asked))
            except OptiframeError as error:
                line.send(error)


class RelayedWorkers:
    """The solver's end, as `Workers`.

    Parameters
    ----------
    line
        To the ServerApp.
    address
        Of the SuperLink: host and port.
    nodes
        Flower's numbers of the nodes; worker i is `nodes[i]`.
    work
        How nodes are to work; sent with every broadcast.
    names, sizes
        As in `Workers`.
    close
        Called at the end.
    """

    def __init__(
        self,
        line: Connection,
        address: str,
        nodes: Sequence[int],
        work: Work,
        *,
        names: Sequence[str],
        sizes: Sequence[int],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.line, self.address, self.nodes, self.work = line, address, list(nodes), work
        self.names, self.sizes, self.close = list(names), list(sizes), close

    def __len__(self) -> int:
        return len(self.nodes)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        try:
            self.line.send((self.nodes, self.work, broadcast, deadline, to))
            while not self.line.poll(_LOOK):
                self._look(broadcast.round)
            said = self.line.recv()
        except (EOFError, ConnectionError):
            self._look(broadcast.round)
            raise FederationFailed(
                f"round {broadcast.round}: Flower's SuperLink does not know this run any more: it was "
                "restarted, or somebody ended the run"
            ) from None
        if isinstance(said, OptiframeError):
            raise said
        return list(said)

    def _look(self, number: int) -> None:
        """Raise unless the SuperLink answers, whatever it says."""
        host, port = self.address.rsplit(":", 1)
        connection = HTTPConnection(host, int(port), timeout=_TIMEOUT)
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except OSError as error:
            raise FederationFailed(
                f"round {number}: Flower's SuperLink is out of reach ({error}); it has died or hangs: "
                "start the run again"
            ) from error
        finally:
            connection.close()
