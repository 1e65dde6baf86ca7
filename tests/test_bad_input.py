"""Wrong input of every sort: a sentence that says what, where and what to do; never a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from optiframe import cli

LABELS = "task,worker,label\n1,a,x\n1,b,y\n1,c,x\n2,a,y\n2,b,y\n2,c,x\n"
TRUTH = "task,label\n1,x\n2,y\n"
CONFIG = """\
seed = 0
[problem]
name = "label-aggregation"
labels = "labels.csv"
truth = "truth.csv"
[solver]
name = "labels.majority"
[budget]
iterations = 100
"""


class Case(NamedTuple):
    """What is wrong, how to make it so, and what must be said (a regular expression)."""

    wrong: str
    says: str
    labels: str | bytes = LABELS
    truth: str = TRUTH
    config: tuple[str, str] = ("", "")
    arguments: tuple[str, ...] = ()


def edit(old: str, new: str) -> tuple[str, str]:
    assert old in CONFIG
    return old, new


PGD = edit("labels.majority", "rankone.pgd")
CASES = [
    # Files of data
    Case("empty file", r"labels.csv is empty; it needs a header line", labels=""),
    Case("header only", r"labels.csv has no rows", labels="task,worker,label\n"),
    Case("missing column", r"labels.csv has no column 'worker'; it has 'task', 'wroker', 'label' .*; did you mean 'wroker'", labels="task,wroker,label\n1,a,x\n"),
    Case("empty worker", r"labels.csv line 3: worker is empty; drop the row or give", labels="task,worker,label\n1,a,x\n1,,y\n"),
    Case("gaps in two columns", r"line 4: problem.labels: labels.csv line 3: worker is empty; drop the row or give a value\n.*line 4: problem.labels: labels.csv line 4: label is empty", labels="task,worker,label\n1,a,x\n1,,y\n2,a,\n"),
    Case("ragged row", r"labels.csv line 3: 2 values where the header has 3", labels="task,worker,label\n1,a,x\n1,b\n"),
    Case("a number that is none", r"labels.csv line 3: worker is empty", labels="task,worker,label\n1,a,x\n1,NaN,y\n"),
    Case("unknown label in the truth", r"truth.csv: none of its labels was given by a worker \(these are q; there they are x, y\)", truth="task,label\n1,q\n2,q\n"),
    Case("duplicate rows", r"labels.csv line 5: worker a labels task 1 again, first in line 2; keep one row", labels="task,worker,label\n1,a,x\n1,b,y\n2,a,x\n1,a,x\n"),
    Case("contradictory duplicate rows", r"labels.csv line 4: worker a labels task 1 again, first in line 2", labels="task,worker,label\n1,a,x\n1,b,y\n1,a,y\n"),
    Case("one class", r"only one label value occurs \(x\), nothing to aggregate", labels="task,worker,label\n1,a,x\n1,b,x\n2,a,x\n", truth="task,label\n1,x\n"),
    Case("not UTF-8", r"labels.csv is not UTF-8", labels=b"task,worker,label\n1,\xff\xfe,x\n"),
    Case("doubled column", r"labels.csv line 1: column 'task' occurs twice", labels="task,task,label\n1,a,x\n"),
    Case("open quote", r"labels.csv line \d+: not valid CSV", labels='task,worker,label\n1,"a,x\n'),
    Case("a cell of 200 kB", r"labels.csv line 2: not valid CSV \(field larger", labels=f"task,worker,label\n{'9' * 200_000},a,x\n"),
    Case("missing file", r"line 4: problem.labels: no file .*nolabels.csv", config=edit('"labels.csv"', '"nolabels.csv"')),
    Case("a folder as file", r"problem.labels: .* is a folder, and a file is needed", config=edit('"labels.csv"', '"."')),
    Case("a file that is not Parquet", r"x.parquet is not a readable Parquet file", config=edit('"labels.csv"', '"x.parquet"')),
    Case("truth of unknown tasks", r"truth.csv: none of its 2 tasks occurs among the labels \(these are 77, 78; there", truth="task,label\n77,x\n78,y\n"),
    Case("contradictory truth", r"truth.csv.*line", truth="task,label\n1,x\n1,y\n2,y\n"),
    Case("truth without its column", r"truth.csv has no column 'label'", truth="task,value\n1,x\n"),
    # Configuration
    Case("wrong TOML", r"run.toml: not valid TOML", config=edit("[solver]", "[solver")),
    Case("wrong type", r"line 9: budget.iterations: must be a whole number, got 'many'", config=edit("= 100", '= "many"')),
    Case("negative budget", r"line 9: budget.iterations: must be greater than 0, got -5", config=edit("= 100", "= -5")),
    Case("budget of zero seconds", r"line 9: budget.time: must be greater than 0", config=edit("iterations = 100", "time = 0")),
    Case("infinite tolerance", r"budget.tolerance: must be a finite number", config=edit("iterations = 100", "tolerance = inf")),
    Case("unknown key", r"line 9: budget.iteration: unknown key; did you mean 'iterations'", config=edit("iterations", "iteration")),
    Case("unknown table", r"line 8: bugdet: unknown key; did you mean 'budget'", config=edit("[budget]", "[bugdet]")),
    Case("unknown solver", r"line 7: solver.name: no solver named 'labels.majorty'; did you mean 'labels.majority'", config=edit("majority", "majorty")),
    Case("unknown problem", r"line 3: problem.*name: no problem named 'label-agregation'; did you mean", config=edit("label-aggregation", "label-agregation")),
    Case("unknown parameter", r"solver.stpe: unknown key; did you mean 'step'", config=edit('"labels.majority"', '"rankone.pgd"\nstpe = 1.0')),
    Case("parameter out of range", r"line 8: solver.step: must be greater than 0, got -1", config=edit('"labels.majority"', '"rankone.pgd"\nstep = -1.0')),
    Case("unknown data set", r"problem.dataset.*no data set named 'labels.rt'", config=edit('name = "label-aggregation"\nlabels = "labels.csv"\ntruth = "truth.csv"', 'dataset = "labels.rt"')),
    Case("data set that is no name", r"--set problem.dataset: a data set is chosen by its name or by a table", arguments=("solve", "run.toml", "--set", "problem.dataset=5")),
    Case("solver that is no name", r"--set solver", arguments=("solve", "run.toml", "--set", "solver=5")),
    Case("data set of another problem", r"for 'label-aggregation' problems, not for 'minimize'", config=edit('name = "label-aggregation"\nlabels = "labels.csv"\ntruth = "truth.csv"', 'name = "minimize"\ndataset = "labels.rte"')),
    Case("fractional seed", r"line 1: seed: must be a whole number", config=edit("seed = 0", "seed = 0.5")),
    Case("unsuited solver", r"cvxpy cannot take this problem: ", config=edit("labels.majority", "cvxpy")),
    Case("columns mapped to nothing", r"labels.csv has no column 'who'", config=edit('truth = "truth.csv"', 'columns = {worker = "who"}')),
    Case("infeasible generator", r"labels_per_task.*9.*3", config=edit('name = "label-aggregation"\nlabels = "labels.csv"\ntruth = "truth.csv"', 'dataset = {name = "synthetic.single-coin", workers = 3, tasks = 5, labels_per_task = 9}')),
    Case("a limit as a parameter", r"solver.max_iter: unknown key .*; that is a budget: budget=\{'iterations': 5\}, or iterations = 5 under \[budget\]", config=edit('"labels.majority"', '"rankone.pgd"\nmax_iter = 5')),
    Case("a comparison", r"line 6: solver: this is a comparison, with \[\[solver\]\]; use optiframe compare", config=edit("[solver]", "[[solver]]")),
    # Command line
    Case("a table in place of the configuration", r"labels.csv looks like a table of data, .* TOML file says .*docs/howto/your-data.md", arguments=("solve", "labels.csv")),
    Case("a binary table in its place", r"x.parquet looks like a table of data", arguments=("solve", "x.parquet")),
    Case("missing configuration", r"no file nowhere.toml", arguments=("solve", "nowhere.toml")),
    Case("malformed override", r"--set solver: write key.path=value", arguments=("solve", "run.toml", "--set", "solver")),
    Case("override of a wrong type", r"--set budget.time: must be a number, got 'soon'", arguments=("solve", "run.toml", "--set", "budget.time=soon")),
    Case("output folder that takes no files", r"cannot write to the output folder /proc/nowhere", arguments=("solve", "run.toml", "--output", "/proc/nowhere")),
    Case("output that is a file", r"cannot write to the output folder", arguments=("solve", "run.toml", "--output", "run.toml")),
    Case("output by the name of a table", r"the output is a folder of several files, .* answer = \"labels.csv\"", arguments=("solve", "run.toml", "--output", "labels.csv")),
    Case("answer of an unknown kind", r"--set output.answer: must be a file name ending in", arguments=("solve", "run.toml", "--set", "output.answer=x.xls")),
    Case("description of an unknown name", r"nothing is named 'rankone.pdg' .*; did you mean 'rankone.pgd'", arguments=("describe", "rankone.pdg")),
]  # fmt: skip


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["optiframe", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


@pytest.mark.parametrize("case", CASES, ids=[case.wrong for case in CASES])
def test_wrong_input_is_answered_with_a_sentence(
    case: Case, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    content = case.labels if isinstance(case.labels, bytes) else case.labels.encode()
    (tmp_path / "labels.csv").write_bytes(content)
    (tmp_path / "truth.csv").write_text(case.truth)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "run.toml").write_text(CONFIG.replace(*case.config))
    code, _, errors = run(*(case.arguments or ("solve", "run.toml", "--output", "out")))
    assert code == 2, errors
    assert errors.startswith("error: ")
    assert re.search(case.says, errors), errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out" / "result.json").exists()


@pytest.mark.parametrize(
    "labels",
    [
        "task,worker,label\n1,a,x\n2,a,y\n3,a,x\n",
        "task,worker,label\n"
        + "".join(f"{10**30 + t},{10**40 + w},{t % 2}\n" for t in range(4) for w in range(3)),
    ],
    ids=["one worker", "huge ids"],
)
@pytest.mark.parametrize("solver", ["labels.majority", "labels.one-coin-em", "rankone.pgd"])
def test_what_is_unusual_but_right_is_solved(
    labels: str, solver: str, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text(labels)
    (tmp_path / "run.toml").write_text(CONFIG.replace('truth = "truth.csv"\n', ""))
    code, _, errors = run("solve", "run.toml", "--solver", solver, "--output", "out")
    assert code == 0, errors
    rows = (tmp_path / "out" / "answer.csv").read_text().splitlines()
    assert len(rows) == len({line.split(",")[0] for line in labels.splitlines()})
    assert "nan" not in (tmp_path / "out" / "answer.csv").read_text()


@pytest.mark.slow
def test_a_read_only_output_folder_is_refused_before_solving(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "labels.csv").write_text(LABELS)
    (folder / "truth.csv").write_text(TRUTH)
    (folder / "run.toml").write_text(CONFIG)
    (folder / "out").mkdir(mode=0o500)
    if os.geteuid() == 0:  # root may write anywhere; the child gives that up and must still get here
        for path in (tmp_path, *tmp_path.parents):
            if path.is_relative_to("/tmp") and path != Path("/tmp"):
                path.chmod(0o755)
    code = """
import os, sys
from optiframe.cli import main

for folder in ("warm", "out"):  # the first run imports what an ordinary user may not read here
    sys.argv = ["optiframe", "solve", "run.toml", "--output", folder]
    try:
        main()
    except SystemExit as end:
        if folder == "out":
            raise
        assert not end.code
    if os.geteuid() == 0:
        os.setuid(65534)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "cannot write to the output folder out: Permission denied" in done.stderr


def test_the_same_files_without_a_mistake_are_solved(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "run.toml").write_text(CONFIG)
    code, shown, errors = run("solve", "run.toml", "--output", "out")
    assert (code, errors) == (0, "")
    assert "label-aggregation by labels.majority: " in shown
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"answer.csv", "result.json", "trace.csv"}
