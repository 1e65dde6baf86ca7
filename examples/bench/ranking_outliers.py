"""Where taking single comparisons for wrong helps: margins with gross errors, and votes with flips.

Run: python examples/bench/ranking_outliers.py [--draws 40]

20 items with uniform scores, 400 comparisons of pairs drawn at random. Margins have normal noise of deviation
.1 and gross errors: +-1 added to a share of them, or that share reversed. Votes of +-1 follow the
Bradley-Terry model with scores spread over 6 log-odds, a share of them flipped. The methods are given that
share (clean: 5%, their default). The figure is the mean error over that of `hodge.l2` on the same
comparisons: for margins the root mean squared error of the scores, for votes the share of
pairs of items in the wrong order, since scores from votes have no true size.

Targets: with 10% gross errors LBI has at most .7 times the error of least squares; on clean margins at most
1.2 times.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rankone_common import one_thread, verdict
from scipy.special import expit

import optiframe

Array = NDArray[np.float64]

ITEMS, ROWS, NOISE, LOG_ODDS = 20, 400, 0.1, 6.0
METHODS = ("hodge.lbi", "hodge.hlasso", "hodge.iht")
CASES = (
    ("margins, clean", 0.0),
    ("margins, 5% off by 1", 0.05),
    ("margins, 10% off by 1", 0.1),
    ("margins, 20% off by 1", 0.2),
    ("margins, 10% reversed", 0.1),
    ("margins, 20% reversed", 0.2),
    ("votes, clean", 0.0),
    ("votes, 10% flipped", 0.1),
    ("votes, 20% flipped", 0.2),
)


def drawn(case: str, share: float, rng: np.random.Generator) -> tuple[Array, dict[str, Any]]:
    """True scores and comparisons."""
    truth = rng.random(ITEMS)
    left = rng.integers(ITEMS, size=ROWS)
    right = (left + rng.integers(1, ITEMS, size=ROWS)) % ITEMS
    gap = truth[left] - truth[right]
    wrong = np.zeros(ROWS, dtype=bool)
    wrong[rng.choice(ROWS, round(share * ROWS), replace=False)] = True
    if case.startswith("votes"):
        margin = np.where(rng.random(ROWS) < expit(LOG_ODDS * gap), 1.0, -1.0)
    else:
        margin = gap + NOISE * rng.standard_normal(ROWS)
    if case.endswith("off by 1"):
        margin = margin + np.where(wrong, rng.choice([-1.0, 1.0], ROWS), 0.0)
    else:
        margin = np.where(wrong, -margin, margin)
    return truth, {"left": left, "right": right, "margin": margin}


def error(case: str, scores: Array, truth: Array) -> float:
    """Of scores in the order of the items: see above."""
    if case.startswith("margins"):
        return float(np.sqrt(np.mean((scores - truth + truth.mean()) ** 2)))
    above = np.sign(truth[:, None] - truth[None, :]) * np.sign(scores[:, None] - scores[None, :])
    return float(((1 - above) / 2)[~np.eye(ITEMS, dtype=bool)].mean())


def ratios(case: str, share: float, draws: int) -> dict[str, float]:
    """Mean error of each method over the mean error of least squares."""
    found: dict[str, list[float]] = {name: [] for name in ("hodge.l2", *METHODS)}
    for draw in range(draws):
        truth, rows = drawn(case, share, np.random.default_rng(draw))
        problem = optiframe.problem("pairwise-ranking", comparisons=rows)
        for name, errors in found.items():
            given = {} if name == "hodge.l2" else {"share": share or 0.05}
            answer = optiframe.solve(problem, name, progress=False, trace=False, **given).solution
            errors.append(error(case, answer.scores, truth[answer.items]))
    least = np.mean(found.pop("hodge.l2"))
    return {name: float(np.mean(errors) / least) for name, errors in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=40)
    given = parser.parse_args()
    print(f"error over that of hodge.l2, {given.draws} draws")
    print(f"  {'':<24}" + "".join(f"{name:>14}" for name in METHODS))
    lbi = {}
    for case, share in CASES:
        found = ratios(case, share, given.draws)
        lbi[case] = found["hodge.lbi"]
        print(f"  {case:<24}" + "".join(f"{found[name]:>14.2f}" for name in METHODS), flush=True)
    verdict("LBI over least squares, margins, 10% off by 1", lbi["margins, 10% off by 1"], 0.7)
    verdict("LBI over least squares, margins, clean", lbi["margins, clean"], 1.2)


if __name__ == "__main__":
    one_thread()
    main()
