"""Votes left out, predicted by rankings of the other votes, clean and spoilt, beside three libraries.

Run: python examples/bench/ranking_held_out.py [--draws 5] [--sets pairwise.human-age ...]

A fifth of the decided votes of each shipped set is left out at random, as they are; the others are spoilt:
a share of votes flipped; a share of workers who reverse every vote (adversaries), or always choose the left
item (clickers). Sets without workers have flips only. Ties, which libraries take in different ways, are left
out. Accuracy is the share of votes left out whose winner has the higher score. Log-loss is -log of the
chance of the winner, for `ranking.crowd-bt` in a vote of anybody in the crowd; scores that are no log-odds
are multiplied by what suits the votes ranked best.

Targets: clean within .2 points of the best peer on every set; 20% adversaries within .5 points of clean.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rankone_common import one_thread, verdict
from scipy.optimize import minimize_scalar
from scipy.special import expit

import optiframe

Array = NDArray[np.float64]
OURS = "ranking.crowd-bt"
PEERS = ("evalica.bradley-terry", "choix.ilsr", "crowdkit.noisy-bradley-terry")
OTHERS = ("hodge.bradley-terry", "hodge.l2", "hodge.lbi", *PEERS)
SETS = ("pairwise.human-age", "pairwise.pc-iqa-workers", "pairwise.world-college")
NAMELESS = ("pairwise.pc-vqa", "pairwise.pc-iqa", "pairwise.pc-iqa-extended")
SPOILT = (
    "clean",
    "flips .1",
    "flips .2",
    "adversaries .1",
    "adversaries .2",
    "adversaries .3",
    "clickers .2",
)


def votes(name: str) -> dict[str, Any]:
    """Winner, loser and worker of the decided votes of a set; no worker where they are not known."""
    more = {"ref": None} if name in NAMELESS else {"names": False} if "college" in name else {}
    table = optiframe.problem(dataset={"name": name, **more}).comparisons
    ahead = table.margin > 0
    rows = {
        "winner": np.where(ahead, table.left, table.right),
        "loser": np.where(ahead, table.right, table.left),
    }
    if table.worker is not None:
        rows["worker"] = table.worker
    return {key: column[table.margin != 0] for key, column in rows.items()}


def spoil(rows: dict[str, Any], how: str, rng: np.random.Generator) -> dict[str, Any]:
    """The votes as a table of comparisons, some of them turned round."""
    kind, _, share = how.partition(" ")
    count = len(rows["winner"])
    first = rng.random(count) < 0.5
    left = np.where(first, rows["winner"], rows["loser"])
    right = np.where(first, rows["loser"], rows["winner"])
    winner = rows["winner"]
    if kind == "flips":
        turned = rng.random(count) < float(share)
        winner = np.where(turned, rows["loser"], winner)
    elif kind != "clean":
        workers = np.unique(rows["worker"])
        bad = rng.choice(workers, round(float(share) * len(workers)), replace=False)
        by = np.isin(rows["worker"], bad)
        winner = np.where(by, rows["loser"] if kind == "adversaries" else left, winner)
    table = {"left": left, "right": right, "label": winner}
    return table | ({"worker": rows["worker"]} if "worker" in rows else {})


def fitted(solver: str, table: dict[str, Any]) -> Callable[[dict[str, Any]], Array] | None:
    """Chances of the winners of votes, by the scores of a solver; None where it refuses the votes."""
    problem = optiframe.problem("pairwise-ranking", comparisons=table)
    given = {"ties": "half"} if solver == "hodge.bradley-terry" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = optiframe.solve(problem, solver, trace=False, **given)
    except optiframe.Unsuited:
        return None
    answer, rows = result.solution, problem.comparisons
    scores = answer.scores
    if answer.scale != "log-odds":
        gaps = (scores[rows.left] - scores[rows.right]) * rows.margin
        scale = minimize_scalar(lambda by: np.logaddexp(0.0, -by * gaps).mean(), bounds=(0, 1e3)).x
        scores = scores * scale
    score = dict(zip(answer.items.tolist(), scores.tolist(), strict=True))

    def chances(asked: dict[str, Any]) -> Array:
        pairs = zip(asked["winner"].tolist(), asked["loser"].tolist(), strict=True)
        gap = np.array([score.get(i, 0.0) - score.get(j, 0.0) for i, j in pairs])
        return result.detail.chance(gap) if solver == OURS else expit(gap)

    return chances


def judged(chance: Array) -> tuple[float, float]:
    """Accuracy and log-loss, given the chances of the winners."""
    return float(((1 + np.sign(chance - 0.5)) / 2).mean()), float(-np.log(chance).mean())


def measure(name: str, how: str, solvers: tuple[str, ...], draws: int) -> dict[str, tuple[float, float]]:
    """Mean accuracy and log-loss of each solver that takes every draw."""
    rows, found = votes(name), {solver: [] for solver in solvers}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        out = rng.random(len(rows["winner"])) < 0.2
        table = spoil({key: column[~out] for key, column in rows.items()}, how, rng)
        for solver in solvers:
            if found[solver] is not None:
                chances = fitted(solver, table)
                left_out = {key: column[out] for key, column in rows.items()}
                found[solver] = None if chances is None else [*found[solver], judged(chances(left_out))]
    return {
        solver: tuple(np.mean(each, axis=0).tolist()) for solver, each in found.items() if each is not None
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=[*SETS, *NAMELESS])
    parser.add_argument("--spoilt", nargs="*", default=SPOILT)
    parser.add_argument("--solvers", nargs="*", default=[OURS, *OTHERS])
    given = parser.parse_args()
    clean_behind, adversaries_behind = [], []
    for name in given.sets:
        print(f"{name}: accuracy in percent (log-loss)")
        first = None
        for how in (how for how in given.spoilt if name in SETS or how.startswith(("clean", "flips"))):
            found = measure(name, how, tuple(given.solvers), given.draws)
            shown = "; ".join(f"{solver} {100 * a:.1f} ({loss:.3f})" for solver, (a, loss) in found.items())
            print(f"  {how}: {shown}", flush=True)
            if how == "clean":
                first = found[OURS][0]
                peers = [found[peer][0] for peer in PEERS if peer in found]
                clean_behind += [100 * (max(peers) - first)] if peers else []
            if how == "adversaries .2" and first is not None:
                adversaries_behind.append(100 * (first - found[OURS][0]))
    if clean_behind:
        verdict("clean, points behind the best peer, the worst set", max(clean_behind), 0.2)
    if adversaries_behind:
        verdict("20% adversaries, points behind clean, the worst set", max(adversaries_behind), 0.5)


if __name__ == "__main__":
    one_thread()
    main()
