"""Writing a result to a folder, so that a crash leaves no half file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
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
_WRITING = ".writing-"  # begins the names of folders of files not all written; a killed run leaves one


def is_only_a_result(folder: Path) -> bool:
    """Whether the folder holds an earlier result and no other file, so that nothing else can be lost."""
    try:
        names = json.loads((folder / FINISHED).read_text(encoding="utf-8")).get("files", [])
        return _names_in(folder) <= {FINISHED, *names}
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def _names_in(folder: Path) -> set[str]:
    """What is in a folder, beside what a run that was killed while it wrote left there."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(_WRITING)}


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
        occupied = _names_in(folder)
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

    All are written in a folder of their own first, so that an earlier result is still there where the
    disk is full. Then its files go and the new ones take their places, result.json last. A table with
    more rows than a sheet of Excel is written as CSV. `config` is stored as it is.
    """
    suffix = Path(answer).suffix
    writers: dict[str, Callable[[Path], Any]] = {}
    for number, (name, columns) in enumerate(result.to_tables().items()):
        target = Path(answer if number == 0 else f"{name}{suffix}")
        if suffix.lower() == ".xlsx" and not fits_a_sheet(columns):
            target = target.with_suffix(".csv")
        if target.name == TRACE or (number and target.name == answer):
            target = target.with_stem(f"{target.stem}-table")
        tidy = {title: without_rounding_errors(np.asarray(values)) for title, values in columns.items()}
        writers[target.name] = partial(write_table, tidy)
    if len(result.trace):
        writers[TRACE] = partial(write_table, result.trace.columns())
    content = summary(result) | {"config": plain(dict(config or {}), _none), "files": [*writers]}
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    writers[FINISHED] = lambda path: path.write_text(text, encoding="utf-8")
    for name in writers:
        if (folder / name).is_dir():
            raise InvalidInput(f"cannot write {folder / name}: a folder has this name; rename or remove it")
    with _writing(folder / answer):
        staging = TemporaryDirectory(prefix=_WRITING, dir=folder, ignore_cleanup_errors=True)
    with staging:
        for name, write_to in writers.items():
            with _writing(folder / name):
                write_to(Path(staging.name, name))
        _remove_earlier(folder)
        for name in writers:
            with _writing(folder / name):
                os.replace(Path(staging.name, name), folder / name)
    return [folder / name for name in writers]


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


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raises `InvalidInput` that names the file where it cannot be written."""
    try:
        yield
    except OSError as error:  # that of pyarrow has a text alone
        raise InvalidInput(f"cannot write {target}: {error.strerror or error}") from None
