"""Array-valued fields: what a person may write for them, and the checks they pass.

In Python an array, a nested list or a SciPy sparse matrix; in a file a nested list or the
path of a CSV (numbers only, no header) or NPY file, relative to that file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import PlainValidator

from optiframe.errors import InvalidInput

Array: TypeAlias = NDArray[np.float64]

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


@contextmanager
def paths_relative_to(folder: Path) -> Iterator[None]:
    """Within this block, relative paths given as inputs start at `folder`."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def resolve(path: str | Path) -> Path:
    """`path`, relative to the file that named it; `~` is the home folder."""
    given = Path(path).expanduser()
    base = _folder.get()
    return given if given.is_absolute() or base is None else base / given


@dataclass(frozen=True)
class Accepts:
    """Field metadata: what to write for the field, in words, for `optiframe describe`."""

    words: str


def as_array(value: Any) -> Array:
    """A read-only float64 array of any shape, every entry finite.

    What could still be changed from outside is copied; a float64 array that is already
    read-only (``array.flags.writeable = False``) is taken as it is, which saves the copy of a
    large one.
    """
    if isinstance(value, str | Path):
        value = _read(resolve(value))
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInput("rows differ in length") from error
    array = numbers_of(array)
    if array.dtype == bool or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        raise InvalidInput(f"must hold real numbers, got {array.dtype}")
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise InvalidInput("has masked entries; fill them or leave them out")
    array = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidInput(f"entry {_index(where)} is {array[where]}; every entry must be finite")
    return frozen(array, value)


def numbers_of(array: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as float64, as pandas makes of nullable columns; other arrays as they are.

    Raises
    ------
    InvalidInput
        Where one of several objects is no real number, naming it.
    """
    if array.dtype != object or not array.ndim:
        return array
    for where, entry in np.ndenumerate(array):
        if not isinstance(entry, Real) or isinstance(entry, bool):
            raise InvalidInput(f"must hold real numbers; entry {_index(where)} is {entry!r:.60}")
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise InvalidInput("holds a whole number beyond the range of float64") from None


def frozen(array: NDArray[Any], given: Any) -> NDArray[Any]:
    """`array`, made from `given`, so that nobody can change it: a copy where they may share memory."""
    fresh = isinstance(given, list | tuple | int | float) or (
        isinstance(given, np.ndarray) and not np.may_share_memory(array, given)
    )
    if not fresh and not (isinstance(given, np.ndarray) and _nobody_writes(array)):
        array = array.copy()
    array.flags.writeable = False
    return array


def _nobody_writes(array: Any) -> bool:
    """Whether the array and all it is a view of are read-only NumPy arrays.

    A data frame's column may look read-only from outside and be written to by its owner.
    """
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None


def as_vector(value: Any) -> Array:
    """A read-only float64 vector; a path may hold one column or one row."""
    array = as_array(value)
    if isinstance(value, str | Path) and array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise InvalidInput(f"must be a vector, got shape {array.shape}")
    return array


def as_whole_numbers(value: Any, kind: type[np.integer[Any]] = np.int64) -> NDArray[Any]:
    """A read-only vector of whole numbers of this kind; copied as by `as_array`."""
    numbers = np.asarray(value)
    if numbers.ndim == 1 and numbers.size == 0:
        numbers = numbers.astype(kind)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InvalidInput(f"must be a vector of whole numbers, got {numbers.dtype} of shape {numbers.shape}")
    limits = np.iinfo(kind)
    if numbers.size and not limits.min <= int(numbers.min()) <= int(numbers.max()) <= limits.max:
        raise InvalidInput(f"has a number beyond {limits.max:_}")
    return frozen(np.ascontiguousarray(numbers, dtype=kind), value)


def as_matrix(value: Any) -> Array | sp.csr_array:
    """A read-only float64 matrix: dense, or CSR when it came sparse; copied as by `as_array`."""
    if sp.issparse(value):
        if value.dtype.kind not in "fiu":
            raise InvalidInput(f"must hold real numbers, got {value.dtype}")
        rows = sp.csr_array(value, dtype=np.float64)
        if not np.isfinite(rows.data).all():
            raise InvalidInput("every stored entry must be finite")
        parts = (rows.data, rows.indices, rows.indptr)
        if any(part.flags.writeable for part in parts) or not rows.has_canonical_format:
            rows = rows.copy()  # the caller's arrays are shared up to here
            rows.sum_duplicates()
        return read_only(rows)
    array = as_array(value)
    if array.ndim != 2:
        raise InvalidInput(f"must be a matrix, got shape {array.shape}")
    return array


def read_only(matrix: Any) -> Any:
    """The matrix itself, dense or sparse, read-only from now on, so that a record need not copy it."""
    for part in (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,):
        part.flags.writeable = False
    return matrix


def as_bound(value: Any) -> Array:
    """A number or array that may be infinite (but not nan)."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInput("rows differ in length") from error
    if array.dtype.kind not in "fiu":
        raise InvalidInput("must be a number or an array of numbers")
    array = array.astype(np.float64)
    if np.isnan(array).any():
        raise InvalidInput("must not be nan")
    array.flags.writeable = False
    return array


def as_file(value: Any) -> Path:
    """The path of a file that is there, relative to the file that named it."""
    if not isinstance(value, str | Path):
        raise InvalidInput(f"must be the path of a file, got {value!r:.60}")
    path = resolve(value)
    check_is_file(path)
    return path


def check_is_file(path: Path) -> None:
    """Raise `InvalidInput` for a path without a file."""
    if not path.is_file():
        raise InvalidInput(
            f"{path} is a folder, and a file is needed" if path.is_dir() else f"no file {path}"
        )


FilePath = Annotated[
    Path, PlainValidator(as_file), Accepts("path of a file, relative to the one that names it")
]
AnyArray = Annotated[Array, PlainValidator(as_array), Accepts("array, or path of a CSV or NPY file")]
Vector = Annotated[Array, PlainValidator(as_vector), Accepts("vector, or path of a CSV or NPY file")]
Places = Annotated[
    NDArray[np.int64], PlainValidator(as_whole_numbers), Accepts("vector of whole numbers from 0")
]
Matrix = Annotated[
    Any, PlainValidator(as_matrix), Accepts("matrix (dense or sparse), or path of a CSV or NPY file")
]
Bound = Annotated[Array, PlainValidator(as_bound), Accepts("number or array; inf for no bound")]


def _index(where: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, where))}]"


def _read(path: Path) -> Any:
    check_is_file(path)
    if path.suffix.lower() == ".npy":
        try:
            return np.load(path, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise InvalidInput(f"{path} is not a NumPy array file of numbers ({error})") from error
    if path.suffix.lower() != ".csv":
        raise InvalidInput(f"{path}: write an array as .csv (numbers only, no header) or .npy")
    return _read_numbers(path)


def _read_numbers(path: Path) -> Array:
    rows: list[list[float]] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        rows.append([])
        for column, cell in enumerate(line.split(","), 1):
            try:
                rows[-1].append(float(cell))
            except ValueError:
                where = f"{path} line {number}"
                header = "; if that is a header, remove it" if len(rows) == 1 else ""
                if not cell.strip():
                    text = f"{where}: the value in row {len(rows)}, column {column} is empty{header}"
                    raise InvalidInput(text) from None
                raise InvalidInput(
                    f"{where}: not numbers separated by commas: {line[:40]!r} "
                    f"(row {len(rows)}, column {column}){header}"
                ) from None
        if len(rows[-1]) != len(rows[0]):
            raise InvalidInput(
                f"{path} line {number}: {len(rows[-1])} numbers where the lines before have {len(rows[0])}"
            )
    if not rows:
        raise InvalidInput(f"{path} is empty")
    return np.array(rows)
