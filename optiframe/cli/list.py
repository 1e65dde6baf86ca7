"""`optiframe list`: every name, or which solvers can take a problem."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from optiframe.errors import InvalidInput, OptiframeError
from optiframe.registry.contracts import KINDS
from optiframe.registry.plugins import Entry
from optiframe.registry.registry import registry

if TYPE_CHECKING:
    from optiframe.problems.problem import Problem

_PLURALS = {kind + "s": kind for kind in KINDS}
_SHORT = {"sets": "constraint-sets", "datasets": "data-sets", "regularizers": "parts"}
_LONG = 60  # letters of a reason: a shorter one is given again, a longer one refers to where it stands


class _Kind(click.Choice[str]):
    """The plural of a kind, as the headings write it, with hyphens or in short."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        plain = str(value).strip().lower().replace(" ", "-").replace("_", "-")
        return super().convert(_SHORT.get(plain, plain), param, ctx)


class _Unquoted(click.Command):
    """Takes a heading of two words without quotes: `list data sets`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if " ".join(args[:2]) in _PLURALS:
            args = [" ".join(args[:2]), *args[2:]]
        return super().parse_args(ctx, args)


@click.command("list", cls=_Unquoted, short_help="what is there")
@click.argument("kind", required=False, type=_Kind([p.replace(" ", "-") for p in _PLURALS]))
@click.argument("problem", required=False)
@click.option(
    "--for",
    "problem_file",
    metavar="FILE",
    type=click.Path(),
    help="Only with `solvers`: which run on the problem of this TOML file and, of others that solve "
    "this kind of problem, why not.",
)
@click.option(
    "--all", "every", is_flag=True, help="With --for: show the solvers of other kinds of problems, too."
)
def command(kind: str | None, problem: str | None, problem_file: str | None, every: bool) -> None:
    """Print the registered names, of one KIND or of all.

    `optiframe list solvers PROBLEM` prints the solvers of one problem by its name.
    """
    if problem is not None:
        if kind != "solvers" or problem_file is not None:
            raise InvalidInput("a problem's name goes with `optiframe list solvers`, and without --for")
        _of_problem(problem)
        return
    if problem_file is not None:
        if kind not in (None, "solvers"):
            raise InvalidInput("--for goes with `list solvers`")
        _suited(problem_file, every)
        return
    if every:
        raise InvalidInput("--all goes with `list solvers --for FILE`; without it every name is shown")
    for plural, one in _PLURALS.items():
        if kind in (None, plural.replace(" ", "-")):
            _section(plural, [_line(entry) for entry in registry().entries(one)])
    broken = [plugin.name for plugin in registry().plugins if plugin.state == "broken"]
    if broken:
        click.secho(f"broken plugins: {', '.join(broken)}; run `optiframe doctor`", fg="yellow")


def _line(entry: Entry) -> tuple[str, str]:
    if entry.clash:
        return entry.name, f"unusable: {entry.claims}"
    return entry.name, f"{entry.summary} ({entry.distribution})"


def _section(title: str, lines: Sequence[tuple[str, str]]) -> None:
    if not lines:
        return
    click.secho(title, bold=True)
    width = max(len(name) for name, _ in lines)
    room = max(20, shutil.get_terminal_size((100, 24)).columns - width - 4)
    for name, text in lines:
        for number, part in enumerate(_wrapped(text, room)):
            head = click.style(name, fg="cyan") if number == 0 else ""
            click.echo(f"  {head}{' ' * (width - (len(name) if number == 0 else 0))}  {part}")
    click.echo()


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _suited(problem_file: str, every: bool) -> None:
    from optiframe.files.solve_file import SolveFile
    from optiframe.solving.chain import why_unsuited

    problem = SolveFile.read(problem_file).problem
    runs, others, elsewhere = [], [], 0
    for entry in registry().entries("solver"):
        try:
            cls = registry().get("solver", entry.name)
            if not every and not any(isinstance(kind, cls.solves) for kind in _kinds(problem)):
                elsewhere += 1  # nothing about this problem is the reason
                continue
            reason = why_unsuited(problem, cls())
        except InvalidInput as error:
            # Without its required parameters it cannot be asked; say which it wants.
            others.append((entry.name, f"needs parameters: {error}"))
            continue
        except Exception as error:  # one solver's broken check must not hide the others
            reason = str(error) if isinstance(error, OptiframeError) else f"its own check fails: {error!r}"
        if reason is None:
            runs.append((entry.name, entry.summary))
        else:
            others.append((entry.name, reason))
    _section(f"solvers that run on {problem.name}", runs)
    _section("solvers that do not", _by_reason(others))
    if elsewhere:
        one = elsewhere == 1
        click.echo(
            f"{elsewhere} solver{'' if one else 's'} of other kinds of problems {'is' if one else 'are'} "
            "not shown; --all shows them"
        )


def _by_reason(others: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A reason that several solvers share is given once, and after it only refers to the first of them."""
    first: dict[str, str] = {}
    return [
        (
            name,
            reason
            if first.setdefault(reason, name) == name or len(reason) < _LONG
            else f"as {first[reason]}",
        )
        for name, reason in others
    ]


def _of_problem(name: str) -> None:
    """The solvers of a problem's own kind, and of the one it says it formulates to."""
    wanted, found, through, broken = registry().get("problem", name), [], [], []
    inner = registry().get("problem", wanted.formulated_as) if wanted.formulated_as else None
    for entry in registry().entries("solver"):
        try:
            solves = registry().get("solver", entry.name).solves
            if issubclass(wanted, solves):
                found.append((entry.name, entry.summary))
            elif inner is not None and issubclass(inner, solves):
                through.append((entry.name, f"{entry.summary} (through {inner.name})"))
        except Exception:  # one solver that does not load must not hide the others
            broken.append(entry.name)
    _section(f"solvers of {wanted.name}", found + through)
    click.echo(
        "With your data, `optiframe list solvers --for FILE` shows which of these and of others run on it."
    )
    if broken:
        click.echo(f"{', '.join(broken)}: broken; run `optiframe doctor`")


def _kinds(problem: Problem[Any]) -> Iterator[Problem[Any]]:
    """The problem, then what it formulates to."""
    yield problem
    while (formulation := problem.formulation) is not None:
        problem = formulation.problem
        yield problem
