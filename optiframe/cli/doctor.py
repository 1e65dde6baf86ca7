"""`optiframe doctor`: every plugin, its distribution, version, state and error; the libraries, too."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from optiframe.cli import libraries
from optiframe.errors import OptiframeError
from optiframe.registration import KINDS
from optiframe.registry import Entry, registry

_COLOURS = {
    "loaded": "green",
    "broken": "red",
    "unusable": "red",
    "switched off": "yellow",
    "not installed": "yellow",
}


@click.command("doctor", short_help="every plugin with its state")
@click.option(
    "--quick",
    is_flag=True,
    help="Do not import the classes and what they need; what is broken there is then not found.",
)
@click.pass_context
def command(ctx: click.Context, quick: bool) -> None:
    """Print every plugin with its state, and every name that does not work; exit code 1 if there is one.

    The libraries that names need are tried, too, each in a process of its own: one that is not
    installed is listed and is no trouble, one that breaks is shown with its own error.
    """
    names = registry()
    trouble = False
    found: list[tuple[Entry, type[Any]]] = []
    for plugin in names.plugins:
        version = f"{plugin.distribution} {plugin.version}"
        click.echo(f"{plugin.name}  {_styled(plugin.state)}  {version}  ({plugin.module})")
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
                    f"{kind} {entry.name}  {_styled('unusable')}  "
                    f"claimed by {' and by '.join(entry.clash)}; uninstall one"
                )
            elif not quick:
                try:
                    found.append((entry, names.get(kind, entry.name)))
                except Exception as error:  # one broken class must not hide the others
                    absent = _absent_plugin(error)
                    trouble = trouble or absent is None
                    state = "broken" if absent is None else "not installed"
                    said = error if isinstance(error, OptiframeError) else repr(error)
                    click.echo(f"{kind} {entry.name}  {_styled(state)}  {absent or said}")
    for trial in libraries.trials(found):
        trouble = trouble or trial.state == "broken"
        click.echo(f"{', '.join(trial.needs)}  {_styled(trial.state)}  {trial.said}")
        click.echo(f"    needed by {', '.join(trial.names)}")
    if not trouble:
        click.echo("nothing is broken")
    ctx.exit(1 if trouble else 0)


def _styled(state: str) -> str:
    return click.style(state, fg=_COLOURS[state], bold=True)


def _absent_plugin(error: Exception) -> str | None:
    """How to install the plugin that a class is for, where that is not there; None for other errors."""
    cause = error.__cause__
    module = (cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
    if not module.startswith("optiframe_") or find_spec(module) is not None:
        return None
    return f"pip install {module.replace('_', '-')}"
