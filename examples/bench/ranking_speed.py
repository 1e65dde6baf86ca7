"""Time of Bradley-Terry and of ranking.crowd-bt beside evalica's Bradley-Terry, from arrays to scores.

Run: python examples/bench/ranking_speed.py [--repeats 3] [--items 1000] [--votes 1000000 50000]

Votes by 1,000 workers, 10% of whom reverse every vote, from arrays of ids to scores: ours with reading,
intervals, findings and flags, evalica's `bradley_terry` (which knows none of them) on Python lists that are
made before the clock starts. `hodge.bradley-terry` gets no workers. One thread, least of interleaved rounds.

Targets: hodge.bradley-terry at most evalica's time at a million votes; ranking.crowd-bt about as long there
(at most 1.5 times), and at most 3 times at 50,000.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

import numpy as np
from rankone_common import best_of, one_thread, verdict

import optiframe

BRADLEY_TERRY = {1_000_000: 1.0}
CROWD = {1_000_000: 1.5, 50_000: 3.0}


def table(items: int, votes: int, workers: int = 1000) -> dict[str, Any]:
    """Who was compared with whom, by whom, and who won."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(items)
    left = rng.integers(items, size=votes)
    right = (left + rng.integers(1, items, size=votes)) % items
    worker = rng.integers(workers, size=votes)
    won = rng.random(votes) < 1 / (1 + np.exp(truth[right] - truth[left]))
    won ^= worker < workers // 10
    return {"worker": worker, "left": left, "right": right, "label": np.where(won, left, right)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--votes", type=int, nargs="*", default=[1_000_000, 50_000])
    given = parser.parse_args()
    evalica = import_module("evalica")
    for votes in given.votes:
        rows = table(given.items, votes)
        left, right = rows["left"].tolist(), rows["right"].tolist()
        first, second = evalica.Winner.X, evalica.Winner.Y
        winners = [first if won else second for won in (rows["label"] == rows["left"]).tolist()]

        def solved(solver: str, rows: dict[str, Any] = rows) -> Any:
            known = rows if "crowd" in solver else {name: rows[name] for name in ("left", "right", "label")}
            problem = optiframe.problem("pairwise-ranking", comparisons=known)
            return optiframe.solve(problem, solver, trace=False)

        times, _ = best_of(
            given.repeats,
            {
                "evalica": lambda left=left, right=right, winners=winners: evalica.bradley_terry(
                    left, right, winners
                ),
                "hodge.bradley-terry": lambda: solved("hodge.bradley-terry"),
                "ranking.crowd-bt": lambda: solved("ranking.crowd-bt"),
            },
        )
        shown = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items())
        print(f"{votes:,} votes: {shown}")
        for name, most in (("hodge.bradley-terry", BRADLEY_TERRY), ("ranking.crowd-bt", CROWD)):
            ratio = times[name] / times["evalica"]
            if votes in most:
                verdict(f"{votes:,} votes, {name} over evalica", ratio, most[votes])
            else:
                print(f"{votes:,} votes, {name} over evalica: {ratio:.3g}")


if __name__ == "__main__":
    one_thread()
    main()
