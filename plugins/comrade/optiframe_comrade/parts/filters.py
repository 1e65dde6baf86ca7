"""Filters: one vector from the workers' vectors, some of which may be lies.

All take `trim`, the most lies to withstand, and let the workers' order decide ties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.registry.by_name import ByName
from optiframe_comrade.parts import robust_means
from optiframe_comrade.parts.kinds import Filter, Indices, Selecting, rows_of
from optiframe_comrade.parts.nearest import mixing


class Mean(Filter):
    """The plain mean; leaves nobody out."""

    name = "filter.mean"
    fails_from = 0.0

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        return np.asarray(rows_of(vectors, trim).mean(axis=0))

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        return np.arange(len(vectors))


class Norm(Selecting):
    """Leaves out the vectors of greatest norm; the filter of COMRADE's paper.

    It bounds how long a lie may be, not where it points.
    """

    name = "filter.norm"
    reference = "Ghosh et al., Algorithm 1"
    trims = True
    fails_from = 0.1

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        norms = robust_means.norms(rows_of(vectors, trim))
        return robust_means.smallest(norms, len(norms) - trim)


class DistanceToMedian(Selecting):
    """Leaves out the vectors farthest from the coordinate-wise median, and averages the others.

    Withstands fewer than half: with at most `trim` < m/2 lies every vector kept is at most as
    far from the median as the farthest honest one, and the median lies within the honest
    vectors' box. Costs O(m d log m).
    """

    name = "filter.distance-to-median"
    reference = "trimming as in Ghosh et al., Algorithm 1, around the median of Yin et al. 2018"
    trims = True
    fails_from = 0.1

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        rows = rows_of(vectors, trim)
        away = robust_means.distances(rows, robust_means.coordinate_median(rows))
        return robust_means.smallest(away, len(rows) - trim)


class CoordinateMedian(Filter):
    """The median of each coordinate; the middle two are averaged where m is even.

    Withstands fewer than half, whatever `trim`: each coordinate stays within the honest
    workers' range. Costs O(m d log m).
    """

    name = "filter.coordinate-median"
    reference = "Yin et al. 2018, Definition 1"
    fails_from = 0.2

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        return robust_means.coordinate_median(rows_of(vectors, trim))


class TrimmedMean(Filter):
    """The mean of each coordinate without its `trim` smallest and `trim` largest values.

    Withstands `trim` < m/2: each coordinate stays within the honest workers' range. Costs
    O(m d log m).

    Raises
    ------
    InvalidInput
        When nothing is left: 2 trim >= m.
    """

    name = "filter.trimmed-mean"
    reference = "Yin et al. 2018, Definition 2"
    trims = True
    fails_from = 0.2

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        if 2 * trim >= len(rows):
            raise InvalidInput(
                f"filter.trimmed-mean leaves out {trim} of {len(rows)} values at both ends, so none is left; "
                "use fewer, or filter.coordinate-median"
            )
        return robust_means.trimmed_mean(rows, trim)


class GeometricMedian(Filter):
    """The point of least summed distance to the vectors, by Weiszfeld's iteration.

    Withstands fewer than half, whatever `trim`: with f lies it stays within 2 (m - f)/(m - 2 f)
    times the honest vectors' radius around any centre. Costs O(m d) a step.
    """

    name = "filter.geometric-median"
    reference = "Chen, Su, Xu 2017; Vardi and Zhang 2000 for points that coincide"
    fails_from = 0.2

    tolerance: PositiveFloat = Field(
        default=1e-10, description="stop when a step is at most this part of the median distance"
    )
    steps: PositiveInt = Field(default=1000, description="steps at most")

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        return robust_means.geometric_median(rows_of(vectors, trim), self.tolerance, self.steps)


class MultiKrum(Selecting):
    """Averages the m - trim vectors nearest to their nearest m - trim - 2 others.

    Withstands `trim` lies when m > 2 trim + 2. Costs O(m^2 d).

    Raises
    ------
    InvalidInput
        When m is at most 2 trim + 2, where its guarantee ends.
    """

    name = "filter.multi-krum"
    reference = "Blanchard et al. 2017, Sec. 4"
    trims = True
    fails_from = 0.1

    def selects(self, m: int, trim: int) -> int:
        """How many vectors are averaged."""
        return m - trim

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        rows = rows_of(vectors, trim)
        if len(rows) <= 2 * trim + 2:
            raise InvalidInput(
                f"{self.name} needs more than {2 * trim + 2} vectors against {trim} lies, got {len(rows)}; "
                "use more workers, a smaller alpha, or filter.distance-to-median"
            )
        scores = robust_means.krum_scores(rows, trim)
        return robust_means.smallest(scores, self.selects(len(rows), trim))


class Krum(MultiKrum):
    """The one vector nearest to its nearest m - trim - 2 others.

    Withstands `trim` lies when m > 2 trim + 2. Costs O(m^2 d); with one vector kept there is no
    averaging, so its error is that of a single worker.

    Raises
    ------
    InvalidInput
        When m is at most 2 trim + 2, where its guarantee ends.
    """

    name = "filter.krum"
    reference = "Blanchard et al. 2017, Sec. 4"
    trims = False  # it takes one vector, whatever the trim
    fails_from = 0.05

    def selects(self, m: int, trim: int) -> int:
        return 1


class Meamed(Filter):
    """The mean of the m - trim values nearest to the median, in each coordinate.

    Costs O(m d log m).
    """

    name = "filter.meamed"
    reference = "Xie, Koyejo, Gupta 2018, Generalized Byzantine-tolerant SGD (mean around median)"
    trims = True
    fails_from = 0.3

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        return robust_means.mean_around_median(rows, len(rows) - trim)


class NearestNeighbourMixing(Filter):
    """Replaces each vector by the mean of its m - trim nearest ones, itself included, then filters.

    Costs O(m^2 d) beside the filter that follows.
    """

    name = "filter.nnm"
    reference = "Allouah et al. 2023, Fixing by mixing, Algorithm 2"
    trims = True
    fails_from = 0.1

    then: Annotated[Filter, ByName()] = Field(
        default=CoordinateMedian(), description="the filter of the mixed vectors"
    )

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        return self.then.aggregate(mixing(rows, len(rows) - trim) @ rows, trim)


class FromCallable(Filter):
    """Any aggregator that is called with the vectors: those of ByzFL, or a function of your own.

    ``filter=FromCallable(function=byzfl.Krum(f=2))``. It does not get `trim`: the number of
    lies is its own affair. It has no name to be chosen by in a file, since a file never runs code.

    Raises
    ------
    InvalidInput
        When the function does not return one vector of finite numbers.
    """

    name = "filter.from-callable"

    function: Callable[[Any], Any] = Field(description="called with an (m, d) array; returns a vector")

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        answer = np.asarray(self.function(rows.copy()), dtype=np.float64)
        if answer.shape != rows.shape[1:] or not np.isfinite(answer).all():
            raise InvalidInput(
                f"{self.name}: the aggregator must return a finite vector of length {rows.shape[1]}, "
                f"got one of shape {answer.shape}"
            )
        return answer
