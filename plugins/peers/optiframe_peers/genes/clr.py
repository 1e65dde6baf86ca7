"""Networks by the context likelihood of relatedness."""

from __future__ import annotations

from collections.abc import Iterator

from optiframe_tvcs.networks.association import likelihood_of_relatedness
from optiframe_tvcs.networks.problem import NetworkIdentification

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import InformationScores


class ContextLikelihood(InformationScores):
    """CLR: mutual information against its background, of the target's pairs and of the source's.

    A pair's information is standardised among those of its row and of its column; the score is the
    root of the sum of squares of the positive parts. With lagged times and `estimator = "pearson"` it
    is `tvcs.network-association` with `score = "clr"`, whose function it calls. Costs O(N^2 T).
    """

    name = "genes.clr"
    reference = "Faith et al. 2007, PLoS Biology 5(1), e8; estimators of Meyer et al. 2008 (MINET)"

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        yield likelihood_of_relatedness(self.correlation(problem)[0]), True
