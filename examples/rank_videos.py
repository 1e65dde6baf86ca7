"""Rank videos from votes on which of two looks better, some of which are wrong.

python examples/rank_videos.py

The votes are `pairwise.pc-vqa`, reference 1 (16 versions of a video); without the file, generated ones.
"""

from __future__ import annotations

from typing import Any

from optiframe_hodgerank import hodge_split, intervals, suggest, transitivity

import optiframe
from optiframe.problems.datasets import MissingData

METHODS = ("hodge.l2", "hodge.hlasso", "hodge.hlasso-l2", "hodge.lbi")


def votes() -> Any:
    try:
        return optiframe.problem(dataset="pairwise.pc-vqa")
    except MissingData:
        print("The votes are not here; generated ones of the same shape instead.\n")
        return optiframe.problem(
            dataset={"name": "pairwise.random-order", "comparisons": 3840, "outlier_share": 0.1}
        )


def main() -> None:
    problem = votes()
    print(f"{problem.rows} votes on {len(problem.item_ids)} videos")
    print(f"{hodge_split(problem)}")
    print(f"{transitivity(problem).rate:.1%} of the triplets go round in no circle\n")

    results = {name: optiframe.solve(problem, name) for name in METHODS}
    order = results["hodge.lbi"].solution.order
    print("video", *(f"{name:>15}" for name in METHODS))
    for item in order.tolist():
        print(
            f"{problem.item_ids[item]!s:5}",
            *(f"{result.solution.scores[item]:15.4f}" for result in results.values()),
        )

    lbi = results["hodge.lbi"]
    outliers = lbi.to_tables()["outliers"]
    print(f"\nThe first of {len(outliers['row'])} votes taken for wrong:")
    for row in range(3):
        better, worse = outliers["left"][row], outliers["right"][row]
        if outliers["margin"][row] < 0:
            better, worse = worse, better
        print(f"  row {outliers['row'][row]}: {better} preferred to {worse}")

    drawn = intervals(lbi, method="bootstrap", draws=100)
    print("\nRanks that the votes leave open (90% intervals):")
    for item, low, high in zip(drawn["item"], drawn["rank_low"], drawn["rank_high"], strict=True):
        if low < high:
            print(f"  {item}: {low} to {high}")

    next_ones = suggest(lbi, n=3)
    pairs = zip(next_ones["left"], next_ones["right"], strict=True)
    print("\nCompare next:", ", ".join(f"{left} with {right}" for left, right in pairs))
    for finding in lbi.findings:
        print(f"{finding.level}: {finding.text}")


if __name__ == "__main__":
    main()
