"""`optiframe report`: a stored comparison as a page and as figures."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


@click.command("report", short_help="turn a comparison into a page and figures")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Where to write the page.")
@click.option(
    "--pdf", metavar="FOLDER", type=click.Path(path_type=Path), help="Where to write figures as PDF."
)
@click.option(
    "--png", metavar="FOLDER", type=click.Path(path_type=Path), help="Where to write figures as PNG."
)
@click.option("--wide", is_flag=True, help="Figures as wide as two columns of a paper.")
def command(folder: Path, html: Path | None, pdf: Path | None, png: Path | None, wide: bool) -> None:
    """Report on the comparison stored in FOLDER.

    Without options the page goes to FOLDER/report.html. What is there is replaced: a report can
    always be made again. The page is one file that works without a network.
    """
    from optiframe.comparison.store import load
    from optiframe.report.figures import write_figures
    from optiframe.report.page import write_page

    records = load(folder)
    if html is None and pdf is None and png is None:
        html = folder / "report.html"
    if html is not None:
        again = f"optiframe rerun {shlex.quote(str(folder))}"
        written = write_page(records, html, again=again)
        click.echo(f"wrote {written} ({written.stat().st_size / 1e6:.1f} MB)")
    for kind, where in (("pdf", pdf), ("png", png)):
        if where is not None:
            files = write_figures(records, where, formats=(kind,), wide=wide)
            for file in files:
                click.echo(f"wrote {file}")
            if not files:
                click.echo(f"no {kind} figure: no run has an objective to draw")
