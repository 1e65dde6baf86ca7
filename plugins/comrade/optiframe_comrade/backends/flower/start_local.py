"""A federation on this machine for trials: a SuperLink and SuperNodes as real processes on loopback.

Without TLS by default: nothing listens but on 127.0.0.1. Whoever can open a connection there can send
a Flower app, which is code, to the nodes, so it is not for a machine shared with people you do not
trust; `secure` adds TLS and node keys, but Flower lets every local user start runs all the same.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from optiframe.errors import remedy
from optiframe_comrade.backends.flower.embedded_server import FederationFailed, Link, control
from optiframe_comrade.backends.flower.federation import Federation
from optiframe_comrade.backends.flower.front import nginx, write_front
from optiframe_comrade.backends.flower.keys import Certificate

LOOPBACK = "127.0.0.1"
_START = 90.0  # seconds for all processes to start and find each other; some 5 s on an idle machine
_NODE = re.compile(r"SuperNode ID: (\d+)")
_QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    # How often a node looks whether there is a message to compute with; 1 s by default.
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def environment(home: Path) -> dict[str, str]:
    """Variables for Flower's commands: no telemetry, no update check, its files in `home`."""
    bin = str(Path(sys.executable).parent)  # not resolved: a virtual environment's own
    path = os.pathsep.join([bin, os.environ.get("PATH", "")])
    return {**os.environ, **_QUIET, "FLWR_HOME": str(home), "PATH": path}


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on at the moment, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class LocalFederation:
    """SuperLink and SuperNodes, running until `close` or until this process ends, however it does.

    Parameters
    ----------
    configs
        The settings of each node, such as ``{"shard": "rows.npz"}``.
    serve
        Let the SuperLink start ServerApps itself, for ``flwr run``; else this process
        takes their part (`embedded_server.EmbeddedServer`).
    secure
        TLS, and keys by which the SuperLink knows the nodes, made for this federation.
    persistent_client
        Each node has one process for all messages (`persistent_client`); else Flower starts one for each
        message and runs the app that came with the run.
    instead
        A command in place of the persistent clients', which gets their options: for nodes that misbehave.
    front
        Nodes reach the SuperLink through nginx, as in a federation of several machines; needs `secure`.

    Raises
    ------
    FederationFailed
        When a process ends or is not ready in time, with the end of its log.
    """

    def __init__(
        self,
        configs: Sequence[Mapping[str, str | int]],
        *,
        serve: bool = False,
        secure: bool = False,
        persistent_client: bool = True,
        instead: Sequence[str] | None = None,
        front: bool = False,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="comrade-flower-"))
        self.pids: dict[str, int] = {}
        self.nodes: list[int] = []
        """Flower's numbers of the nodes, in the order of `configs`."""
        self._supervisor: subprocess.Popen[str] | None = None
        try:
            self._start(
                configs,
                serve=serve,
                secure=secure,
                instead=instead,
                front=front,
                persistent=persistent_client,
            )
        except BaseException:
            self.close()
            raise

    def _start(
        self,
        configs: Sequence[Mapping[str, str | int]],
        *,
        serve: bool,
        secure: bool,
        persistent: bool,
        instead: Sequence[str] | None,
        front: bool,
    ) -> None:
        self.environment = environment(self.folder)
        port, gate, *ports = free_ports(2 + len(configs))
        secret = secrets.token_bytes(32)
        (self.folder / "secret").write_bytes(secret)
        (self.folder / "secret").chmod(0o600)
        keys: list[Path] = []
        transport, certificate = ["--insecure"], None
        root = ["--insecure"]
        if secure:
            from optiframe_comrade.backends.flower.keys import make_certificate, make_node_keys

            made = make_certificate(self.folder)
            keys = make_node_keys(self.folder, len(configs))
            certificate = made.authority.read_bytes()
            transport = [*made.options(), "--enable-supernode-auth"]
            root = ["--root-certificates", str(made.authority)]
        self.link = Link(f"{LOOPBACK}:{port}", certificate, secret)
        self._supervisor = subprocess.Popen(
            [sys.executable, "-m", "optiframe_comrade.backends.flower.supervisor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            start_new_session=True,  # a Ctrl-C in the terminal is for this process alone
        )
        own_process = ["process", "--superexec-auth-secret-file", str(self.folder / "secret")]
        superlink = ["flower-superlink", *transport, "--host", LOOPBACK, "--port", str(port)]
        superlink += ["--disable-runtime-dependency-installation"]
        superlink += ["--isolation", *(["subprocess"] if serve else own_process)]
        self._run("superlink", superlink)
        ends = time.monotonic() + _START
        self._wait("superlink", lambda: _listens(port), ends)
        reached = self.link.address
        if secure:
            self._register(keys)
            if front:
                reached = self._start_front(made, gate, port, ends)
        for number, (config, own) in enumerate(zip(configs, ports, strict=True)):
            node = ["flower-supernode", *root, "--superlink", reached]
            node += ["--host", LOOPBACK, "--port", str(own), "--node-config", _written(config)]
            node += ["--auth-supernode-private-key", str(keys[number])] if secure else []
            node += ["--isolation", *own_process] if persistent else []
            self._run(f"node {number}", node)
            if persistent:
                module = list(
                    instead or [sys.executable, "-m", "optiframe_comrade.backends.flower.persistent_client"]
                )
                module += ["--runtime-api-address", f"{LOOPBACK}:{own}", *own_process[1:]]
                self._run(f"client {number}", [*module, "--parent-pid", str(self._supervisor.pid)])
        for number in range(len(configs)):
            name = f"node {number}"
            self._wait(name, lambda name=name: _NODE.search(self.log(name)), ends)
            found = _NODE.search(self.log(name))
            assert found is not None  # waited for
            self.nodes.append(int(found[1]))

    def _start_front(self, certificate: Certificate, gate: int, superlink: int, ends: float) -> str:
        """Start nginx before the SuperLink; the address by which nodes reach it."""
        program = nginx()
        if program is None:
            raise FederationFailed("no command 'nginx' here; on Debian: apt install nginx")
        self.front = Federation("localhost", LOOPBACK, gate, superlink)
        path = write_front(self.folder, certificate, **asdict(self.front))
        self._run("front", [program, "-c", str(path), "-g", "daemon off;"])
        self._wait("front", lambda: _listens(gate), ends)
        return f"localhost:{gate}"

    def _register(self, keys: Sequence[Path]) -> None:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
        from cryptography.hazmat.primitives.serialization import load_ssh_public_key
        from flwr.proto.control_pb2 import RegisterNodeRequest
        from flwr.supercore.primitives.asymmetric import public_key_to_bytes

        with control(self.link) as client:
            for key in keys:
                public = load_ssh_public_key(key.with_suffix(".pub").read_bytes())
                assert isinstance(public, EllipticCurvePublicKey)
                client.RegisterNode(RegisterNodeRequest(public_key=public_key_to_bytes(public)))

    def _run(self, name: str, argv: list[str]) -> None:
        supervisor = self._supervisor
        assert supervisor is not None
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        found = shutil.which(argv[0], path=self.environment["PATH"])
        if found is None:
            raise FederationFailed(f"no command {argv[0]!r} here; run: {remedy(['flwr'], extra='flower')}")
        order = {"argv": [found, *argv[1:]], "log": str(self._log(name))}
        supervisor.stdin.write(json.dumps(order) + "\n")
        supervisor.stdin.flush()
        self.pids[name] = int(supervisor.stdout.readline())

    def _wait(self, name: str, ready: Any, ends: float) -> None:
        while not ready():
            if time.monotonic() > ends or not _lives(self.pids[name]):
                said = self.log(name)[-2000:]
                raise FederationFailed(f"Flower's {name} did not start; its log ends:\n{said}")
            time.sleep(0.1)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}.log"

    def log(self, name: str) -> str:
        """What "superlink" or "node 0", "node 1", ... has said so far."""
        path = self._log(name)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def close(self) -> None:
        """End all processes and remove their files; may be called twice."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            assert supervisor.stdin is not None
            assert supervisor.stdout is not None
            supervisor.stdin.close()  # the supervisor's sign to kill its children
            supervisor.wait()
            supervisor.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _written(config: Mapping[str, str | int]) -> str:
    """Settings as `flower-supernode` takes them."""
    return " ".join(f"{k}={json.dumps(v) if isinstance(v, str) else v}" for k, v in config.items())


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0


def _lives(pid: int) -> bool:
    # A child of the supervisor that has ended stays a zombie until the supervisor ends: ask what it is.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc").exists()  # elsewhere than on Linux: only the time limit tells
