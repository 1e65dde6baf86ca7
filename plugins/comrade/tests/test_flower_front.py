"""A federation behind nginx: nodes work through it, and nothing else gets through."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from cryptography import x509
from optiframe_comrade.backends.flower import federation, flower
from optiframe_comrade.backends.flower.federation import Federation
from optiframe_comrade.backends.flower.front import ROUTES, nginx
from optiframe_comrade.backends.flower.node import save_rows
from optiframe_comrade.backends.flower.protocol import work_of
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.messages import GRADIENT, Broadcast
from optiframe_comrade.parts.kinds import Nothing
from optiframe_comrade.protocol.sharding import split
from optiframe_comrade.protocol.worker import WorkerConfig

from optiframe import InvalidInput

from .classification_twins import planted

with flower():
    from optiframe_comrade.backends.flower.embedded_server import EmbeddedServer
    from optiframe_comrade.backends.flower.grid_workers import GridWorkers
    from optiframe_comrade.backends.flower.start_local import LocalFederation, free_ports

NODES, COLUMNS = 3, 4
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
        ({"name": "10.0.0.1"}, "is an address"),
        ({"listen": "everywhere"}, "is no IPv4 address"),
    ],
)
def test_what_nginx_would_misread_is_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    from dataclasses import replace

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
    import socket

    with socket.socket() as everywhere:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        here = Federation("localhost", "127.0.0.1", free_ports(1)[0], everywhere.getsockname()[1])
        federation.write(tmp_path / "ours", here)
        found = " ".join(federation.problems(tmp_path / "ours"))
    assert "can be reached from other machines" in found


@pytest.fixture(scope="module")
def fronted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalFederation]:
    if nginx() is None and not os.environ.get("CI"):
        pytest.skip("nginx is not installed here; .ci/run installs it")
    folder = tmp_path_factory.mktemp("rows")
    configs = []
    for number, shard in enumerate(SHARDS):
        save_rows(folder / f"rows-{number}.npz", shard)
        configs.append({"shard": str(folder / f"rows-{number}.npz"), "partition-id": number})
    with flower(), LocalFederation(configs, secure=True, front=True) as made:
        yield made


def trusted(fronted: LocalFederation) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(fronted.folder / "ca.crt"))


@pytest.mark.slow
def test_nodes_with_registered_keys_work_through_the_front(fronted: LocalFederation) -> None:
    with flower():
        task = EmbeddedServer(fronted.link)
    try:
        work = work_of(WorkerConfig(), SHARDS[0].name, SHARDS[0].l2)
        workers = GridWorkers(task.grid, fronted.nodes, work, Nothing(), prepare=task.identify)
        asked = Broadcast(1, GRADIENT, np.full(COLUMNS, 0.1))
        replies, expected = workers.ask(asked, 60.0), InProcess(SHARDS).ask(asked)
        for reply, known in zip(replies, expected, strict=True):
            np.testing.assert_array_equal(reply.payload, known.payload)  # type: ignore[union-attr]
    finally:
        task.close()


@pytest.mark.slow
def test_nothing_but_the_nodes_routes_gets_through_and_those_need_a_key(fronted: LocalFederation) -> None:
    written = json.dumps(asdict(fronted.front))
    (fronted.folder / "federation.json").write_text(written, encoding="utf-8")
    assert list(federation.problems(fronted.folder)) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", federation._CLOSED)
def test_what_a_stranger_sends_gets_nothing(fronted: LocalFederation, path: str) -> None:
    assert federation.ask(fronted.folder, fronted.front, "POST", path) in (400, 404)


@pytest.mark.slow
def test_without_the_front_the_same_requests_would_be_answered(fronted: LocalFederation) -> None:
    """What the front is for: the SuperLink itself lets anybody who reaches it list and claim."""
    address = f"https://{fronted.link.address}/v1/control/list-nodes"
    answer = httpx.post(address, verify=trusted(fronted), content=b"", timeout=10.0)
    assert answer.status_code != 404


@pytest.mark.slow
def test_a_body_beyond_the_limit_is_refused(fronted: LocalFederation) -> None:
    path = f"/v1/fleet/{ROUTES[3]}"
    assert federation.ask(fronted.folder, fronted.front, "POST", path, length=1 << 30) == 413


@pytest.mark.slow
def test_the_superlink_behind_the_front_listens_on_loopback_alone(fronted: LocalFederation) -> None:
    import psutil

    ports = {fronted.front.superlink, fronted.front.port}
    found = {each.laddr for each in psutil.net_connections("inet") if each.status == "LISTEN"}
    assert {each.ip for each in found if each.port in ports} == {"127.0.0.1"}
