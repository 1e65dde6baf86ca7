"""What a comparison makes of solvers that hang, crash, hoard memory or leave processes behind.

Run: python examples/bench/isolation.py

Each case runs in earnest, in a child process as in any comparison: `tests/misbehaving.py` holds
the solvers. Shown are the status, the seconds by which the hard limit was overrun, and the
message. Target: the status that the case calls for, and an overrun under 1 s.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Limits, Measure, Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.isolation import run_isolated

OVERRUN_TARGET = 1.0  # seconds
LIMIT = 3.0  # seconds of those that hang: the limit at which the known tools overrun by 44 s
LONG = 60.0  # seconds: nobody else comes near
MEMORY = 350_000_000  # bytes: some times what the libraries alone need
SOLVERS = Path(__file__).resolve().parents[2] / "tests" / "misbehaving.py"
BOWL = {"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}}

# case, solver, further parameters, limits, the status it calls for
Case = tuple[str, str, dict[str, Any], Limits, str]
QUICK = ("raises", "sleeps", "segmentation fault")


def cases(folder: Path) -> list[Case]:
    long, short, small = Limits(LONG), Limits(LIMIT), Limits(LONG, MEMORY)
    return [
        ("behaves", "mis.honest", {}, long, "finished"),
        ("raises", "mis.raises", {}, long, "error"),
        ("calls sys.exit", "mis.leaves", {}, long, "error"),
        ("answers in a wrong shape", "mis.wrong-shape", {}, long, "error"),
        ("answers nan", "mis.nan", {}, long, "diverged"),
        ("hangs, calculating", "mis.busy", {}, short, "timeout"),
        ("sleeps", "mis.sleeps", {}, short, "timeout"),
        ("hangs, SIGTERM blocked", "mis.stubborn", {}, short, "timeout"),
        ("hangs in C, lock held", "mis.hangs-in-c", {}, short, "timeout"),
        ("segmentation fault", "mis.segfaults", {}, long, "crashed"),
        ("os._exit(0)", "mis.exits", {}, long, "crashed"),
        ("forges its reply", "mis.forges", {}, long, "crashed"),
        ("allocates bit by bit", "mis.hoards", {}, small, "out_of_memory"),
        ("allocates 1 TB at once", "mis.hoards", {"piece": 10**12}, small, "out_of_memory"),
        ("allocates shared memory", "mis.hoards-by-mapping", {}, small, "out_of_memory"),
        ("its child allocates", "mis.fostering", {}, small, "out_of_memory"),
        ("writes 1 GB to stdout", "mis.floods", {}, long, "finished"),
        ("leaves a child", "mis.leaves-a-child", {"pids": str(folder / "a")}, long, "finished"),
        (
            "leaves a child, own session",
            "mis.leaves-a-child",
            {"pids": str(folder / "b"), "new_session": True},
            long,
            "finished",
        ),
        ("leaves a daemon", "mis.leaves-a-daemon", {"pids": str(folder / "c")}, long, "finished"),
        ("leaves a thread", "mis.leaves-a-thread", {}, long, "finished"),
    ]


def run(solver: str, parameters: dict[str, Any], limits: Limits, problem: dict[str, Any] = BOWL) -> Outcome:
    return run_isolated(
        Request(
            key=solver,
            problem=problem,
            solver={"name": solver, **parameters},
            seed=0,
            budget={"iterations": 100},
            limits=limits,
            measure=Measure(),
            modules=(str(SOLVERS),),
        )
    )


def alive(folder: Path) -> list[str]:
    """Processes that the cases started and that are still there."""
    pids = " ".join(file.read_text() for file in folder.iterdir()).split()
    return [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]


def main() -> int:
    missed = 0
    print(f"{'case':<28} {'status':<14} {'wall s':>7} {'overrun s':>10}  message")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case, solver, parameters, limits, expected in cases(folder):
            if os.environ.get("OPTIFRAME_QUICK") and case not in QUICK:
                continue
            missed += show(case, run(solver, parameters, limits), limits, expected)
        unloadable = {"name": "minimize", "objective": {"name": "mis.explodes", "to": [1.0]}}
        missed += show(
            "problem cannot be loaded", run("mis.honest", {}, Limits(LONG), unloadable), Limits(LONG), "error"
        )
        left = alive(folder)
    print(f"processes left behind: {len(left)}")
    verdict = "MISSED" if missed or left else "reached"
    print(f"every status as called for, every overrun under {OVERRUN_TARGET:g} s: {verdict}")
    return int(bool(missed or left))


def show(case: str, outcome: Outcome, limits: Limits, expected: str) -> bool:
    """Print a line; whether it is not what the case calls for."""
    overrun = max(0.0, outcome.wall - limits.time)
    wrong = outcome.status != expected or overrun >= OVERRUN_TARGET
    mark = f"  WRONG: expected {expected}" if wrong else ""
    line = f"{case:<28} {outcome.status:<14} {outcome.wall:7.2f} {overrun:10.3f}  {outcome.message}{mark}"
    print(line, flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
