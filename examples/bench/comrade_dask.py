"""COMRADE on a Dask cluster of this machine: time per round, and processes that die, hang and lie.

Run: python examples/bench/comrade_dask.py [--workers 4 20] [--shardings 20]

4 and 20 workers, each a process of its own with one thread, started by Dask on loopback; on a
machine with fewer cores they take turns, so that a round takes as long as all its work one after
the other, and what is measured beside the same round in one process is what Dask costs.

1. Seconds for a round of `newton.comrade` on Dask and in one process, interleaved, on a9a (real;
   folder in OPTIFRAME_DATA) and on generated data of the shape of covtype; that both give the same bits.
2. In the fourth round one process gets SIGKILL, one SIGSTOP and one sends garbage from then on (of 20
   workers, 4 left out a round; of 4 workers, 1 left out, each of the three in turn). Gaps after 8
   rounds beside those of a clean run with the same trim and the same sharding of the rows, over 20
   shardings. The rows of lost workers are resharded (`on_fault = "reshard"`, the default); the same
   with `on_fault = "drop"`, where the run goes on without them, is once run on Dask, and over the
   shardings in one process, which gives the same bits.
3. One fault more than the budget: the error.

OPTIFRAME_QUICK=1 runs 4 workers on a small generated case only, to see that the script works.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from optiframe_comrade.parts.filters import Norm
from rankone_common import one_thread, verdict

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import Logistic

ROUNDS = 8  # the gap stays as it is from the sixth on
STRIKE = 4  # the first round of the faults: the gap has come down by then, and is not yet at its floor
QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))


@dataclass(frozen=True)
class Setting:
    """How many workers, what share is left out, and what befalls the first of them, run by run."""

    workers: int
    trim: float
    blows: tuple[tuple[str, ...], ...]
    too_many: tuple[str, ...]


SETTINGS = (
    Setting(4, 0.25, (("kill",), ("stop",), ("garbage",)), ("kill", "stop")),
    Setting(20, 0.2, (("kill", "stop", "garbage"),), ("kill", "stop", "garbage", "kill", "stop")),
)


def case(name: str, **size: Any) -> Minimize:
    data = optiframe.dataset(name, **size).inputs()
    return Minimize(Logistic(matrix=data["matrix"], target=data["target"], l2=1 / len(data["target"])))


def solve(problem: Minimize, seed: int = 0, rounds: int = ROUNDS, **given: Any) -> Any:
    with warnings.catch_warnings():
        # That it has not converged after so many rounds is no news.
        warnings.simplefilter("ignore")
        budget = Budget(iterations=rounds, tolerance=0.0)
        return optiframe.solve(
            problem, "newton.comrade", seed=seed, budget=budget, **{"filter": "norm", **given}
        )


def started(workers: int) -> LocalCluster:
    # Else Dask gives up a killed process that takes more than 15 s to start again.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    began = time.perf_counter()
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        memory_limit=0,
        dashboard_address=None,
        silence_logs=60,
    )
    print(f"{workers} processes on {os.cpu_count()} cores, started in {time.perf_counter() - began:.1f} s")
    return cluster


def striking(strike: Callable[[], None]) -> Norm:
    """The filter by norm; at the end of the round before STRIKE, something happens."""
    rounds = itertools.count(2)

    class Striking(Norm):
        """Trims by norm."""

        name = "filter.striking"

        def aggregate(self, vectors: Any, trim: int = 0) -> Any:
            if next(rounds) == STRIKE:
                strike()
            return super().aggregate(vectors, trim)

    return Striking()


def warm() -> None:
    """Import and compile in a new process, which on a busy machine may take a deadline."""
    small = case("synthetic.covtype-shape", terms=500, columns=5)
    solve(small, rounds=1, workers=1)


def speak_garbage(dask_worker: Any) -> None:
    for seat in dask_worker.state.actors.values():
        seat.reply = lambda *asked: (asked[0], np.full_like(asked[2], np.nan))


class Strike:
    """What happens to the first workers: "kill", "stop" or "garbage", one each."""

    def __init__(self, cluster: LocalCluster, blows: tuple[str, ...]) -> None:
        self.cluster, self.blows = cluster, blows

    def __call__(self) -> None:
        places = sorted(nanny.worker_address for nanny in self.cluster.workers.values())
        pids = {nanny.worker_address: nanny.pid for nanny in self.cluster.workers.values()}
        for place, blow in zip(places, self.blows, strict=False):
            if blow == "garbage":
                with Client(self.cluster.scheduler_address, set_as_default=False) as client:
                    client.run(speak_garbage, workers=[place])
            else:
                os.kill(pids[place], signal.SIGKILL if blow == "kill" else signal.SIGSTOP)

    def undo(self) -> None:
        """Dask starts killed processes again; stopped ones go on."""
        for nanny in self.cluster.workers.values():
            if nanny.pid:
                os.kill(nanny.pid, signal.SIGCONT)
        with Client(self.cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(len(self.cluster.workers), timeout=120)
            client.run(warm)


def times(label: str, problem: Minimize, cluster: LocalCluster, workers: int) -> bool:
    """The median round of several runs, by the clock that stops while the objective is judged."""
    backends = {"dask": {"name": "dask", "address": cluster.scheduler_address}, "in-process": "in-process"}
    rounds: dict[str, list[float]] = {name: [] for name in backends}
    around, answers = [], {}
    for _ in range(1 if QUICK else 2):
        for name, backend in backends.items():
            began = time.perf_counter()
            answers[name] = solve(problem, rounds=12, workers=workers, backend=backend)
            spent = time.perf_counter() - began
            clock = np.array(answers[name].trace["time"])
            rounds[name].extend(np.diff(clock))
            if name == "dask":
                around.append(spent - (clock[-1] - clock[0]))
    same = bool((answers["dask"].solution == answers["in-process"].solution).all())
    print(
        f"{label}, {workers} workers: a round {shown(rounds['dask'])} on Dask, "
        f"{shown(rounds['in-process'])} in one process; connecting, shipping the shards and "
        f"leaving, once: {min(around):.2f} s; same bits: {'yes' if same else 'NO'}",
        flush=True,
    )
    return same


def shown(seconds: list[float]) -> str:
    # The least, too: on a machine that is busy otherwise it is nearer to what a round takes.
    return f"{1e3 * np.median(seconds):.1f} ms (least {1e3 * min(seconds):.1f})"


@dataclass(frozen=True)
class Stage:
    """A problem, the least of its objective, and who works on it."""

    problem: Minimize
    least: float
    cluster: LocalCluster
    setting: Setting
    shardings: int

    def run(self, seed: int, **more: Any) -> Any:
        return solve(self.problem, seed, workers=self.setting.workers, trim=self.setting.trim, **more)

    def attacked(self, seed: int, blows: tuple[str, ...], way: str) -> tuple[Any, float]:
        """A run on Dask that is struck, and its seconds."""
        strike, began = Strike(self.cluster, blows), time.perf_counter()
        try:
            hurt = self.run(seed, filter=striking(strike), **at(self.cluster, way))
            return hurt, time.perf_counter() - began
        finally:
            strike.undo()

    def gap(self, result: Any) -> float:
        return float(result.trace["objective"][-1] - self.least)


def struck(label: str, stage: Stage) -> bool:
    """Runs with real faults, each beside a clean one; rows resharded, then dropped."""
    ok, ratios, kinds = True, [], stage.setting.blows
    for seed in range(len(kinds) if QUICK else stage.shardings):
        blows = kinds[seed % len(kinds)]
        clean = stage.gap(stage.run(seed))
        hurt, seconds = stage.attacked(seed, blows, "reshard")
        ratios.append(stage.gap(hurt) / clean)
        moves = sorted(hurt.detail.moves, key=lambda move: move.fault.worker)
        ok &= {move.fault.worker for move in moves} >= set(range(len(blows)))
        if seed < len(kinds):
            lost = ", ".join(f"worker {move.fault.worker} {move.fault.kind}" for move in moves)
            sent = sum(move.nbytes for move in moves)
            print(
                f"{label}, {stage.setting.workers} workers, {' + '.join(blows)} ({lost}), resharded: "
                f"{hurt.detail.rounds} rounds in {seconds:.1f} s, {sent:,} bytes moved; "
                f"gap {stage.gap(hurt):.3e}, clean {clean:.3e}",
                flush=True,
            )
            ok &= dropped(stage, seed, blows)
    within = 100 * float(np.mean(np.array(ratios) < 1.05))
    print(f"   {len(ratios)} shardings: faulty gap over clean gap {min(ratios):.3f} to {max(ratios):.3f}")
    ok &= verdict(
        "   shardings with a gap at most 5 % above the clean one", within, 100, unit=" %", most=False
    )
    if not QUICK:
        many_dropped(stage)
    return ok


def dropped(stage: Stage, seed: int, blows: tuple[str, ...]) -> bool:
    """The same without the lost rows, beside its double in one process."""
    hurt, seconds = stage.attacked(seed, blows, "drop")
    double = stage.run(seed, **silent(stage.setting, blows))
    same = bool((hurt.solution == double.solution).all())
    faults = sorted({f"worker {fault.worker} {fault.kind}" for fault in hurt.detail.faults})
    print(
        f"   dropped instead ({', '.join(faults)}): {seconds:.1f} s, gap {stage.gap(hurt):.3e}; "
        f"bits of its double in one process: {'the same' if same else 'DIFFER'}",
        flush=True,
    )
    return same


def many_dropped(stage: Stage) -> None:
    """What dropped rows do to the gap, over many shardings, in one process; no target."""
    runs = [{}, silent(stage.setting, stage.setting.blows[0])]
    pairs = np.array(
        [[stage.gap(stage.run(seed, **more)) for more in runs] for seed in range(stage.shardings)]
    )
    ratios = pairs[:, 1] / pairs[:, 0]
    low, high = np.quantile(ratios, [0.1, 0.9])
    print(
        f"   dropped, {stage.shardings} shardings: faulty gap over clean gap {np.median(ratios):.3f} "
        f"in the median, {low:.2f} to {high:.2f} in 8 of 10, {np.mean(ratios < 1.05):.0%} below 1.05; "
        f"the clean gaps scatter by {pairs[:, 0].std() / pairs[:, 0].mean():.0%}",
        flush=True,
    )


def at(cluster: LocalCluster, way: str = "reshard") -> dict[str, Any]:
    # A round takes far less than the deadline; it is what a stopped process costs, once.
    backend = {"name": "dask", "address": cluster.scheduler_address, "on_fault": way}
    return {"backend": backend, "deadline": 10.0}


def silent(setting: Setting, blows: tuple[str, ...]) -> dict[str, Any]:
    """The same workers silent from the same round on, in one process."""
    return {"byzantine": len(blows) / setting.workers, "attack": {"name": "crash", "start": STRIKE}}


def beyond(problem: Minimize, cluster: LocalCluster, setting: Setting) -> bool:
    strike = Strike(cluster, setting.too_many)
    given = {"workers": setting.workers, "trim": setting.trim, "filter": striking(strike)}
    result = solve(problem, **given, **at(cluster))
    print(f"beyond the budget: {result.status}, {result.message}")
    named = all(f"worker {number} at " in result.message for number in range(len(setting.too_many)))
    strike.undo()
    print(f"a message that names them: {'yes' if named else 'NO'}", flush=True)
    return named


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="*", default=[4] if QUICK else [4, 20], choices=[4, 20])
    parser.add_argument("--shardings", type=int, default=20)
    chosen = parser.parse_args()
    one_thread()
    if QUICK:
        cases = {"covtype's shape": case("synthetic.covtype-shape", terms=4000, columns=10)}
    else:
        cases = {
            "a9a": case("libsvm.a9a"),
            "covtype's shape, 58,100 rows": case("synthetic.covtype-shape", terms=58_100),
        }
    # A round of it is what Dask itself costs.
    nearly_nothing = {"4,000 x 10": case("synthetic.covtype-shape", terms=4000, columns=10)}
    ok = True
    for setting in (each for each in SETTINGS if each.workers in chosen.workers):
        with started(setting.workers) as cluster:
            for label, problem in (nearly_nothing | cases).items():
                ok &= times(label, problem, cluster, setting.workers)
            for label, problem in cases.items():
                least = optiframe.solve(problem, "newton.exact", budget=Budget(tolerance=1e-12)).objective
                ok &= struck(label, Stage(problem, least, cluster, setting, chosen.shardings))
            ok &= beyond(next(iter(cases.values())), cluster, setting)
    print("same bits, gaps and errors as expected:", "reached" if ok else "MISSED")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
