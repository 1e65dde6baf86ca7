"""Rows that lie on a Dask cluster and stay there: files read by its processes, Dask arrays, data frames.

Nothing of the size of the rows passes through, or is kept at, the coordinator: it holds a name for each
shard. A shard is a Dask future, so that the scheduler can make one again whose process has died.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from pydantic import NonNegativeFloat, PositiveInt

from optiframe.errors import InvalidInput, OptiframeError, require
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.backends.row_files import (
    joined,
    measured,
    model,
    read_rows,
    rows_of_blocks,
    rows_of_partition,
)
from optiframe_comrade.problem import LOSSES, LossName
from optiframe_comrade.protocol.sharding import Placed

Per = Literal["part", "process"]


class DaskShard(FiniteSum):
    """The name of a shard on a cluster; `key` is that of the future whose result is the `LinearModel`."""

    address: str
    key: str
    terms: PositiveInt
    columns: PositiveInt
    nbytes: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.columns,)

    def __len__(self) -> int:
        return self.terms

    def value(self, x: Array) -> float:
        raise self._lacks("value here: its rows lie on the cluster")

    def take(self, indices: Any) -> FiniteSum:
        raise self._lacks("rows here: they lie on the cluster")


class DaskRows(Placed):
    """The mean loss of a linear model over rows on a Dask cluster, plus l2/2 |x|^2.

    Make it by `from_files`, `from_array` or `from_frame`, and minimize it with a distributed solver whose
    `workers` is the number of `shards`; its backend is then Dask, without an address. The objective and
    its derivatives are computed where the rows are: a round trip each, d numbers a shard.

    It lives as long as the client it was made with.
    """

    backend = "backend.dask"

    address: str
    shards: tuple[DaskShard, ...]
    l2: NonNegativeFloat
    loss: LossName

    @cached_property
    def _held(self) -> tuple[Any, list[Any]]:
        """The client and the futures, which keep the rows on the cluster; not part of a copy."""
        raise InvalidInput("these rows are a copy without a cluster; use the object that was made with it")

    @classmethod
    def from_files(
        cls,
        client: Any,
        files: Sequence[str | Path] | str | Path,
        *,
        target: str | int | None = None,
        loss: LossName = "logistic",
        l2: float | None = None,
        per: Per = "part",
    ) -> Self:
        """Rows of files that the cluster's processes can read, each by the process that will work on it.

        Parameters
        ----------
        client
            A `distributed.Client`.
        files
            Paths, one shard each; or a folder, of whose files each is one.
        target
            Parquet: the column of labels. NPY: the number of that column, by default the last. NPZ has
            arrays `matrix` and `target`; LIBSVM text (also .gz and .bz2) begins each line with the label.
        loss
            Of a row.
        l2
            Weight of half the squared norm; none: 1/n.
        per
            "process": one shard for all files that one process has read, a copy once; "part": one a file.

        Raises
        ------
        InvalidInput
            When a file is missing or no table of numbers, or the files have different columns.
        """
        _check_client(client)
        paths = _listed(files)
        places = sorted(client.nthreads())
        if not places:
            raise InvalidInput("the Dask cluster has no worker processes; start some with `dask worker`")
        read = [
            client.submit(
                read_rows,
                path,
                target,
                workers=[places[at % len(places)]],
                allow_other_workers=True,
                pure=False,
            )
            for at, path in enumerate(paths)
        ]
        return cls._from_parts(client, read, paths, loss=loss, l2=l2, per=per)

    @classmethod
    def from_array(
        cls,
        client: Any,
        matrix: Any,
        target: Any,
        *,
        loss: LossName = "logistic",
        l2: float | None = None,
        per: Per = "part",
    ) -> Self:
        """Rows of a Dask array (n x d) and labels of another (n), a shard for each block of rows."""
        _check_client(client)
        for array, ndim in (matrix, 2), (target, 1):
            if not hasattr(array, "chunks") or array.ndim != ndim:
                raise InvalidInput("matrix must be a Dask array of rows (2-D), target one of labels (1-D)")
        if len(matrix.chunks[0]) != len(target.chunks[0]) or (
            not np.isnan(matrix.chunks[0] + target.chunks[0]).any() and matrix.chunks[0] != target.chunks[0]
        ):
            raise InvalidInput(
                f"matrix has blocks of {_some(matrix.chunks[0])} rows and target of "
                f"{_some(target.chunks[0])}: rechunk one like the other"
            )
        if len(matrix.chunks[1]) > 1:
            matrix = matrix.rechunk({1: -1})
        pairs = zip(matrix.to_delayed().ravel(), target.to_delayed().ravel(), strict=True)
        parts = _delayed(client, rows_of_blocks, pairs)
        return cls._from_parts(client, parts, "block", loss=loss, l2=l2, per=per)

    @classmethod
    def from_frame(
        cls,
        client: Any,
        frame: Any,
        target: str,
        *,
        loss: LossName = "logistic",
        l2: float | None = None,
        per: Per = "part",
    ) -> Self:
        """Rows of a Dask data frame, a shard for each partition; `target` is the column of labels."""
        _check_client(client)
        if not hasattr(frame, "to_delayed"):
            raise InvalidInput(f"frame must be a Dask data frame, got a {type(frame).__name__}")
        if target not in list(frame.columns):
            raise InvalidInput(f"the data frame has no column {target!r}; it has {_some(frame.columns)}")
        parts = _delayed(client, rows_of_partition, ((part, target) for part in frame.to_delayed()))
        return cls._from_parts(client, parts, "partition", loss=loss, l2=l2, per=per)

    @classmethod
    def _from_parts(
        cls,
        client: Any,
        parts: list[Any],
        names: Sequence[str] | str,
        *,
        loss: LossName,
        l2: float | None,
        per: Per,
    ) -> Self:
        """From futures of `Rows`, whose names are given or one word with a number."""
        names = [f"{names} {at}" for at in range(len(parts))] if isinstance(names, str) else names
        if loss not in LOSSES:
            raise InvalidInput(f"loss: {loss!r} is none of {', '.join(LOSSES)}")
        if per not in get_args(Per):
            raise InvalidInput(f"per: {per!r} is none of {', '.join(get_args(Per))}")
        if l2 is not None and not 0 <= l2 < np.inf:
            raise InvalidInput(f"l2: must be a number from 0 on, got {l2}")
        sizes = client.gather(
            [client.submit(measured, rows, name, pure=False) for rows, name in zip(parts, names, strict=True)]
        )
        terms, columns = sum(size.terms for size in sizes), max(size.columns for size in sizes)
        for name, size in zip(names, sizes, strict=True):
            if size.columns < columns and not size.sparse:
                raise InvalidInput(
                    f"{name} has {size.columns} columns, another part {columns}; all parts must have the "
                    "same number"
                )
        named = [(name, size.names) for name, size in zip(names, sizes, strict=True) if size.names]
        for name, found in named[1:]:
            if found != named[0][1]:
                raise InvalidInput(
                    f"{name} has columns {_some(found)}, and {named[0][0]} has {_some(named[0][1])}; "
                    "write all parts with the same columns in one order"
                )
        if per == "process":
            parts = _by_process(client, parts)
            names = [f"shard {at}" for at in range(len(parts))]
        ridge = 1 / terms if l2 is None else l2
        futures = [
            client.submit(model, rows, name, columns, loss, ridge, pure=False)
            for rows, name in zip(parts, names, strict=True)
        ]
        held = client.gather([client.submit(measured, shard, "", pure=False) for shard in futures])
        address = client.scheduler.address
        shards = tuple(
            DaskShard(address=address, key=future.key, terms=size.terms, columns=columns, nbytes=size.nbytes)
            for future, size in zip(futures, held, strict=True)
        )
        made = cls(address=address, shards=shards, l2=ridge, loss=loss)
        made.__dict__["_held"] = client, futures
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shards[0].shape

    def __len__(self) -> int:
        return sum(len(shard) for shard in self.shards)

    @property
    def placed(self) -> Sequence[DaskShard]:
        return self.shards

    def take(self, indices: Any) -> FiniteSum:
        raise self._lacks("rows here: they lie on the cluster")

    def value(self, x: Array) -> float:
        return float(self._mean("value", x))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self._mean("gradient", x))

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.asarray(self._mean("hessian_product", x, v))

    def _mean(self, method: str, *arguments: Array) -> Any:
        """The mean over all terms of what a method of the shards gives, called in their own processes."""
        client, futures = self._held
        try:
            of = methodcaller(method, *arguments)
            asked = [client.submit(of, future, pure=False) for future in futures]
            found = client.gather(asked)
        except (asyncio.CancelledError, OSError, RuntimeError) as error:
            raise OptiframeError(
                f"the Dask cluster at {self.address} does not compute the objective any more: "
                f"{type(error).__name__} {error!s:.120}; start it again, and load the rows again"
            ) from None
        return np.average(np.array(found), axis=0, weights=[len(shard) for shard in self.shards])


def _check_client(client: Any) -> None:
    if not isinstance(client, require("distributed", "dask").Client):
        raise InvalidInput(f"client must be a `distributed.Client`, got a {type(client).__name__}")


def _delayed(client: Any, make: Callable[..., Any], given: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Futures of what a function makes of each tuple of arguments, where these lie on the cluster."""
    delayed = require("dask", "dask").delayed(make, pure=False)
    return list(client.compute([delayed(*each) for each in given]))


def _listed(files: Sequence[str | Path] | str | Path) -> list[str]:
    """Absolute paths: the cluster's processes may run in other folders."""
    if isinstance(files, str | Path):
        folder = Path(files)
        files = sorted(each for each in folder.iterdir() if each.is_file()) if folder.is_dir() else [folder]
    paths = [os.path.abspath(each) for each in files]  # of this machine's view alone: no links resolved
    if not paths:
        raise InvalidInput("files: there is none; give the paths of the shards, or a folder of them")
    return paths


def _some(names: Any) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")


def _by_process(client: Any, parts: list[Any]) -> list[Any]:
    """One future for all parts on one process."""
    lies = client.who_has(parts)
    groups: dict[str, list[Any]] = {}
    for part in parts:
        groups.setdefault(min(lies.get(part.key) or ("",)), []).append(part)
    return [
        client.submit(joined, group, workers=[place] if place else None, allow_other_workers=True, pure=False)
        for place, group in sorted(groups.items())
    ]
