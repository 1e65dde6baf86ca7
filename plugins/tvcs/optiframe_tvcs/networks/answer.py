"""The answer to a network identification: a directed network of effects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optiframe.notebook import InNotebook
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids


@dataclass(frozen=True, eq=False)
class Network(InNotebook):
    """A directed network of effects.

    Parameters
    ----------
    weights
        Effect of the gene of the column on that of the row, shape (genes, genes); 0: no edge. In
        the units of the series (changes by levels), or of scaled ones where the problem scales.
        Without `effects` how sure a method is of the edge, with a sign.
    genes
        Ids of rows and columns.
    backend
        The data-frame library `frame` answers in.
    scores
        How likely each pair is an edge to the method, the others than the edges too, shape (genes,
        genes), the diagonal without meaning; higher is more. None: the method ranks its edges only.
    effects
        Whether the weights are effects, by which changes can be predicted.
    """

    weights: Array = field(repr=False)
    genes: Ids = field(repr=False)
    backend: str | None = field(default=None, repr=False)
    scores: Array | None = field(default=None, repr=False)
    effects: bool = field(default=True, repr=False)

    def __repr__(self) -> str:
        return f"<network of {len(self.genes)} genes with {len(self)} edges>"

    def __len__(self) -> int:
        return int(np.count_nonzero(self.weights))

    def columns(self) -> Columns:
        """Columns `source, target, weight`, the strongest edge first."""
        target, source = np.nonzero(self.weights)
        weight = self.weights[target, source]
        order = np.argsort(-np.abs(weight), kind="stable")
        return {
            "source": self.genes[source][order],
            "target": self.genes[target][order],
            "weight": weight[order],
        }

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the series came in; a dict of arrays for files."""
        return to_frame(self.columns(), self.backend)
