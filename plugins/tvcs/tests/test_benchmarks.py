"""Every benchmark of the three-view sets runs at a tiny size and gives its verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[3] / "examples" / "bench"
TINY = {
    "tvcs_exactness.py": (["--count", "20", "--largest", "60"], "right in all: reached"),
    "tvcs_first_call.py": (["--sides", "5", "--repeats", "1"], "first call at p = 25, as it is"),
    "tvcs_memory.py": (["--sides", "60"], "memory at p = 3600"),
    "tvcs_problems.py": (["--part", "assignment", "--repeats", "2"], "random always below by quality"),
    "tvcs_speed.py": (
        ["--sides", "5", "--seeds", "1", "--hard-seeds", "1", "--hard-sides", "5", "--repeats", "1"],
        "OR-tools / ours at p = 25",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("script", TINY)
def test_the_benchmark_runs_at_a_tiny_size_and_gives_a_verdict(script: str) -> None:
    arguments, shown = TINY[script]
    ran = subprocess.run(
        [sys.executable, BENCHES / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether a target is reached is for a quiet machine and the full size, not for a test.
    assert shown in ran.stdout, ran.stderr
    assert "Traceback" not in ran.stderr
