"""Items that won, or lost, every comparison with the rest, which have no finite score without a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from optiframe.tables.ids import Ids, listed

if TYPE_CHECKING:
    from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph


class Separation(NamedTuple):
    """Who is separated from the rest, in words, and the ids of these items."""

    text: str
    items: tuple[Any, ...]


def separation(graph: ComparisonGraph, ids: Ids) -> Separation | None:
    """The items that never lose to the rest or never win against it; None where there are none.

    Bradley-Terry's likelihood has a maximum exactly where there are none (Ford 1957). Items that both
    win and lose among each other, directly or by way of third ones, are one group. Groups that never
    lose to another group, and those that never win against one, are named, but not a group of more
    than half of its component: its counterpart at the other end is the smaller side.
    """
    left, right, margin = graph.left, graph.right, graph.margin
    winner = np.concatenate([left[margin >= 0], right[margin <= 0]])
    loser = np.concatenate([right[margin >= 0], left[margin <= 0]])
    arrows = sp.coo_array((np.ones(len(winner)), (loser, winner)), shape=(graph.items, graph.items))
    groups, group = connected_components(sp.csr_array(arrows), directed=True, connection="strong")
    component = graph.components
    if groups == component.max() + 1:
        return None
    across = group[winner] != group[loser]
    wins, loses = (np.isin(np.arange(groups), group[codes[across]]) for codes in (winner, loser))
    small = 2 * np.bincount(group)[group] <= np.bincount(component)[component]
    texts, items = [], []
    for end, one, many in (
        (wins & ~loses, "never loses to", "never lose to"),
        (loses & ~wins, "never wins against", "never win against"),
    ):
        named = ids[end[group] & small]
        if len(named):
            texts.append(
                f"{listed(named)} {one if len(named) == 1 else many} the rest "
                f"({len(named):,} of {graph.items:,} items)"
            )
            items += named.tolist()
    return Separation(" and ".join(texts), tuple(items))
