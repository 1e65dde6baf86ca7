"""Every example runs as its first lines say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from optiframe.comparison.store.store import load

pytestmark = pytest.mark.slow  # every example is a process that imports and solves

EXAMPLES = Path(__file__).parent.parent / "examples"
COMPARED = set(EXAMPLES.glob("compare_*.toml"))
SOLVED = set(EXAMPLES.glob("*.toml")) - COMPARED


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_the_script_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("file", sorted(SOLVED), ids=lambda path: path.name)
def test_the_file_is_solved(file: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "optiframe", "solve", file, "--output", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "result.json").read_text())["status"] in ("converged", "finished")


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("file", sorted(COMPARED), ids=lambda path: path.name)
def test_the_file_is_compared(file: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "optiframe", "compare", file, "--output", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = load(tmp_path).rows
    assert rows
    assert all(row.outcome is not None and row.outcome.answered for row in rows)


@pytest.mark.usefixtures("data_folder")
def test_the_demo_prints_the_known_errors() -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, check=True)
    rows = [
        line.split()
        for line in done.stdout.splitlines()
        if line.startswith(("labels.m", "labels.d", "rank", "sci"))
    ]
    errors = {row[0]: float(row[1]) for row in rows}
    assert errors["labels.majority"] == 0.1031
    assert errors["rankone.pgd"] == pytest.approx(0.07, abs=0.005)
    assert errors["scipy.lbfgs"] == pytest.approx(errors["rankone.pgd"], abs=0.002)
    assert errors["labels.dawid-skene"] < errors["labels.majority"]


def test_the_demo_runs_on_generated_data_without_data_and_network(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OPTIFRAME_DATA"}
    environment |= {"OPTIFRAME_OFFLINE": "1", "OPTIFRAME_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "Generated labels of the same shape" in done.stdout


@pytest.mark.parametrize(
    ("script", "arguments", "shown"),
    [
        ("loop_overhead.py", ["--iterates", "2000"], "target at most 5: "),
        ("startup.py", [], "target 0.4 s"),
        pytest.param("isolation.py", [], "every status as called for", marks=pytest.mark.slow),
        pytest.param("compare_timing.py", [], "overhead of the machinery", marks=pytest.mark.slow),
    ],
)
def test_the_benchmark_runs_and_gives_a_verdict(script: str, arguments: list[str], shown: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "bench" / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether the target is reached is for `make bench` on a quiet machine, not for a test.
    assert shown in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
