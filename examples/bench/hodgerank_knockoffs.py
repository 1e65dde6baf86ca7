"""Whether the knockoffs of `position_bias` hold their false-discovery level, by simulation.

Sixteen items, 60 annotators of 40 comparisons each, 12 of whom lean to one side; six kinds of noise.
The level is on the expected share of innocent annotators among those accused. Minutes for all 200
draws of a kind; OPTIFRAME_QUICK makes it 5.
"""

from __future__ import annotations

import numpy as np
from hodgerank_common import quick
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.knockoffs import position_bias

ITEMS, WORKERS, EACH, BIASED, BIAS = 16, 60, 40, 12, 0.6
KINDS = ("normal", "t with 3 degrees", "votes", "votes, weak bias", "60% clicks", "taste differs")


def chance(margin: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Votes of +-1 whose log-odds are the margin."""
    return np.where(rng.random(len(margin)) < 1 / (1 + np.exp(-margin)), 1.0, -1.0)


def drawn(seed: int, kind: str) -> tuple[PairwiseRanking, np.ndarray]:
    """Comparisons, and which annotators lean to one side."""
    rng = np.random.default_rng(seed)
    scores = 2 * rng.permutation(ITEMS) / ITEMS
    worker = np.repeat(np.arange(WORKERS), EACH)
    left = rng.integers(ITEMS, size=len(worker))
    right = (left + rng.integers(1, ITEMS, size=len(worker))) % ITEMS
    bias = np.zeros(WORKERS)
    bias[rng.choice(WORKERS, BIASED, replace=False)] = BIAS * rng.choice([-1, 1], BIASED)
    margin, lean = scores[left] - scores[right], bias[worker]
    if kind == "normal":
        y = margin + lean + rng.standard_normal(len(worker))
    elif kind == "t with 3 degrees":
        y = margin + lean + rng.standard_t(3, len(worker))
    elif kind == "votes":
        y = chance(2 * margin + 3 * lean, rng)
    elif kind == "votes, weak bias":
        y = chance(2 * margin + 1.5 * lean, rng)
    elif kind == "60% clicks":
        y = chance(2 * margin, rng)
        y[(lean != 0) & (rng.random(len(worker)) < 0.6)] = 1.0
    else:
        taste = 0.7 * rng.standard_normal((WORKERS, ITEMS))
        y = margin + taste[worker, left] - taste[worker, right] + lean + rng.standard_normal(len(worker))
    table = {"worker": worker, "left": left, "right": right, "margin": y}
    return PairwiseRanking(comparisons=table), bias != 0


def main() -> None:
    draws = 5 if quick() else 200
    held = True
    print(f"{'noise':18}{'level':>6}{'false discovery':>18}{'power':>8}")
    for kind in KINDS:
        rates: dict[float, list[tuple[float, float]]] = {0.1: [], 0.2: []}
        for seed in range(draws):
            problem, biased = drawn(seed, kind)
            for level, found in rates.items():
                accused = position_bias(problem, level, seed=seed).accused
                false = (accused & ~biased).sum() / max(accused.sum(), 1)
                found.append((false, (accused & biased).sum() / biased.sum()))
        for level, found in rates.items():
            false, power = np.mean(found, axis=0)
            error = np.std([one for one, _ in found]) / draws**0.5
            held = held and false <= level + 2 * error
            print(f"{kind:18}{level:6.1f}{false:11.3f} +- {error:.3f}{power:8.2f}")
    print(f"level held within two standard errors ({draws} draws): {'reached' if held else 'MISSED'}")


if __name__ == "__main__":
    main()
