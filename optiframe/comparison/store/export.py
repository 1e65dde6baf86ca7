"""A comparison's cells and traces as plain tables, for other programs to read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.store.rows import NUMBERS, POINT_COLUMNS
from optiframe.errors import InvalidInput
from optiframe.tables.columns import Columns
from optiframe.tables.file_formats import write_table


def cell_columns(records: Records) -> dict[str, NDArray[Any]]:
    """A row for each cell, in the plan's order; what is unknown is nan or missing.

    Beside the fields of `Outcome` there are a column ``solver.<key>`` or ``problem.<key>`` for each
    parameter that the comparison's file sets, ``metric.<name>`` for each metric,
    ``evaluations.<kind>`` for each kind of evaluation, ``version.<package>`` for each package,
    and `best`, the best objective known for the problem that was solved.
    """
    rows = records.rows
    columns = _titles((row, 1) for row in rows) | _parameters(rows)
    columns["status"] = _column(rows, lambda o: str(o.status))
    columns["message"] = _column(rows, lambda o: o.message)
    columns["iterations"] = _column(rows, lambda o: o.iterations)
    for name in NUMBERS:
        columns[name] = _floats(rows, attrgetter(name))
    columns["best"] = _floats(rows, lambda o: records.best.get(o.solved, math.nan))
    columns["solved"] = _column(rows, lambda o: o.solved)
    columns["times"] = _column(rows, lambda o: json.dumps(list(o.times)))
    columns |= _spread(rows, "metric", lambda o: o.metrics)
    columns |= _spread(rows, "evaluations", lambda o: o.evaluations)
    versions = [{} if row.outcome is None else row.outcome.versions for row in rows]
    for name in dict.fromkeys(name for one in versions for name in one):
        columns[f"version.{name}"] = _objects(one.get(name) for one in versions)
    columns["findings"] = _column(rows, lambda o: "\n".join(str(f.get("text", "")) for f in o.findings))
    columns["stderr"] = _column(rows, lambda o: o.stderr)
    columns["traceback"] = _column(rows, lambda o: o.traceback)
    return columns


def trace_columns(records: Records) -> dict[str, NDArray[Any]]:
    """A row for each recorded point of each cell; a solver's own scalars are ``info.<name>``."""
    traced = [(row, outcome.trace) for row, outcome in records.outcomes]
    lengths = [max(map(len, trace.values()), default=0) for _, trace in traced]
    columns = _titles((row, length) for (row, _), length in zip(traced, lengths, strict=True))
    own = dict.fromkeys(name for _, trace in traced for name in trace if name not in POINT_COLUMNS)
    for name in (*POINT_COLUMNS, *own):
        values = np.full(sum(lengths), math.nan)
        start = 0
        for (_, trace), length in zip(traced, lengths, strict=True):
            if name in trace:
                values[start : start + length] = trace[name]
            start += length
        columns[f"info.{name}" if name in own else name] = values
    return columns


def export(
    records: Records, *, cells: Iterable[Path] = (), traces: Iterable[Path] = (), force: bool = False
) -> list[Path]:
    """Write cells and traces to files, CSV or Parquet by their names; gives the paths.

    Raises
    ------
    InvalidInput
        When a file is there already and `force` is not given, or one cannot be written.
    """
    jobs = [(path, cell_columns) for path in cells] + [(path, trace_columns) for path in traces]
    paths = [path for path, _ in jobs]
    for path in paths:  # all are looked at before any is written
        if path.suffix.lower() not in (".csv", ".parquet"):
            raise InvalidInput(f"{path}: the name must end in .csv or .parquet, which says what to write")
        if paths.count(path) > 1:
            raise InvalidInput(f"{path} is asked for twice; cells and traces need a file each")
        if path.is_dir() or (path.exists() and not force):
            hint = "it is a folder" if path.is_dir() else "it exists already; use --force to replace it"
            raise InvalidInput(f"cannot write {path}: {hint}")
    for path, columns in jobs:
        temporary = path.with_name(f".{path.stem}-part{path.suffix}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            table = columns(records)
            write_table(table if path.suffix.lower() == ".parquet" else _for_text(table), temporary)
            temporary.replace(path)
        except OSError as error:
            raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
        finally:
            temporary.unlink(missing_ok=True)
    return paths


def _for_text(table: Columns) -> Columns:
    """As a spreadsheet reads it: a number that is missing is an empty cell, and no text is a formula."""
    return {
        no_formula(name): _gaps(column) if column.dtype == float else _objects(map(no_formula, column))
        for name, column in table.items()
    }


def no_formula(value: Any) -> Any:
    """An apostrophe before a text that spreadsheets would run, such as a message that begins with '='."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


def _gaps(column: NDArray[Any]) -> NDArray[Any]:
    return _objects(None if math.isnan(value) else value for value in column.tolist())


def _titles(counted: Iterable[tuple[Row, int]]) -> dict[str, NDArray[Any]]:
    repeated = [row for row, times in counted for _ in range(times)]
    # A seed may have any size; beyond 64 bits a table can only hold it as text.
    large = any(row.seed >= 2**63 for row in repeated)
    return {
        "key": _objects(row.key for row in repeated),
        "problem": _objects(row.problem for row in repeated),
        "solver": _objects(row.solver for row in repeated),
        "problem_name": _objects(row.problem_name for row in repeated),
        "solver_name": _objects(row.solver_name for row in repeated),
        "seed": _objects(str(row.seed) if large else row.seed for row in repeated),
    }


def _parameters(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """A column for each parameter of any row; text where it is not always of one kind."""
    names = dict.fromkeys(name for row in rows for name in row.parameters)
    return {name: _alike([row.parameters.get(name) for row in rows]) for name in names}


def _alike(values: list[Any]) -> NDArray[Any]:
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    fits = all(abs(value) < 2**63 for value in given if type(value) is int)  # larger ones lose digits
    if kinds == {int} and fits:
        return _objects(values)
    if kinds <= {int, float} and fits:
        return np.array([math.nan if value is None else value for value in values], dtype=float)
    if len(kinds) > 1 or not fits:
        values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return _objects(values)


def _spread(
    rows: Iterable[Row], prefix: str, mapping: Callable[[Outcome], Mapping[str, float]]
) -> dict[str, NDArray[Any]]:
    """A column for each name in any row's mapping."""
    found = [{} if row.outcome is None else mapping(row.outcome) for row in rows]
    names = dict.fromkeys(name for one in found for name in one)
    return {f"{prefix}.{name}": np.array([one.get(name, math.nan) for one in found]) for name in names}


def _column(rows: Iterable[Row], value: Callable[[Outcome], Any]) -> NDArray[Any]:
    return _objects(None if row.outcome is None else value(row.outcome) for row in rows)


def _floats(rows: Iterable[Row], value: Callable[[Outcome], float]) -> NDArray[Any]:
    return np.array([math.nan if row.outcome is None else value(row.outcome) for row in rows], dtype=float)


def _objects(values: Iterable[Any]) -> NDArray[Any]:
    """A column of objects: NumPy's own text would give every row the room of the longest."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
