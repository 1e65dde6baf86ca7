"""Rows that lie on a Dask cluster: read, used and made again there, and never at the coordinator."""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from optiframe_comrade.backends.dask_rows import DaskRows
from optiframe_comrade.backends.row_files import read_rows
from optiframe_comrade.parts.filters import Norm

import optiframe
from optiframe import Budget, InvalidInput, Minimize
from optiframe.problems.objectives.losses import Logistic
from optiframe.records.fields import Array

from .dask_processes import LONG, cluster_of

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a cluster of processes is started once, for some seconds

da = pytest.importorskip("dask.array")
PROCESSES, COLUMNS = 3, 4


@pytest.fixture(scope="module")
def started() -> Iterator[LocalCluster]:
    with cluster_of(PROCESSES) as cluster:
        yield cluster


@pytest.fixture
def client(started: LocalCluster) -> Iterator[Any]:
    with Client(started, set_as_default=False) as client:
        client.wait_for_workers(PROCESSES, timeout=LONG)
        yield client


def drawn(rows: int = 900) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((rows, COLUMNS))
    return matrix, np.where(matrix @ [1, 2, 0, -1] + rng.standard_normal(rows) > 0, 1.0, -1.0)


def parts(count: int = 3) -> list[tuple[Array, Array]]:
    matrix, target = drawn()
    return list(zip(np.array_split(matrix, count), np.array_split(target, count), strict=True))


def parquet(folder: Path) -> list[Path]:
    for at, (matrix, target) in enumerate(parts()):
        columns = {f"x{one}": matrix[:, one] for one in range(COLUMNS)}
        pq.write_table(pa.table({"label": target} | columns), folder / f"{at}.parquet", row_group_size=70)
    return sorted(folder.iterdir())


def libsvm(folder: Path) -> list[Path]:
    for at, (matrix, target) in enumerate(parts()):
        lines = [
            f"{label:g} " + " ".join(f"{one + 1}:{value!r}" for one, value in enumerate(row.tolist()))
            for row, label in zip(matrix, target, strict=True)
        ]
        (folder / f"{at}.svm").write_text("\n".join(lines))
    return sorted(folder.iterdir())


def npz(folder: Path) -> list[Path]:
    for at, (matrix, target) in enumerate(parts()):
        np.savez(folder / f"{at}.npz", matrix=matrix, target=target)
    return sorted(folder.iterdir())


def npy(folder: Path) -> list[Path]:
    for at, (matrix, target) in enumerate(parts()):
        np.save(folder / f"{at}.npy", np.column_stack([matrix, target]))
    return sorted(folder.iterdir())


def here(l2: float = 0.01) -> Logistic:
    matrix, target = drawn()
    return Logistic(matrix=matrix, target=target, l2=l2)


def solved(f: Any, workers: int = 3, **given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)
        budget = Budget(iterations=5, tolerance=0.0)
        return optiframe.solve(Minimize(f), "newton.comrade", workers=workers, budget=budget, seed=3, **given)


@pytest.mark.parametrize(("write", "target"), [(parquet, "label"), (libsvm, None), (npz, None), (npy, None)])
def test_files_are_read_where_they_are_used(
    write: Any, target: str | None, client: Any, tmp_path: Path
) -> None:
    write(tmp_path)
    f = DaskRows.from_files(client, tmp_path, target=target, l2=0.01)
    assert (len(f), f.shape, len(f.shards)) == (900, (COLUMNS,), 3)
    x = np.array([0.5, 1.0, -1.0, 0.2])
    assert f.value(x) == pytest.approx(here().value(x), rel=1e-12)
    np.testing.assert_allclose(f.gradient(x), here().gradient(x), rtol=1e-10)
    np.testing.assert_allclose(f.hessian_product(x, x), here().hessian_product(x, x), rtol=1e-10)
    there = solved(f, backend="dask")
    same = solved(here(), sharding="in-order")
    np.testing.assert_allclose(there.solution, same.solution, rtol=1e-8)
    used = {name.rsplit(" ", 1)[-1] for name in there.detail.names}
    assert len(used) > 1  # of three processes; Dask may read a file elsewhere than planned


def test_dask_arrays_and_frames_are_used_in_place(client: Any) -> None:
    matrix, target = drawn()
    array = da.from_array(matrix, chunks=(300, 2))  # two blocks of columns become one
    x = np.array([0.5, 1.0, -1.0, 0.2])
    f = DaskRows.from_array(client, array, da.from_array(target, chunks=300))
    assert f.value(x) == pytest.approx(here(1 / 900).value(x), rel=1e-12)
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd

    whole = pd.DataFrame(matrix).assign(label=target)
    whole.columns = [str(name) for name in whole.columns]
    g = DaskRows.from_frame(client, frames.from_pandas(whole, npartitions=3), "label")
    assert g.value(x) == pytest.approx(f.value(x), rel=1e-12)
    with pytest.raises(InvalidInput, match="no column 'labels'"):
        DaskRows.from_frame(client, frames.from_pandas(whole, npartitions=3), "labels")


def test_parts_of_one_process_can_be_one_shard(client: Any, tmp_path: Path) -> None:
    for at, (matrix, target) in enumerate(parts(9)):
        np.savez(tmp_path / f"{at}.npz", matrix=matrix, target=target)
    f = DaskRows.from_files(client, tmp_path, per="process", l2=0.01)
    assert len(f.shards) <= PROCESSES
    x = np.ones(COLUMNS)
    assert f.value(x) == pytest.approx(here().value(x), rel=1e-12)


def test_the_rows_never_come_to_the_coordinator(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def arrived(*_: Any) -> None:
        raise AssertionError("rows have come to the coordinator")

    # Of this process alone: those of the cluster have their own.
    monkeypatch.setattr(Logistic, "__setstate__", arrived)
    rows = 300_000
    matrix = da.random.default_rng(0).standard_normal((rows, COLUMNS * 3), chunks=(rows // 3, -1))
    target = (matrix[:, 0] > 0).astype(float)
    process = psutil.Process()
    before, most = process.memory_info().rss, 0

    class Watching(Norm):
        name = "filter.watching"

        def aggregate(self, vectors: Any, trim: int = 0) -> Any:
            nonlocal most
            most = max(most, process.memory_info().rss)
            return super().aggregate(vectors, trim)

    f = DaskRows.from_array(client, matrix, target)
    result = solved(f, backend="dask", filter=Watching())
    assert sum(shard.nbytes for shard in f.shards) == 8 * rows * (3 * COLUMNS + 1)
    assert most - before < 20e6
    assert result.detail.bytes_down < 1e5
    assert len(pickle.dumps(f.placed)) < 2000


def test_a_killed_process_costs_its_shard_a_second_reading(
    started: LocalCluster, client: Any, tmp_path: Path
) -> None:
    npz(tmp_path)
    f = DaskRows.from_files(client, tmp_path, l2=0.01)
    clean = solved(f, backend="dask", trim=0.4, filter="norm")
    rounds = iter(range(100))
    lost: list[int] = []

    def strike() -> None:
        """Kill the process with the fewest workers, one or more."""
        until = time.monotonic() + LONG
        while True:
            held = client.run(lambda dask_worker: len(dask_worker.state.actors))
            if sum(held.values()) == 3 or time.monotonic() > until:  # those of the run before are gone
                break
            time.sleep(0.05)
        count, place = min((count, place) for place, count in held.items() if count)
        lost.append(count)
        pid = next(int(each.pid) for each in started.workers.values() if each.worker_address == place)
        os.kill(pid, signal.SIGKILL)

    class Striking(Norm):
        name = "filter.striking-rows"

        def aggregate(self, vectors: Any, trim: int = 0) -> Any:
            if next(rounds) == 1:
                strike()
            return super().aggregate(vectors, trim)

    hurt = solved(f, backend="dask", trim=0.4, filter=Striking())
    assert [move.fault.kind for move in hurt.detail.moves] == ["crashed"] * lost[0]
    np.testing.assert_array_equal(hurt.solution, clean.solution)


def test_what_does_not_fit_is_refused_in_words(client: Any, tmp_path: Path) -> None:
    paths = npz(tmp_path)
    f = DaskRows.from_files(client, paths)
    with pytest.raises(optiframe.Unsuited, match=r"3 shards: set workers = 3"):
        solved(f, workers=4, backend="dask")
    with pytest.raises(optiframe.Unsuited, match="lie on dask: set `backend`"):
        solved(f)
    with pytest.raises(InvalidInput, match=r"no file .*missing\.npz"):
        DaskRows.from_files(client, [tmp_path / "missing.npz"])
    with pytest.raises(InvalidInput, match="there is none"):
        DaskRows.from_files(client, [])
    with pytest.raises(InvalidInput, match="none of logistic"):
        DaskRows.from_files(client, paths, loss="huber")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a copy without a cluster"):
        pickle.loads(pickle.dumps(f)).value(np.zeros(COLUMNS))
    with pytest.raises(InvalidInput, match="rechunk one like the other"):
        DaskRows.from_array(client, da.zeros((6, 2), chunks=3), da.zeros(6, chunks=2))
    with pytest.raises(InvalidInput, match="must be a Dask array of rows"):
        DaskRows.from_array(client, da.zeros(6, chunks=3), da.zeros(6, chunks=3))
    np.savez(tmp_path / "wide.npz", matrix=np.ones((5, 7)), target=np.ones(5))
    with pytest.raises(InvalidInput, match=r"0\.npz has 4 columns, another part 7"):
        DaskRows.from_files(client, tmp_path)


def test_columns_of_another_order_are_not_added_up(client: Any, tmp_path: Path) -> None:
    values, label = pa.array([1.0, 2.0]), pa.array([1.0, -1.0])
    pq.write_table(pa.table({"a": values, "b": values, "label": label}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"b": values, "a": values, "label": label}), tmp_path / "1.parquet")
    with pytest.raises(InvalidInput, match=r"1\.parquet has columns b, a, and .*0\.parquet has a, b; write"):
        DaskRows.from_files(client, tmp_path, target="label")


def test_what_is_no_rows_or_no_cluster_is_refused_in_words(client: Any, tmp_path: Path) -> None:
    rows, labels = np.ones((4, 2)), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(InvalidInput, match=r"client must be a `distributed\.Client`, got a str"):
        DaskRows.from_files("tcp://127.0.0.1:8786", tmp_path)
    with pytest.raises(InvalidInput, match="must be a Dask array of rows"):
        DaskRows.from_array(client, rows, labels)
    with pytest.raises(InvalidInput, match="must be a Dask data frame, got a ndarray"):
        DaskRows.from_frame(client, rows, "label")
    with pytest.raises(InvalidInput, match="entries of type complex128, which are no real numbers"):
        DaskRows.from_array(client, da.from_array(rows * 1j, chunks=2), da.from_array(labels, chunks=2))
    with pytest.raises(InvalidInput, match="per: 'worker' is none of part, process"):
        DaskRows.from_files(client, npz(tmp_path), per="worker")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="l2: must be a number from 0 on, got nan"):
        DaskRows.from_files(client, npz(tmp_path), l2=float("nan"))
    np.savez(tmp_path / "0.npz", matrix=rows * np.nan, target=labels)
    with pytest.raises(InvalidInput, match=r"0\.npz: logistic: matrix: entry \[0, 0\] is nan"):
        DaskRows.from_files(client, tmp_path / "0.npz")


def test_sparse_blocks_of_a_dask_array_stay_sparse(client: Any) -> None:
    matrix, target = drawn(30)
    dense = da.from_array(matrix, chunks=(10, COLUMNS))
    f = DaskRows.from_array(client, dense.map_blocks(sp.csc_matrix), da.from_array(target, chunks=10), l2=0.1)
    expected = Logistic(matrix=matrix, target=target, l2=0.1).value(np.ones(COLUMNS))
    assert f.value(np.ones(COLUMNS)) == pytest.approx(expected, rel=1e-12)
    assert f.shards[0].nbytes > 8 * 10 * (COLUMNS + 1)  # the indices, too


def test_files_that_are_not_what_they_say_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("no")
    with pytest.raises(InvalidInput, match=r"rows\.parquet is not Parquet"):
        read_rows(str(path), "label")
    pq.write_table(pa.table({"label": [1.0], "name": ["a"]}), path)
    with pytest.raises(InvalidInput, match="column 'name' has entries that are no numbers"):
        read_rows(str(path), "label")
    with pytest.raises(InvalidInput, match="no column None; it has label, name"):
        read_rows(str(path), None)
    for name in ("a.npz", "a.npy"):
        (tmp_path / name).write_text("no")
        with pytest.raises(InvalidInput, match="is not a NumPy file"):
            read_rows(str(tmp_path / name), None)
    pq.write_table(pa.table({"label": [1.0, 2.0], "a": [True, None]}), path)
    assert np.isnan(read_rows(str(path), "label").matrix[1, 0])  # the loss refuses it, with its place
    pq.write_table(pa.table([[1.0], [1.0], [1.0]], names=["label", "a", "a"]), path)
    with pytest.raises(InvalidInput, match="two columns of one name"):
        read_rows(str(path), "label")
    pq.write_table(pa.table({"label": np.arange(900.0)}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    with pytest.raises(InvalidInput, match=r"rows\.parquet is damaged"):
        read_rows(str(path), "label")
    np.savez(tmp_path / "several.npz", rows=np.ones(3))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    with pytest.raises(InvalidInput, match="has several arrays; name it"):
        read_rows(str(tmp_path / "several.npy"), None)
    np.save(tmp_path / "one.npy", np.ones((2, 2)))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(InvalidInput, match="is one array; name it"):
        read_rows(str(tmp_path / "one.npz"), None)
    np.savez(tmp_path / "b.npz", rows=np.ones(3))
    with pytest.raises(InvalidInput, match=r"must have arrays `matrix` and `target`; it has rows"):
        read_rows(str(tmp_path / "b.npz"), None)
    np.savez(tmp_path / "c.npz", matrix=np.ones((3, 2)), target=np.array([object()] * 3))
    with pytest.raises(InvalidInput, match=r"c\.npz"):
        read_rows(str(tmp_path / "c.npz"), None)
    np.save(tmp_path / "d.npy", np.ones(3))
    with pytest.raises(InvalidInput, match=r"d\.npy has shape \(3,\)"):
        read_rows(str(tmp_path / "d.npy"), None)
