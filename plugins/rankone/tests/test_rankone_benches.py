"""The benchmarks of this plugin run, and give verdicts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from optiframe_rankone.problem import LabelAggregation

BENCH = Path(__file__).parents[3] / "examples" / "bench"
CASES = {
    "rankone_absolute.py": (["--workers", "30", "--tasks", "300"], "difference"),
    "rankone_adversaries.py": (["--draws", "1", "--tasks", "100"], "over the vote with true skills"),
    "rankone_descents.py": (["--most", "30"], "widest gap"),
    "rankone_first_use.py": (["--repeats", "1"], "whole process, caches cold"),
    "rankone_memory.py": (["--workers", "50", "--labels", "2000", "--repeats", "1"], "peak memory"),
    "rankone_speed.py": (
        ["--workers", "30", "--tasks", "200", "--repeats", "1", "--no-prepare"],
        "difference",
    ),
    "rankone_steps.py": (["--tasks", "500", "--most", "500"], "steps at Zipf 1.3"),
}


def test_every_benchmark_of_the_plugin_is_among_these() -> None:
    assert {path.name for path in BENCH.glob("rankone_*.py")} == {*CASES, "rankone_common.py"}


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_pages_quote_what_the_errors_on_the_shipped_sets_are() -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "labels_shipped_sets.py"], capture_output=True, text=True, check=True
    )
    *table, verdict = done.stdout.splitlines()
    assert re.fullmatch(r"mean error of labels.dawid-skene .* target at most 1: reached", verdict)
    for page in ("howto/choose-a-solver.md", "methods/rankone.md"):
        assert "\n".join(table) in (BENCH.parents[1] / "docs" / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("page", ["howto/choose-a-solver.md", "methods/rankone.md", "decisions/rankone.md"])
def test_figures_of_sets_that_are_not_here_say_so(page: str) -> None:
    text = " ".join((BENCH.parents[1] / "docs" / page).read_text(encoding="utf-8").split())
    assert text.count("ten other real label sets, which are not shipped here") == 1
    assert "ten real" not in text


def test_the_reason_of_the_recommendation_names_no_sets_that_are_not_here() -> None:
    problem = LabelAggregation(labels={"task": [0, 0], "worker": [0, 1], "label": [0, 1]})
    ((solver, reason),) = problem.recommended()
    assert solver == "labels.dawid-skene"
    assert "five real label sets" in reason


@pytest.mark.slow
@pytest.mark.parametrize("script", CASES)
def test_the_benchmark_runs_and_gives_a_verdict(script: str) -> None:
    arguments, shown = CASES[script]
    done = subprocess.run(
        [sys.executable, BENCH / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether a target is reached is for a quiet machine and the full size, not for a test.
    assert f"{shown}" in done.stdout, done.stderr
    assert "target" in done.stdout
    assert "Traceback" not in done.stderr
