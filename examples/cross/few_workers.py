"""Data sets whose wrong comparisons come from a few workers: drawn ones, and real ones with workers reversed.

    optiframe --import examples/cross/few_workers.py compare examples/cross/outliers.toml

Both know which comparisons were reversed, so that what a method flags can be counted. They are also
an example of data sets of one's own, made of those that are there.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from optiframe_hodgerank.datasets.generators import RandomOrder
from optiframe_hodgerank.datasets.published import HumanAge
from pydantic import Field, NonNegativeInt, PositiveInt

import optiframe
from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataFile, DataSet

Columns = dict[str, NDArray[Any]]


@optiframe.register
class FewWorkers(RandomOrder):
    """A random total order compared by workers, of whom a few reverse every answer.

    The pairs are those of `pairwise.random-order`; each comparison goes to a worker drawn with equal
    chance. `reversers` of them always name the worse item. With `flooded` pairs, each reverser
    spends all answers on so many pairs, drawn for each, and may outvote the others there.
    `outlier_share` of the answers of all workers are reversed besides.
    """

    name = "pairwise.few-workers"
    reference = "pairwise.random-order, with workers"

    workers: PositiveInt = Field(default=40, description="number of workers")
    reversers: NonNegativeInt = Field(default=2, description="workers who reverse every answer")
    flooded: NonNegativeInt = Field(
        default=0, description="pairs on which a reverser spends all answers; 0: any"
    )
    outlier_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="share of all comparisons reversed besides"
    )

    def inputs(self) -> dict[str, Any]:
        given = super().inputs()
        rng = np.random.default_rng([self.seed, 1])
        left, right, label = (given["comparisons"][name] for name in ("left", "right", "label"))
        better = dict(zip(given["truth"]["item"], given["truth"]["score"], strict=True))
        worker = rng.integers(self.workers, size=len(left))
        names = rng.permutation(self.workers)
        wrong = given["outlier_truth"].copy()
        for reverser in names[: self.reversers]:
            mine = np.flatnonzero(worker == reverser)
            if self.flooded:
                pairs = [rng.choice(self.items, 2, replace=False) for _ in range(self.flooded)]
                chosen = np.array(pairs)[rng.integers(self.flooded, size=len(mine))]
                left[mine], right[mine] = chosen[:, 0], chosen[:, 1]
            worse = [min(a, b, key=better.__getitem__) for a, b in zip(left[mine], right[mine], strict=True)]
            label[mine], wrong[mine] = worse, True
        comparisons = {"worker": worker, "left": left, "right": right, "label": label}
        return {**given, "comparisons": comparisons, "outlier_truth": wrong}


@optiframe.register
class HumanAgeReversed(DataSet):
    """`pairwise.human-age` with every answer of a few workers reversed.

    The workers are drawn among those with at least `least` answers. Truth is the least-squares
    ranking of the answers as they came, so that agreement with it says how far the reversed ones
    moved a ranking, not whether either is right about anybody's age. Wrong answers that were there
    already are not known and count as right.
    """

    name = "pairwise.human-age-reversed"
    reference = "pairwise.human-age, some workers reversed"
    problem = "pairwise-ranking"

    reversers: NonNegativeInt = Field(default=5, description="workers whose answers are reversed")
    least: PositiveInt = Field(default=100, description="answers a worker must have to be drawn")
    seed: NonNegativeInt = Field(default=0, description="fixes which")

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        return HumanAge.alternatives()

    def inputs(self) -> dict[str, Any]:
        comparisons: Columns = HumanAge().inputs()["comparisons"]
        worker, left, right, label = (comparisons[name] for name in ("worker", "left", "right", "label"))
        plain = optiframe.solve(
            optiframe.problem("pairwise-ranking", comparisons=comparisons), "hodge.l2", progress=False
        ).solution
        who, answers = np.unique(worker, return_counts=True)
        rng = np.random.default_rng([self.seed, 2])
        able = who[answers >= self.least]
        if len(able) < self.reversers:
            raise InvalidInput(
                f"{self.name}: {len(able)} workers have {self.least} answers or more, and reversers is "
                f"{self.reversers}; make one of the two smaller"
            )
        reversers = rng.choice(able, self.reversers, replace=False)
        wrong = np.isin(worker, reversers) & (label != 0)  # 0: a tie, which is its own reverse
        swapped = np.where(wrong, left + right - label, label)
        return {
            "comparisons": {"worker": worker, "left": left, "right": right, "label": swapped},
            "truth": {"item": plain.items, "score": plain.scores},
            "outlier_truth": wrong,
        }
