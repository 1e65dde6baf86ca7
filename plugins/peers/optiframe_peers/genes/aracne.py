"""Networks by the data processing inequality."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from optiframe_tvcs.networks.problem import NetworkIdentification
from pydantic import Field, NonNegativeFloat

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import InformationScores, information


class Aracne(InformationScores):
    """ARACNE: the weakest pair of every three genes is taken for indirect.

    Information that passes from one gene through another to a third is not more than either step
    carries. The inequality is about pairs without a direction; with lagged times a pair counts
    with the stronger of its two directions, and both are dropped together. The margin is a
    difference, as in MINET; the publication has a share. Costs O(N^3).
    """

    name = "genes.aracne"
    reference = "Margolin et al. 2006, BMC Bioinformatics 7(S1), S7"

    margin: NonNegativeFloat = Field(
        default=0.0, description="nats by which the weakest must lie below the others"
    )

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        directed = information(self.correlation(problem)[0])
        np.fill_diagonal(directed, 0.0)
        pair = np.maximum(directed, directed.T)
        # Of the ways from one gene to another through a third, the one whose weaker step is strongest.
        detour = np.stack([np.minimum(row, pair).max(axis=1) for row in pair])
        yield np.where(pair < detour - self.margin, 0.0, directed), True
