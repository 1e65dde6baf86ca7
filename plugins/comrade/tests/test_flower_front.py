"""A federation behind nginx: nodes work through it, and nothing else gets through."""

from __future__ import annotations

import datetime
import json
import os
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from optiframe_comrade.backends.flower import federation, flower
from optiframe_comrade.backends.flower.federation import Federation
from optiframe_comrade.backends.flower.front import ROUTES, nginx
from optiframe_comrade.backends.flower.node import save_rows
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.messages import NEWTON_STEP, Broadcast
from optiframe_comrade.protocol.sharding import split

from optiframe import InvalidInput

from .classification_twins import planted
from .flower_deployment import Deployment, make_key

with flower():
    from flwr.common.constant import TIMESTAMP_HEADER
    from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest
    from flwr.proto.node_pb2 import Node
    from flwr.supercore.constant import FLEET_HTTP_PUBLIC_KEY_HEADER, FLEET_HTTP_SIGNATURE_HEADER
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes, sign_message
    from optiframe_comrade.backends.flower.start_local import free_ports

NODES, COLUMNS = 2, 4
F = planted(300, COLUMNS)
SHARDS = [F.take(terms) for terms in split(len(F), NODES, np.random.default_rng(1))]
CENTRE = Federation("centre.example.org", "127.0.0.1", 8443, 8000)


def test_the_files_of_a_federation_are_written_once_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    commands = federation.write(folder, CENTRE)
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "server.key").stat().st_mode & 0o077 == 0
    assert not (folder / "ca.key").exists()
    certificate = x509.load_pem_x509_certificate((folder / "server.pem").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["centre.example.org"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert "--host 127.0.0.1" in commands[0]
    assert "--enable-supernode-auth" in commands[0]
    assert federation.read(folder) == CENTRE
    assert 'address = "127.0.0.1:8000"' in (folder / "config.toml").read_text()
    with pytest.raises(InvalidInput, match="is not empty; keys in use are not overwritten"):
        federation.write(folder, CENTRE)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "centre; return 200"}, "is no DNS name"),
        ({"name": "10.0.0.1"}, "is an IP address"),
        ({"listen": "everywhere"}, "is no IPv4 address"),
    ],
)
def test_what_nginx_would_misread_is_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        federation.write(tmp_path / "ours", replace(CENTRE, **changed))
    with pytest.raises(InvalidInput, match="nginx would misread"):
        federation.write(tmp_path / "a b", CENTRE)


def test_the_command_writes_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate, superlink = free_ports(2)
    folder = str(tmp_path / "ours")
    words = ["--name", "localhost", "--listen", "127.0.0.1", "--port", str(gate)]
    assert federation.main(["write", folder, *words, "--superlink-port", str(superlink)]) == 0
    assert "flower-superlink --host 127.0.0.1" in capsys.readouterr().out
    assert federation.main(["write", folder, *words]) == 2
    assert federation.main(["check", str(tmp_path)]) == 2
    assert "has no federation.json" in capsys.readouterr().err
    assert federation.main(["check", folder]) == 1  # nothing runs
    assert "with no answer" in capsys.readouterr().out


def test_a_superlink_that_others_can_reach_is_found(tmp_path: Path) -> None:
    with socket.socket() as everywhere:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        here = Federation("localhost", "127.0.0.1", free_ports(1)[0], everywhere.getsockname()[1])
        federation.write(tmp_path / "ours", here)
        found = " ".join(federation.problems(tmp_path / "ours"))
    assert "can be reached from other machines" in found


@pytest.fixture(scope="module")
def fronted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    if nginx() is None and not os.environ.get("CI"):
        pytest.skip("nginx is not installed here; .ci/run installs it")
    folder = tmp_path_factory.mktemp("rows")
    configs: list[dict[str, str | int]] = []
    for number, shard in enumerate(SHARDS):
        save_rows(folder / f"rows-{number}.npz", shard)
        configs.append({"shard": str(folder / f"rows-{number}.npz"), "partition-id": number})
    with Deployment(configs) as made:
        yield made


def trusted(fronted: Deployment) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(fronted.folder / "ca.crt"))


@pytest.mark.slow
@pytest.mark.ci
def test_nodes_with_registered_keys_run_the_app_through_the_front(
    fronted: Deployment, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    settings = f"nodes={NODES} columns={COLUMNS} l2={F.l2} steps=2 result='{result}' "
    settings += """parameters='{"step": 1.0, "filter": "mean"}'"""
    assert federation.run(fronted.folder, settings) is None
    answer = json.loads(result.read_text())
    assert (answer["status"], answer["rounds"], answer["faults"]) == ("iteration_limit", 2, [])
    assert all(set(one) == {"level", "text", "identifier"} for one in answer["findings"])
    nearby, x = InProcess(SHARDS), np.zeros(COLUMNS)
    for number in (1, 2):
        x = x - np.mean([r.payload for r in nearby.ask(Broadcast(number, NEWTON_STEP, x))], axis=0)
    np.testing.assert_allclose(answer["solution"], x, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.thorough  # half a minute of a processor for one more run
def test_a_run_with_too_few_nodes_fails(fronted: Deployment, capfd: pytest.CaptureFixture[str]) -> None:
    few = f"nodes={NODES + 1} wait=0.1 columns={COLUMNS}"
    assert federation.main(["run", str(fronted.folder), few]) == 1
    assert f"is finished:failed: ServerApp failed with exception: {NODES} of 3" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.ci
def test_nothing_but_the_nodes_routes_gets_through_and_those_need_a_key(fronted: Deployment) -> None:
    assert list(federation.problems(fronted.folder)) == []


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.parametrize("path", federation._CLOSED)
def test_what_a_stranger_sends_gets_nothing(fronted: Deployment, path: str) -> None:
    assert federation.ask(fronted.folder, fronted.centre, "POST", path) in (400, 404)


@pytest.mark.slow
@pytest.mark.ci
def test_without_the_front_the_same_requests_would_be_answered(fronted: Deployment) -> None:
    """What the front is for: the SuperLink itself lets anybody who reaches it list and claim."""
    address = f"https://127.0.0.1:{fronted.centre.superlink}/v1/control/list-nodes"
    answer = httpx.post(address, verify=trusted(fronted), content=b"", timeout=60.0)
    assert answer.status_code != 404


def heartbeat(
    fronted: Deployment,
    node: int,
    key: Path | None,
    *,
    signer: Path | None = None,
    seconds: float = 0.0,
    without: str = "",
) -> int:
    """What the front answers to a node's sign of life, by the key of somebody, signed so many seconds ago."""
    sent = SendNodeHeartbeatRequest(node=Node(node_id=fronted.nodes[node]), heartbeat_interval=30.0)
    headers = {"content-type": "application/protobuf", "accept": "application/protobuf"}
    if key is not None:
        signed = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=seconds)
        public = public_key_to_bytes(private(key).public_key())
        signature = sign_message(private(signer or key), signed.isoformat().encode())
        headers |= {
            FLEET_HTTP_PUBLIC_KEY_HEADER: b64encode(public).decode(),
            TIMESTAMP_HEADER: signed.isoformat(),
            FLEET_HTTP_SIGNATURE_HEADER: b64encode(signature).decode(),
        }
        headers.pop(without, None)
    address = f"https://localhost:{fronted.centre.port}/v1/fleet/send-node-heartbeat"
    content = sent.SerializeToString()
    return httpx.post(
        address, verify=trusted(fronted), content=content, headers=headers, timeout=60.0
    ).status_code


def private(path: Path) -> EllipticCurvePrivateKey:
    key = load_ssh_private_key(path.read_bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey)
    return key


@pytest.mark.slow
@pytest.mark.ci
def test_a_route_of_nodes_needs_the_fresh_signature_of_that_nodes_registered_key(
    fronted: Deployment, tmp_path: Path
) -> None:
    ours, theirs, unknown = *fronted.keys, make_key(tmp_path / "unknown")
    assert heartbeat(fronted, 0, ours) == 200
    assert heartbeat(fronted, 0, None) == 401  # absent
    for header in (FLEET_HTTP_PUBLIC_KEY_HEADER, FLEET_HTTP_SIGNATURE_HEADER, TIMESTAMP_HEADER):
        assert heartbeat(fronted, 0, ours, without=header) == 401
    assert heartbeat(fronted, 0, unknown) == 401
    assert heartbeat(fronted, 0, theirs) == 401  # foreign: the registered key of another node
    assert heartbeat(fronted, 0, ours, signer=theirs) == 401
    assert heartbeat(fronted, 0, ours, seconds=3600.0) == 401  # stale
    assert heartbeat(fronted, 0, ours, seconds=-3600.0) == 401  # of an hour to come


@pytest.mark.slow
@pytest.mark.ci
def test_nodes_without_a_registered_key_are_refused_and_end(fronted: Deployment, tmp_path: Path) -> None:
    fronted.start_node("stranger", make_key(tmp_path / "unknown"), {})
    fronted.start_node("nobody", None, {})
    for name, words in (
        ("stranger", "Failed to activate SuperNode"),
        ("nobody", "404 Not Found"),  # it tries to register itself
    ):
        fronted.processes.wait(
            name, lambda n=name, w=words: w in fronted.processes.log(n), time.monotonic() + 120.0
        )
        assert "SuperNode ID" not in fronted.processes.log(name)


@pytest.mark.slow
@pytest.mark.ci
def test_a_body_beyond_the_limit_is_refused(fronted: Deployment) -> None:
    path = f"/v1/fleet/{ROUTES[3]}"
    assert federation.ask(fronted.folder, fronted.centre, "POST", path, length=1 << 30) == 413


@pytest.mark.slow
@pytest.mark.ci
def test_behind_the_front_everything_listens_on_loopback_alone(fronted: Deployment) -> None:
    supervisor = psutil.Process(fronted.processes.supervisor.pid)
    ours = {supervisor.pid, *(each.pid for each in supervisor.children(recursive=True))}
    listening = [each for each in psutil.net_connections("inet") if each.status == "LISTEN"]
    # nginx as well: this federation was written with --listen 127.0.0.1.
    found = {each.laddr for each in listening if each.pid in ours}
    assert {each.port for each in found} >= {fronted.centre.superlink, fronted.centre.port}
    assert {each.ip for each in found} == {"127.0.0.1"}
