"""The Hodge split: how much of the votes a ranking explains, and how the rest contradicts itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import lsqr

from optiframe.errors import OptiframeError
from optiframe.notebook import InNotebook
from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.data import Source, comparisons_of
from optiframe_hodgerank.graph.comparison_graph import Codes, ComparisonGraph
from optiframe_hodgerank.graph.triangles import spanning_triangles

_ACCURACY = 1e-12
"""Of LSQR: the energies, which are squares, are then right to as many digits as rounding leaves."""
_STEPS = 20_000  # of LSQR; graphs whose triangles overlap take tens, long strips of triangles thousands
_NOTHING = 1e-12  # cycles below this share of the margins are rounding, and split no further


class NotSplit(OptiframeError):
    """LSQR did not reach the accuracy asked for."""


@dataclass(frozen=True, eq=False)
class HodgeSplit(InNotebook):
    """The energy sum w y^2 of the comparisons, in four parts that are orthogonal to each other.

    Parameters
    ----------
    gradient
        Explained by scores.
    curl
        Cycles made of triangles: a over b, b over c, c over a. Where every three items are compared,
        all cycles are.
    harmonic
        Cycles around holes of the comparison graph, along which no triangle was compared: long
        ones, which comparing more pairs could resolve.
    disagreement
        Comparisons of one pair that differ from their mean: people, or one at different times,
        do not agree. No ranking could explain it.
    left, right
        Item codes of each compared pair, shape (pairs,); sorted, ``left < right``.
    margin, weight
        Mean margin and total weight of each pair, shape (pairs,).
    gradient_flow, curl_flow, harmonic_flow
        The parts of `margin`, shape (pairs,); they add up to it.
    triangles
        How many triangles were used; they span all others.
    items
        Item ids.
    backend
        The data-frame library of the tables.
    """

    gradient: float
    curl: float
    harmonic: float
    disagreement: float
    left: Codes
    right: Codes
    margin: Array
    weight: Array
    gradient_flow: Array
    curl_flow: Array
    harmonic_flow: Array
    triangles: int
    items: NDArray[Any]
    backend: str | None = None

    @property
    def total(self) -> float:
        """Sum of w y^2 over all comparisons."""
        return self.gradient + self.curl + self.harmonic + self.disagreement

    @property
    def shares(self) -> dict[str, float]:
        """Each part's share of the whole; nan when every comparison is a tie."""
        whole = self.total or math.nan
        return {
            "gradient": self.gradient / whole,
            "curl": self.curl / whole,
            "harmonic": self.harmonic / whole,
            "disagreement": self.disagreement / whole,
        }

    def __repr__(self) -> str:
        shares = ", ".join(f"{name} {percent(share, 3)}" for name, share in self.shares.items())
        return f"<Hodge split: {shares}>"

    @property
    def cyclicity(self) -> float:
        """Share of the energy of the pairs' means that is cyclic; nan when all means are 0.

        What Jiang et al. call the cyclicity ratio: small when one ranking fits what people say on
        the average, however much they differ among themselves.
        """
        cyclic = self.curl + self.harmonic
        return cyclic / (self.gradient + cyclic) if self.gradient + cyclic > 0 else math.nan

    def columns(self) -> Columns:
        """A row for each compared pair: `left, right, weight, margin, gradient, curl, harmonic`.

        Pairs with the largest cyclic part come first.
        """
        cyclic = self.weight * (self.curl_flow + self.harmonic_flow) ** 2
        order = np.argsort(-cyclic, kind="stable")
        return {
            "left": self.items[self.left[order]],
            "right": self.items[self.right[order]],
            "weight": self.weight[order],
            "margin": self.margin[order],
            "gradient": self.gradient_flow[order],
            "curl": self.curl_flow[order],
            "harmonic": self.harmonic_flow[order],
        }

    def tables(self) -> dict[str, Columns]:
        """`columns()` by name, to be written beside an answer."""
        return {"hodge_split": self.columns()}

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the comparisons came in."""
        return to_frame(self.columns(), self.backend)


def hodge_split(source: Source, *, steps: int = _STEPS) -> HodgeSplit:
    """Split the energy of the comparisons into gradient, curl, harmonic and disagreement.

    Comparisons of a pair are averaged, with weights; that mean is the sum of X theta (the
    gradient, by the Laplacian), W^-1 C' phi (the curl, by least squares over triangles, where C
    sums around each) and what is left, which is orthogonal to both in the inner product weighted by
    the pairs' weights W (Jiang, Lim, Yao, Ye 2011, Theorem 2).

    Parameters
    ----------
    source
        A problem, the result of a run on it, or a fitted `RobustRanker`.
    steps
        Of LSQR, at most.

    Raises
    ------
    NotSplit
        When LSQR does not converge on the triangles.

    Notes
    -----
    Not all triangles are needed: one whose three items have a common neighbour of lower code is a sum
    of others. Complete graphs keep items^2/2 of their items^3/6. Memory: items^2/4 bytes for
    neighbours, 150 bytes a triangle kept and 80 a pair. Time is LSQR's: 0.1 s for 261 items and
    7,257 pairs, 6 s for 1,000 items and 164,772 pairs, 40 s for the pixels of Experiment II.
    """
    comparisons = comparisons_of(source)
    graph = comparisons.graph
    pairs, gradient, disagreement = explained(graph, graph.scores(graph.margin))
    cycles = pairs.margin - gradient
    root = np.sqrt(pairs.weight)
    curl, triangles = np.zeros(pairs.rows), 0
    if np.linalg.norm(root * cycles) > _NOTHING * np.linalg.norm(root * pairs.margin):
        around = spanning_triangles(pairs.items, pairs.left, pairs.right)
        triangles = len(around)
        curl = curl_of(pairs, cycles, around, steps) if triangles else curl
    harmonic = cycles - curl

    def energy(flow: Array) -> float:
        return float(pairs.weight @ (flow * flow))

    return HodgeSplit(
        gradient=energy(gradient),
        curl=energy(curl),
        harmonic=energy(harmonic),
        disagreement=disagreement,
        left=pairs.left,
        right=pairs.right,
        margin=pairs.margin,
        weight=pairs.weight,
        gradient_flow=gradient,
        curl_flow=curl,
        harmonic_flow=harmonic,
        triangles=triangles,
        items=comparisons.item_ids,
        backend=comparisons.backend,
    )


def explained(graph: ComparisonGraph, scores: Array) -> tuple[ComparisonGraph, Array, float]:
    """The compared pairs, what least-squares scores explain of their means, and the energy around these."""
    # The Laplacian of the pairs is that of all rows, and so are the least-squares scores.
    pairs, disagreement = pair_means(graph)
    return pairs, pairs.differences(scores), disagreement


def pair_means(graph: ComparisonGraph) -> tuple[ComparisonGraph, float]:
    """One row for each compared pair, with its mean margin, and the energy around these means."""
    low, high = np.minimum(graph.left, graph.right), np.maximum(graph.left, graph.right)
    y = np.where(graph.left < graph.right, graph.margin, -graph.margin)
    pair, place = np.unique(low * graph.items + high, return_inverse=True)
    weight = np.asarray(np.bincount(place, graph.weight, len(pair)), dtype=np.float64)
    mean = np.bincount(place, graph.weight * y, len(pair)) / weight
    left, right = np.divmod(pair, graph.items)
    apart = y - mean[place]
    return ComparisonGraph(graph.items, left, right, mean, weight), float(graph.weight @ (apart * apart))


def curl_of(pairs: ComparisonGraph, cycles: Array, triangles: Codes, steps: int = _STEPS) -> Array:
    """The part W^-1 C' phi of a cyclic flow, phi by weighted least squares; shape (pairs,)."""
    root = np.sqrt(pairs.weight)
    sides = sp.csr_array(sp.diags_array(1 / root) @ curl_matrix(pairs, triangles).T)
    # Columns of one size: LSQR's steps depend on how unequal they are, and weights make them so.
    size = np.sqrt(np.asarray((sides.multiply(sides)).sum(axis=0)).ravel())
    scaled = sp.csr_array(sides @ sp.diags_array(1 / size))
    found = lsqr(scaled, root * cycles, atol=_ACCURACY, btol=_ACCURACY, conlim=0, iter_lim=steps)
    if found[1] not in (0, 1, 2):
        raise NotSplit(
            f"the curl of {pairs.rows} pairs over {len(triangles)} triangles was not found in {steps} steps "
            f"of LSQR (gradient {number(found[7])} of the residual {number(found[3])})"
        )
    return np.asarray(scaled @ found[0]) / root


def curl_matrix(pairs: ComparisonGraph, triangles: Codes) -> sp.csr_array:
    """C, shape (triangles, pairs): y_ab + y_bc - y_ac for a < b < c. Pairs are sorted."""
    a, b, c = triangles.T
    key = pairs.left * pairs.items + pairs.right
    column = np.searchsorted(key, np.concatenate([a, b, a]) * pairs.items + np.concatenate([b, c, c]))
    row = np.tile(np.arange(len(triangles)), 3)
    sign = np.repeat([1.0, 1.0, -1.0], len(triangles))
    return sp.csr_array(sp.coo_array((sign, (row, column)), shape=(len(triangles), pairs.rows)))
