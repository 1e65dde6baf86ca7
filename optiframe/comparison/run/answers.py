"""Answers as data: a cell writes its own to a file, and another process, which judges it, reads it.

The file is a line of JSON and a pickle, of which only data is read: numbers, text, containers, arrays,
sparse matrices, and dataclasses that belong to the problem's own package. Whatever else a pickle may name,
a function above all, is refused before it is looked up.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from optiframe.comparison.processes.exit_reasons import read_regular
from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.problems.problem import Problem

_FILE = "answer.pickle"
_LARGEST = 2**30  # bytes of an answer: a point of 1.3e8 numbers
_CORE = "optiframe"
_MODULES_OF_ARRAYS = (
    "numpy",
    "numpy.core.multiarray",
    "numpy.core.numeric",
    "numpy._core.multiarray",
    "numpy._core.numeric",
)
_ARRAYS = ("ndarray", "dtype", "_reconstruct", "_frombuffer", "scalar")
_DATA = {
    "builtins": ("complex", "frozenset", "set"),
    "collections": ("OrderedDict",),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "pandas._libs.tslibs.timestamps": ("_unpickle_timestamp",),
    **dict.fromkeys(_MODULES_OF_ARRAYS, _ARRAYS),
}


@dataclass(frozen=True)
class Place:
    """Where an answer belongs, and what its cell saw of the problem.

    Parameters
    ----------
    depth
        How many formulations lie between the posed problem and the one that the answer is of.
    level
        Which problem of that chain the objective is of.
    before, after
        Fingerprints of the posed problem before any solve and after the one that gave the answer.
    """

    depth: int
    level: int
    before: str
    after: str


def write_answer(solution: Any, place: Place, folder: Path) -> None:
    """Leave an answer, in the solver's terms, for who judges it.

    Raises
    ------
    InvalidInput
        For an answer that cannot be pickled, and one that is too large to be read.
    """
    try:
        _write(solution, place, folder / _FILE)
    except OSError:  # no room: the reply will say so, or who misses the answer
        with suppress(OSError):
            (folder / _FILE).unlink()


def _write(solution: Any, place: Place, path: Path) -> None:
    with path.open("wb") as file:
        file.write(json.dumps(asdict(place)).encode() + b"\n")
        try:
            _Writer(file, protocol=5).dump(solution)
        except OSError:
            raise
        except Exception as error:  # of the answer's own code, which raises what it likes
            raise InvalidInput(
                f"the answer, a {type(solution).__name__}, cannot be sent to the process that judges it "
                f"({type(error).__name__}: {error})"
            ) from error
        size = file.tell()
    if size > _LARGEST:
        raise InvalidInput(
            f"the answer takes {number(size / 2**30)} GiB; a comparison judges answers of up to "
            f"{_LARGEST / 2**30:g} GiB"
        )


def read_place(folder: Path) -> tuple[Place, bytes]:
    """Where the answer in a cell's folder belongs, and its pickle, not yet read.

    Raises
    ------
    InvalidInput
        When there is none, or it is not what `write_answer` writes.
    """
    try:
        content = read_regular(folder / _FILE, _LARGEST + 1)
    except FileNotFoundError:
        raise InvalidInput("the run left none; is the temporary folder full?") from None
    except OSError as error:
        raise InvalidInput(f"its file cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise InvalidInput(f"its file has more than {_LARGEST / 2**30:g} GiB")
    line, _, pickled = content.partition(b"\n")
    try:
        place = Place(**json.loads(line))
        counts = type(place.depth) is int and type(place.level) is int
        if not counts or not 0 <= place.level <= place.depth or type(place.before) is not str:
            raise ValueError("a number in it is out of range")
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"its file does not begin as it should ({error})") from None
    return place, pickled


def read_answer(pickled: bytes, problems: Sequence[Problem[Any]]) -> Any:
    """The answer in a pickle; `problems` are the chain's: their packages' dataclasses may be in it.

    Raises
    ------
    InvalidInput
        When it holds anything but data, or breaks off.
    """
    try:
        return _Reader(pickled, problems).load()
    except InvalidInput:
        raise
    except Exception as error:  # a pickle of somebody's making fails in any way
        raise InvalidInput(f"it is not readable data ({type(error).__name__}: {error})") from None


def _named(module: str, name: str) -> Any:
    """Stands in a pickle for a dataclass; a reader looks it up in its own way."""
    raise pickle.UnpicklingError(f"{module}.{name}")


class _Writer(pickle.Pickler):
    """Dataclasses by name, those of a notebook as well, whose module another process does not have."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type) and is_dataclass(value):
            return _named, (value.__module__, value.__qualname__)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, pickled: bytes, problems: Sequence[Problem[Any]]) -> None:
        super().__init__(BytesIO(pickled), fix_imports=False)
        self._packages = {_CORE, *(type(problem).__module__.partition(".")[0] for problem in problems)}
        self._declared = {
            (kind.__module__, kind.__qualname__): kind for kind in map(_solution_type, problems) if kind
        }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (_named.__module__, _named.__name__):
            return self._dataclass
        if name in _DATA.get(module, ()):
            return super().find_class(module, name)
        if module.startswith("scipy.sparse.") and name.endswith(("_array", "_matrix")):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, sp.sparray | sp.spmatrix):
                return found
        raise InvalidInput(f"it holds {module}.{name}, which is not data")

    def _dataclass(self, module: str, name: str) -> Any:
        found = self._declared.get((module, name))
        if found is None and module.partition(".")[0] in self._packages:
            found = super().find_class(module, name)
        if not (isinstance(found, type) and is_dataclass(found)):
            raise InvalidInput(
                f"it is or holds a {module}.{name}; besides arrays and plain data, an answer may hold "
                f"dataclasses of the problem's package ({', '.join(sorted(self._packages))})"
            )
        return found


def _solution_type(problem: Problem[Any]) -> Any:
    """The class of answers that a problem declares, ``Problem[Answer]``; None where it is no dataclass."""
    for cls in type(problem).__mro__:
        for kind in getattr(cls, "__pydantic_generic_metadata__", {}).get("args", ()):
            if isinstance(kind, type) and is_dataclass(kind):
                return kind
    return None
