"""What a node does with a broadcast: its own rows, and the same `Worker` as every backend.

Flower starts a new process for every message, unless the node has a `persistent_client`, so nothing here is
remembered: the rows come from the node's own files, how to work from the message. Only what error
feedback owes is kept from one message to the next, by the caller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.losses import LinearModel
from optiframe.records.fields import Array
from optiframe.registry.by_name import part
from optiframe.tables.libsvm import read_libsvm
from optiframe_comrade.backends.flower.protocol import (
    Values,
    Work,
    read_broadcast,
    read_work,
    write_not_finite,
    write_reply,
)
from optiframe_comrade.messages import Fault
from optiframe_comrade.parts.kinds import Attack
from optiframe_comrade.problem import LOSSES
from optiframe_comrade.protocol.sharding import split
from optiframe_comrade.protocol.worker import Worker, WorkerConfig

_OWED = "owed."  # begins the keys of what error feedback owes


def answer(
    asked: Mapping[str, Any],
    config: Mapping[str, Any],
    memory: Values,
    read: Callable[[Mapping[str, Any]], tuple[Any, Array]] | None = None,
) -> Values | Fault:
    """The reply to what was asked, as values; a fault when, under attack, none is sent.

    Parameters
    ----------
    asked
        The record of the message: a broadcast, and how to work.
    config
        The node's own settings, from its owner: see `rows`; for trials, `attack`, the path of a
        JSON file that says how to misbehave.
    memory
        What this node kept from its last message; changed here.
    read
        Where the rows come from; `rows` unless given.

    Raises
    ------
    InvalidInput
        When the message or a setting is wrong.
    """
    broadcast, work = read_broadcast(asked), read_work(asked)
    matrix, target = (rows if read is None else read)(config)
    number, worker_config = worker_config_of(config, work)
    worker = Worker(number, objective(matrix, target, work, len(broadcast.point)), worker_config)
    if memory.get("run") != work.run:
        memory.clear()
    owed = {key.removeprefix(_OWED): np.frombuffer(value) for key, value in memory.items() if _OWED in key}
    worker.resume(broadcast.round, owed)
    memory["run"] = work.run
    reply = worker.reply(broadcast)
    memory.update({_OWED + kind: array.tobytes() for kind, array in worker.owed.items()})
    if isinstance(reply, Fault):
        return write_not_finite(reply.round, reply.text) if reply.kind == "not-finite" else reply
    return write_reply(reply)


def rows(config: Mapping[str, Any]) -> tuple[Any, Array]:
    """The node's own rows: matrix and target.

    From the file `shard`, LIBSVM text or what `save_rows` wrote; or, for trials, from the data set
    named `dataset`, the share `partition-id` of `num-partitions`.
    """
    if "shard" in config:
        path = Path(str(config["shard"]))
        return load_rows(path) if path.suffix == ".npz" else read_libsvm(path)
    if "dataset" not in config:
        raise InvalidInput(
            "this node has no rows; start it with --node-config 'shard=\"rows.svm\"' "
            "(LIBSVM text), or with a data set's name as `dataset`, `partition-id` and `num-partitions`"
        )
    import optiframe

    mine, shares = int(config.get("partition-id", 0)), int(config.get("num-partitions", 1))
    if not 0 <= mine < shares:
        raise InvalidInput(f"partition-id is {mine}; with num-partitions = {shares} it is 0 to {shares - 1}")
    data = optiframe.dataset(str(config["dataset"])).inputs()
    chosen = split(len(data["target"]), shares, np.random.default_rng(0))[mine]
    return data["matrix"][chosen], np.asarray(data["target"])[chosen]


def worker_config_of(config: Mapping[str, Any], work: Work) -> tuple[int, WorkerConfig]:
    """The node's number, and how it works: as asked, but for what its owner has configured."""
    number = int(config.get("partition-id", 0))
    trial: dict[str, Any] = {"attack": "none"}
    if "attack" in config:
        trial = json.loads(Path(str(config["attack"])).read_text(encoding="utf-8"))
    return number, WorkerConfig(
        attack=part(Attack, trial["attack"]),
        byzantine=tuple(trial.get("byzantine", ())),
        trim=int(trial.get("trim", 0)),
        compressor=work.compressor,
        error_feedback=work.error_feedback,
        method=work.local,
        seed=work.seed,
        hessian_terms=work.hessian_terms,
    )


def objective(matrix: Any, target: Array, work: Work, columns: int) -> LinearModel:
    """The mean loss of the rows, over as many columns as the coordinator's point has."""
    count, wide = matrix.shape
    if wide > columns:
        raise InvalidInput(f"the rows have {wide} columns, the broadcast point {columns}")
    if wide < columns:
        rest = (count, columns - wide)
        if sp.issparse(matrix):
            matrix = sp.hstack([matrix, sp.csr_array(rest)], format="csr")
        else:
            matrix = np.hstack([matrix, np.zeros(rest)])
    return LOSSES[work.loss](matrix=matrix, target=target, l2=work.l2)


def save_rows(path: Path, shard: LinearModel) -> None:
    """Write a shard's rows for a node to read; plain arrays, no pickle."""
    matrix = shard.matrix
    if sp.issparse(matrix):
        csr = sp.csr_array(matrix)
        fields = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
        fields["shape"] = np.array(csr.shape)
    else:
        fields = {"matrix": np.asarray(matrix)}
    np.savez(path, target=shard.target, **fields)


def load_rows(path: Path) -> tuple[Any, Array]:
    """The inverse of `save_rows`."""
    with np.load(path, allow_pickle=False) as file:
        if "matrix" in file:
            return file["matrix"], file["target"]
        parts = (file["data"], file["indices"], file["indptr"])
        return sp.csr_array(parts, shape=tuple(file["shape"])), file["target"]
