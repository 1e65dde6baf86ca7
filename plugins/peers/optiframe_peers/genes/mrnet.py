"""Networks by relevance without redundancy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from optiframe_tvcs.networks.problem import NetworkIdentification

from optiframe.records.fields import Array
from optiframe.solving.solver import Run
from optiframe_peers.genes.edges import InformationScores, information


class Mrnet(InformationScores):
    """MRNET: sources are taken one by one that say much about the target and little that is known.

    For each target the next source is the one of greatest score: its information about the target less
    the mean of its information about the sources already taken. The choice ends where no score is
    positive. With the same times a pair has the greater of its two scores, as published; lagged
    scores keep their direction. Costs O(N^3).
    """

    name = "genes.mrnet"
    reference = "Meyer, Kontos, Lafitte, Bontempi 2007 (MRNET); Meyer et al. 2008 (MINET)"

    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        with_target, with_source = map(information, self.correlation(problem))
        found = np.stack([_forward(with_target[i], with_source, i) for i in range(len(with_target))])
        yield (np.maximum(found, found.T) if self.times == "same" else found), True


def _forward(relevance: Array, between: Array, target: int) -> Array:
    """Scores at which the sources of one target were taken; 0 for those that were not."""
    found, redundancy = np.zeros((2, len(relevance)))
    left = np.ones(len(relevance), dtype=bool)
    left[target] = False
    for taken in range(int(left.sum())):
        score = np.where(left, relevance - redundancy / max(taken, 1), -np.inf)
        best = int(np.argmax(score))
        if score[best] <= 0:
            break
        found[best], left[best] = score[best], False
        redundancy += between[best]
    return found
