"""`optiframe doctor`: every plugin, its distribution, version, state and error."""

from __future__ import annotations

import click

from optiframe.errors import OptiframeError
from optiframe.registration import KINDS
from optiframe.registry import registry

_COLOURS = {"loaded": "green", "broken": "red", "switched off": "yellow"}


@click.command("doctor", short_help="every plugin with its state")
@click.option("--quick", is_flag=True, help="Do not import the classes; a broken one is then not found.")
@click.pass_context
def command(ctx: click.Context, quick: bool) -> None:
    """Print every plugin with its state, and every name that does not work; exit code 1 if there is one."""
    names = registry()
    trouble = False
    for plugin in names.plugins:
        state = click.style(plugin.state, fg=_COLOURS[plugin.state], bold=True)
        click.echo(f"{plugin.name}  {state}  {plugin.distribution} {plugin.version}  ({plugin.module})")
        if plugin.error:
            trouble = True
            click.echo(f"    {plugin.error}")
        elif plugin.state == "loaded" and not plugin.entries:
            trouble = True
            click.echo("    brings no names; its module needs a hook, see optiframe/hookspec.py")
    for name in names.unknown_choices:
        trouble = True
        click.echo(f"OPTIFRAME_PLUGINS names {name!r}, and there is no such plugin")
    for kind in KINDS:
        for entry in names.entries(kind):
            if entry.clash:
                trouble = True
                click.echo(
                    f"{kind} {entry.name}  {click.style('unusable', fg='red', bold=True)}  "
                    f"claimed by {' and by '.join(entry.clash)}; uninstall one"
                )
            elif not quick:
                try:
                    names.get(kind, entry.name)
                except Exception as error:  # one broken class must not hide the others
                    said = error if isinstance(error, OptiframeError) else repr(error)
                    trouble = True
                    click.echo(f"{kind} {entry.name}  {click.style('broken', fg='red', bold=True)}  {said}")
    if not trouble:
        click.echo("nothing is broken")
    ctx.exit(1 if trouble else 0)
