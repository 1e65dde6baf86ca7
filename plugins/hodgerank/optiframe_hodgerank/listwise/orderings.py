"""Orderings of several items as codes: full rankings, their first places, choices from sets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids
from optiframe_hodgerank.data import Comparisons

Codes = NDArray[np.int64]


class Block(NamedTuple):
    """The orderings of one number of items, m.

    Parameters
    ----------
    items
        Codes, the best first and those without a place last, shape (orderings, m).
    places
        How many of them have a place that was chosen from what is left, at most m - 1, shape (orderings,).
    weight
        How often each ordering counts.
    """

    items: Codes
    places: Codes
    weight: Array


@dataclass(frozen=True, eq=False)
class Orderings:
    """Orderings of two or more items each, one after the other.

    Parameters
    ----------
    item
        Codes of the items of each ordering, the best first and those without a place last, shape (entries,).
    first
        Where each ordering begins, and the end, shape (orderings + 1,).
    placed
        How many items of each have a place, at least 1; the others are below them, shape (orderings,).
    weight
        How often each ordering counts, shape (orderings,), positive; None: once.
    item_ids
        What the codes stand for. Every id occurs in some ordering.
    backend
        The data-frame library the orderings came from, for the way out. Not content.
    remarks
        What reading left open. Not content.
    """

    item: Codes
    first: Codes
    placed: Codes
    weight: Array | None
    item_ids: Ids
    backend: str | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.placed)

    def __repr__(self) -> str:
        return f"<{len(self)} orderings of {len(self.item_ids)} items>"

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in dataclasses.fields(self)}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The orderings by their number of items, the shortest first."""
        lengths, weight = np.diff(self.first), self.weight
        blocks = []
        for m in np.unique(lengths).tolist():
            some = np.flatnonzero(lengths == m)
            items = self.item[self.first[some][:, None] + np.arange(m)]
            places = np.minimum(self.placed[some], m - 1)  # the last is not chosen from anything
            blocks.append(Block(items, places, np.ones(len(some)) if weight is None else weight[some]))
        return tuple(blocks)

    @cached_property
    def wins(self) -> Comparisons:
        """Each item above the next one, and the last with a place above those without: what joins items.

        By way of these, an item is above another wherever some ordering says so.
        """
        winner, loser = [], []
        for items, places, _ in self.blocks:
            above = np.arange(items.shape[1] - 1)
            last = np.minimum(above, places[:, None] - 1)
            winner.append(np.take_along_axis(items, last, axis=1).ravel())
            loser.append(items[:, 1:].ravel())
        pair = np.unique(np.concatenate(winner) * len(self.item_ids) + np.concatenate(loser))
        left, right = np.divmod(pair, len(self.item_ids))
        nobody = np.empty(0, dtype=object)
        return Comparisons(left, right, np.ones(len(pair)), None, None, self.item_ids, nobody, graded=False)

    @cached_property
    def met(self) -> tuple[Codes, Codes, Codes]:
        """Pairs of items of which some place was given to one and not to the other: left < right.

        The third array is the number of items of the shortest ordering in which they met.
        """
        items, known = len(self.item_ids), np.empty(0, dtype=np.int64)
        size = known
        for block in self.blocks:
            m, found = block.items.shape[1], []
            for a in range(min(m - 1, int(block.places.max()))):
                rows = block.items[block.places > a]
                one, other = np.broadcast_arrays(rows[:, a : a + 1], rows[:, a + 1 :])
                found.append(np.unique(np.minimum(one, other) * items + np.maximum(one, other)))
            fresh = np.setdiff1d(np.concatenate(found), known)
            known, size = np.append(known, fresh), np.append(size, np.full(len(fresh), m))
        left, right = np.divmod(known, items)
        return left, right, size
