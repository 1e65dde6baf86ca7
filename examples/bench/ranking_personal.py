"""Choices left out, predicted by personal rankings and by one ranking for all users, on the shipped sets.

Run: python examples/bench/ranking_personal.py [--draws 5] [--sets human-age ...]

A fifth of each worker's pairs is left out at random, repeats of a pair together, and predicted by what is
learnt from the others: the population's ranking alone (Bradley-Terry), the better of it and CrowdBT,
`btl.personal` as `CollaborativeRanker` takes it at its defaults, and the low-rank scores of
`manifold.trust-region` at rank 2. Ties count half each way. The choice between personal rankings and one for
all is by cross-validation within the other four fifths; `served` says how often which was chosen. `one-taste`
is drawn: everybody has the ranking that the population has in human-age, so that personal rankings can only
lose.

Targets: over the draws of a set, the mean log-loss of what is served by default is at most .002 above the
population's.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from time import process_time
from typing import Any

import numpy as np
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.read.folds import deal
from optiframe_manifold.read.subsets import some_rows
from rankone_common import one_thread, verdict
from scipy.special import expit

import optiframe

SETS = ("human-age", "world-college", "pc-iqa-workers", "one-taste")
PERSONAL = "personal"
SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "population": ("btl.personal", {"ranks": (), "crowd": False}),
    "one for all": ("btl.personal", {"ranks": ()}),
    PERSONAL: ("btl.personal", {}),
    "rank 2": ("manifold.trust-region", {}),
}


def choices(name: str) -> CollaborativeRanking:
    """The comparisons of a set, its workers as users."""
    if name == "one-taste":
        return one_taste(choices("human-age"))
    table = optiframe.problem(dataset={"name": f"pairwise.{name}"}).comparisons
    label = np.where(table.margin > 0, table.left, table.right) + 1
    rows = {
        "user": table.worker,
        "left": table.left + 1,
        "right": table.right + 1,
        "label": np.where(table.margin == 0, 0, label),  # from 1 on: 0 is a tie
    }
    return CollaborativeRanking(comparisons=rows, rank=1)


def one_taste(like: CollaborativeRanking) -> CollaborativeRanking:
    """The same pairs by the same users, who all choose by the population's scores."""
    table, rng = like.comparisons, np.random.default_rng(0)
    name, parameters = SOLVERS["population"]
    scores = optiframe.solve(like, name, progress=False, trace=False, **parameters).solution.factors.right[
        :, 0
    ]
    won = rng.random(len(table)) < expit((scores[table.left] - scores[table.right]) / like.sigma)
    rows = {"user": table.user, "left": table.left + 1, "right": table.right + 1}
    return CollaborativeRanking(
        comparisons=rows | {"label": np.where(won, rows["left"], rows["right"])}, rank=1
    )


def measure(name: str, draws: int) -> dict[str, tuple[float, float]]:
    """Mean log-loss and accuracy of each solver; printed with times and what was served."""
    whole = choices(name)
    found: dict[str, list[tuple[float, float]]] = {solver: [] for solver in SOLVERS}
    served: Counter[str] = Counter()
    seconds = 0.0
    for draw in range(draws):
        fold = deal(whole.comparisons, 5, draw)
        train, test = (some_rows(whole.comparisons, rows) for rows in (fold != 0, fold == 0))
        for kind, (solver, parameters) in SOLVERS.items():
            problem = whole.like(train, rank=2 if kind == "rank 2" else min(5, *whole.shape), held_out=test)
            began = process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = optiframe.solve(
                    problem, solver, seed=draw, progress=False, trace=False, **parameters
                )
            if kind == PERSONAL:
                seconds += (process_time() - began) / draws
                chosen = result.detail.chosen
                served[f"{chosen.model} {chosen.rank}" if chosen.rank else chosen.model] += 1
            found[kind].append((result.metrics["held_out_loss"], result.metrics["held_out_accuracy"]))
    users, items = whole.shape
    print(f"{name}: {whole.rows} comparisons of {items} items by {users} users, {draws} draws")
    means = {kind: tuple(np.mean(each, axis=0).tolist()) for kind, each in found.items()}
    for kind, (loss, accuracy) in means.items():
        print(f"  {kind:<12} log-loss {loss:.4f}, accuracy {100 * accuracy:.1f}%")
    gains = np.array(found["population"])[:, 0] - np.array(found[PERSONAL])[:, 0]
    print(f"  {PERSONAL} below population, by draw: {', '.join(f'{gain:.4f}' for gain in gains)}")
    print(f"  served: {', '.join(f'{what} {count}x' for what, count in served.most_common())}")
    print(f"  time of {PERSONAL}: {seconds:.1f} s of one processor", flush=True)
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    given = parser.parse_args()
    above = []
    for name in given.sets:
        means = measure(name, given.draws)
        above.append(means[PERSONAL][0] - means["population"][0])
    verdict("log-loss of what is served above the population's, the worst set", max(above), 0.002)


if __name__ == "__main__":
    one_thread()
    main()
