"""Writes and checks the files of a federation whose nodes are on other machines.

``python -m optiframe_comrade.backends.flower.federation write FOLDER --name centre.example.org`` writes
certificates, nginx's configuration and the operator's connection, and prints the commands;
``... check FOLDER`` looks at a running federation and exits with 1 where something is wrong; ``... run
FOLDER SETTINGS`` runs the app to its end and exits with 1 unless it completed.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

from optiframe.errors import InvalidInput, OptiframeError
from optiframe_comrade.backends.flower import app
from optiframe_comrade.backends.flower.front import ROUTES, nginx, write_front
from optiframe_comrade.backends.flower.keys import make_certificate
from optiframe_comrade.backends.flower.loopback import only_loopback_answers
from optiframe_comrade.backends.flower.processes import command, environment
from optiframe_comrade.backends.flower.start_local import CONNECTION, write_connection

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.IGNORECASE)
_FOLDER = re.compile(r"/[\w./+-]*")  # nginx's configuration has these as they are
_COMMAND = "python -m optiframe_comrade.backends.flower.federation"
_STARTED = re.compile(r"Successfully started run (\d+)")  # as ``flwr run`` says it
_PATIENCE = 10.0  # seconds for one answer
_CLOSED = (
    "/v1/control/start-run",
    "/v1/control/list-nodes",
    "/v1/control/register-node",
    "/v1/fleet/register-node",
    "/v1/fleet/unregister-node",
    "/v1/runtime/acquire-task",
    "/v1/runtime/get-nodes",
    "/v1/fleet/../control/start-run",
    "/v1/fleet/pull-messages/../../control/start-run",
    "/v1/fleet/%2e%2e/control/start-run",
    "/v1/fleet/..%2fcontrol%2fstart-run",
    "/v1%2fcontrol%2fstart-run",
    "//v1/control/start-run",
    "/v1/fleet/get-run/",
    "/",
)
"""What the front must answer with 404, as it is sent."""


@dataclass(frozen=True)
class Federation:
    """Where a federation is: the centre's DNS name, nginx's address and port, the SuperLink's port."""

    name: str
    listen: str
    port: int
    superlink: int


def write(folder: Path, federation: Federation, days: int = 365) -> list[str]:
    """Write a federation's files into a new or empty folder; the commands that start it.

    Raises
    ------
    InvalidInput
        When the name is no DNS name, the address no IP address, or the folder is not empty or has a
        name that nginx's configuration cannot hold.
    """
    folder = folder.resolve()
    if _NAME.fullmatch(federation.name) is None:
        raise InvalidInput(f"name: {federation.name!r} is no DNS name; nodes find the centre by it")
    if _is_address(federation.name):
        raise InvalidInput(
            f"name: {federation.name} is an IP address; give a DNS name, since certificates are "
            "checked against names"
        )
    if not _is_address(federation.listen):
        raise InvalidInput(f"listen: {federation.listen!r} is no IPv4 address (0.0.0.0: all of them)")
    if _FOLDER.fullmatch(str(folder)) is None:
        raise InvalidInput(f"folder: {str(folder)!r} has a space or sign that nginx would misread")
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"folder: {folder} is not empty; keys in use are not overwritten")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    made = make_certificate(folder, federation.name, days)
    front = write_front(folder, made, **asdict(federation))
    write_connection(folder, federation.superlink, f'root-certificates = "{made.authority}"')
    (folder / "federation.json").write_text(json.dumps(asdict(federation)), encoding="utf-8")
    superlink = ["flower-superlink", "--host 127.0.0.1", f"--port {federation.superlink}", *made.options()]
    superlink += ["--enable-supernode-auth", "--disable-runtime-dependency-installation"]
    return [
        " ".join(superlink),
        f"{nginx() or 'nginx'} -c {front}",
        f"FLWR_HOME={folder} flwr supernode register node.pub {CONNECTION}    # for each node's public key",
        f"{_COMMAND} check {folder}",
        f"{_COMMAND} run {folder} \"nodes=4 columns=123 result='answer.json'\"    # and other settings",
    ]


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def read(folder: Path) -> Federation:
    """The federation whose files are in a folder.

    Raises
    ------
    InvalidInput
        When there are none.
    """
    try:
        table = json.loads((folder / "federation.json").read_text(encoding="utf-8"))
        return Federation(
            str(table["name"]), str(table["listen"]), int(table["port"]), int(table["superlink"])
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{folder} has no federation.json that can be read ({error!s:.80})") from None


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with a running federation, a sentence each."""
    folder = folder.resolve()
    federation = read(folder)
    for private in ("server.key", "ca.key"):
        path = folder / private
        if path.exists() and path.stat().st_mode & 0o077:
            yield f"{path} can be read by others; run: chmod 600 {path}"
    try:
        only_loopback_answers(f"127.0.0.1:{federation.superlink}")
    except InvalidInput as error:
        yield f"the SuperLink: {error}"
    program = nginx()
    if program is None:
        yield "nginx is not installed; nodes may reach the SuperLink only by it (Debian: apt install nginx)"
    else:
        tested = subprocess.run(
            [program, "-t", "-c", str(folder / "nginx.conf")], capture_output=True, text=True, check=False
        )
        if tested.returncode:
            yield f"nginx refuses its configuration: {tested.stderr.strip()[-300:]}"
    yield from _open_routes(folder, federation)


def _open_routes(folder: Path, federation: Federation) -> Iterator[str]:
    """What the front answers that it should not, or does not answer that it should."""
    for path in _CLOSED:
        status = ask(folder, federation, "POST", path)
        if status not in (400, 404):
            yield f"the front answers POST {path} with {status}; it must be 404"
    for route in ROUTES:
        path = f"/v1/fleet/{route}"
        if (status := ask(folder, federation, "GET", path)) != 404:
            yield f"the front answers GET {path} with {status}; it must be 404"
        if (status := ask(folder, federation, "POST", path)) != 401:
            yield f"the front answers POST {path} without a node's key with {status}; it must be 401"


def ask(folder: Path, federation: Federation, method: str, path: str, length: int = 0) -> int | str:
    """The status of a request to the front without a node's key; in words where there is no answer.

    `length` is what is claimed for its body, which is not sent.
    """
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    host = "127.0.0.1" if federation.listen == "0.0.0.0" else federation.listen
    connection = _Named(federation.name, host, federation.port, context)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", federation.name)
        connection.putheader("Content-Type", "application/protobuf")
        connection.putheader("Content-Length", str(length))
        connection.endheaders()
        return connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"no answer ({error!s:.80})"
    finally:
        connection.close()


class _Named(HTTPSConnection):
    """A connection to an address whose certificate must be that of a name."""

    def __init__(self, name: str, host: str, port: int, context: ssl.SSLContext) -> None:
        super().__init__(host, port, timeout=_PATIENCE, context=context)
        self._name, self._tls = name, context

    def connect(self) -> None:
        import socket

        plain = socket.create_connection((self.host, self.port), self.timeout)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self._name)


def run(folder: Path, settings: str) -> str | None:
    """Run the app at a federation and print its log; why it has not completed, None if it has.

    ``flwr run`` by itself does not wait, and exits with 0 also where too few nodes come.

    Raises
    ------
    InvalidInput
        When the folder has no federation.
    FederationFailed
        When Flower is not installed.
    """
    read(folder)
    variables = environment(folder.resolve())
    flwr = command("flwr", variables)
    argv = [flwr, "run", app(), CONNECTION, "--stream", "--run-config", settings]
    number = None
    with subprocess.Popen(
        argv, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            number = number or _STARTED.search(line)
    if number is None:
        return "the run was not started"
    listed = [flwr, "list", CONNECTION, "--run-id", number[1], "--format", "json"]
    answer = subprocess.run(listed, env=variables, capture_output=True, text=True, check=False)
    try:
        row = json.loads(answer.stdout)["runs"][0]
        status, details = str(row["status"]), str(row["status-details"])
    except (ValueError, LookupError, TypeError):
        return f"Flower does not say how run {number[1]} ended: {answer.stdout} {answer.stderr}"
    return None if status == "finished:completed" else f"run {number[1]} is {status}: {details}"


def main(words: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(prog=_COMMAND)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser(
        "write", help="write certificates, nginx.conf and the operator's connection"
    )
    writing.add_argument("folder", type=Path)
    writing.add_argument("--name", required=True, help="the centre's DNS name, by which nodes find it")
    writing.add_argument("--listen", default="0.0.0.0", help="address nginx listens on")
    writing.add_argument("--port", type=int, default=8443, help="port nginx listens on")
    writing.add_argument("--superlink-port", type=int, default=8000, help="the SuperLink's, on 127.0.0.1")
    writing.add_argument("--days", type=int, default=365, help="how long the certificates are valid")
    checking = commands.add_parser("check", help="look whether a running federation lets through nodes alone")
    checking.add_argument("folder", type=Path)
    running = commands.add_parser("run", help="run the app, and wait for its end")
    running.add_argument("folder", type=Path)
    running.add_argument("settings", help='settings of the run, such as "nodes=4 columns=123 l2=0.0001"')
    chosen = parser.parse_args(words)
    try:
        if chosen.command == "write":
            where = Federation(chosen.name, chosen.listen, chosen.port, chosen.superlink_port)
            print("\n".join(write(chosen.folder, where, chosen.days)))
            return 0
        if chosen.command == "run":
            failed = run(chosen.folder, chosen.settings)
            if failed is not None:
                print(failed, file=sys.stderr)
            return 0 if failed is None else 1
        found = list(problems(chosen.folder))
    except OptiframeError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        "\n".join(found) if found else "the front lets through nodes with a registered key, and nothing else"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
