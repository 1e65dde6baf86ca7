"""A field of a solver or problem in words: its kind, its bounds and its default."""

from __future__ import annotations

import dataclasses
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from optiframe.records.fields import Accepts
from optiframe.records.record import Record
from optiframe.registry.by_name import Part

_BOUNDS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "min_length": "length >=", "max_length": "length <="}


def kind_of(field: FieldInfo) -> str:
    """The type of a field, in words."""
    for item in field.metadata:
        if isinstance(item, Accepts):
            return item.words
    return _words(field.annotation)


def bounds_of(field: FieldInfo) -> str:
    """What its values are held to, as ` > 0, <= 1`; empty without bounds."""
    limits = _limits(field.metadata)
    return f" {', '.join(limits)}" if limits else ""


def default_of(field: FieldInfo) -> str:
    """`required`, `optional`, or `default ...` as it is written."""
    if field.is_required():
        return "required"
    if field.default_factory is not None or field.default is PydanticUndefined:
        return "optional"
    if isinstance(field.default, Part):  # as it is written
        table = field.default.table()
        return f"default {table['name'] if len(table) == 1 else table!r}"
    if isinstance(field.default, Record) and not field.default.model_fields_set:
        return f"default {field.default.name!r}"
    return "optional" if field.default is None else f"default {_as_written(field.default)!r}"


def _as_written(value: Any) -> Any:
    """A default as a person writes it: what a file has no type for by what stands for it there."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    return dataclasses.asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _words(annotation: Any) -> str:
    simple = {int: "whole number", float: "number", str: "text", bool: "true or false", type(None): "none"}
    if annotation in simple:
        return simple[annotation]
    arguments: tuple[Any, ...] = getattr(annotation, "__args__", ())
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is not None:
        named = next((item.words for item in metadata if isinstance(item, Accepts)), None)
        limits = ", ".join(_limits(metadata))
        return named or _words(annotation.__origin__) + (f" {limits}" if limits else "")
    origin = getattr(annotation, "__origin__", None)
    if origin is not None and getattr(origin, "__name__", str(origin)).endswith("Literal"):
        return "one of " + ", ".join(repr(a) for a in arguments)
    if origin is tuple and len(arguments) > 1 and arguments[1] is not Ellipsis:
        return f"list of {', '.join(map(_words, arguments))}"
    if origin in (list, tuple, set, frozenset):
        return f"list of {_words(arguments[0])}"
    if origin is dict or annotation is dict:
        return "table"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "one of " + ", ".join(repr(member.value) for member in annotation)
    if isinstance(annotation, type) and is_dataclass(annotation):
        return f"table with {', '.join(part.name for part in dataclasses.fields(annotation))}"
    if arguments:
        return " or ".join(_words(a) for a in arguments if a is not type(None))
    return str(getattr(annotation, "__name__", annotation))


def _limits(metadata: Any) -> list[str]:
    # A type inside a union carries its bounds in a field of its own.
    items = [each for item in metadata for each in (item.metadata if isinstance(item, FieldInfo) else [item])]
    return [
        f"{sign} {getattr(item, attribute)}"
        for item in items
        for attribute, sign in _BOUNDS.items()
        if getattr(item, attribute, None) is not None
    ]
