"""Votes asked for by `suggest` and at random pairs, until the ranking is as good: how many are saved.

Run: python examples/bench/ranking_suggest.py [--draws 40] [--items 20]

Items have normal scores (in log-odds, deviation 1.5); votes are drawn by the Bradley-Terry model. All ways
begin with the same random votes, two an item, and ask for as many more as there are items, round after round;
each round `hodge.bradley-terry` ranks by all votes so far. The ways: random pairs; `suggest` at its defaults;
`suggest(first=3)`, which aims at the first three places. Two errors: of all pairs of items, the share in the
wrong order; of the pairs with one of the three truly best items, the same. A way needs as many votes as it
takes until its error, a mean over draws, is that of random pairs at the end (straight lines between rounds).

Targets: for each error the way made for it needs at most .85 times the votes of random pairs.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from optiframe_hodgerank import suggest
from rankone_common import one_thread, verdict
from scipy.special import expit

import optiframe

Array = NDArray[np.float64]

SPREAD, FIRST, ROUNDS = 1.5, 3, 12
WAYS = {"random pairs": None, "suggest": {}, "suggest(first=3)": {"first": FIRST}}
AIMS = {"all pairs": "suggest", "the first three": "suggest(first=3)"}


def votes(
    truth: Array, left: NDArray[np.int64], right: NDArray[np.int64], rng: np.random.Generator
) -> list[int]:
    """Who wins each of these pairs."""
    return np.where(rng.random(len(left)) < expit(truth[left] - truth[right]), left, right).tolist()


def random_pairs(items: int, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left = rng.integers(items, size=n)
    return left, (left + rng.integers(1, items, size=n)) % items


def errors(scores: Array, truth: Array) -> tuple[float, float]:
    """Share of pairs in the wrong order: of all, and of those with one of the truly first three."""
    above = np.sign(truth[:, None] - truth[None, :]) * np.sign(scores[:, None] - scores[None, :])
    wrong = (1 - above) / 2
    best = np.argsort(-truth)[:FIRST]
    rows = np.zeros(len(truth), dtype=bool)
    rows[best] = True
    off = ~np.eye(len(truth), dtype=bool)
    return float(wrong[off].mean()), float(wrong[off & (rows[:, None] | rows[None, :])].mean())


def curve(way: str, items: int, draw: int) -> Array:
    """Errors after each round, shape (rounds + 1, 2)."""
    rng = np.random.default_rng(draw)
    truth = SPREAD * rng.standard_normal(items)
    left, right = random_pairs(items, 2 * items, rng)
    # A ring of the items joins them: nothing can be said of items that no chain of votes joins.
    left, right = np.append(left, np.arange(items)), np.append(right, (np.arange(items) + 1) % items)
    winner = votes(truth, left, right, rng)
    found = []
    for _ in range(ROUNDS + 1):
        problem = optiframe.problem(
            "pairwise-ranking",
            comparisons={"left": left + 1, "right": right + 1, "label": np.array(winner) + 1},
        )
        result = optiframe.solve(problem, "hodge.bradley-terry", progress=False, trace=False)
        found.append(errors(result.solution.scores, truth))
        wish = WAYS[way]
        if wish is None:
            more = random_pairs(items, items, rng)
        else:
            table = suggest(result, n=items, **wish)
            more = np.asarray(table["left"]) - 1, np.asarray(table["right"]) - 1
        winner += votes(truth, *more, rng)
        left, right = np.append(left, more[0]), np.append(right, more[1])
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--items", type=int, default=20)
    given = parser.parse_args()
    means = {
        way: np.mean([curve(way, given.items, draw) for draw in range(given.draws)], axis=0) for way in WAYS
    }
    asked = 3 * given.items + given.items * np.arange(ROUNDS + 1)
    print(f"{given.items} items, {given.draws} draws; share of pairs in the wrong order, in percent")
    for which, (error, aimed) in enumerate(AIMS.items()):
        print(f"{error}:")
        print(f"  {'votes':<18}" + "".join(f"{n:>7}" for n in asked))
        for way, mean in means.items():
            print(f"  {way:<18}" + "".join(f"{100 * each:>7.2f}" for each in mean[:, which]))
        goal, needs = float(means["random pairs"][-1, which]), {}
        for way, mean in means.items():
            best = np.minimum.accumulate(mean[:, which])
            needs[way] = float(np.interp(-goal, -best, asked)) / asked[-1]
        print("  votes needed: " + ", ".join(f"{way} {share:.2f}" for way, share in needs.items()))
        verdict(f"votes by {aimed} over random pairs at the same error, {error}", needs[aimed], 0.85)


if __name__ == "__main__":
    one_thread()
    main()
