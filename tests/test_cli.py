"""The command line, as a person uses it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from click import Context

import optiframe
from optiframe import cli
from optiframe.errors import InvalidInput
from optiframe.files import output
from optiframe.tables.file_formats import write_table

from .command_line import Run, run_in

BOWL = """\
[problem]
name = "minimize"
objective = { name = "least-squares", matrix = [[1.0, 2.0], [3.0, 4.0]], target = [1.0, 1.0] }
over = { name = "box", lower = 0.0, upper = 1.0 }

[solver]
name = "scipy.lbfgs"
"""
MAIN = "import optiframe.cli; optiframe.cli.main()"


HALF = """\
from abc import abstractmethod

import optiframe as of


class Taste(of.Part):
    family = "taste"

    @abstractmethod
    def word(self):
        ...


@of.register
class Half(Taste):
    \"\"\"Lacks its method.\"\"\"

    name = "taste.half"
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "bowl.toml").write_text(BOWL)
    return partial(run_in, tmp_path)


@pytest.mark.slow
def test_solve_writes_answer_result_and_trace(run: Run, tmp_path: Path) -> None:
    shown = run("solve", "bowl.toml").stdout
    assert "minimize by scipy.lbfgs" in shown
    folder = tmp_path / "results" / "bowl"
    assert sorted(p.name for p in folder.iterdir()) == ["answer.csv", "result.json", "trace.csv"]
    result = json.loads((folder / "result.json").read_text())
    assert {"status", "metrics", "solver", "seed", "budget", "versions", "findings"} <= set(result)
    assert result["versions"]["optiframework"]
    lines = (folder / "answer.csv").read_text().splitlines()
    assert lines[0] == "index,value"
    assert len(lines) == 3
    assert (folder / "trace.csv").read_text().startswith("iteration,time,objective,violation,residual")


def test_solve_prints_the_first_rows_and_warnings_before_notes(run: Run, tmp_path: Path) -> None:
    rows = [f"{task},{worker},{int(task > 3)}" for task in range(8) for worker in "abc"]
    (tmp_path / "labels.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    (tmp_path / "labels.toml").write_text('[problem]\nname = "label-aggregation"\nlabels = "labels.csv"\n')
    lines = run("solve", "labels.toml").stdout.splitlines()
    rows = [line.split()[:2] for line in lines[1:5]]
    assert rows == [["task", "label"], ["0", "0"], ["1", "0"], ["2", "0"]]
    assert lines[5] == "  ... 8 rows of 5 columns in answer.csv"
    levels = [word for line in lines if (word := line.split(":")[0].strip()) in ("error", "warning", "note")]
    assert levels == sorted(levels, key=["error", "warning", "note"].index)
    assert {"warning", "note"} <= set(levels)


@pytest.mark.slow
def test_a_finished_output_is_only_replaced_by_force(run: Run, tmp_path: Path) -> None:
    run("solve", "bowl.toml", "--output", "out")
    kept = tmp_path / "out" / "notes.txt"
    kept.write_text("mine")
    refused = run("solve", "bowl.toml", "--output", "out", code=2)
    assert "holds a finished result; use --force" in refused.stderr
    run("solve", "bowl.toml", "--output", "out", "--force", "--set", "seed=4")
    assert json.loads((tmp_path / "out" / "result.json").read_text())["seed"] == 4
    assert kept.read_text() == "mine"


@pytest.mark.slow
def test_the_default_folder_is_replaced_while_it_holds_nothing_but_a_result(run: Run, tmp_path: Path) -> None:
    run("solve", "bowl.toml")
    run("solve", "bowl.toml", "--set", "seed=4")
    assert json.loads((tmp_path / "results" / "bowl" / "result.json").read_text())["seed"] == 4
    (tmp_path / "results" / "bowl" / "notes.txt").write_text("mine")
    assert "use --force" in run("solve", "bowl.toml", code=2).stderr


@pytest.mark.slow
def test_an_earlier_result_stays_whole_where_a_new_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "bowl.toml").write_text(BOWL)
    folder = tmp_path / "results" / "bowl"
    run_in(tmp_path, "solve", "bowl.toml")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    script = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); " + MAIN
    command = [sys.executable, "-c", script, "solve", "bowl.toml", "--set", "seed=4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"error: cannot write {Path('results', 'bowl', 'trace.csv')}: File too large\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_what_a_run_left_that_was_killed_while_it_wrote_is_no_result(tmp_path: Path, run: Run) -> None:
    (tmp_path / "bowl.toml").write_text(BOWL)
    left = tmp_path / "results" / "bowl" / ".writing-abc"
    left.mkdir(parents=True)
    (left / "answer.csv").write_text("half")
    run("solve", "bowl.toml")
    run("solve", "bowl.toml", "--set", "seed=4")


def test_an_earlier_result_stays_whole_where_a_folder_has_the_name_of_a_table(tmp_path: Path) -> None:
    rows = {"task": [*"aabbcc"], "worker": [*"xyxyxy"], "label": [0, 0, 1, 1, 0, 0]}
    result = optiframe.solve(optiframe.problem("label-aggregation", labels=rows), progress=False)
    further = [f"{name}.csv" for name in result.to_tables()][1]
    output.write(result, tmp_path, "answer.csv")
    (tmp_path / further).unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / further).mkdir()
    with pytest.raises(InvalidInput, match="a folder has this name; rename or remove it"):
        output.write(result, tmp_path, "answer.csv")
    (tmp_path / further).rmdir()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_a_standard_output_that_is_full_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "bowl.toml").write_text(BOWL)
    command = [sys.executable, "-c", MAIN, "solve", "bowl.toml"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    folder = Path("results", "bowl")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: cannot write to standard output: No space left on device; the answer is in {folder}\n"
    )
    assert (tmp_path / folder / "result.json").is_file()


def test_a_mistyped_command_gets_a_suggestion(run: Run) -> None:
    assert "no command 'slove'; did you mean 'solve'" in run("slove", "bowl.toml", code=2).stderr
    assert "optiframe --help" in run("qqqq", code=2).stderr


@pytest.mark.slow
def test_parquet_when_the_name_says_so(run: Run, tmp_path: Path) -> None:
    import pyarrow.parquet

    run("solve", "bowl.toml", "--output", "out", "--set", "output.answer=x.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out" / "x.parquet")
    assert table.column_names == ["index", "value"]


def test_parquet_takes_ids_of_several_types(tmp_path: Path) -> None:
    import pyarrow.parquet

    write_table({"task": [1, "b", None], "score": [1, 2.5, 3]}, tmp_path / "x.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert table == {"task": ["1", "b", None], "score": [1.0, 2.5, 3.0]}


def test_a_folder_called_as_a_file_is_refused_with_the_way_to_name_the_answer(run: Run) -> None:
    refused = run("solve", "bowl.toml", "--output", "answer.xlsx", code=2)
    assert 'write answer = "answer.xlsx" under [output]' in refused.stderr


def test_a_folder_in_the_way_of_the_answer_is_found_before_solving(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out" / "answer.csv").mkdir(parents=True)
    refused = run("solve", "bowl.toml", "--output", "out", "--force", code=2)
    assert "answer.csv is a folder where a file must go" in refused.stderr


@pytest.mark.slow
def test_an_answer_is_verified_against_cvxpy(run: Run) -> None:
    shown = run("solve", "bowl.toml", "--verify", "cvxpy").stdout
    assert "verified" in shown


@pytest.mark.slow
def test_a_wrong_answer_fails_its_verification(run: Run) -> None:
    shown = run("solve", "bowl.toml", "--verify", "cvxpy", "--set", "budget.iterations=1", code=1).stdout
    assert "iteration_limit" in shown


def test_solver_and_data_set_can_be_given_without_a_file(run: Run, tmp_path: Path) -> None:
    run(
        "solve", "--dataset", "synthetic.single-coin", "--solver", "labels.majority",
        "--set", "problem.dataset.tasks=30", "--set", "problem.dataset.workers=7",
        "--set", "problem.dataset.labels_per_task=5",
    )  # fmt: skip
    assert (tmp_path / "results" / "synthetic.single-coin-labels.majority" / "workers.csv").exists()


def _heed_interrupts() -> None:
    """In the child: a shell that runs its jobs in the background makes them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that has been solving for a while and would go on for hours."""
    (tmp_path / "long.toml").write_text(
        '[problem]\ndataset = {name = "synthetic.single-coin", workers = 60, tasks = 400}\n'
        '[solver]\nname = "rankone.pgd"\nstep = 1e-12\n[budget]\niterations = 100_000_000\ntolerance = 0.0\n'
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "optiframe", "solve", "long.toml", "--output", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "out").exists() and time.monotonic() < deadline:
        time.sleep(0.05)  # the folder is made right before solving
    time.sleep(1)
    assert child.poll() is None, "the run ended by itself"
    yield child
    child.kill()
    child.communicate()


@pytest.mark.slow
def test_a_run_killed_while_solving_leaves_no_finished_output(
    endless: subprocess.Popen[str], tmp_path: Path
) -> None:
    endless.kill()
    endless.wait()
    assert list((tmp_path / "out").glob("*")) == []


@pytest.mark.slow
def test_an_interrupted_run_writes_what_there_is(endless: subprocess.Popen[str], tmp_path: Path) -> None:
    endless.send_signal(signal.SIGINT)
    shown, _ = endless.communicate(timeout=30)
    assert endless.returncode == 0
    assert "cancelled" in shown
    assert json.loads((tmp_path / "out" / "result.json").read_text())["status"] == "cancelled"
    assert (tmp_path / "out" / "answer.csv").exists()


def test_list_shows_every_kind_and_describes_each(run: Run) -> None:
    shown = run("list").stdout
    for heading in ("problems", "solvers", "data sets", "objectives", "constraint sets"):
        assert f"{heading}\n" in shown
    assert run("list", "solvers").stdout in shown
    for heading in ("data sets", "constraint sets"):
        unquoted = run("list", *heading.split()).stdout
        assert unquoted == run("list", heading).stdout == run("list", heading.replace(" ", "-")).stdout
        assert unquoted in shown


@pytest.mark.slow
def test_list_for_a_problem_separates_who_runs_from_who_does_not(run: Run, tmp_path: Path) -> None:
    (tmp_path / "count.toml").write_text(
        BOWL.replace('"box", lower = 0.0, upper = 1.0', '"cardinality", size = 1')
    )
    runs, others = run("list", "solvers", "--for", "bowl.toml").stdout.split("solvers that do not")
    assert "scipy.lbfgs" in runs
    assert "cvxpy" in runs
    assert "labels.majority" not in others
    assert "it solves '" not in others
    assert "solvers of other kinds of problems are not shown; --all shows them\n" in others
    _, others = run("list", "solvers", "--for", "count.toml").stdout.split("solvers that do not")
    assert "scipy.lbfgs" in others
    assert "cvxpy" in others
    _, others = run("list", "solvers", "--all", "--for", "count.toml").stdout.split("solvers that do not")
    assert "labels.majority" in others
    assert "it solves 'label-aggregation' problems" in others.replace("\n", " ").replace("  ", "")
    assert "not shown" not in others
    assert "--all goes with" in run("list", "--all", code=2).stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "rankone.pgd",
            [
                "Ma et al., Sec. 4.1",
                "step: one of 'scaled', 'lipschitz' or number > 0, default",
                "takes a start: yes",
                "residual: ",
            ],
        ),
        ("label-aggregation", ["task, worker, label", "truth", "tau: number > 0"]),
        ("labels.rte", ["for: label-aggregation"]),
        ("box", ["lower", "upper"]),
        ("logistic", ["matrix", "l2: number >= 0"]),
        ("Minimize", ["objective: an objective by name", "required"]),
    ],
)
def test_describe_says_what_a_name_means(run: Run, name: str, expected: list[str]) -> None:
    shown = run("describe", name).stdout
    for text in expected:
        assert text in shown, shown


@pytest.mark.slow  # imports every class there is
def test_everything_registered_can_be_described(run: Run) -> None:
    from optiframe.registry.contracts import KINDS
    from optiframe.registry.registry import BY_CODE, registry

    run("doctor", "--quick")
    entries = [entry for kind in KINDS for entry in registry().entries(kind)]
    # What another test of this process registered has no name in a new one.
    names = [entry.name for entry in entries if entry.distribution != BY_CODE]
    assert len(names) > 20
    code = """
import sys
from optiframe.cli import main

for name in sys.argv[1:]:
    sys.argv = ["optiframe", "describe", name]
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert all(f"{name}  (" in done.stdout for name in names)


def test_describe_suggests_the_full_name_for_its_last_part(run: Run) -> None:
    shown = run("describe", "lbfgs", code=2)
    assert "did you mean " in shown.stderr
    assert "'scipy.lbfgs'" in shown.stderr


@pytest.mark.slow
def test_an_import_that_cannot_be_used_is_explained(run: Run, tmp_path: Path) -> None:
    missing = run("--import", "nofile.py", "list", code=2)
    assert "--import nofile.py: no file nofile.py" in missing.stderr
    (tmp_path / "needs.py").write_text("import nowhere_to_be_found")
    assert "No module named 'nowhere_to_be_found'" in run("--import", "needs.py", "list", code=2).stderr
    (tmp_path / "half.py").write_text(HALF)
    refused = run("--import", "half.py", "list", "parts", code=2)
    assert "--import half.py: part 'taste.half' (half:Half) lacks word" in refused.stderr
    late = run("solve", "bowl.toml", "--import", "half.py", code=2)
    assert "It goes before the command: optiframe --import FILE solve" in late.stderr


@pytest.mark.slow
def test_datasets_says_where_each_is(run: Run) -> None:
    shown = run("datasets").stdout
    assert "synthetic.single-coin generated" in " ".join(shown.split())
    assert "labels.rte" in shown


@pytest.mark.slow
def test_datasets_says_what_to_do_about_those_not_published_as_tables(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    shown = run("datasets").stdout
    assert "(to be tidied by hand): nothing is downloaded; get the source" in shown
    assert "docs/howto/your-data.md" in shown
    page = (Path(__file__).parents[1] / "docs" / "howto" / "your-data.md").read_text(encoding="utf-8")
    assert "## Named data sets" in page
    assert "to be tidied by hand" in page


def test_the_module_of_the_command_list_does_not_hide_the_built_in_list() -> None:
    import_module("optiframe.cli.list")
    group = cli._optiframe
    assert "compare" in group.list_commands(Context(group))


def test_help_lists_the_commands(run: Run) -> None:
    shown = run("--help").stdout
    for command in ("list", "describe", "solve", "doctor", "datasets"):
        assert command in shown
    assert run("--version").stdout.startswith("optiframe, version ")


def test_solve_without_anything_says_what_to_give(run: Run) -> None:
    assert "give a FILE, or --dataset NAME" in run("solve", code=2).stderr
