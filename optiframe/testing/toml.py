"""Parameters written as the keys of a TOML table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.record import Record


def to_toml(record: Record) -> str:
    """The fields of a solver, problem or set as TOML, those that are None left out.

    Raises
    ------
    InvalidInput
        For a value that TOML has no words for.
    """
    table = parameters(record)
    return "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())


def parameters(record: Record) -> dict[str, Any]:
    """The fields that are not None, by the keys a person writes."""
    named = ((f.alias or key, getattr(record, key)) for key, f in type(record).model_fields.items())
    return {key: value for key, value in named if value is not None}


def _toml(value: Any) -> str:
    if isinstance(value, Record):  # chosen by name, as in [problem.over]
        value = {"name": value.name, **parameters(value)}
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise InvalidInput(f"a {type(value).__name__} ({value!r}) has no form in TOML")


def _quoted(text: str) -> str:
    """TOML's basic strings are JSON's, but for one more character that must be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
