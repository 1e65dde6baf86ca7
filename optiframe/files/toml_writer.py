"""Tables as the text of a TOML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

_ENTRIES = ("problem", "solver")


def as_toml(table: Mapping[str, Any]) -> str:
    """The table of a comparison as TOML; what only lives in Python becomes a comment."""
    lines = [f"{key} = {toml_value(value)}" for key, value in table.items() if not _is_section(key, value)]
    for key, value in table.items():
        if not _is_section(key, value):
            continue
        for entry in value if key in _ENTRIES else [value]:
            lines += ["", f"[[{key}]]" if key in _ENTRIES else f"[{_key(key)}]", *_body(entry)]
    return "\n".join(lines).strip() + "\n"


def _is_section(key: str, value: Any) -> bool:
    return isinstance(value, Mapping) or (key in _ENTRIES and isinstance(value, list))


def _body(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield f"name = {toml_value(entry)}"
    elif not isinstance(entry, Mapping):
        yield f"# made in Python: {_in_a_line(entry)}"
    else:
        for key, value in entry.items():
            if value is not None:
                text = toml_value(value)
                yield f"# {_key(key)}: {_in_a_line(value)}" if text is None else f"{_key(key)} = {text}"


def toml_value(value: Any) -> str | None:
    """A value in TOML; None for what TOML has no words for."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float | date | time):
        return repr(value) if isinstance(value, int | float) else value.isoformat()
    if isinstance(value, Mapping):
        inner = {key: toml_value(each) for key, each in value.items() if each is not None}
        if None in inner.values():
            return None
        return "{" + ", ".join(f"{_key(key)} = {text}" for key, text in inner.items()) + "}"
    if isinstance(value, list | tuple):
        items = [toml_value(each) for each in value]
        return None if None in items else "[" + ", ".join(map(str, items)) + "]"
    return None


def _key(key: Any) -> str:
    text = str(key)
    plain = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """TOML's basic strings are JSON's, but for one more character that must be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _in_a_line(value: Any) -> str:
    return " ".join(repr(value).split())[:200]
