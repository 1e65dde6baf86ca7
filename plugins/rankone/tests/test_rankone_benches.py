"""The benchmarks of this plugin run, and give verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
