"""The command line; one module per command, imported when it is called."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from optiframe.errors import DISTRIBUTION, OptiframeError, nearest
from optiframe.printable import printable
from optiframe.registry.user_modules import import_user_module

_COMMANDS = {
    "list": "what is there: problems, solvers, data sets, objectives, constraint sets, parts",
    "describe": "what a name means: parameters, inputs, source",
    "solve": "solve the problem of a TOML file with the solver it names",
    "compare": "run many solvers on shared problems, each run in a process of its own",
    "report": "turn a comparison into a page and figures",
    "publish": "turn a folder of comparisons into a static site",
    "rerun": "repeat a stored comparison and say what differs",
    "export": "write a comparison's cells and traces to CSV or Parquet",
    "check": "hold a solver to the contract, in isolation",
    "new-plugin": "write a plugin of your own that installs and passes its tests",
    "doctor": "every plugin with its state, and what is broken",
    "datasets": "named data sets and where each is found",
}

_OWN_IMPORTS = ("compare", "doctor")  # commands that import in a child first, since an import may crash


class _Commands(click.Group):
    """Imports a command's module only when it is asked for, so that `list` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]  # not list(...): the module of the command `list`, once imported, hides it here

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"optiframe.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            hint = nearest(args[0], _COMMANDS) or "; optiframe --help lists them"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="FILE",
    help="Run this Python file or module first, so that what it registers has a name; repeatable.",
)
@click.version_option(package_name=DISTRIBUTION)
@click.pass_context
def _optiframe(ctx: click.Context, modules: tuple[str, ...]) -> None:
    """Optimization methods as interchangeable parts, chosen by name."""
    ctx.obj = modules  # for commands whose child processes import them again
    for module in () if ctx.invoked_subcommand in _OWN_IMPORTS else modules:
        import_user_module(module)


def main() -> None:
    """Run the command line; every foreseen error is a message and exit code 2, never a traceback."""
    try:
        code = _optiframe(prog_name="optiframe", standalone_mode=False)
    except OptiframeError as error:
        for line in printable(str(error)).splitlines():
            click.echo(f"{click.style('error:', fg='red', bold=True)} {line}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.option_name == "--import" and error.ctx:
            place = f"optiframe --import FILE {error.ctx.info_name} ..."
            error = click.UsageError(f"{error.message} It goes before the command: {place}", error.ctx)
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("stopped", err=True)
        sys.exit(130)
    sys.exit(code or 0)
