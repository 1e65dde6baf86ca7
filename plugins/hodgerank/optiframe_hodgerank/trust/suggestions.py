"""The comparisons to ask for next, as a table: pairs, what they gain, and whom to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.trust.asked_workers import assigned, workers_of
from optiframe_hodgerank.trust.next_pairs import Measure, NextPair, known_of, next_pairs, times_a_pair

_SPARE = 2  # times as many pairs as asked for are offered to workers, who may have compared some


@dataclass(frozen=True)
class Asking:
    """What is asked for; the parameters of `suggest` and of the solver `ranking.suggest`.

    Parameters
    ----------
    n
        How many comparisons.
    measure
        "variance" or "volume".
    weight
        What one comparison weighs.
    first
        How many of the first places are to be settled; None: all scores.
    per_pair
        How often a pair may come at most; None: as evenly as n asks.
    workers
        Whom to ask; None: nobody in particular, or with `per_worker` all who have voted.
    per_worker
        How many pairs one worker may be asked for; None: as evenly as n asks.
    """

    n: int = 10
    measure: Measure = "variance"
    weight: float = 1.0
    first: int | None = None
    per_pair: int | None = None
    workers: Sequence[Any] | None = None
    per_worker: int | None = None

    def check(self, items: int) -> None:
        """Raise `InvalidInput` for what makes no sense, or not for so many items."""
        if items > DENSE:
            raise InvalidInput(
                f"all pairs of items are looked at, of at most {DENSE:,} items; here are {items:,}"
            )
        for name in ("n", "first", "per_pair", "per_worker"):
            value = getattr(self, name)
            if value is None and name != "n":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InvalidInput(f"{name} must be at least 1, got {value}")
        if not (self.weight > 0 and np.isfinite(self.weight)):
            raise InvalidInput(f"weight must be a positive number, got {self.weight}")
        if self.measure not in ("variance", "volume"):
            raise InvalidInput(f"measure must be 'variance' or 'volume', got {self.measure!r}")
        if isinstance(self.workers, str):
            raise InvalidInput(f"workers must be a list of ids, got {self.workers!r}")
        if self.first is not None and self.first >= items:
            raise InvalidInput(
                f"first must be from 1 to {items - 1}, one less than the items, got {self.first}"
            )
        times_a_pair(self.n, items, self.per_pair)

    @property
    def by_worker(self) -> bool:
        """Whether comparisons are dealt out to workers."""
        return self.workers is not None or self.per_worker is not None


def suggestions(
    comparisons: Comparisons, answer: Ranking | None, asking: Asking, reliability: Array | None = None
) -> Columns:
    """Columns `left, right, gain, resistance`, the best first, and `worker` where they are dealt out."""
    items = len(comparisons.item_ids)
    asking.check(items)
    known = known_of(comparisons, answer, asking.weight)
    limits: dict[str, Any] = {"first": asking.first, "per_pair": asking.per_pair}
    workers = workers_of(comparisons, asking.workers, reliability) if asking.by_worker else None
    if workers is None:
        return _columns(comparisons, next_pairs(known, asking.n, asking.measure, **limits))
    per_worker = asking.per_worker or -(-asking.n // len(workers.ids))
    # What nobody may be asked must not bring a pair in twice, before all others have come.
    n = min(asking.n, per_worker * max(int(np.count_nonzero(workers.worth)), 1))
    limits["per_pair"] = times_a_pair(n, items, asking.per_pair)
    possible = items * (items - 1) // 2 * limits["per_pair"]
    offered = next_pairs(known, min(_SPARE * n, possible), asking.measure, **limits)
    dealt = assigned(comparisons, offered, workers, n, per_worker)
    columns = _columns(comparisons, [pair for pair, _ in dealt])
    return {**columns, "worker": workers.ids[np.array([who for _, who in dealt], dtype=np.int64)]}


def _columns(comparisons: Comparisons, pairs: Sequence[NextPair]) -> Columns:
    left, right = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return {
        "left": comparisons.item_ids[left],
        "right": comparisons.item_ids[right],
        "gain": np.array([pair.gain for pair in pairs], dtype=np.float64),
        "resistance": np.array([pair.resistance for pair in pairs], dtype=np.float64),
    }


def reliability_of(detail: object) -> Array | None:
    """Of the workers of the comparisons, where the detail of an answer has it (`ranking.crowd-bt`)."""
    found = getattr(detail, "reliability", None)
    return None if found is None else np.asarray(found, dtype=np.float64)
