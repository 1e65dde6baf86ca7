"""`optiframe solve`: the problem of a file, with the solver it names or the one recommended."""

from __future__ import annotations

import math
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from optiframe.errors import InvalidInput, OptiframeError
from optiframe.files import output
from optiframe.files.solve_file import SolveFile
from optiframe.notebook import shown
from optiframe.numbers import counted, number, seconds
from optiframe.printable import printable
from optiframe.problems.problem import Problem
from optiframe.solving.recommend import recommend
from optiframe.solving.result import Result, Status
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver
from optiframe.testing import Certificate, certify

_COLOURS = {
    Status.CONVERGED: "green",
    Status.FINISHED: "green",
    Status.DIVERGED: "red",
    Status.INFEASIBLE: "red",
}
_ROUNDING = 1e-12  # a violation below this is rounding, and is left to result.json
_MARKS = {"error": ("error", "bold red"), "warning": ("warning", "yellow"), "note": ("note", "dim")}
_ROWS, _COLUMNS = 3, 8  # of the answer, as a first look


@click.command("solve", short_help="solve the problem of a TOML file")
@click.argument("file", required=False, type=click.Path())
@click.option("--solver", metavar="NAME", help="Solver to use, instead of the file's [solver].")
@click.option("--dataset", metavar="NAME", help="Data set to use, instead of the file's.")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Such as solver.step=0.1; repeatable."
)
@click.option(
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(readable=False),  # our own message says whether it can be written to
    help="Where to write; default: the file's [output] or results/<file>.",
)
@click.option("--force", is_flag=True, help="Replace a finished result in a folder that you named.")
@click.option("--traceback", "whole", is_flag=True, help="Show the whole traceback where the solver raises.")
@click.option(
    "--verify", type=click.Choice(["cvxpy"]), help="Check the answer against CVXPY; for small instances."
)
@click.pass_context
def command(  # noqa: PLR0917  # click calls it with keywords
    ctx: click.Context,
    file: str | None,
    solver: str | None,
    dataset: str | None,
    overrides: tuple[str, ...],
    folder: str | None,
    force: bool,
    whole: bool,
    verify: str | None,
) -> None:
    """Solve the problem of FILE and write answer, result.json and trace.csv to the output folder.

    Without FILE give --dataset. Without a solver the problem recommends one for its data, and a
    note says which and why. Exit code: 0 with an answer, 1 when there is
    none, it diverged, the solver raised, or --verify failed; 2 when an input is wrong.
    """
    if file is None and not (dataset or overrides):
        raise click.UsageError("give a FILE, or --dataset NAME")
    given = [*overrides]
    if solver is not None:
        given.insert(0, f'solver="{solver}"')
    if dataset is not None:
        given.insert(0, f'problem.dataset="{dataset}"')
    document = SolveFile.read(file, given)
    document.check()  # everything that can be wrong is found, and said at once, before anything runs
    chosen, budget, seed, wanted = document.solver, document.budget, document.seed, document.output
    stem = Path(file).stem if file else "-".join(filter(None, (dataset, solver)))
    target = Path(folder or wanted.folder or Path("results") / stem)
    problem = document.problem
    used = recommend(problem).solver if chosen is None else chosen
    by_default = folder is None and wanted.folder is None
    force = force or (by_default and output.is_only_a_result(target))
    if not by_default:
        output.check_names_a_folder(target)
    output.check_writable(target, wanted.answer, force)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the summary says it
        try:
            result = solve(problem, chosen, seed=seed, budget=budget)
        except OptiframeError:  # says all there is to say
            raise
        except Exception as error:  # somebody's code: that of the solver, or of the problem
            _say_raised(error, problem, used, whole)
            ctx.exit(1)
    written = output.write(result, target, wanted.answer, document.table)
    certificate = certify(result) if verify else None
    try:
        _print(result, target, written, certificate)
    except OSError as error:
        raise InvalidInput(
            f"cannot write to standard output: {error.strerror}; the answer is in {target}"
        ) from None
    failed = result.solution is None or result.status is Status.DIVERGED
    ctx.exit(1 if failed or (certificate is not None and not certificate.ok) else 0)


def _say_raised(error: Exception, problem: Problem[Any], solver: Solver[Any, Any, Any], whole: bool) -> None:
    """Who raised what, in which line of theirs, and how to see the rest."""
    from optiframe.testing.failures import described_error, own_place, place_beyond

    if whole:
        click.echo(printable("".join(traceback.format_exception(error))), err=True, nl=False)
    beyond = place_beyond(error, solver)
    raised = described_error(error, None if beyond else solver)
    said = (
        f"{solver.name} raised {raised}"
        if own_place(error, solver) and not beyond
        else f"{raised}, while {solver.name} ran on {problem.name}"
    )
    click.echo(f"{click.style('error:', fg='red', bold=True)} {printable(said)}", err=True)
    if not whole:
        click.echo("the whole traceback: add --traceback", err=True)


def _print(
    result: Result[Any, Any], folder: Path, written: list[Path], certificate: Certificate | None
) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    status = Text(str(result.status), style=f"bold {_COLOURS.get(result.status, 'yellow')}")
    names = f"{result.settings['problem']} by {result.settings['solver']['name']}"
    console.print(Text.assemble((names, "bold"), ": ", status, f", {printable(result.message)}"))
    if result.solution is not None:
        sentences = result.problem.in_words(result.solution)
        for sentence in sentences:
            console.print(Text(f"  {printable(sentence)}"))
        if not sentences:
            _print_rows(console, result, written[0].name)
    rows: list[tuple[str, str | Text]] = [
        # What is the objective but for its sign has as many digits as that.
        (name.replace("_", " "), number(value, 6 if abs(value) == abs(result.objective) else 3))
        for name, value in result.metrics.items()
    ]
    if not math.isnan(result.objective):
        rows.append(("objective", number(result.objective, 6)))
    if result.violation > _ROUNDING:
        rows.append(("violation", number(result.violation)))
    rows.append(("iterations", str(result.iterations)))
    rows.append(("time", f"{seconds(result.time, space=' ')} (setup {seconds(result.setup, space=' ')})"))
    if certificate is not None:
        rows.append(("verified", Text(certificate.text, style="green" if certificate.ok else "bold red")))
    rows.append(("written", f"{folder}: {', '.join(path.name for path in written)}"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        console.print(Text.assemble("  ", name.ljust(width), "  ", value))
    for finding in sorted(result.findings, key=lambda finding: list(_MARKS).index(finding.level)):
        word, style = _MARKS[finding.level]
        console.print(Text.assemble("  ", (word, style), f": {printable(finding.text)}"))


def _print_rows(console: Console, result: Result[Any, Any], file: str) -> None:
    """Print the first rows and columns of the answer, and where the others are."""
    table = next(iter(result.to_tables().values()), {})
    rows = max(map(len, table.values()), default=0)
    columns = [[name, *map(shown, values[:_ROWS])] for name, values in list(table.items())[:_COLUMNS]]
    widths = [max(map(len, column)) for column in columns]
    for number_of_row, cells in enumerate(zip(*columns, strict=True)):
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        console.print(Text(f"  {line.rstrip()}", style="" if number_of_row else "dim"))
    if rows > _ROWS or len(table) > _COLUMNS:
        more = f"  ... {number(rows)} rows of {counted(len(table), 'column')} in {file}"
        console.print(Text(more, style="dim"))
