"""What the rank-one benchmarks share: generated labels, peers that may be missing, verdicts.

Not a benchmark itself; running it does nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Start this script again with one thread for linear algebra, unless it already has."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))


def crowd_kit(*names: str) -> list[Any] | None:
    """Classes of crowd-kit's `crowdkit.aggregation`; None, said in a line, where it is not installed."""
    try:
        module = import_module("crowdkit.aggregation")
    except ImportError:
        print("crowd-kit is not installed, so there is nothing to compare with; to install it, run:")
        print("    pip install --group dev")
        return None
    return [getattr(module, name) for name in names]


def best_of(
    repeats: int, tasks: dict[str, Callable[[], Any]], clock: Callable[[], float] = perf_counter
) -> tuple[dict[str, float], dict[str, Any]]:
    """Least time of each task over interleaved rounds, and each task's last answer."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    answers: dict[str, Any] = {}
    for _ in range(repeats):
        for name, task in tasks.items():
            began = clock()
            answers[name] = task()
            times[name].append(clock() - began)
    return {name: min(measured) for name, measured in times.items()}, answers


def verdict(what: str, value: float, target: float, *, unit: str = "", most: bool = True) -> bool:
    """Print a figure beside its target, which is the most or the least it may be."""
    reached = value <= target if most else value >= target
    bound = "at most" if most else "at least"
    print(f"{what}: {value:.4g}{unit}, target {bound} {target:g}{unit}: {'reached' if reached else 'MISSED'}")
    return reached
