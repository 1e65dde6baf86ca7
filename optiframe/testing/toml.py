"""Parameters written as the keys of a TOML table."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from optiframe.errors import InvalidInput
from optiframe.files.toml_writer import toml_value
from optiframe.records.fields import Accepts
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
    fields = type(record).model_fields
    values = {key: getattr(record, key) for key in fields}
    return {
        fields[key].alias or key: _written(_as_table(value, fields[key]))
        for key, value in values.items()
        if value is not None
    }


def _as_table(value: Any, field: FieldInfo) -> Any:
    """A dataclass or a model as the table it is made of, unless a reader of its own makes the value."""
    if any(isinstance(item, Accepts) or hasattr(item, "func") for item in field.metadata):
        return value
    if isinstance(value, BaseModel) and not isinstance(value, Record):
        return {key: getattr(value, key) for key in type(value).model_fields}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: getattr(value, part.name) for part in dataclasses.fields(value) if part.init}
    return value


def _written(value: Any) -> Any:
    """A value as a person writes it in a table: a record by its name and fields, NumPy's as Python's."""
    if isinstance(value, Record):  # chosen by name, as in [problem.over]
        return {"name": value.name, **parameters(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _written(each) for key, each in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    return [_written(each) for each in value] if isinstance(value, list | tuple) else value
