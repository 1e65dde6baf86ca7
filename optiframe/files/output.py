"""Writing a result to a folder, so that a crash leaves no half file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.files.plain import plain
from optiframe.numbers import without_rounding_errors
from optiframe.solving.result import Result
from optiframe.tables.excel import fits_a_sheet
from optiframe.tables.file_formats import write_table

TRACE = "trace.csv"
FINISHED = "result.json"  # written last: where it is, the output is whole


def is_only_a_result(folder: Path) -> bool:
    """Whether the folder holds an earlier result and no other file, so that nothing else can be lost."""
    try:
        names = json.loads((folder / FINISHED).read_text(encoding="utf-8")).get("files", [])
        return {path.name for path in folder.iterdir()} <= {FINISHED, *names}
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def check_names_a_folder(folder: Path) -> None:
    """Raise `InvalidInput` for a name that is meant for a file."""
    if folder.suffix.lower() in (".csv", ".parquet", ".xlsx") and not folder.is_dir():
        raise InvalidInput(
            f"the output is a folder of several files, and {folder.name} looks like the name of one; to give "
            f'the answer that name, write answer = "{folder.name}" under [output]'
        )


def check_writable(folder: Path, answer: str, force: bool) -> None:
    """Raise `InvalidInput` for anything that would lose the result, or a file, after a long run.

    Without `force` the folder must be new or empty; it must be writable, the answer needs a
    name of its own, Parquet needs pyarrow and Excel openpyxl.
    """
    if answer.lower() == TRACE:
        raise InvalidInput(f"the answer cannot be called {answer}: that is the trace; choose another name")
    if answer.lower().endswith(".parquet"):
        require("pyarrow", "frames")
    if answer.lower().endswith(".xlsx"):
        require("openpyxl", "excel")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
        occupied = {path.name for path in folder.iterdir()}
        blocked = [name for name in (answer, TRACE, FINISHED) if (folder / name).is_dir()]
    except OSError as error:
        raise InvalidInput(
            f"cannot write to the output folder {folder}: {error.strerror}; choose another with --output"
        ) from None
    if blocked:
        raise InvalidInput(f"{folder / blocked[0]} is a folder where a file must go; choose another folder")
    if FINISHED in occupied and not force:
        raise InvalidInput(f"{folder} holds a finished result; use --force to replace it, or another folder")
    if occupied and not force:
        raise InvalidInput(
            f"the folder {folder} is not empty, and files in it may be replaced; "
            "use --force to write there all the same, or another folder"
        )


def write(
    result: Result[Any, Any], folder: Path, answer: str, config: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write the answer, its further tables, the trace and result.json; gives the paths.

    All are written under temporary names first, so that an earlier result is still there where the
    disk is full. Then its files go and the new ones get their names, result.json last. A table with
    more rows than a sheet of Excel is written as CSV. `config` is stored as it is.
    """
    suffix = Path(answer).suffix
    staged: dict[Path, Path] = {}  # target -> temporary
    try:
        for number, (name, columns) in enumerate(result.to_tables().items()):
            target = folder / (answer if number == 0 else f"{name}{suffix}")
            if suffix.lower() == ".xlsx" and not fits_a_sheet(columns):
                target = target.with_suffix(".csv")
            if target.name == TRACE or (number and target.name == answer):
                target = target.with_stem(f"{target.stem}-table")
            tidy = {title: without_rounding_errors(np.asarray(values)) for title, values in columns.items()}
            _stage(staged, target, partial(write_table, tidy))
        if len(result.trace):
            _stage(staged, folder / TRACE, lambda path: write_table(result.trace.columns(), path))
        content = summary(result) | {
            "config": plain(dict(config or {}), _none),
            "files": [path.name for path in staged],
        }
        text = json.dumps(content, indent=2, allow_nan=False) + "\n"
        _stage(staged, folder / FINISHED, lambda path: path.write_text(text, encoding="utf-8"))
        _remove_earlier(folder)
        for target, temporary in staged.items():
            with _writing(target):
                os.replace(temporary, target)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
    return [*staged]


def _remove_earlier(folder: Path) -> None:
    """Remove what an earlier result in the folder says it wrote, so that no table of it stays behind."""
    earlier = folder / FINISHED
    try:
        names = json.loads(earlier.read_text(encoding="utf-8")).get("files", [])
    except (OSError, ValueError, AttributeError):
        names = []
    earlier.unlink(missing_ok=True)
    for name in names:
        if isinstance(name, str) and Path(name).name == name and (folder / name).is_file():
            (folder / name).unlink()


def summary(result: Result[Any, Any]) -> dict[str, Any]:
    """The result without its solution, as JSON values; numbers that are not finite become None."""
    values = plain(
        {
            "status": str(result.status),
            "message": result.message,
            "objective": result.objective,
            "violation": result.violation,
            "metrics": result.metrics,
            "iterations": result.iterations,
            "time": result.time,
            "setup": result.setup,
            "evaluation_time": result.evaluation_time,
            "solved": result.solved,
            "findings": [
                {"level": f.level, "text": f.text, "about": list(f.about), "identifier": f.identifier}
                for f in result.findings
            ],
            **result.settings,
        },
        _none,
    )
    assert isinstance(values, dict)
    return values


def _none(number: float) -> None:
    """For numbers that are not finite."""


def _stage(staged: dict[Path, Path], target: Path, write_to: Callable[[Path], Any]) -> None:
    """Write a file under a temporary name, which `staged` has for its target."""
    staged[target] = temporary = target.with_name(f".{target.stem}-{os.getpid()}{target.suffix}")
    with _writing(target):
        write_to(temporary)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raises `InvalidInput` that names the file where it cannot be written."""
    try:
        yield
    except OSError as error:  # that of pyarrow has a text alone
        raise InvalidInput(f"cannot write {target}: {error.strerror or error}") from None
