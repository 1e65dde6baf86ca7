"""A federation on this machine for trials: a SuperLink and SuperNodes as real processes on loopback.

Nothing listens but on 127.0.0.1, without TLS. Whoever can open a connection there can send a Flower app,
which is code, to the SuperLink, so it is not for a machine shared with people you do not trust.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import NamedTuple

from optiframe_comrade.backends.flower import app
from optiframe_comrade.backends.flower.processes import Processes

LOOPBACK = "127.0.0.1"
CONNECTION = "ours"
"""What `flwr` calls the SuperLink of a folder, see `write_connection`."""
# Below those that Linux gives to connections, which come and go before a process has taken its port.
_FIRST_PORT, _PORTS = 20_000, 12_000
_START = 180.0  # seconds for all processes to start and find each other; some 10 s on an idle machine
_NODE = re.compile(r"SuperNode ID: (\d+)")


class Local(NamedTuple):
    """A federation on this machine: its SuperLink, the line to its ServerApp, the nodes' numbers."""

    address: str
    line: Connection
    nodes: list[int]


def start_local(
    processes: Processes,
    configs: Sequence[Mapping[str, str | int]],
    *,
    persistent_client: bool = True,
    instead: Sequence[str] | None = None,
) -> Local:
    """Start a SuperLink, its nodes, and a run whose ServerApp answers this process (`relay`).

    Parameters
    ----------
    processes
        They are started among these, as "superlink", "node 0", "node 1", ...
    configs
        The settings of each node, such as ``{"shard": "rows.npz"}``.
    persistent_client
        Each node has one process for all messages ("client 0", ...); else Flower starts one for each message
        and runs the app that came with the run.
    instead
        A command in place of the persistent clients', which gets their options: for nodes that misbehave.

    Raises
    ------
    FederationFailed
        When a process ends or is not ready in time, with the end of its log.
    """
    port, *ports = free_ports(1 + len(configs))
    address = f"{LOOPBACK}:{port}"
    superlink = ["flower-superlink", "--insecure", "--host", LOOPBACK, "--port", str(port)]
    processes.run("superlink", [*superlink, "--disable-runtime-dependency-installation"])
    ends = time.monotonic() + _START
    processes.wait("superlink", lambda: listens(port), ends)
    write_connection(processes.folder, port, "insecure = true")
    path = processes.folder / "relay"
    processes.run("run", ["flwr", "run", app(), CONNECTION, "--run-config", written({"relay": str(path)})])
    secret = processes.folder / "secret"
    secret.touch(0o600)
    secret.write_bytes(secrets.token_bytes(32))
    own_process = ["--superexec-auth-secret-file", str(secret)]
    for number, (config, own) in enumerate(zip(configs, ports, strict=True)):
        node = ["flower-supernode", "--insecure", "--superlink", address]
        node += ["--host", LOOPBACK, "--port", str(own), "--node-config", written(config)]
        node += ["--isolation", "process", *own_process] if persistent_client else []
        processes.run(f"node {number}", node)
        if persistent_client:
            client = [sys.executable, "-m", "optiframe_comrade.backends.flower.persistent_client"]
            client = [*(instead or client), "--runtime-api-address", f"{LOOPBACK}:{own}", *own_process]
            processes.run(f"client {number}", [*client, "--parent-pid", str(processes.supervisor.pid)])
    nodes = [node_number(processes, f"node {number}", ends) for number in range(len(configs))]
    processes.wait("run", lambda: "Successfully started run" in processes.log("run"), ends)
    lines: list[Connection] = []
    processes.wait("superlink", lambda: _connected(path, lines), ends)
    return Local(address, lines[0], nodes)


def _connected(path: Path, lines: list[Connection]) -> bool:
    """Whether somebody listens at a socket; the line to him is put in the list."""
    try:
        lines.append(Client(str(path), "AF_UNIX"))
    except OSError:
        return False
    return True


def write_connection(folder: Path, port: int, security: str) -> None:
    """Write where `flwr` finds the SuperLink of this machine if its FLWR_HOME is the folder."""
    lines = ["[superlink]", f'default = "{CONNECTION}"', "", f"[superlink.{CONNECTION}]"]
    lines += [f'address = "{LOOPBACK}:{port}"', security, ""]
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")


def node_number(processes: Processes, name: str, ends: float) -> int:
    """Flower's number of a node, which its log has as soon as it is connected; errors as `Processes.wait`."""
    processes.wait(name, lambda: _NODE.search(processes.log(name)), ends)
    return int(_NODE.findall(processes.log(name))[0])


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on at the moment, all different."""
    sockets: list[socket.socket] = []
    try:
        while len(sockets) < count:
            sockets.append(socket.socket())
            try:
                sockets[-1].bind((LOOPBACK, _FIRST_PORT + secrets.randbelow(_PORTS)))
            except OSError:  # somebody has that one
                sockets.pop().close()
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listens(port: int) -> bool:
    """Whether somebody does, at a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0


def written(config: Mapping[str, str | int]) -> str:
    """Settings as Flower's commands take them."""
    return " ".join(f"{k}={json.dumps(v) if isinstance(v, str) else v}" for k, v in config.items())
