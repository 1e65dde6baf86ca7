"""The benchmarks of this plugin run, and give verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "examples" / "bench"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("hodgerank_paths.py", "merged from 300"),
        ("hodgerank_grid.py", "values of lambda from"),
        ("hodgerank_image.py", "CVXPY over hodge.hlasso"),
        ("hodgerank_large.py", "recall"),
        ("hodgerank_parallel.py", "same bits for 1 and 2"),
        ("hodgerank_numbers.py", "L2 over LBI"),
    ],
)
def test_the_benchmark_runs_and_gives_a_verdict(script: str, shown: str) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether a target is reached is for a quiet machine and the full size, not for a test.
    assert shown in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
