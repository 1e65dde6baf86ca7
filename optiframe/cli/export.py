"""`optiframe export`: a stored comparison's cells and traces as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from optiframe.errors import InvalidInput

_PATH = click.Path(path_type=Path)


@click.command("export", short_help="cells and traces of a comparison to CSV or Parquet")
@click.argument("folder", type=_PATH)
@click.option("--csv", "csv", type=_PATH, metavar="FILE", help="Write the cells, one a row, as CSV.")
@click.option("--parquet", type=_PATH, metavar="FILE", help="Write the cells as Parquet (needs pyarrow).")
@click.option(
    "--trace",
    is_flag=True,
    help="Write the recorded points as well, beside each file: cells.csv gives cells-trace.csv.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def command(folder: Path, csv: Path | None, parquet: Path | None, trace: bool, force: bool) -> None:
    """Write the comparison stored in FOLDER as tables that any program reads.

    A row of the cells is a problem, a solver and a seed with all that was measured; a row of the
    trace is one recorded point of such a run.
    """
    from optiframe.comparison.store.export import export
    from optiframe.comparison.store.store import load

    cells = []
    for path, suffix in ((csv, ".csv"), (parquet, ".parquet")):
        if path is not None:
            if path.suffix.lower() not in ("", suffix):  # c.pq is not meant as c.pq.parquet
                raise InvalidInput(f"--{suffix[1:]} {path}: the name must end in {suffix}")
            cells.append(path if path.suffix else path.with_name(path.name + suffix))
    if not cells:
        raise InvalidInput("say where to: --csv FILE, --parquet FILE, or both")
    traces = [path.with_name(f"{path.stem}-trace{path.suffix}") for path in cells] if trace else []
    for path in export(load(folder), cells=cells, traces=traces, force=force):
        click.echo(f"wrote {path}")
