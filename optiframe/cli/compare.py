"""`optiframe compare`: every solver of a file on every problem of it, each run by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from optiframe.comparison.cells import Plan
from optiframe.comparison.environment import usable_cores
from optiframe.comparison.planner import plan_of_file
from optiframe.comparison.run.executors import workers_of
from optiframe.comparison.units import in_words
from optiframe.numbers import number
from optiframe.registry import registry


@click.command("compare", short_help="run many solvers on shared problems")
@click.argument("file", type=click.Path())
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Such as budget.time=5 or solver.0.step=0.1; repeatable.",
)
@click.option(
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(readable=False),  # our own message says whether it can be written to
    help="Where results are kept; default: the file's [output] or results/<file>, in the current folder.",
)
@click.option("--dry-run", is_flag=True, help="Print the cells in the order they would run, and stop.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many cells run at a time; default: as many as the cores have threads for.",
)
@click.option(
    "--executor",
    type=click.Choice(["local", "dask"]),
    help="Whether cells run on this machine (local) or on a Dask cluster.",
)
@click.option("--retry", is_flag=True, help="Run cells again that ended by error, timeout, crash or memory.")
@click.option("--quiet", is_flag=True, help="No progress; only the final table.")
@click.pass_context
def command(  # noqa: PLR0917  # click calls it with keywords
    ctx: click.Context,
    file: str,
    overrides: tuple[str, ...],
    folder: str | None,
    dry_run: bool,
    workers: int | None,
    executor: str | None,
    retry: bool,
    quiet: bool,
) -> None:
    """Run every solver of FILE on every problem of it, for every seed.

    Each cell runs in a process of its own, within the limits of the file. Finished cells are
    kept in the output folder: the same command resumes what was interrupted, and runs only
    what is new after a change. Exit code: 0 when the comparison is complete, failures being
    rows of it; 1 when no cell has an answer, or some have not run; 2 when an input is wrong.
    """
    given = [*overrides]
    if workers is not None:
        given.append(f"executor.workers={workers}")
    if executor is not None:
        given.append(f'executor.name="{executor}"')
    plan = plan_of_file(file, given, tuple(ctx.obj or ()))
    for module, why in registry.blocked().items():
        click.echo(f"{click.style('warning:', fg='yellow')} {module} is not imported: {why}", err=True)
    target = Path(folder) if folder is not None else plan.output or Path("results") / Path(file).stem
    console = Console(file=sys.stdout, highlight=False)
    if dry_run:
        _print_plan(plan, target, console, retry=retry)
        return
    from optiframe.comparison.engine import run_plan
    from optiframe.comparison.terminal_table import print_table

    records = run_plan(plan, target, show=not quiet, retry=retry)
    print_table(records, console)
    console.print(Text.assemble(("written", "dim"), f": {target}"), soft_wrap=True)
    outcomes = [row.outcome for row in records.rows]
    answered = any(outcome is not None and outcome.answered for outcome in outcomes)
    complete = all(outcome is not None and not outcome.provisional for outcome in outcomes)
    ctx.exit(0 if answered and complete else 1)


def _print_plan(plan: Plan, folder: Path, console: Console, retry: bool) -> None:
    problems = list(dict.fromkeys(cell.problem.title for cell in plan.cells))
    solvers = list(dict.fromkeys(cell.solver.title for cell in plan.cells))
    seeds = sorted({cell.seed for cell in plan.cells})
    finished, failed = _finished(plan, folder)
    if retry:
        finished -= failed
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("", "problem", "solver"):
        table.add_column(title, overflow="fold")
    table.add_column("seed", justify="right")
    table.add_column("parameters", overflow="fold")
    for at, cell in enumerate(plan.cells, 1):
        said = {key: value for key, value in (cell.solver.table or {}).items() if key != "name"}
        words = ", ".join(f"{key}={value!r:.40}" for key, value in said.items())
        mark = "done" if cell.key in finished else str(at)
        row = (mark, cell.problem.title, cell.solver.title, str(cell.seed), words)
        table.add_row(*map(Text, row), style="dim" if cell.key in finished else None)
    console.print(table)
    limits, executor = plan.limits, plan.executor
    memory = "no memory limit" if limits.memory is None else in_words(limits.memory)
    at_once = workers_of(executor, limits)
    workers = "as many as the cluster has threads" if at_once is None else str(at_once)
    if executor.workers is None and at_once is not None:
        workers += f", for {_count(usable_cores(), 'core')}"
    done = f", {len(finished)} of them finished" if finished else ""
    if failed:
        again = "they run again" if retry else "--retry runs them again"
        done += f" ({len(failed)} failed; {again})"
    pairs = f"{_count(len(problems), 'problem')} x {_count(len(solvers), 'solver')}"
    longest = (len(plan.cells) - len(finished)) * limits.time / (at_once or 1)
    lines = [
        ("cells", f"{len(plan.cells)}: {pairs} x {_count(len(seeds), 'seed')}{done}"),
        ("limits", f"{limits.time:g} s, {memory}, {_count(limits.threads, 'thread')} a cell"),
        ("workers", f"{workers} ({executor.name})"),
        ("at most", f"{_duration(longest)}{'' if at_once else ', one cell at a time'}"),
        ("output", str(folder)),
    ]
    for name, value in lines:
        console.print(Text.assemble(f"{name:8}", value), soft_wrap=True)


def _finished(plan: Plan, folder: Path) -> tuple[set[str], set[str]]:
    """Keys of the plan's cells that the output folder holds, and of the failed ones; makes nothing."""
    from optiframe.comparison.store.store import Store

    if not folder.is_dir() or not any(folder.glob("*.sqlite")):
        return set(), set()
    with Store(folder, create=False) as store:
        stored, failed = set(store.finished()), set(store.failed())
    planned = {cell.key for cell in plan.cells}
    return stored & planned, failed & planned


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{number(seconds / length)} {unit}"
    return f"{number(seconds)} seconds"
