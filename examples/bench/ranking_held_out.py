"""Votes left out, predicted by rankings of the other votes, clean and spoilt, beside three libraries.

Run: python examples/bench/ranking_held_out.py [--draws 20] [--sets pairwise.human-age ...]

A fifth of the decided votes of each shipped set is left out at random, as they are; the others are spoilt:
a share of votes flipped; a share of workers who reverse every vote (adversaries), or always choose the left
item (clickers). Sets without workers have flips only. Ties, which libraries take in different ways, are left
out. Accuracy is the share of votes left out whose winner has the higher score. Log-loss is -log of the
chance of the winner, for `ranking.crowd-bt` in a vote of anybody in the crowd; scores that are no log-odds
are multiplied by what suits the votes ranked best.

One draw of a small set tells little: on pc-iqa-workers two rankings differ by a point of accuracy from draw
to draw. So means are over 20 draws, 10 of spoilt votes, the same for all solvers, with 90% intervals of the
paired difference to the best peer: over draws of these votes, and as if other pairs of items had been
compared, or other workers asked. Votes on one pair, and those of one worker, are right or wrong together, so
a set of few items says little about methods. crowd-kit, whose fits take seconds, is left out of most spoilt
votes.

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
SLOW = "crowdkit.noisy-bradley-terry"
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


def measure(
    name: str, how: str, solvers: tuple[str, ...], draws: int
) -> tuple[dict[str, Array], Array, dict[str, Array], dict[str, NDArray[np.int64]]]:
    """Accuracy and log-loss in each draw, shape (draws, 2), of each solver that takes every draw.

    And of each vote: how often it was left out, how often each solver then had it right, shape (votes,) each,
    and its pair of items and worker.
    """
    rows, found = votes(name), {solver: [] for solver in solvers}
    count = len(rows["winner"])
    ends = np.sort(np.column_stack([rows["winner"], rows["loser"]]), axis=1)
    units = {"pairs": np.unique(ends, axis=0, return_inverse=True)[1].ravel()}
    if "worker" in rows:
        units["workers"] = np.unique(rows["worker"], return_inverse=True)[1]
    asked, correct = np.zeros(count), {solver: np.zeros(count) for solver in solvers}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        out = rng.random(count) < 0.2
        table = spoil({key: column[~out] for key, column in rows.items()}, how, rng)
        asked += out
        for solver in solvers:
            if found[solver] is not None:
                chances = fitted(solver, table)
                if chances is None:
                    found[solver] = None
                    continue
                chance = chances({key: column[out] for key, column in rows.items()})
                right = (1 + np.sign(chance - 0.5)) / 2
                correct[solver][out] += right
                found[solver].append((float(right.mean()), float(-np.log(chance).mean())))
    kept = {solver: np.array(each) for solver, each in found.items() if each is not None}
    return kept, asked, correct, units


def behind(ours: Array, other: Array) -> tuple[float, float]:
    """By how many points of accuracy ours is behind, and half of the 90% interval of that over draws."""
    gap = 100 * (other[:, 0] - ours[:, 0])
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
    return float(gap.mean()), float(1.645 * error)


def over_units(unit: NDArray[np.int64], asked: Array, gap: Array) -> float:
    """Half of the 90% interval of the points behind, had other units been drawn, given each vote's gap."""
    rest = np.bincount(unit, gap - asked * gap.sum() / asked.sum())
    return float(164.5 * np.sqrt((rest**2).sum() * len(rest) / (len(rest) - 1)) / asked.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", nargs="*", default=[*SETS, *NAMELESS])
    parser.add_argument("--spoilt", nargs="*", default=SPOILT)
    parser.add_argument("--solvers", nargs="*", default=[OURS, *OTHERS])
    given = parser.parse_args()
    clean_behind, adversaries_behind = [], []
    for name in given.sets:
        print(f"{name}: accuracy in percent (log-loss)")
        first = None
        for how in (how for how in given.spoilt if name in SETS or how.startswith(("clean", "flips"))):
            draws = given.draws if how == "clean" else max(given.draws // 2, 1)
            solvers = [one for one in given.solvers if one != SLOW or how in ("clean", "adversaries .2")]
            found, asked, correct, units = measure(name, how, tuple(solvers), draws)
            means = {solver: each.mean(axis=0) for solver, each in found.items()}
            shown = "; ".join(f"{solver} {100 * a:.1f} ({loss:.3f})" for solver, (a, loss) in means.items())
            print(f"  {how}: {shown}", flush=True)
            peers = [peer for peer in PEERS if peer in found]
            if OURS in found and peers:
                best = max(peers, key=lambda peer: means[peer][0])
                gap, half = behind(found[OURS], found[best])
                votes_behind = correct[best] - correct[OURS]
                halves = {"draws": half} | {
                    of: over_units(unit, asked, votes_behind) for of, unit in units.items()
                }
                ends = (f"over {of} {gap - half:.2f} to {gap + half:.2f}" for of, half in halves.items())
                print(f"    points behind {best}: {gap:.2f}; 90% interval {', '.join(ends)}")
                clean_behind += [gap] if how == "clean" else []
            if how == "clean":
                first = found[OURS]
            if how == "adversaries .2" and first is not None:
                adversaries_behind.append(100 * (first[:draws, 0].mean() - means[OURS][0]))
    if clean_behind:
        verdict("clean, points behind the best peer, the worst set", max(clean_behind), 0.2)
    if adversaries_behind:
        verdict("20% adversaries, points behind clean, the worst set", max(adversaries_behind), 0.5)


if __name__ == "__main__":
    one_thread()
    main()
