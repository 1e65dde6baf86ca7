"""A solver that raises, and input that lacks its place: what the command line says of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from optiframe import InvalidInput
from optiframe.comparison.plan.plan import read_plan
from optiframe.comparison.plan.sweep import expand
from optiframe.files.solve_file import SolveFile

from .command_line import Run, optiframe, run_in

BOWL = """\
[problem]
name = "minimize"
objective = { name = "squared-distance", to = [1.0, 2.0] }
"""
GONE = """\
import optiframe
from optiframe import Iterate, Minimize, Solver


@optiframe.register
class Gone(Solver[Minimize, object, None]):
    \"\"\"Raises.\"\"\"

    name = "mine.gone"
    solves = Minimize

    def iterates(self, problem, run):
        yield Iterate(problem.initial() + {}["gone"])
"""
MINE = ("--solver", "mine.gone")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "bowl.toml").write_text(BOWL)
    (tmp_path / "gone.py").write_text(GONE)
    return partial(run_in, tmp_path)


def test_a_solver_that_raises_in_solve_is_named_with_its_line(run: Run):
    solve = ("--import", "gone.py", "solve", "bowl.toml", "--solver", "mine.gone")
    said = run(*solve, code=1).stderr
    assert said.splitlines() == [
        "error: mine.gone raised KeyError: 'gone' at gone.py:13 (in iterates)",
        "the whole traceback: add --traceback",
    ]


def test_a_function_that_raises_is_blamed_and_not_the_solver_that_asked_it(run: Run, tmp_path: Path):
    (tmp_path / "mine.py").write_text("def f(x):\n    raise ValueError('the simulation broke')\n")
    (tmp_path / "f.toml").write_text(
        '[problem]\nname = "minimize"\nobjective = { name = "function", function = "mine:f", shape = 2 }\n'
    )
    said = run("--import", "mine.py", "solve", "f.toml", code=1).stderr.splitlines()[0]
    assert said.startswith("error: ValueError: the simulation broke at mine.py:2 (in f), while scipy.")


def test_a_setting_below_the_head_of_a_solver_is_sent_to_where_it_belongs(tmp_path: Path):
    (tmp_path / "c.toml").write_text(
        f'[{BOWL.replace("[problem]", "[problem]]")}\n[[solver]]\nname = "cobyqa"\nseeds = 3\n'
    )
    with pytest.raises(InvalidInput, match=r"to set seeds for the comparison, write it above the first"):
        read_plan(tmp_path / "c.toml")


@pytest.mark.slow
def test_the_whole_traceback_of_a_solver_that_raises_comes_on_demand(run: Run, tmp_path: Path):
    whole = optiframe(tmp_path, "--import", "gone.py", "solve", "bowl.toml", *MINE, "--traceback").stderr
    assert "Traceback (most recent call last):" in whole
    assert whole.splitlines()[-1].startswith("error: mine.gone raised KeyError")
    assert "click" not in whole


@pytest.mark.slow  # two processes
def test_the_same_failure_in_many_checks_is_told_once_with_its_line(run: Run):
    shown = run("--import", "gone.py", "check", "mine.gone", code=1).stdout
    assert shown.count("raised KeyError: 'gone' at gone.py:13 (in iterates)") == 1
    assert "  FAIL  nothing leaks between runs, as 'same seed gives same trace'\n" in shown


def test_a_parameter_given_without_its_table_is_told_where_it_belongs(tmp_path: Path):
    (tmp_path / "bowl.toml").write_text(BOWL)
    with pytest.raises(InvalidInput, match=r"--set memory: unknown key; did you mean 'solver\.memory'\?"):
        SolveFile.read(tmp_path / "bowl.toml", ["solver.name=scipy.lbfgs", "memory=3"])
    with pytest.raises(InvalidInput, match=r"--set over: unknown key; did you mean 'problem\.over'\?"):
        SolveFile.read(tmp_path / "bowl.toml", ["over=box"])


@pytest.mark.slow
def test_a_solver_without_a_name_lists_those_that_take_the_problem(tmp_path: Path):
    (tmp_path / "bowl.toml").write_text(f"{BOWL}\n[solver]\n")
    with pytest.raises(InvalidInput, match=r"is missing: which solver\? These take minimize: ") as caught:
        _ = SolveFile.read(tmp_path / "bowl.toml").solver
    assert "scipy.lbfgs" in str(caught.value)
    assert "projection" not in str(caught.value).partition(";")[0]


def test_a_key_that_means_nothing_hides_no_other_error_of_a_comparison(tmp_path: Path):
    path = tmp_path / "against.toml"
    path.write_text(
        'sedes = 3\ngaps = 3\n[[problem]]\nname = "minimise"\n[[solver]]\nname = "scipy.lbfgs"\n'
        "memory = {sweap = [1, 2]}\n[limits]\ntiem = 3\n"
    )
    with pytest.raises(InvalidInput) as caught:
        read_plan(path)
    text = str(caught.value)
    for words in ("did you mean 'seeds'", "line 2: gaps", "did you mean 'minimize'", "did you mean 'time'"):
        assert words in text
    assert "write `sweep` for this" in text


def test_a_word_that_is_not_nearly_sweep_stays_a_parameter():
    table = {"values": {"steep": [1, 2]}}
    assert [variant.table for variant in expand(table)] == [table]
