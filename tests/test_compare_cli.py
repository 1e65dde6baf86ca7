"""`optiframe compare` as a person calls it, and the table it ends with."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from optiframe.cli.compare import command
from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.stats.loss_table import measures
from optiframe.comparison.terminal_table import print_table
from optiframe.errors import InvalidInput
from optiframe.solving.result import Status

FILE = """\
[[problem]]
title = "bowl"
name = "minimize"
[problem.objective]
name = "squared-distance"
to = [1.0, 2.0]

[[problem]]
name = "projection"
point = [3.0, 1.0]
onto = "simplex"

[[solver]]
name = "scipy.lbfgs"
memory = {sweep = [5, 20]}

[limits]
time = 30.0
memory = "2 GB"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(FILE)
    return path


def compare(*arguments: str | Path, modules: tuple[str, ...] = ()) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(  # in 80, a time with a digit more folds a title
        command, [str(argument) for argument in arguments], obj=modules, catch_exceptions=False
    )


def printed(*rows: Row, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_table(Records(rows, {}, (1e-2,), {}), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def row(outcome: Outcome | None, solver: str = "a", problem: str = "p", seed: int = 0) -> Row:
    return Row(f"{problem}{solver}{seed}", problem, solver, "minimize", solver, seed, outcome)


@pytest.mark.slow
def test_a_dry_run_prints_the_cells_in_order_and_makes_nothing(file: Path) -> None:
    done = compare(file, "--dry-run", "--set", "seeds=2", "--workers", "3")
    assert done.exit_code == 0
    cells = re.findall(r"^(\d+) +(bowl|projection) +scipy\.lbfgs \(memory=(5|20)\) +(\d)", done.output, re.M)
    assert [int(number) for number, *_ in cells] == list(range(1, 9))
    assert len({tuple(rest) for _, *rest in cells}) == 8
    assert [tuple(rest) for _, *rest in cells] != sorted(tuple(rest) for _, *rest in cells)
    assert "8: 2 problems x 2 solvers x 2 seeds" in done.output
    assert "30 s, 2 GB, 1 thread a cell" in done.output
    assert "3 (local)" in done.output
    assert sorted(path.name for path in file.parent.iterdir()) == ["small.toml"]


@pytest.mark.slow
def test_a_dry_run_says_how_many_cells_share_the_cores(file: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    for threads in (1, cores):
        done = compare(file, "--dry-run", "--set", f"limits.threads={threads}")
        assert re.search(rf"workers +{cores // threads}, for {cores} cores? \(local\)", done.output)
        assert "one cell at a time" not in done.output
    address = "executor.address=tcp://10.0.0.1:8786"
    assert (
        "as many as the cluster has threads (dask)"
        in compare(file, "--dry-run", "--executor", "dask", "--set", address).output
    )


@pytest.mark.slow
def test_an_input_that_is_wrong_is_named_with_its_line(file: Path) -> None:
    file.write_text(FILE.replace("memory = {sweep", "memroy = {sweep"))
    said = r"^small.toml line 15: solver.0.memroy: unknown key; did you mean 'memory'\?"
    with pytest.raises(InvalidInput, match=said):
        compare(file)


@pytest.mark.slow
def test_modules_of_the_group_reach_the_cells(file: Path) -> None:
    # Whether they do shows in the plan: a class that only the module registers is unknown without it.
    file.write_text(FILE.replace("scipy.lbfgs", "extra.descent").replace("{sweep = [5, 20]}", "5"))
    (file.parent / "extra.py").write_text(
        "from optiframe import Iterate, Minimize, Solver, register\n\n\n"
        '@register\nclass Descent(Solver[Minimize, object, None]):\n    """Steps."""\n\n'
        '    name = "extra.descent"\n    solves = Minimize\n    memory: int = 1\n\n'
        "    def iterates(self, problem, run):\n        yield Iterate(problem.function.to)\n"
    )
    with pytest.raises(InvalidInput, match=r"no solver named 'extra\.descent'"):
        compare(file, "--dry-run")
    done = subprocess.run(
        [sys.executable, "-m", "optiframe", "--import", "extra.py", "compare", file, "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "converged" in done.stdout or "finished" in done.stdout


@pytest.mark.slow  # a process for each cell
def test_a_comparison_runs_ends_with_its_table_and_resumes(file: Path) -> None:
    done = compare(file, "--quiet", "--output", "out")
    assert done.exit_code == 0
    assert len(re.findall(r"scipy\.lbfgs \(memory=(?:5|20)\) +(?:converged|finished) ", done.output)) == 2
    assert "unsuited: scipy.lbfgs (memory=5) on projection: " in done.output
    assert done.output.endswith("written: out\n")
    dry = compare(file, "--dry-run", "--output", "out")
    assert len(re.findall(r"^done ", dry.output, re.M)) == 4
    assert "4 of them finished" in dry.output
    more = compare(file, "--dry-run", "--output", "out", "--set", "seeds=2")
    assert len(re.findall(r"^done ", more.output, re.M)) == 4
    assert compare(file, "--quiet", "--output", "out").output == done.output


@pytest.mark.slow
def test_a_comparison_without_any_answer_has_exit_code_1(file: Path) -> None:
    file.with_name("broken.csv").write_text("no,numbers\n")
    file.write_text(FILE.replace("to = [1.0, 2.0]", 'to = "broken.csv"'))
    done = compare(file, "--quiet", "--set", "solver.0.memory=5")
    assert done.exit_code == 1
    assert "error: scipy.lbfgs on bowl (seed 0): " in done.output
    assert "broken.csv" in "".join(done.output.split())  # a long path is broken over lines
    folder = done.output.rstrip().rpartition("written: ")[2]
    planned = (file, "--dry-run", "--set", "solver.0.memory=5", "--output", folder)
    assert "2 of them finished (1 failed; --retry runs them again)" in compare(*planned).output
    assert "1 of them finished (1 failed; they run again)" in compare(*planned, "--retry").output


# ---- the table


def answer(**more: object) -> Outcome:
    return Outcome(Status.CONVERGED, "done", **more)  # type: ignore[arg-type]  # keywords of any type


def test_the_table_counts_statuses_and_takes_medians_over_answers() -> None:
    text = printed(
        row(answer(objective=1.0, time=0.1), seed=0),
        row(answer(objective=3.0, time=0.3), seed=1),
        row(Outcome(Status.TIMEOUT, "killed after 3 s", objective=-9.0, time=9.0), seed=2),
    )
    assert "2 converged, 1 timeout" in text
    assert "200 ms" in text
    assert "objective 2.0000" in text
    assert "timeout: a on p (seed 2): killed after 3 s" in text


def test_equal_reasons_are_said_once_with_their_seeds() -> None:
    failed = Outcome(Status.CRASHED, "killed by signal 11")
    text = printed(*(row(failed, seed=seed) for seed in (0, 4)), row(None, solver="b"))
    assert text.count("crashed: a on p (seeds 0, 4): killed by signal 11") == 1
    assert "not run" in text


def test_a_metric_with_a_direction_is_shown_before_the_objective() -> None:
    text = printed(
        row(answer(objective=1.0, metrics={"size": 3.0, "error": 0.25}, better={"error": "lower"}))
    )
    assert "error 0.2500" in text
    assert "objective" not in text


def test_the_metric_whose_direction_comes_first_is_shown_as_on_the_page() -> None:
    better = {"hit": "higher", "risk": "lower"}
    scores = answer(metrics={"risk": 1.0, "hit": 0.5}, better=better, violation=0.0)
    records = Records((row(scores),), {}, (1e-2,), {})
    assert "hit 0.5000" in printed(*records.rows)
    assert measures(records)[0] == "hit"


def test_an_answer_outside_the_constraints_is_not_the_best() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    rows = (
        row(answer(objective=-5.0, violation=0.3), "outside"),
        row(answer(objective=2.0, violation=0.0), "inside"),
        row(answer(objective=3.0, violation=0.0), "worse"),
    )
    print_table(Records(rows, {}, (1e-2,), {}), console)
    assert isinstance(console.file, io.StringIO)
    bold = re.findall(r"\x1b\[1m\s*(objective [-\d.]+)", console.file.getvalue())
    assert bold == ["objective 2.0000"]


def test_objectives_of_different_formulations_are_said_not_to_compare() -> None:
    one, other = answer(objective=1.0, solved="x"), answer(objective=2.0, solved="y")
    note = "p: the objectives are of different formulations and do not compare"
    assert note in printed(row(one, "a"), row(other, "b"))
    assert note not in printed(row(one, "a"), row(answer(objective=2.0, solved="x"), "b"))
    # A seed may draw its own instance: that is no other formulation.
    assert note not in printed(row(one, "a"), row(other, "a", seed=1))


def test_an_answer_outside_the_constraints_is_warned_of() -> None:
    text = printed(row(answer(objective=-5.0, violation=0.1)))
    assert "warning: outside the constraints by more than 1e-06: a on p (seed 0)" in text


def test_titles_and_messages_are_shown_as_they_are_even_if_they_look_like_markup() -> None:
    text = printed(row(Outcome(Status.ERROR, "[red]x[/blue] [link"), "s [bold", "p [/]"), width=200)
    assert "error: s [bold on p [/] (seed 0): [red]x[/blue] [link" in text
