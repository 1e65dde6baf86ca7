"""What can be told of a problem's or solver's table by looking at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from optiframe.files.toml_lines import Keys


def called(table: Mapping[str, Any], kind: str) -> str:
    """What an entry without a title is called: by its data set, its name, or its kind."""
    dataset = table.get("dataset")
    name = dataset.get("name") if isinstance(dataset, Mapping) else getattr(dataset, "name", dataset)
    for candidate in (name, table.get("name")):
        if isinstance(candidate, str) and candidate:
            return candidate
    return kind


def leaves(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Numbers, text and lists inside a table, each with its keys; neither sweeps nor what is the seed's."""
    if isinstance(value, Mapping):
        if "from" not in value and ("sweep" not in value or "name" in value):
            for key, inner in value.items():
                yield from leaves(inner, (*keys, str(key)))
    elif isinstance(value, bool | int | float | str | list | tuple):
        yield keys, value


def names_in(value: Any) -> Iterator[str]:
    """All text inside that might name something: a class, a file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from names_in(inner)
    elif isinstance(value, list | tuple) and not isinstance(next(iter(value), None), bool | int | float):
        for inner in value:  # of numbers there may be millions
            yield from names_in(inner)


def is_plain(value: Any) -> bool:
    """Whether a value is the same after a way through JSON."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, str)
