"""`optiframe datasets`: names, and where each data set is found or comes from."""

from __future__ import annotations

import click

from optiframe.errors import OptiframeError
from optiframe.registry.registry import registry

_BY_HAND = "(to be tidied by hand)"  # in the `source` of a file that is not published as it is read


@click.command("datasets", short_help="named data sets and where each is found")
def command() -> None:
    """Print every named data set and where it is; nothing is downloaded."""
    by_hand = False
    entries = registry().entries("data set")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        try:
            where = registry().get("data set", entry.name).where()
        except Exception as error:  # one plugin's broken data set must not hide the others
            where = f"unusable: {error if isinstance(error, OptiframeError) else repr(error)}"
        click.echo(f"{click.style(entry.name, fg='cyan')}{' ' * (width - len(entry.name))}  {where}")
        by_hand = by_hand or _BY_HAND in where
    if by_hand:
        click.echo(
            f"\n{_BY_HAND}: nothing is downloaded; get the source, write its tables as CSV and put them "
            "into a folder of OPTIFRAME_DATA (docs/howto/your-data.md, under 'Named data sets')"
        )
    if not entries:
        click.echo("no data sets; install a plugin, such as the folder plugins/rankone of a checkout")
