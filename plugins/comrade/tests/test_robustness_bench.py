"""The study of attacks and filters runs, and gives verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "examples" / "bench"


@pytest.mark.slow
def test_the_study_runs_and_gives_verdicts() -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "comrade_robustness.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether a sentence holds is for the full size, not for a test.
    assert "alie z=1 defeats all filters" in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
