"""Networks by correlation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from optiframe_tvcs.networks.problem import NetworkIdentification
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import InformationScores


class Pearson(InformationScores):
    """The size of the correlation of two genes. Costs O(N^2 T)."""

    name = "genes.pearson"
    reference = "Yang et al., Sec. 5.3 (PCC)"

    estimator: Literal["pearson", "spearman"] = Field(
        default="pearson", description="correlation by value or rank"
    )

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        yield np.abs(self.correlation(problem)[0]), True
