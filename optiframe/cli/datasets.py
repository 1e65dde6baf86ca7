"""`optiframe datasets`: names, and where each data set is found or comes from."""

from __future__ import annotations

import click

from optiframe.errors import OptiframeError
from optiframe.registry import registry


@click.command("datasets", short_help="named data sets and where each is found")
def command() -> None:
    """Print every named data set and where it is; nothing is downloaded."""
    entries = registry().entries("data set")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        try:
            where = registry().get("data set", entry.name).where()
        except Exception as error:  # one plugin's broken data set must not hide the others
            where = f"unusable: {error if isinstance(error, OptiframeError) else repr(error)}"
        click.echo(f"{click.style(entry.name, fg='cyan')}{' ' * (width - len(entry.name))}  {where}")
    if not entries:
        click.echo("no data sets; install a plugin, such as optiframe[rankone]")
