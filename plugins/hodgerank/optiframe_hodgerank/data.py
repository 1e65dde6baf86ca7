"""The comparisons of a problem as everything else reads them: codes, merged rows and their graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.solving import sources
from optiframe.tables.ids import Ids
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.merging import Merged, merge


@dataclass(frozen=True, eq=False)
class Covariates:
    """Properties of single comparisons that may sway a vote, as differences left minus right.

    Parameters
    ----------
    names
        What they are called, one each.
    values
        Shape (rows, covariates); read-only.
    """

    names: tuple[str, ...]
    values: Array

    def __repr__(self) -> str:
        return f"<covariates {', '.join(self.names)}>"

    def taken(self, rows: NDArray[Any]) -> Covariates:
        """Those of some rows."""
        return Covariates(self.names, self.values[rows])


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons as codes, in the caller's order, and what is computed from them once.

    Parameters
    ----------
    left, right
        Codes of the items, shape (rows,); read-only.
    margin
        y, shape (rows,): above 0 where left is preferred. +1, -1 and 0 (a tie) for labels.
    weight
        Shape (rows,), positive; None: 1 each.
    worker
        Codes of the workers, shape (rows,); -1 where none is given. None: no row has one.
    item_ids, worker_ids
        What the codes stand for. Every id occurs in some row.
    graded
        Whether y was given as a margin, so that scores are in its units; else who won.
    covariates
        What else may have swayed each comparison; None: nothing that is known.
    backend
        The data-frame library the comparisons came from, for the way out. Not content.
    lines
        Line of the file for each row; None for frames. Not content.
    remarks
        What reading the table left open. Not content.

    Notes
    -----
    `merged` and `graph` are computed on first use and dropped when pickled.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    margin: Array
    weight: Array | None
    worker: NDArray[np.int64] | None
    item_ids: Ids
    worker_ids: Ids
    graded: bool
    backend: str | None = field(default=None, compare=False)
    lines: Sequence[int] | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)
    covariates: Covariates | None = None

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        by = "" if self.worker is None else f" by {len(self.worker_ids)} workers"
        return f"<{len(self)} comparisons of {len(self.item_ids)} items{by}>"

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in dataclasses.fields(self)}

    @cached_property
    def merged(self) -> Merged:
        """Equal comparisons as one weighted row, and the way back to the caller's rows."""
        return merge(len(self.item_ids), self.left, self.right, self.margin, self.weight)

    @cached_property
    def graph(self) -> ComparisonGraph:
        """The comparison graph on merged rows; its Laplacian is factored on first use."""
        rows = self.merged
        return ComparisonGraph(len(self.item_ids), rows.left, rows.right, rows.margin, rows.weight)

    def unmerged(self) -> ComparisonGraph:
        """The graph with one row for each of the caller's rows, in their orientation."""
        return ComparisonGraph(len(self.item_ids), self.left, self.right, self.margin, self.weight)


@dataclass(frozen=True, eq=False)
class TruthTable:
    """Known true scores.

    Parameters
    ----------
    score
        Shape (items,); nan where not known.
    ignored
        Items of the truth that nobody compared.
    """

    score: Array
    ignored: Ids

    def __repr__(self) -> str:
        return f"<truth of {int((~np.isnan(self.score)).sum())} items>"


WANTED = "a pairwise-ranking problem, the result of a solver for it or a fitted RobustRanker"

Source: TypeAlias = Comparisons | sources.Source
"""What tools take comparisons from."""


def comparisons_of(source: Source) -> Comparisons:
    """The comparisons of a problem, of a result or of a fitted `RobustRanker`; `InvalidInput` without any."""
    return sources.part_of(source, Comparisons, "problem", "comparisons", wanted=WANTED)
