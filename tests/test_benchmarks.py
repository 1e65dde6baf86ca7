"""The benchmarks: all of them load, and in make thorough they run in small and give verdicts."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "examples" / "bench"

# What each says, and the arguments that make it small.
SAYS = {
    "compare_timing.py": ("overhead of the machinery", ""),
    "comrade_centralized.py": ("newton.comrade to gap 1e-3, as in the paper, times faster than lbfgs", ""),
    "comrade_dask.py": ("an error that names them: yes", ""),
    "comrade_dask_rows.py": ("growth of the coordinator's peak memory", ""),
    "comrade_figures.py": ("levels of max, 10% negative, norm filter: gap over gap", ""),
    "comrade_filters.py": ("20%: the default's worst gap is", ""),
    "comrade_flower.py": ("fewer rounds than GIANT: reached", ""),
    "comrade_robustness.py": ("alie z=1 defeats all filters", ""),
    "comrade_sparse.py": ("newton.exact on w5a, times faster than lbfgs", ""),
    "cutest_optima.py": ("share of stated optima that are reached", "--variables 2 --most 4"),
    "first_call.py": ("import of the extension of tvcs", "--repeats 1"),
    "hodgerank_grid.py": ("values of lambda from", ""),
    "hodgerank_image.py": ("CVXPY over hodge.hlasso", ""),
    "hodgerank_large.py": ("recall", ""),
    "hodgerank_numbers.py": ("L2 over LBI", ""),
    "hodgerank_parallel.py": ("same bits for 1 and 2", ""),
    "hodgerank_paths.py": ("merged from 300", ""),
    "isolation.py": ("every status as called for", ""),
    "labels_coverage.py": ("draws with an accusation, largest share", "--sets wsd --draws 2"),
    "labels_hostile.py": ("where copiers share one vote", "--draws 1"),
    "labels_reading.py": ("whole numbers, path over frame", "--labels 2000 --repeats 1"),
    "labels_streamed.py": ("answers of the first file in memory: equal", "--labels 20000"),
    "lasso_speed.py": ("sparse, penalty 1/10, coordinate.lasso over skglm", "--share 0.05 --repeats 1"),
    "loop_overhead.py": ("target at most 5: ", "--iterates 2000"),
    "manifold_accuracy.py": ("random starts", ""),
    "manifold_large.py": ("beyond the data", ""),
    "manifold_speed.py": ("pymanopt", ""),
    "manifold_steps.py": ("saved by the preconditioner", ""),
    "native_threads.py": ("manifold, log_loss, two threads over one", "--rounds 1"),
    "ranking_coverage.py": ("coverage, the least", "--draws 1"),
    "ranking_held_out.py": (
        "points behind clean",
        "--draws 1 --sets pairwise.pc-iqa-workers --solvers ranking.crowd-bt evalica.bradley-terry",
    ),
    "ranking_outliers.py": ("LBI over least squares, margins, clean", "--draws 1"),
    "ranking_personal.py": ("above the population's, the worst set", "--draws 1 --sets pc-iqa-workers"),
    "ranking_speed.py": ("hodge.bradley-terry over evalica", "--repeats 1 --items 50 --share 0.005"),
    "ranking_suggest.py": ("over random pairs at the same error, the first three", "--draws 2 --items 8"),
    "rankone_absolute.py": ("difference", "--workers 30 --tasks 300"),
    "rankone_adversaries.py": ("over the vote with true skills", "--draws 1 --tasks 100"),
    "rankone_descents.py": ("widest gap", "--most 30"),
    "rankone_first_use.py": ("whole process, own caches cold", "--repeats 1"),
    "rankone_memory.py": ("peak memory", "--workers 50 --labels 2000 --repeats 1"),
    "rankone_speed.py": ("difference", "--workers 30 --tasks 200 --repeats 1"),
    "rankone_steps.py": ("steps at Zipf 1.3", "--tasks 500 --most 500"),
    "startup.py": ("target at most 0.4 s", ""),
    "tvcs_exactness.py": ("projections that are not the nearest point: 0", "--count 200 --largest 60"),
    "tvcs_grid.py": ("OR-tools / ours, p = 100, worst", "--sizes 100"),
    "tvcs_learning.py": ("time in gradients over time in projections", ""),
    "tvcs_learning_peers.py": ("our default over the best other", "--repeats 1 --part planted"),
    "tvcs_memory.py": ("memory at p = 3600", "--sides 60"),
    "tvcs_problems.py": ("random always below by quality", "--part assignment --repeats 2"),
    "value_and_gradient.py": ("a loss in JAX, 2,000 x 100, two calls over one", "--repeats 1"),
    "tvcs_speed.py": (
        "OR-tools / ours at p = 25",
        "--sides 5 --seeds 1 --hard-seeds 1 --hard-sides 5 --repeats 1",
    ),
}
# Shared by others, their runner, run by a test of their own (compare_kills, labels_shipped_sets), or
# without a small size.
OTHERS = {
    "compare_kills.py",
    "compare_throughput.py",
    "hodgerank_common.py",
    "hodgerank_knockoffs.py",
    "labels_shipped_sets.py",
    "manifold_kernels.py",
    "measure.py",
    "ranges_common.py",
    "rankone_common.py",
    "tvcs_common.py",
}


def test_every_benchmark_is_among_these() -> None:
    assert {path.name for path in BENCH.glob("*.py")} == {*SAYS, *OTHERS}


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_registry")  # some register solvers
@pytest.mark.parametrize("script", sorted({*SAYS, *OTHERS}))
def test_the_benchmark_loads(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    names = runpy.run_path(str(BENCH / script), run_name="loaded")
    assert ("main" in names) != script.endswith("_common.py")


@pytest.mark.thorough
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("script", SAYS)
def test_the_benchmark_runs_and_gives_a_verdict(script: str) -> None:
    shown, arguments = SAYS[script]
    done = subprocess.run(
        [sys.executable, BENCH / script, *arguments.split()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPTIFRAME_QUICK": "1"},
    )
    # Whether a target is reached is for `make bench` on a quiet machine, not for a test.
    assert shown in done.stdout, done.stderr
    assert "DIFFER" not in done.stdout  # answers on Dask with and without lost workers
    assert "Traceback" not in done.stderr
