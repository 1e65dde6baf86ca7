"""One shard's rows, where they lie: from a file, a block or a partition to the objective of a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.losses import LinearModel
from optiframe.records.fields import Array
from optiframe.tables.libsvm import read_libsvm
from optiframe_comrade.problem import LOSSES


class Rows(NamedTuple):
    """Features, n x d, dense or CSR, labels of shape (n,), and the columns' names where they have some."""

    matrix: Any
    target: Array
    names: tuple[str, ...] = ()


def read_rows(path: str, target: str | int | None) -> Rows:
    """The rows of a file, by its ending; `target` as `DaskRows.from_files` takes it.

    Raises
    ------
    InvalidInput
        When there is no such file, or it is not what its ending says.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"no file {file} where this Dask process runs; all of them must see the shards")
    ending = file.suffix.lower()
    if ending in (".parquet", ".pq"):
        return _parquet(file, target)
    if ending == ".npz":
        return _npz(file)
    if ending == ".npy":
        return _npy(file, target)
    return Rows(*read_libsvm(file))


def _parquet(file: Path, target: str | int | None) -> Rows:
    """Row group by row group, so that beside the rows no more than one group is in memory."""
    parquet = require("pyarrow.parquet", "data")
    arrow = require("pyarrow", "data")
    try:
        table = parquet.ParquetFile(file)
    except (OSError, arrow.ArrowException) as error:
        raise InvalidInput(f"{file} is not Parquet ({error!s:.80})") from None
    with table:
        names = table.schema_arrow.names
        if target not in names:
            shown = ", ".join(names[:8])
            raise InvalidInput(f"target: {file} has no column {target!r}; it has {shown}")
        if len(set(names)) < len(names):
            raise InvalidInput(f"{file} has two columns of one name; rename one")
        for column in table.schema_arrow:
            if not any(is_kind(column.type) for is_kind in _number_kinds(arrow.types)):
                raise InvalidInput(
                    f"{file}: column {column.name!r} has entries that are no numbers but {column.type}"
                )
        features = [name for name in names if name != target]
        matrix = np.empty((table.metadata.num_rows, len(features)))
        labels = np.empty(len(matrix))
        start = 0
        try:
            for batch in table.iter_batches():
                stop = start + batch.num_rows
                for at, name in enumerate([*features, target]):
                    place = labels[start:stop] if name == target else matrix[start:stop, at]
                    place[:] = batch.column(name).to_numpy(zero_copy_only=False)  # missing: nan
                start = stop
        except (OSError, arrow.ArrowException) as error:
            raise InvalidInput(f"{file} is damaged ({error!s:.80}); write it again") from None
    return Rows(matrix, labels, tuple(features))


def _number_kinds(types: Any) -> tuple[Any, ...]:
    return types.is_integer, types.is_floating, types.is_boolean, types.is_decimal


def _npz(file: Path) -> Rows:
    arrays = _load(file)
    if isinstance(arrays, np.ndarray):
        raise InvalidInput(
            f"{file} is one array; name it .npy, or save `matrix` and `target` with numpy.savez"
        )
    with arrays:
        if not {"matrix", "target"} <= set(arrays.files):
            raise InvalidInput(
                f"{file} must have arrays `matrix` and `target`; it has {', '.join(arrays.files)}"
            )
        try:
            matrix, target = arrays["matrix"], arrays["target"]
        except ValueError as error:  # objects, which would be unpickled
            raise InvalidInput(f"{file}: {error!s:.80}") from None
    return _numbers(file, matrix, target)


def _npy(file: Path, target: str | int | None) -> Rows:
    table = _load(file)
    if not isinstance(table, np.ndarray):
        raise InvalidInput(f"{file} has several arrays; name it .npz")
    column = -1 if target is None else target
    if table.ndim != 2 or not isinstance(column, int) or not -table.shape[1] <= column < table.shape[1]:
        raise InvalidInput(
            f"{file} has shape {table.shape}; give a table of rows, and `target` as the number of a column"
        )
    return _numbers(file, np.delete(table, column, axis=1), np.array(table[:, column]))


def _load(file: Path) -> Any:
    try:
        return np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInput(f"{file} is not a NumPy file of numbers ({error!s:.80})") from None


def _numbers(file: Path, matrix: Array, target: Array) -> Rows:
    if matrix.ndim != 2 or target.shape != matrix.shape[:1]:
        raise InvalidInput(f"{file}: matrix has shape {matrix.shape}, target {target.shape}; they must agree")
    return Rows(real(matrix, file), real(target, file))


def real(array: Any, where: object) -> Array:
    """An array as float64.

    Raises
    ------
    InvalidInput
        When its entries are not real numbers; those of `where` are named.
    """
    kind = np.asarray(array)
    if kind.dtype.kind not in "biuf":
        raise InvalidInput(f"{where} has entries of type {kind.dtype}, which are no real numbers")
    return np.asarray(kind, dtype=np.float64)


class Size(NamedTuple):
    """What the coordinator learns of rows; `names` are those of the columns, where they have some."""

    terms: int
    columns: int
    nbytes: int
    sparse: bool
    names: tuple[str, ...]


def measured(held: Rows | LinearModel, name: str) -> Size:
    """The size of rows, or of the objective made of them; `name` is for the error where there are none."""
    matrix = held.matrix
    if not matrix.shape[0]:
        raise InvalidInput(f"{name} has no rows; leave it out, or repartition")
    sparse = not isinstance(matrix, np.ndarray)
    entries = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes if sparse else matrix.nbytes
    names = held.names if isinstance(held, Rows) else ()
    return Size(matrix.shape[0], matrix.shape[1], int(entries) + held.target.nbytes, sparse, names)


def rows_of_blocks(matrix: Any, target: Any) -> Rows:
    """Rows of two blocks of Dask arrays."""
    where = "the Dask array"
    rows = matrix.tocsr().astype(np.float64) if sp.issparse(matrix) else real(matrix, where)
    return Rows(rows, real(target, where))


def rows_of_partition(frame: Any, target: str) -> Rows:
    """Rows of a partition, whose labels are the column `target`."""
    features = frame.drop(columns=target)
    try:
        return Rows(features.to_numpy(dtype=np.float64), frame[target].to_numpy(dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the data frame has columns that are no numbers ({error!s:.80})") from None


def joined(parts: list[Rows]) -> Rows:
    """All rows of several parts."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part.matrix, np.ndarray) for part in parts):
        matrix: Any = np.concatenate([part.matrix for part in parts])
    else:
        columns = max(part.matrix.shape[1] for part in parts)
        matrix = sp.vstack([_widened(part.matrix, columns) for part in parts], format="csr")
    return Rows(matrix, np.concatenate([part.target for part in parts]))


def _widened(matrix: Any, columns: int) -> Any:
    if matrix.shape[1] < columns:
        matrix = matrix.copy()
        matrix.resize(matrix.shape[0], columns)
    return matrix


def model(rows: Rows, name: str, columns: int, loss: str, l2: float) -> LinearModel:
    """The objective of a worker, over so many columns; `name` is for errors."""
    try:
        return LOSSES[loss](matrix=_widened(rows.matrix, columns), target=rows.target, l2=l2)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None
