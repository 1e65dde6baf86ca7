"""`optiframe publish`: a folder of stored comparisons as a static site."""

from __future__ import annotations

from pathlib import Path

import click

from optiframe.errors import InvalidInput
from optiframe.printable import printable


@click.command("publish", short_help="turn a folder of comparisons into a static site")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="SITE",
    help="Where to write the site; default: FOLDER/site.",
)
@click.option("--title", metavar="TEXT", help="Heading of the first page; default: the name of FOLDER.")
def command(folder: Path, output: Path | None, title: str | None) -> None:
    """Write every comparison stored in FOLDER and below it as one site.

    The site has an index, a page for each comparison with its cells as CSV, and a page for each solver with
    its history. It opens from disk, and any web server can serve it.
    """
    from optiframe.report.site import stored_comparisons, write_site

    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder; give the one that holds stored comparisons")
    site = output or folder / "site"
    stored = stored_comparisons(folder, lambda said: click.echo(printable(said), err=True))
    written = write_site(stored, site, printable(title or folder.absolute().name))
    click.echo(f"wrote {written[0]} and {len(written) - 1} other files")
