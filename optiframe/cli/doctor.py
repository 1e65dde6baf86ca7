"""`optiframe doctor`: every plugin, its distribution, version, state and error; the libraries, too."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from typing import Any

import click

from optiframe.cli import libraries
from optiframe.comparison.plan.first_import import block_what_crashes
from optiframe.errors import DISTRIBUTION, OptiframeError, is_installed
from optiframe.native import REMEDY, kernels_of
from optiframe.printable import printable
from optiframe.registry.contracts import GROUP, KINDS
from optiframe.registry.plugins import Entry, Plugin
from optiframe.registry.registry import blocked, registry
from optiframe.registry.user_modules import absolute, import_user_module

_COLOURS = {
    "loaded": "green",
    "broken": "red",
    "unusable": "red",
    "switched off": "yellow",
    "not installed": "yellow",
}

_OTHER_PROJECT = (
    f"a distribution that is not ours writes into the same package; run: pip uninstall {GROUP} "
    f"{DISTRIBUTION}, then install {DISTRIBUTION} again"
)


@click.command("doctor", short_help="every plugin with its state")
@click.option(
    "--quick",
    is_flag=True,
    help="Do not import the classes and what they need; what is broken there is then not found.",
)
@click.pass_context
def command(ctx: click.Context, quick: bool) -> None:
    """Print every plugin with its state, and every name that does not run.

    The libraries that names need are tried, too, each in a process of its own: one that is not
    installed is listed and is no trouble, a name that breaks is shown with the library's own error.

    Exit code 1 if something needs fixing: a plugin, a class or a file named by --import that does
    not load, a name that two packages claim, a library that works for none of the names that need
    it. A single name whose library works for others is printed, and is the library's
    fault alone.
    """
    modules = absolute(ctx.obj or ())
    block_what_crashes(modules, classes=not quick)
    broken = [(module, why) for module in modules if (why := _import(module))]
    names = registry()
    trouble = False
    silent, absent_packages = 0, set[str]()  # names that do not run, and what is not installed
    found: list[tuple[Entry, type[Any]]] = []
    for module, why in broken:
        trouble = True
        click.echo(f"{module}  {_styled('broken')}  {printable(why)}")
    for plugin in names.plugins:
        trouble |= _say_plugin(plugin)
    if is_installed(GROUP):
        trouble = True
        click.echo(f"{GROUP} {metadata.version(GROUP)}  {_styled('unusable')}  {_OTHER_PROJECT}")
    for name in names.unknown_choices:
        trouble = True
        click.echo(f"OPTIFRAME_PLUGINS names {name!r}, and there is no such plugin")
    for kind in KINDS:
        for entry in names.entries(kind):
            if entry.clash:
                trouble = True
                silent += 1
                click.echo(
                    f"{kind} {entry.name}  {_styled('unusable')}  "
                    f"{entry.claims}; {'uninstall' if len(set(entry.clash)) > 1 else 'rename'} one"
                )
            elif not quick:
                try:
                    found.append((entry, names.get(kind, entry.name)))
                except Exception as error:  # one broken class must not hide the others
                    absent = _absent_plugin(error)
                    if absent is None:
                        trouble = True
                        silent += 1
                    else:
                        absent_packages.add(absent)
                    state = "broken" if absent is None else "not installed"
                    said = error if isinstance(error, OptiframeError) else repr(error)
                    click.echo(f"{kind} {entry.name}  {_styled(state)}  {absent or printable(str(said))}")
    for trial in libraries.trials(found):
        library, tried = ", ".join(trial.libraries), ", ".join(trial.names)
        if trial.state == "broken":
            trouble = trouble or not trial.working
            silent += len(trial.names)
            click.echo(f"{tried}  {_styled('broken')}  {printable(trial.said)}")
            click.echo(f"    needs {library}, {_others(trial.working)}")
        else:
            absent_packages.add(library)
            click.echo(f"{library}  {_styled(trial.state)}  {printable(trial.said)}")
            click.echo(f"    needed by {tried}")
    click.echo(_closing(trouble, silent, len(absent_packages)))
    ctx.exit(1 if trouble else 0)


def _import(module: str) -> str:
    """Import one of the user's modules; why it does not work, or nothing."""
    if module in blocked():
        return blocked()[module]
    try:
        import_user_module(module)
    except OptiframeError as error:
        return str(error).removeprefix(f"--import {module}: ")
    return ""


def _say_plugin(plugin: Plugin) -> bool:
    """Print a plugin with its state; whether something about it needs fixing."""
    version = f"{plugin.distribution} {plugin.version}"
    click.echo(f"{plugin.name}  {_styled(plugin.state)}  {version}  ({plugin.module})")
    if plugin.error:
        click.echo(f"    {printable(plugin.error)}")
        return True
    if plugin.state == "loaded" and not plugin.entries:
        click.echo(
            "    brings no names; its module needs the hook optiframe_plugin, see optiframe/hookspec.py"
        )
        return True
    if plugin.state == "loaded" and isinstance(lacking := kernels_of(plugin.module), str):
        click.echo(
            f"    slow: its compiled part {lacking}, and plain Python runs in its place, 3 to 250 times "
            f"slower. To speed this up, {REMEDY}."
        )
    return False


def _others(working: int) -> str:
    if not working:
        return "which works for no name here"
    return f"which works for {working} other name{'s' * (working > 1)}"


def _closing(trouble: bool, silent: int, absent: int) -> str:
    """The last line: how many names do not run, how many libraries are not there."""
    if silent:
        said = ["1 name does not run" if silent == 1 else f"{silent} names do not run"]
    else:
        said = ["something is broken: see above" if trouble else "nothing is broken"]
    if absent:
        said.append(f"{absent} {'library is' if absent == 1 else 'libraries are'} not installed (optional)")
    return "; ".join(said)


def _styled(state: str) -> str:
    return click.style(state, fg=_COLOURS[state], bold=True)


def _absent_plugin(error: Exception) -> str | None:
    """The plugin that a class is for and how to install it, where it is missing; None for other errors."""
    cause = error.__cause__
    module = (cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
    if not module.startswith("optiframe_") or find_spec(module) is not None:
        return None
    name = module.removeprefix("optiframe_").replace("_", "-")
    if any(line.startswith(f"{DISTRIBUTION}-{name}") for line in metadata.requires(DISTRIBUTION) or ()):
        return f"in a checkout: pip install ./plugins/{name}"
    return f"the package {module}"  # by whatever name its authors publish it
