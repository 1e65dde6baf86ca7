"""ByzFL's aggregators as a filter."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from optiframe_comrade.parts.kinds import Filter, rows_of
from pydantic import Field

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_peers.libraries import drawing_from, library

_CLASSES = {
    "average": "Average",
    "median": "Median",
    "trimmed-mean": "TrMean",
    "geometric-median": "GeometricMedian",
    "krum": "Krum",
    "multi-krum": "MultiKrum",
    "centered-clipping": "CenteredClipping",
    "mda": "MDA",
    "monna": "MoNNA",
    "meamed": "Meamed",
    "caf": "CAF",
    "smea": "SMEA",
}
_WITHOUT_TRIM = ("average", "median", "geometric-median", "centered-clipping")  # they take no number of lies
_SUBSETS = 100_000  # of vectors that mda and smea may try: a minute, or some


class ByzFl(Filter):
    """An aggregator of ByzFL, by its name, on NumPy arrays; told to withstand `trim` lies.

    Importing ByzFL imports PyTorch, torchvision and seaborn, although arrays stay NumPy's.

    What differs from ours of the same name: its Krum and Multi-Krum count m - trim - 1 neighbours where
    Blanchard et al. have m - trim - 2; its geometric median makes three steps from zero. Its
    centered clipping starts from zero here in every round, since a filter keeps nothing. CAF and SMEA
    judge the largest eigenvalue by one power step from a random vector, whose draws are fixed here.
    MoNNA trusts worker 0.

    Raises
    ------
    InvalidInput
        When trim is not below m/2, or "mda" or "smea" would have to try too many subsets.
    MissingPackage
        When ByzFL, or what it imports, is not installed.
    """

    name = "filter.byzfl"
    reference = "Gonzalez et al. 2025, ByzFL: Research Framework for Robust Federated Learning"
    requires = ("byzfl",)

    aggregator: Literal[
        "average",
        "median",
        "trimmed-mean",
        "geometric-median",
        "krum",
        "multi-krum",
        "centered-clipping",
        "mda",
        "monna",
        "meamed",
        "caf",
        "smea",
    ] = Field(default="trimmed-mean", description="which of ByzFL's aggregators")
    neighbours: bool = Field(
        default=False, description="average each vector with its nearest ones first (NNM)"
    )

    def aggregate(self, vectors: Array, trim: int = 0) -> Array:
        rows = rows_of(vectors, trim)
        self._check(len(rows), trim)
        byzfl = library("byzfl")
        if self.neighbours:
            rows = byzfl.NNM(f=int(trim))(rows)
        with drawing_from(0):
            answer = np.asarray(self._built(byzfl, trim)(rows.copy()), dtype=np.float64)
        if answer.shape != rows.shape[1:] or not np.isfinite(answer).all():
            raise InvalidInput(
                f"{self.name}: ByzFL's {_CLASSES[self.aggregator]} gave no finite vector of length "
                f"{rows.shape[1]}"
            )
        return answer

    def _built(self, byzfl: Any, trim: int) -> Any:
        if self.aggregator == "caf" and trim == 0:  # which then gives nothing
            return byzfl.Average()
        built = getattr(byzfl, _CLASSES[self.aggregator])
        return built() if self.aggregator in _WITHOUT_TRIM else built(f=int(trim))

    def _check(self, m: int, trim: int) -> None:
        if self.aggregator not in _WITHOUT_TRIM and 2 * trim >= m:
            raise InvalidInput(
                f"{self.name}: {self.aggregator} withstands less than half of {m} vectors, not {trim}; "
                "use more workers or a smaller alpha"
            )
        if self.aggregator in ("mda", "smea") and math.comb(m, trim) > _SUBSETS:
            raise InvalidInput(
                f"{self.name}: {self.aggregator} tries every {m - trim} of {m} vectors, which are more "
                f"than {_SUBSETS} choices; take multi-krum or caf"
            )
