"""A federation as its page tells operators and nodes to start one, on this machine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from optiframe_comrade.backends.flower import federation, flower
from optiframe_comrade.backends.flower.federation import Federation
from optiframe_comrade.backends.flower.processes import Processes, command

with flower():
    from optiframe_comrade.backends.flower.start_local import free_ports, listens, node_number, written

_START = 180.0  # seconds for everything, on a machine with much else to do


def make_key(path: Path) -> Path:
    """A node's private key; the public half is beside it, ending in .pub, as ssh-keygen writes them."""
    key = ec.generate_private_key(ec.SECP384R1())
    path.touch(0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    path.with_suffix(".pub").write_bytes(public)
    return path


class Deployment:
    """SuperLink, nginx and nodes with registered keys, by the commands that are printed for operators."""

    def __init__(self, configs: Sequence[dict[str, str | int]]) -> None:
        self.processes = Processes()
        try:
            self._start(configs)
        except BaseException:
            self.processes.close()
            raise

    def _start(self, configs: Sequence[dict[str, str | int]]) -> None:
        gate, superlink = free_ports(2)
        self.centre = Federation("localhost", "127.0.0.1", gate, superlink)
        self.folder = self.processes.folder / "centre"
        commands = federation.write(self.folder, self.centre)
        ends = time.monotonic() + _START
        self.processes.run("superlink", shlex.split(commands[0]))
        self.processes.run("front", [*shlex.split(commands[1]), "-g", "daemon off;"])
        self.processes.wait("superlink", lambda: listens(superlink), ends)
        self.processes.wait("front", lambda: listens(gate), ends)
        self.keys = [make_key(self.folder / f"node-{number}") for number in range(len(configs))]
        register = shlex.split(commands[2], comments=True)
        for key in self.keys:
            words = [word.replace("node.pub", str(key.with_suffix(".pub"))) for word in register[1:]]
            variables = self.processes.environment | dict([register[0].split("=", 1)])
            words[0] = command(words[0], variables)
            subprocess.run(words, env=variables, check=True, capture_output=True, timeout=_START)
        secret = self.folder / "secret"
        secret.touch(0o600)
        secret.write_bytes(os.urandom(32))
        own = ["--superexec-auth-secret-file", str(secret)]
        for number, config in enumerate(configs):
            port = self.start_node(
                f"node {number}", self.keys[number], config, "--isolation", "process", *own
            )
            client = [sys.executable, "-m", "optiframe_comrade.backends.flower.persistent_client"]
            client += ["--runtime-api-address", f"127.0.0.1:{port}", *own]
            self.processes.run(f"client {number}", client)
        self.nodes = [node_number(self.processes, f"node {number}", ends) for number in range(len(configs))]

    def start_node(self, name: str, key: Path | None, config: dict[str, str | int], *more: str) -> int:
        """Start a node that knows the front; its own port."""
        (port,) = free_ports(1)
        node = ["flower-supernode", "--superlink", f"localhost:{self.centre.port}", "--host", "127.0.0.1"]
        node += ["--port", str(port), "--root-certificates", str(self.folder / "ca.crt")]
        node += ["--node-config", written(config), *more]
        node += [] if key is None else ["--auth-supernode-private-key", str(key)]
        self.processes.run(name, node)
        return port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.processes.close()
