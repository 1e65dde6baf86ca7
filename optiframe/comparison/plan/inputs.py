"""What is wrong with a problem's table and shows without loading the problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optiframe.errors import InvalidInput
from optiframe.files.toml_lines import Keys
from optiframe.records.record import Record, unknown_key
from optiframe.registry import registry
from optiframe.tables.excel import workbook

# Text that ends so names a file of numbers or columns.
_TABLES = (".csv", ".parquet", ".npy", ".xlsx", ".xlsm")
_OWN_KEYS = ("name", "dataset")


def check_inputs(table: Mapping[str, Any], name: str, folder: Path) -> None:
    """Refuse keys that the problem does not have and files that are not there.

    A comparison that ran for hours beside rows of errors would say it too late.

    Parameters
    ----------
    table
        Plain values, as from a file.
    name
        The problem's registered name; a class that cannot be had is left to the cells.
    folder
        Where relative paths begin.

    Raises
    ------
    InvalidInput
        With the key of each.
    """
    problems = [*_unknown_keys(table, name), *_missing_files(table, folder)]
    if problems:
        raise InvalidInput("; ".join(f"{'.'.join(keys)}: {text}" for keys, text in problems), problems)


def _unknown_keys(table: Mapping[str, Any], name: str) -> Iterator[tuple[Keys, str]]:
    try:
        cls = registry.registry().get("problem", name)
    except Exception:  # a broken plugin is its cells' failure
        return
    if getattr(cls.load, "__func__", None) is not getattr(Record.load, "__func__", None):
        return  # it reads its table in a way of its own
    known = [field.alias or key for key, field in cls.model_fields.items()]
    for key, value in table.items():
        if key not in (*known, *_OWN_KEYS):
            yield (key,), unknown_key(cls, key, value)


def _missing_files(value: Any, folder: Path, keys: Keys = ()) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _missing_files(inner, folder, (*keys, str(key)))
    elif isinstance(value, str) and "://" not in value and not registry.registry().find(value):
        path = workbook(folder / Path(value).expanduser())[0]
        if path.suffix.lower() in _TABLES and not path.exists():
            yield keys, f"there is no file {value} in {folder.absolute()}, where relative paths begin"
