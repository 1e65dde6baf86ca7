"""How often 90% intervals of ranking.crowd-bt hold the true score, and how right its flags of workers are.

Run: python examples/bench/ranking_coverage.py [--draws 40]

Generated votes of 100 workers on 30 items with normal true scores, 60 votes each: clean; a fifth or more ties
by Davidson's model; workers who vote by the scores with chances between .7 and 1; 10% or 20% of the workers
reverse every vote; 20% click on the left; ties, adversaries and clickers together.
Coverage is the share of items, over all draws, whose interval holds the true score (against the mean), also
of `hodge.bradley-terry`. Flags: how many workers are flagged, and how many of those are bad. Then the shipped
sets, split by workers into two random halves: share of items whose scores differ by at most 1.645 times the
root of the sum of both squared errors.

Targets: coverage .87 to .94 in all cases; precision of flags at least .95; nobody flagged where all are
honest.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

OURS = "ranking.crowd-bt"
CASES = {
    "clean": {},
    "ties": {"ties": 0.0},
    "uneven": {"least": 0.7},
    "adversaries .1": {"adversaries": 0.1},
    "adversaries .2": {"adversaries": 0.2},
    "clickers .2": {"clickers": 0.2},
    "all": {"ties": 0.0, "adversaries": 0.1, "clickers": 0.1},
}
REAL = ("pairwise.human-age", "pairwise.pc-iqa-workers")


def crowd(
    seed: int,
    *,
    items: int = 30,
    workers: int = 100,
    each: int = 60,
    ties: float | None = None,
    adversaries: float = 0.0,
    clickers: float = 0.0,
    least: float = 1.0,
) -> tuple[dict[str, Any], Any, Any]:
    """A table of comparisons, the true scores, and which workers are bad.

    `ties` is log nu of Davidson; honest workers vote by the scores with chances from `least` to 1.
    """
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(items)
    worker = np.repeat(np.arange(workers), each)
    left = rng.integers(items, size=len(worker))
    right = (left + rng.integers(1, items, size=len(worker))) % items
    gap = truth[left] - truth[right]
    odds = np.array(
        [np.exp(gap / 2), np.exp(-gap / 2), np.full_like(gap, 0.0 if ties is None else np.exp(ties))]
    )
    draw = rng.random(len(worker)) * odds.sum(axis=0)
    kind = rng.permutation(workers)
    reverse, click = round(adversaries * workers), round(clickers * workers)
    won, lost = draw < odds[0], (draw >= odds[0]) & (draw < odds[0] + odds[1])
    turned = kind[worker] < reverse
    if least < 1:
        turned |= rng.random(len(worker)) > rng.uniform(least, 1.0, workers)[worker]
    won, lost = np.where(turned, lost, won), np.where(turned, won, lost)
    clicks = (kind[worker] >= reverse) & (kind[worker] < reverse + click)
    won, lost = won | clicks, lost & ~clicks
    label = np.where(won, left, np.where(lost, right, -1)).astype(object)
    label[label == -1] = None
    return {"worker": worker, "left": left, "right": right, "label": label}, truth, kind < reverse + click


def solved(table: dict[str, Any], solver: str) -> Any:
    """The result of a solver, quietly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = optiframe.problem("pairwise-ranking", comparisons=table)
        return optiframe.solve(problem, solver, trace=False)


def case(name: str, draws: int) -> tuple[float, float, int, int, int]:
    """Coverage of ours and of plain Bradley-Terry; how many are flagged, rightly flagged and bad."""
    inside: dict[str, list[float]] = {OURS: [], "hodge.bradley-terry": []}
    flagged = rightly = wrong = 0
    for seed in range(draws):
        table, truth, bad = crowd(seed, **CASES[name])
        for solver, found in inside.items():
            result = solved(table, solver)
            answer = result.solution
            true = truth[answer.items] - truth[answer.items].mean()
            found.append(float(((answer.low < true) & (true < answer.high)).mean()))
            if solver == OURS:
                named = bad[result.detail.unreliable]
                flagged, rightly, wrong = (
                    flagged + len(named),
                    rightly + int(named.sum()),
                    wrong + int(bad.sum()),
                )
    return (
        float(np.mean(inside[OURS])),
        float(np.mean(inside["hodge.bradley-terry"])),
        flagged,
        rightly,
        wrong,
    )


def halves(name: str, draws: int, solver: str) -> float:
    """Share of items on whose score two halves of the workers agree."""
    table, found = optiframe.problem(dataset=name).comparisons, []
    for seed in range(draws):
        mine = np.random.default_rng(seed).permutation(len(table.worker_ids))[table.worker] % 2 == 0
        parts = []
        for rows in (mine, ~mine):
            label = np.where(table.margin > 0, table.left, table.right).astype(object)
            label[table.margin == 0] = None
            part = {"worker": table.worker, "left": table.left, "right": table.right, "label": label}
            parts.append(solved({key: column[rows] for key, column in part.items()}, solver).solution)
        gap = parts[0].scores - parts[1].scores  # each item is compared in both halves
        error = np.hypot(*((part.high - part.low) / 2 for part in parts))
        found.append(float((np.abs(gap) <= error).mean()))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=40)
    draws = parser.parse_args().draws
    covered = {}
    for name in CASES:
        ours, plain, flagged, rightly, bad = case(name, draws)
        covered[name] = ours
        print(
            f"{name}: coverage {ours:.3f} (hodge.bradley-terry {plain:.3f}); {flagged} flagged, of whom "
            f"{rightly} bad; {bad} bad in all",
            flush=True,
        )
        if bad:
            verdict(f"{name}, precision of flags", rightly / max(flagged, 1), 0.95, most=False)
        elif name != "uneven":  # whose workers are not all honest, nor any of them bad
            verdict(f"{name}, flagged", flagged, 0)
    verdict("coverage, the least", min(covered.values()), 0.87, most=False)
    verdict("coverage, the most", max(covered.values()), 0.94)
    for name in REAL:
        ours, plain = (halves(name, draws, solver) for solver in (OURS, "hodge.bradley-terry"))
        print(f"{name}: halves of the workers agree on {ours:.3f} of items (hodge.bradley-terry {plain:.3f})")


if __name__ == "__main__":
    one_thread()
    main()
