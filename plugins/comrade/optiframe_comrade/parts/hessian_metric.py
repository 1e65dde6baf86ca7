"""The default filter: by the Hessian, nearest-neighbour mixing, and least scatter near the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from optiframe.records.fields import Array
from optiframe_comrade.parts.kinds import Filter, Indices, Rule, rows_of
from optiframe_comrade.parts.metric import AnyMetric
from optiframe_comrade.parts.nearest import Mixture, mixed_average
from optiframe_comrade.parts.spectral import spectral_average


class HessianMetric(Filter):
    """Averages vectors that agree, by distances in the Hessian's metric.

    Before the first step every worker sends 1 + 2 `columns` vectors: the diagonal of its Hessian, and
    products of two power rounds. Medians of these give a metric P, in which honest Newton updates
    scatter alike in all directions, and a lie does as much harm as its distance shows. Each round mixes every
    vector with the mean of its m - trim nearest, finds the geometric median of the mixtures, drops
    the `trim` farthest from it and averages the others.

    After five steps, near the floor, a worker sends 1 + 3 `columns` vectors more, which make P right there
    and along the directions in which updates scatter most. From then on, while the updates' middle is
    no longer than twice their scatter, vectors get weights under which they scatter least
    (`spectral_average`). The coordinator takes a step only if the median of the workers' objectives falls,
    which a worker reports as one number beside its update.

    Needs shards of like data with at least some 3 terms a column. Called by itself, without a run, it
    mixes by Euclidean distances. Costs O(m^2 d + m^4) a round at most, d (3 k + 1) numbers.
    """

    name = "filter.hessian-metric"
    reference = (
        "weights as in Allouah, Guerraoui, Stephan 2025 (CAF); the metric and check are this project's"
    )
    trims = True
    fails_from = 0.5
    in_metric = True

    columns: Annotated[int, Field(ge=1, le=3)] = Field(
        default=3,
        description="vectors in the sketch of the Hessian; a worker sends 2 + 5 columns of them once a run",
    )

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        return np.asarray(mixed_average(rows, trim).weights @ rows)

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        return mixed_average(rows_of(vectors, trim), trim).kept

    def within(self, metric: AnyMetric, gradients: bool) -> Rule:
        return WithinMetric(self.name, metric, gradients)


# Times the middle squared distance of the updates. While the square of their average is more, the run is far
# from its floor; lies alone can stretch it to about that distance.
_FAR = 4.0


@dataclass(frozen=True)
class WithinMetric:
    """The filter with the metric of a run; `Rule` for Newton updates, or for gradients."""

    name: str
    metric: AnyMetric
    gradients: bool = False

    def coordinates(self, rows: Array) -> Array:
        """The vectors in coordinates where Euclidean distance is that of the metric, shape (m, d)."""
        with np.errstate(over="ignore"):
            return self.metric.gradients(rows) if self.gradients else self.metric.updates(rows)

    def mixture(self, vectors: Array, trim: int) -> Mixture:
        """The average and how it came about."""
        there = self.coordinates(rows_of(vectors, trim))
        mixed = mixed_average(there, trim)
        # Far from the floor workers are wrong by a part of the way, and lies may scatter less than they.
        length = float(np.sum((mixed.weights @ there) ** 2))
        if self.gradients or not self.metric.refined or length > _FAR * float(np.median(mixed.apart)):
            return mixed
        return spectral_average(there, trim)

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        return np.asarray(self.mixture(vectors, trim).weights @ vectors)

    def kept(self, vectors: Array, trim: int = 0) -> Indices:
        return self.mixture(vectors, trim).kept
