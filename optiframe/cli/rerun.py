"""`optiframe rerun`: a stored comparison again, and what came out differently."""

from __future__ import annotations

import math
from pathlib import Path

import click

from optiframe.errors import InvalidInput
from optiframe.numbers import number


@click.command("rerun", short_help="repeat a stored comparison")
@click.argument("folder", type=click.Path())
@click.option(
    "--output",
    metavar="FOLDER",
    type=click.Path(),
    help="A new folder; default: FOLDER-rerun, FOLDER-rerun-2, ...",
)
@click.option(
    "--tolerance", type=float, default=1e-6, show_default=True, help="Up to this, numbers are the same."
)
@click.option(
    "--trust", is_flag=True, help="Import the modules and contact the addresses that the stored file names."
)
@click.option("--quiet", is_flag=True, help="Show nothing while it runs.")
@click.pass_context
def command(  # noqa: PLR0917  # click calls it with keywords
    ctx: click.Context, folder: str, output: str | None, tolerance: float, trust: bool, quiet: bool
) -> None:
    """Run the comparison stored in FOLDER again and list what differs: versions, statuses, numbers.

    If the stored comparison names modules to import or addresses to contact, they are listed and
    nothing runs until you add --trust.

    Exit code: 0 when statuses and numbers agree, 1 when they do not, 2 when an input is wrong.
    """
    from optiframe.comparison.rerun import rerun

    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InvalidInput(f"--tolerance must be a number of at least 0, got {tolerance}")
    target = None if output is None else Path(output)
    result = rerun(folder, target, trust=trust, tolerance=tolerance, show=not quiet)
    for difference in result.differences:
        click.echo(difference.text)
    outcome = [d for d in result.differences if d.about not in ("installed", "versions", "environment")]
    found = f"{len(outcome)} difference{'s' * (len(outcome) != 1)}"
    what = found if outcome else "no difference in statuses and numbers"
    times = "" if math.isnan(result.time_ratio) else f"; took {number(result.time_ratio)} times as long"
    click.echo(f"{result.cells} cell{'s' * (result.cells != 1)} in {result.folder}: {what}{times}")
    ctx.exit(1 if outcome else 0)
