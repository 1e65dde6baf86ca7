"""A leaderboard from an Arena file: possible ranks, ratings with intervals, and unreliable judges.

python examples/leaderboard.py

The file is generated: 12 models of known strength, 8,000 battles, 200 judges. Of the judges, 20 reverse every
vote and 20 click at random. Battles and pictures are written to results/leaderboard.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from optiframe_hodgerank import leaderboard, plot_leaderboard, plot_win_probabilities, win_probabilities

import optiframe
from optiframe.errors import MissingPackage

MODELS, BATTLES, JUDGES, BAD = 12, 8000, 200, 20
TIE = 0.6  # Davidson's parameter: odds of a tie of two equal models to a win of one of them
FOLDER = Path("results") / "leaderboard"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    strength = write_battles(FOLDER / "battles.csv")

    # In a file for `optiframe solve`: comparisons = "battles.csv", format = "arena".
    problem = optiframe.problem("pairwise-ranking", comparisons=FOLDER / "battles.csv", format="arena")
    result = optiframe.solve(problem)  # ranking.crowd-bt, which learns how reliable each judge is
    board = leaderboard(result, scale="elo", level=0.9)
    print(f"{problem.rows:,} battles of {MODELS} models: Elo ratings, 90% intervals and the true ratings\n")
    print("rank possible  model      rating      interval   true  votes  group")
    inside = 0
    for at, model in enumerate(board["item"]):
        low, high, true = board["low"][at], board["high"][at], 1000 + 400 / np.log(10) * strength[model]
        inside += low <= true <= high
        ranks, ends = f"{board['rank_low'][at]} to {board['rank_high'][at]}", f"{low:.0f} to {high:.0f}"
        print(
            f"{board['rank'][at]:4} {ranks:>8}  {model:10} {board['score'][at]:6.0f} {ends:>13} {true:6.0f} "
            f"{board['votes'][at]:6}  {board['group'][at]}"
        )
    print("\n`possible`: ranks that the votes leave open, with 90% confidence for all models together.")
    print("`group`: models that share a letter are not distinguishable by these votes.")
    print(f"{inside} of {MODELS} intervals contain the true rating (11 expected).\n")

    first, last = board["item"][0], board["item"][-1]
    chances = win_probabilities(result)
    at = int(np.flatnonzero((chances["left"] == first) & (chances["right"] == last))[0])
    print(
        f"{first} against {last}: wins {chances['win'][at]:.0%}, ties {chances['tie'][at]:.0%}, "
        f"loses {chances['loss'][at]:.0%}"
    )
    found = set(result.detail.unreliable)
    bad = {f"judge {judge}" for judge in range(2 * BAD)}
    right, wrong = len(found & bad), len(found - bad)
    print(
        f"Flagged as unreliable: {right} of {len(bad)} bad judges, {wrong} of {JUDGES - len(bad)} honest ones"
    )

    try:
        plot_leaderboard(result, scale="elo").savefig(FOLDER / "board.png")
        plot_win_probabilities(result).savefig(FOLDER / "chances.png")
    except MissingPackage as error:
        print(error)
    else:
        print(f"Pictures: {FOLDER / 'board.png'}, {FOLDER / 'chances.png'}")


def write_battles(path: Path) -> dict[str, float]:
    """Generate an Arena file; returns each model's strength in log-odds, which sum to zero."""
    rng = np.random.default_rng(0)
    strength = np.sort(rng.normal(0.0, 1.0, MODELS))[::-1]
    strength -= strength.mean()
    a = rng.integers(MODELS, size=BATTLES)
    b = (a + rng.integers(1, MODELS, size=BATTLES)) % MODELS
    judge = rng.integers(JUDGES, size=BATTLES)
    gap = strength[a] - strength[b]
    gap[judge < BAD] *= -1  # they reverse every vote
    gap[(judge >= BAD) & (judge < 2 * BAD)] = 0.0  # they click at random
    odds = np.array([np.exp(gap / 2), np.exp(-gap / 2), np.full(BATTLES, TIE / 2), np.full(BATTLES, TIE / 2)])
    outcome = (rng.random(BATTLES) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
    winner = np.array(["model_a", "model_b", "tie", "tie (bothbad)"])[outcome]
    names = np.array([f"model-{chr(ord('a') + model)}" for model in range(MODELS)])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model_a", "model_b", "winner", "judge", "turn"])
        for row in range(BATTLES):
            writer.writerow([names[a[row]], names[b[row]], winner[row], f"judge {judge[row]}", 1])
    return dict(zip(names.tolist(), strength.tolist(), strict=True))


if __name__ == "__main__":
    main()
