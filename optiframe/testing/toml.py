"""Parameters written as the keys of a TOML table."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.files.toml_writer import toml_value
from optiframe.records.record import Record


def to_toml(record: Record) -> str:
    """The fields of a solver, problem or set as TOML, those that are None left out.

    Raises
    ------
    InvalidInput
        For a value that TOML has no words for.
    """
    lines = []
    for key, value in parameters(record).items():
        text = toml_value(value)
        if text is None:
            raise InvalidInput(f"{key}: a {type(value).__name__} ({reprlib.repr(value)}) has no form in TOML")
        lines.append(f"{key} = {text}\n")
    return "".join(lines)


def parameters(record: Record) -> dict[str, Any]:
    """The fields that are not None, by the keys and values a person writes."""
    named = ((f.alias or key, getattr(record, key)) for key, f in type(record).model_fields.items())
    return {key: _written(value) for key, value in named if value is not None}


def _written(value: Any) -> Any:
    """A value as a person writes it in a table: a record by its name and fields, NumPy's as Python's."""
    if isinstance(value, Record):  # chosen by name, as in [problem.over]
        return {"name": value.name, **parameters(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _written(each) for key, each in value.items()}
    return [_written(each) for each in value] if isinstance(value, list | tuple) else value
