"""`optiframe describe`: what a name means."""

from __future__ import annotations

import inspect
from typing import Any

import click

from optiframe.errors import UnknownName, nearest
from optiframe.records.record import Record
from optiframe.registry.contracts import KINDS, normalise
from optiframe.registry.field_help import bounds_of, default_of, kind_of
from optiframe.registry.registry import registry


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
        cls: type[Record] = registry().get(entry.kind, entry.name)
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
            "residual": cls.residual_meaning,
        }
    if isinstance(getattr(cls, "problem", None), str):
        facts["for"] = cls.problem
    lines = [f"  {key}: {value}" for key, value in facts.items() if value]
    if lines:
        click.echo("\n" + "\n".join(lines))


def _parameters(cls: type[Record], title: str) -> None:
    fields = cls.model_fields
    click.echo(f"\n{click.style(title, bold=True)}{'' if fields else ': none'}")
    for key, field in fields.items():
        default = click.style(default_of(field), bold=True) if field.is_required() else default_of(field)
        click.echo(
            f"  {click.style(field.alias or key, fg='cyan')}: {kind_of(field)}{bounds_of(field)}, {default}"
        )
        if field.description:
            click.echo(f"      {field.description}")
