"""Networks from correlations over time: what least squares is compared with."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.networks.answer import Network
from optiframe_tvcs.networks.objective import off_diagonal
from optiframe_tvcs.networks.problem import NetworkIdentification
from optiframe_tvcs.projection.selection import Selection

_ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a mean and of differences, relative to the levels


class NetworkAssociation(Solver[NetworkIdentification, Network, Selection]):
    """The edges with the strongest correlation between a gene's level and another's next change.

    - ``correlation``: |rho_ij| of gene j's level and gene i's change, as PCC but lagged;
    - ``clr``: context likelihood of relatedness (Faith et al. 2007) of that: the mutual information
      of Gaussians, -log(1 - rho^2)/2, standardised within the row and within the column, the
      positive parts squared and added.

    The edges are those of greatest total score within the caps (exact, by `ThreeView.support`); their
    weights are the scores, with the sign of the correlation. They are no effects, so the
    objective at them says nothing. Costs O(N^2 T).
    """

    name = "tvcs.network-association"
    solves = NetworkIdentification
    residual_meaning = "how much score is lost at most, by the certificate"
    reference = "Yang et al., Sec. 5.3 (PCC, CLR), lagged by one step"

    score: Literal["correlation", "clr"] = Field("correlation", description="correlation or clr")

    def iterates(self, problem: NetworkIdentification, run: Run) -> Iterates:
        rho = correlations(problem.expression.changes, problem.expression.states)
        size = np.abs(rho) if self.score == "correlation" else likelihood_of_relatedness(rho)
        selection = problem.over.select(off_diagonal(size))
        selection = selection.named(("target", problem.genes), ("source", problem.genes))
        entries = np.where(selection.support, off_diagonal(np.where(rho < 0, -size, size)), 0.0)
        yield Iterate((entries, size), selection.certificate.gap, detail=selection)

    def finish(self, problem: NetworkIdentification, iterate: Iterate) -> Network:
        entries, scores = iterate.x
        return problem.network(entries, scores)


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


def likelihood_of_relatedness(rho: Array) -> Array:
    """Mutual information of Gaussians against its background in row and column, without self pairs."""
    most = 1.0 - np.finfo(np.float64).eps  # so that equal series have a finite information
    information = -np.log1p(-np.minimum(rho**2, most)) / 2
    size = len(rho)
    others = np.where(np.eye(size, dtype=bool), np.nan, information)
    z = np.zeros((2, size, size))
    for axis in (0, 1):
        spread = np.nanstd(others, axis=axis, keepdims=True)
        spread = np.where(spread > 0, spread, 1.0)
        z[axis] = np.maximum(0.0, (information - np.nanmean(others, axis=axis, keepdims=True)) / spread)
    return np.asarray(np.sqrt((z**2).sum(axis=0)))
