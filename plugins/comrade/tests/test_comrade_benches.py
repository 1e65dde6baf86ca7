"""The benchmarks run in small, and give verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "examples" / "bench"

# Whether a sentence holds is for the full size, where it is not exact.
SAYS = {
    "comrade_robustness.py": "alie z=1 defeats all filters",
    "comrade_centralized.py": "newton.comrade to gap 1e-3, as in the paper, times faster than lbfgs",
    "comrade_figures.py": "levels of max, 10% negative, norm filter: gap over gap",
    "comrade_flower.py": "fewer rounds than GIANT: reached",
    "comrade_dask.py": "an error that names them: yes",
}


@pytest.mark.thorough
@pytest.mark.parametrize("script", SAYS)
def test_the_benchmark_runs_and_gives_verdicts(script: str) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    assert SAYS[script] in done.stdout, done.stderr
    assert "DIFFER" not in done.stdout  # on Dask: the answers with and without lost workers
    assert "Traceback" not in done.stderr
