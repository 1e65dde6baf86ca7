"""How many times faster the parallel iteration (Algorithm 4) is with more threads.

The paper has 16 cores, n = 1,000 and 2,000 items, 10 n^2 votes of which 20% are reversed, and 20 repeats.
Here there are two cores, which others use too, and 2,000,000 and 4,000,000 votes; equal votes are merged
first. 100 steps, the median of 5 repeats, two threads against one. That the iterates are the same bits for
any number of threads is tested with the plugin.
"""

from __future__ import annotations

from harness.claims import Line, cannot
from harness.runs import Runs

TITLE = "Figure 8: speedup of parallel LBI"
CLAIM = "Parallel LBI speeds up almost linearly up to 16 threads."
QUICK = (
    "repeat=1",
    *(
        f"problem.{place}.dataset.{key}={value}"
        for place, items in enumerate((100, 200))
        for key, value in (("items", items), ("comparisons", 20000))
    ),
)


def judge(runs: Runs) -> list[Line]:
    lines = []
    for size in runs.distinct("problem"):
        one, two = (runs.values("time", problem=size, threads=count) for count in (1, 2))
        lines.append(
            cannot(
                f"{size}: speedup with 2 to 16 threads",
                "almost linear",
                "a machine with 16 free cores",
                f"two threads {float(one[0] / two[0]):.2f} times as fast as one",
            )
        )
    return lines
