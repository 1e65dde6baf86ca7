"""`optiframe describe`: what a name means."""

from __future__ import annotations

import inspect
from typing import Any

import click
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from optiframe.described import Described
from optiframe.errors import UnknownName, nearest
from optiframe.parts import Part
from optiframe.registration import KINDS, normalise
from optiframe.registry import registry
from optiframe.values import Accepts

_BOUNDS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "min_length": "length >=", "max_length": "length <="}


@click.command("describe", short_help="what a name means")
@click.argument("name")
def command(name: str) -> None:
    """Print what NAME is: its parameters with type, bound, default and meaning, and its source."""
    found = registry().find(name)
    if not found:
        known = [entry.name for kind in KINDS for entry in registry().entries(kind)]
        hint = nearest(normalise(name), known)
        where = "`optiframe list` shows what there is; --import FILE adds yours"
        raise UnknownName(f"nothing is named {name!r} ({where}){hint}")
    for entry in found:
        cls: type[Described] = registry().get(entry.kind, entry.name)
        click.echo(
            f"{click.style(entry.name, fg='cyan', bold=True)}  ({entry.kind}, from {entry.distribution})\n"
        )
        click.echo(inspect.cleandoc(cls.__doc__ or ""))
        _facts(cls)
        _parameters(cls, "inputs" if entry.kind == "problem" else "parameters")


def _facts(cls: type[Any]) -> None:
    facts = {"source": cls.reference}
    if "solves" in dir(cls):
        facts |= {
            "solves": cls.solves.name or cls.solves.__name__,
            "takes a start": "yes" if cls.accepts_start else "no",
            "residual": cls.residual,
        }
    if isinstance(getattr(cls, "problem", None), str):
        facts["for"] = cls.problem
    lines = [f"  {key}: {value}" for key, value in facts.items() if value]
    if lines:
        click.echo("\n" + "\n".join(lines))


def _parameters(cls: type[Described], title: str) -> None:
    fields = cls.model_fields
    click.echo(f"\n{click.style(title, bold=True)}{'' if fields else ': none'}")
    for key, field in fields.items():
        head = f"  {click.style(field.alias or key, fg='cyan')}: {kind_of(field)}"
        click.echo(f"{head}{_bounds(field)}, {_default(field)}")
        if field.description:
            click.echo(f"      {field.description}")


def kind_of(field: FieldInfo) -> str:
    """The type of a field, in words."""
    for item in field.metadata:
        if isinstance(item, Accepts):
            return item.words
    return _words(field.annotation)


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
    if origin in (list, tuple):
        return f"list of {_words(arguments[0])}"
    if origin is dict or annotation is dict:
        return "table"
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


def _bounds(field: FieldInfo) -> str:
    limits = _limits(field.metadata)
    return f" {', '.join(limits)}" if limits else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return click.style("required", bold=True)
    if field.default_factory is not None or field.default is PydanticUndefined:
        return "optional"
    if isinstance(field.default, Part):  # as it is written
        table = field.default.table()
        return f"default {table['name'] if len(table) == 1 else table!r}"
    return "optional" if field.default is None else f"default {field.default!r}"
