"""`optiframe check`: a solver or any other part against its contract, each check in isolation."""

from __future__ import annotations

import click

from optiframe.comparison.units import bytes_of
from optiframe.errors import InvalidInput
from optiframe.printable import printable


@click.command("check", short_help="hold a solver, a set, an objective ... to its contract")
@click.argument("name")
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter, such as step=0.1; repeatable.",
)
@click.option(
    "--problem",
    "problems",
    multiple=True,
    metavar="FILE",
    help="Try it on the [problem] of this TOML file, within its [budget]; repeatable.",
)
@click.option(
    "--dataset", "datasets", multiple=True, metavar="NAME", help="Try it on this data set; repeatable."
)
@click.option(
    "--shape",
    metavar="SIZES",
    help="Shape of the points that a set or regularizer is tried on, such as 6 or 3,2.",
)
@click.option("--only", multiple=True, metavar="WORDS", help="Only the checks with these words; repeatable.")
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="How long one check may take, on all problems together.",
)
@click.option(
    "--tolerance",
    default=1e-4,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="How near to a known optimum and to the constraints an answer must be.",
)
@click.option(
    "--memory",
    metavar="AMOUNT",
    help='Most memory of the solver and the processes it starts, such as "8 GB"; default: 4 GB.',
)
@click.pass_context
def command(  # noqa: PLR0917  # click calls it with keywords
    ctx: click.Context,
    name: str,
    parameters: tuple[str, ...],
    problems: tuple[str, ...],
    datasets: tuple[str, ...],
    shape: str | None,
    only: tuple[str, ...],
    seconds: float,
    tolerance: float,
    memory: str | None,
) -> None:
    """Hold NAME (or module:Class) to the contract of its kind: a solver, problem, objective, set or part.

    A set or objective gets its parameters by --set; a problem is looked at with the answer of a solver that
    it recommends. A solver meets, without --problem and --dataset, small problems with known answers, or
    generated data sets that it can take. A check that hangs, crashes or takes too much memory fails; the
    others go on; one that has nothing to look at is n/a, with the reason. Exit code: 0 when no
    check fails, 1 when one fails, 2 when an input is wrong.
    """
    from optiframe.testing.failures import likeness
    from optiframe.testing.isolation.parent import LOADS, MEMORY, PACE, check_isolated

    try:
        limit = MEMORY if memory is None else bytes_of(memory)
    except InvalidInput as error:
        raise InvalidInput(f"--memory {error}") from None

    def tell(solver: str, titles: list[str]) -> None:
        click.echo(f"{click.style(solver, bold=True)} on {', '.join(titles)}")

    count = failed = without = 0
    ended_early = False
    seen: dict[str, str] = {}  # what one fault looks like, and the check that met it first
    outcomes = check_isolated(
        name,
        parameters=parameters,
        problems=problems,
        datasets=datasets,
        modules=tuple(ctx.obj or ()),
        only=only,
        shape=_sizes(shape),
        seconds=seconds,
        tolerance=tolerance,
        memory=limit,
        tell=tell,
    )
    for outcome in outcomes:
        count += 1
        if outcome.failure is not None:
            failed += 1
            alike = likeness(outcome.failure)
            again = f", as {seen[alike]}" if alike in seen else ""
            click.echo(f"  {click.style('FAIL', fg='red', bold=True)}  {outcome.name}{again}")
            for line in () if again else printable(outcome.failure).splitlines():
                click.echo(f"        {line}")
            seen.setdefault(alike, repr(outcome.name))
        elif outcome.not_applicable is not None:
            without += 1
            click.echo(
                f"  {click.style('n/a ', fg='yellow')}  {outcome.name}: {printable(outcome.not_applicable)}"
            )
        else:
            click.echo(f"  {click.style('pass', fg='green')}  {outcome.name}")
        ended_early = outcome.name in (LOADS, PACE)
    passed = count - failed - without
    counts = [f"{passed} of {count - without} checks passed"]
    if failed:
        counts.append(f"{failed} failed")
    if without:
        counts.append(f"{without} not applicable")
    if ended_early:
        counts.append("the others were not tried" if passed else "no other was tried")
    click.secho(
        ", ".join(counts),
        fg="red" if failed else "green",
        bold=True,
    )
    ctx.exit(1 if failed else 0)


def _sizes(text: str | None) -> list[int] | None:
    """The shape in ``3,2``; `InvalidInput` where it is none."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        raise InvalidInput(f"--shape must be whole numbers, such as 6 or 3,2, got {text!r}")
    return [int(part) for part in parts]
