"""A Dask cluster whose lines are encrypted: who has a certificate gets in, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import LocalCluster
from optiframe_comrade.backends.dask_backend import DaskBackend
from optiframe_comrade.backends.flower.keys import make_certificate
from optiframe_comrade.solvers.comrade import Comrade

import optiframe
from optiframe import Budget, InvalidInput

from .classification_twins import problem

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a cluster of processes is started, for some seconds


def settings(folder: Path) -> dict[str, Any]:
    """Of Dask, as the documentation has them, with certificates of an authority of their own."""
    folder.mkdir()
    made = make_certificate(folder)
    pairs = {
        f"distributed.comm.tls.{role}.{what}": str(path)
        for role in ("client", "scheduler", "worker")
        for what, path in (("cert", made.server), ("key", made.key))
    }
    return pairs | {
        "distributed.comm.tls.ca-file": str(made.authority),
        "distributed.comm.require-encryption": True,
        "distributed.comm.default-scheme": "tls",
    }


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return settings(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def address(ours: dict[str, Any]) -> Iterator[str]:
    """Of a cluster that has its certificates; a test has those it sets itself."""
    with dask.config.set(ours):
        cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="tls://127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=60,
        )
    try:
        yield cluster.scheduler_address
    finally:
        cluster.close()


def run(backend: DaskBackend | None, config: Mapping[str, Any]) -> Any:
    solver = Comrade(workers=2) if backend is None else Comrade(workers=2, backend=backend)
    budget = Budget(iterations=3, tolerance=0.0)
    with dask.config.set(config), pytest.warns(optiframe.NotConverged):
        return optiframe.solve(problem(1000, 6), solver, seed=5, budget=budget)


def test_with_certificates_the_numbers_are_those_of_one_process(address: str, ours: dict[str, Any]) -> None:
    assert address.startswith("tls://")
    there = run(DaskBackend(address=address), ours)
    assert all(" at tls://127.0.0.1:" in name for name in there.detail.names)
    np.testing.assert_array_equal(there.solution, run(None, {}).solution)


def test_a_cluster_of_its_own_speaks_tls_where_dask_is_told_to(ours: dict[str, Any]) -> None:
    there = run(DaskBackend(processes=2), ours)
    assert all(" at tls://127.0.0.1:" in name for name in there.detail.names)


def test_without_certificates_the_sentence_says_which_are_missing(address: str) -> None:
    with pytest.raises(InvalidInput, match=r"speaks TLS, and Dask's .* set distributed\.comm\.tls\.ca-file"):
        optiframe.solve(problem(), Comrade(workers=2, backend=DaskBackend(address=address)))


def test_certificates_of_another_authority_and_plain_lines_are_refused(address: str, tmp_path: Path) -> None:
    theirs = DaskBackend(address=address, starting=10.0)
    with (
        dask.config.set(settings(tmp_path / "theirs")),
        pytest.raises(InvalidInput, match="certificates on the two sides are of different authorities"),
    ):
        optiframe.solve(problem(), Comrade(workers=2, backend=theirs))
    plain = DaskBackend(address=address.replace("tls://", "tcp://"), starting=10.0)
    with pytest.raises(InvalidInput, match="no Dask cluster with a worker answers at tcp://"):
        optiframe.solve(problem(), Comrade(workers=2, backend=plain))
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(InvalidInput, match=r"requires encryption.*give an address that begins with tls://"),
    ):
        optiframe.solve(problem(), Comrade(workers=2, backend=plain))
