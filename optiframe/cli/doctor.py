"""`optiframe doctor`: every plugin, its distribution, version, state and error."""

from __future__ import annotations

import click

from optiframe.errors import OptiframeError
from optiframe.registry import KINDS, registry

_COLOURS = {"loaded": "green", "broken": "red", "switched off": "yellow"}


@click.command("doctor", short_help="every plugin with its state")
@click.option("--deep", is_flag=True, help="Also import every class and check that it keeps its contract.")
@click.pass_context
def command(ctx: click.Context, deep: bool) -> None:
    """Print every plugin with its state; exit code 1 when something is broken."""
    names = registry()
    trouble = False
    for plugin in names.plugins:
        state = click.style(plugin.state, fg=_COLOURS[plugin.state], bold=True)
        click.echo(f"{plugin.name}  {state}  {plugin.distribution} {plugin.version}  ({plugin.module})")
        if plugin.error:
            trouble = True
            click.echo(f"    {plugin.error}")
    for kind in KINDS:
        for entry in names.entries(kind):
            if entry.clash:
                trouble = True
                click.echo(
                    f"{kind} {entry.name}  {click.style('unusable', fg='red', bold=True)}  "
                    f"claimed by {' and by '.join(entry.clash)}; uninstall one"
                )
            elif deep:
                try:
                    names.get(kind, entry.name)
                except OptiframeError as error:
                    trouble = True
                    click.echo(f"{kind} {entry.name}  {click.style('broken', fg='red', bold=True)}  {error}")
    if not trouble:
        click.echo("nothing is broken")
    ctx.exit(1 if trouble else 0)
