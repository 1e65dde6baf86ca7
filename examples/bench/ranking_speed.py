"""Time of Bradley-Terry and of ranking.crowd-bt beside evalica's Bradley-Terry, from arrays to scores.

Run: python examples/bench/ranking_speed.py [--repeats 3] [--items 1000]

A million votes by 1,000 and by 50,000 workers, and 50,000 votes by 1,000 workers, 10% of whom reverse every
vote, from arrays of ids to scores. Ours with reading, intervals, findings and flags; evalica's function
has none of these, and gets Python lists that are made before the clock starts. `hodge.bradley-terry` gets no
workers. Seconds of one processor, so that other work on the machine matters less; least of interleaved
rounds.

Targets: hodge.bradley-terry at most evalica's time at a million votes; ranking.crowd-bt about as long with
1,000 workers (at most 1.5 times), and at most 3 times with 50,000 workers, and with 50,000 votes.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from rankone_common import best_of, one_thread, verdict

import optiframe

CASES = {  # votes and workers: times evalica's that hodge.bradley-terry and ranking.crowd-bt may take
    (1_000_000, 1_000): (1.0, 1.5),
    (1_000_000, 50_000): (1.0, 3.0),
    (50_000, 1_000): (None, 3.0),
}


def table(items: int, votes: int, workers: int) -> dict[str, Any]:
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
    parser.add_argument("--share", type=float, default=1.0, help="of the votes and workers: less is faster")
    given = parser.parse_args()
    evalica = import_module("evalica")
    for (all_votes, all_workers), targets in CASES.items():
        votes, workers = round(given.share * all_votes), round(given.share * all_workers)
        rows, case = table(given.items, votes, workers), f"{votes:,} votes of {workers:,} workers"
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
            process_time,
        )
        shown = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items())
        print(f"{case}: {shown}")
        for name, most in zip(("hodge.bradley-terry", "ranking.crowd-bt"), targets, strict=True):
            ratio = times[name] / times["evalica"]
            if most is not None:
                verdict(f"{case}, {name} over evalica", ratio, most)
            else:
                print(f"{case}, {name} over evalica: {ratio:.3g}")


if __name__ == "__main__":
    one_thread()
    main()
