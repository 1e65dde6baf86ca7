"""Every example runs as its first lines say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from optiframe.comparison.store.store import load

from .command_line import Session, run_in

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # every example is a process that imports and solves

EXAMPLES = Path(__file__).parent.parent / "examples"
COMPARED = set(EXAMPLES.glob("compare_*.toml"))
SOLVED = set(EXAMPLES.glob("*.toml")) - COMPARED
SCRIPTS = set(EXAMPLES.glob("*.py")) - {EXAMPLES / "demo.py"}


# Twenty seconds; test_labels_to_decisions.py has its parts.
LONG = EXAMPLES / "labels_to_decisions.py"


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    "script",
    [*sorted(SCRIPTS - {LONG}), pytest.param(LONG, marks=pytest.mark.thorough)],
    ids=lambda path: path.name,
)
def test_the_script_runs(script: Path, tmp_path: Path) -> None:
    with Session(tmp_path, {**os.environ, "PYTHONPATH": str(EXAMPLES)}) as python:
        python.run(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("file", sorted(SOLVED), ids=lambda path: path.name)
def test_the_file_is_solved(file: Path, tmp_path: Path) -> None:
    run_in(EXAMPLES, "solve", file.name, "--output", str(tmp_path))
    assert json.loads((tmp_path / "result.json").read_text())["status"] in ("converged", "finished")


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("file", sorted(COMPARED), ids=lambda path: path.name)
def test_the_file_is_compared(file: Path, tmp_path: Path) -> None:
    run_in(EXAMPLES, "compare", file.name, "--set", "seeds=1", "--output", str(tmp_path))
    rows = load(tmp_path).rows
    assert rows
    assert all(row.outcome is not None and row.outcome.answered for row in rows)


@pytest.mark.usefixtures("data_folder")
def test_the_demo_prints_the_known_errors() -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, check=True)
    rows = [
        line.split()
        for line in done.stdout.splitlines()
        if line.startswith(("labels.m", "labels.d", "labels.c", "rank", "sci"))
    ]
    errors = {row[0]: float(row[1]) for row in rows}
    assert errors["labels.majority"] == 0.1031
    assert errors["rankone.pgd"] == pytest.approx(0.07, abs=0.005)
    assert errors["scipy.lbfgs"] == pytest.approx(errors["rankone.pgd"], abs=0.002)
    assert errors["labels.crowd"] == 0.07
    assert errors["labels.dawid-skene"] < errors["labels.majority"]


def test_the_demo_runs_on_generated_data_without_data_and_network(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OPTIFRAME_DATA"}
    environment |= {"OPTIFRAME_OFFLINE": "1", "OPTIFRAME_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Generated labels: ")
