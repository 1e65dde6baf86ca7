"""`optiframe report`: a stored comparison as a page and as figures."""

from __future__ import annotations

from pathlib import Path

import click

from optiframe.errors import InvalidInput
from optiframe.numbers import size


@click.command("report", short_help="turn a comparison into a page and figures")
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FOLDER...")
@click.option(
    "--html",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    help="Write the page; without FILE to FOLDER/report.html, of several to side-by-side.html.",
)
@click.option(
    "--pdf",
    metavar="[FOLDER]",
    is_flag=False,
    flag_value="",
    help="Write figures as PDF; without a folder to FOLDER/figures.",
)
@click.option(
    "--png",
    metavar="[FOLDER]",
    is_flag=False,
    flag_value="",
    help="Write figures as PNG; without a folder to FOLDER/figures.",
)
@click.option("--wide", is_flag=True, help="Figures as wide as two columns of a paper.")
def command(
    folders: tuple[Path, ...], html: str | None, pdf: str | None, png: str | None, wide: bool
) -> None:
    """Report on the comparison stored in FOLDER, or show several side by side.

    Without options the page goes to FOLDER/report.html. What is there is replaced: a report can
    always be made again. The page is one file that works without a network.

    Of several folders one page shows what each says and what differs, problem by problem.

    Put FOLDER first: an option treats the next word as its output path.
    """
    from optiframe.comparison.store.store import load
    from optiframe.report.again import rerun_line
    from optiframe.report.figures import write_figures
    from optiframe.report.page import write_page

    if len(folders) > 1:
        if pdf is not None or png is not None:
            raise InvalidInput("--pdf and --png draw one comparison; give one FOLDER")
        _several(folders, html)
        return
    (folder,) = folders
    records = load(folder)
    if html is None and pdf is None and png is None:
        html = ""
    if html is not None:
        place = Path(html) if html else folder / "report.html"
        if html.endswith("/") or place.is_dir():
            place = place / "report.html"
        written = write_page(records, place, again=rerun_line(folder))
        click.echo(f"wrote {written} ({size(written.stat().st_size, space=' ')})")
    for kind, where in (("pdf", pdf), ("png", png)):
        if where is not None:
            files = write_figures(records, where or folder / "figures", formats=(kind,), wide=wide)
            for file in files:
                click.echo(f"wrote {file}")
            if not files:
                click.echo(f"no {kind} figure: no run has an objective or a metric to draw")


def _several(folders: tuple[Path, ...], html: str | None) -> None:
    from optiframe.comparison.store.store import load
    from optiframe.report.side_by_side import side_by_side
    from optiframe.report.writing import told_apart, write_bytes

    records = [load(folder) for folder in folders]
    names = told_apart([folder.absolute() for folder in folders])
    place = Path(html or "side-by-side.html")
    if (html or "").endswith("/") or place.is_dir():
        place = place / "side-by-side.html"
    written = write_bytes(place, side_by_side(dict(zip(names, records, strict=True))).encode())
    click.echo(f"wrote {written} ({size(written.stat().st_size, space=' ')})")
