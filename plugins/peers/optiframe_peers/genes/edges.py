"""What all methods here share: from a score for every pair of genes to the edges within the caps."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from optiframe_tvcs.networks.answer import Network
from optiframe_tvcs.networks.objective import off_diagonal
from optiframe_tvcs.networks.problem import NetworkIdentification
from optiframe_tvcs.projection.selection import Selection
from pydantic import Field
from scipy.stats import rankdata

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent

Times = Literal["lagged", "same"]

_ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a mean and of differences, relative to the levels


class EdgeScores(Solver[NetworkIdentification, Network, Selection]):
    """Scores every ordered pair of genes; the edges are those of greatest total score within the caps.

    A subclass gives `scores`, once or in rounds that grow better. The choice within the caps is exact
    (`ThreeView.select`). The weight of an edge is its score with the sign of the lagged correlation: it is
    no effect, so the answer has no objective. The metrics `auc_of_scores` and `aupr_of_scores` are
    those of all pairs, whatever the caps.
    """

    solves = NetworkIdentification
    residual_meaning = (
        "nan until all is scored; then how much score the choice loses at most, by the certificate"
    )

    @abstractmethod
    def scores(self, problem: NetworkIdentification, run: Run) -> Iterator[tuple[Array, bool]]:
        """Scores of all pairs, at least 0, shape (genes, genes), [target, source]; and whether it is all."""

    def unsuited(self, problem: NetworkIdentification) -> str | None:
        return absent(self)

    def iterates(self, problem: NetworkIdentification, run: Run) -> Iterates:
        signs = correlations(problem.expression.changes, problem.expression.states)
        for scores, last in self.scores(problem, run):
            selection = problem.over.select(off_diagonal(scores))
            signed = off_diagonal(np.where(signs < 0, -scores, scores))
            entries = np.where(selection.support, signed, 0.0)
            residual = selection.certificate.gap if last else math.nan
            yield Iterate((entries, scores), residual, detail=selection)

    def finish(self, problem: NetworkIdentification, iterate: Iterate) -> Network:
        entries, scores = iterate.x
        return replace(problem.network(entries, scores), effects=False)


class InformationScores(EdgeScores):
    """Scores that come from one number for each pair: how strongly two genes go together.

    The publications compare levels at the same time, which tells no direction. By default the level of
    the source is compared with the next change of the target, as the problem's model has it; "same" is
    the published form, over every point but the last of its series.
    """

    times: Times = Field(
        default="lagged", description="lagged: a level with the other's next change; same: levels at one time"
    )
    estimator: Literal["pearson", "spearman"] = Field(
        default="spearman",
        description="correlation by value or by rank, which mutual information is taken from",
    )

    def correlation(self, problem: NetworkIdentification) -> tuple[Array, Array]:
        """Of target and source, and of one source with another; both shape (genes, genes)."""
        states, changes = problem.expression.states, problem.expression.changes
        source = directions(states, states)
        target = directions(changes, states) if self.times == "lagged" else source
        if self.estimator == "spearman":  # ranks of what varies by more than rounding
            source, target = (_ranked(rows) for rows in (source, target))
        return np.clip(target @ source.T, -1.0, 1.0), np.clip(source @ source.T, -1.0, 1.0)


def correlations(first: Array, second: Array) -> Array:
    """Pearson's, of each row of `first` with each of `second`; 0 where a row never changes."""
    a, b = directions(first, second), directions(second, second)
    return np.asarray(np.clip(a @ b.T, -1.0, 1.0))


def directions(rows: Array, levels: Array) -> Array:
    """Centred rows of length 1; zeros where what varies is no more than the rounding of the levels."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    rounding = _ROUNDING * np.linalg.norm(levels, axis=1, keepdims=True)
    return np.asarray(np.where(length > rounding, centred, 0.0) / np.where(length > rounding, length, 1.0))


def _ranked(rows: Array) -> Array:
    ranks = np.asarray(rankdata(rows, axis=1), dtype=np.float64)
    return directions(ranks, ranks)


def information(rho: Array) -> Array:
    """Mutual information of two Gaussians with this correlation, -log(1 - rho^2)/2; finite at 1."""
    most = 1.0 - np.finfo(np.float64).eps
    return np.asarray(-np.log1p(-np.minimum(rho**2, most)) / 2)


def standardised(rows: Array, levels: Array) -> Array:
    """Rows with mean 0 and variance 1; zeros where a row varies by no more than rounding of the levels."""
    return directions(rows, levels) * math.sqrt(rows.shape[1])


def regulators(problem: NetworkIdentification, gene: int) -> NDArray[np.int64]:
    """Codes of the genes that may explain a gene's changes.

    All others, and the gene itself where the problem has `own_effects`: what its own level
    explains, such as its decay, is then not laid to another.
    """
    codes = np.arange(len(problem.genes), dtype=np.int64)
    return codes if problem.own_effects else codes[codes != gene]
