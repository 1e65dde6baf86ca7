"""Networks by the context likelihood of relatedness."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from optiframe_tvcs.networks.problem import NetworkIdentification

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import InformationScores, information


class ContextLikelihood(InformationScores):
    """CLR: mutual information against its background, of the target's pairs and of the source's.

    A pair's information is standardised among those of its row and of its column; the score is the
    root of the sum of squares of the positive parts. Costs O(N^2 T).
    """

    name = "genes.clr"
    reference = "Faith et al. 2007, PLoS Biology 5(1), e8; estimators of Meyer et al. 2008 (MINET)"

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        yield likelihood_of_relatedness(information(self.correlation(problem)[0])), True


def likelihood_of_relatedness(pair: Array) -> Array:
    """Mutual information against its background in row and column, without self pairs."""
    size = len(pair)
    others = np.where(np.eye(size, dtype=bool), np.nan, pair)
    z = np.zeros((2, size, size))
    for axis in (0, 1):
        spread = np.nanstd(others, axis=axis, keepdims=True)
        spread = np.where(spread > 0, spread, 1.0)
        z[axis] = np.maximum(0.0, (pair - np.nanmean(others, axis=axis, keepdims=True)) / spread)
    return np.asarray(np.sqrt((z**2).sum(axis=0)))
