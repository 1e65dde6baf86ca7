"""Shadow prices are what one more unit of a bound is worth, by solving again with that unit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs import Groups, ThreeView, shadow_prices

from .support_twins import best_worth, sets


def raised(groups: Groups, group: int) -> Groups:
    return Groups.of_labels(groups.labels, groups.caps + (np.arange(len(groups)) == group))


@given(st.data())
def test_gains_are_those_of_solving_again(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    p = over.elements
    worth = np.array(data.draw(st.lists(st.integers(-1, 6), min_size=p, max_size=p)), dtype=float)
    positive = np.maximum(worth, 0.0)
    found, best = shadow_prices(over, worth), best_worth(over, positive)
    prices = over.select(worth).prices
    more = over.model_copy(update={"total": None if over.total is None else over.total + 1})
    assert found.total == best_worth(more, positive) - best
    for view, gain, price in (("rows", found.rows, prices.rows), ("columns", found.columns, prices.columns)):
        groups = getattr(over, view)
        for group in range(0 if groups is None else len(groups)):
            wider = over.model_copy(update={view: raised(groups, group)})
            assert gain[group] == best_worth(wider, positive) - best
        assert (gain <= price + 1e-9).all()


def test_a_bound_that_others_stop_from_helping_gains_nothing() -> None:
    # The total and the columns are used up together: a place more in all has nowhere to go.
    over = ThreeView.of_matrix((2, 2), total=2, per_column=1)
    found = shadow_prices(over, np.array([[4.0, 3.0], [2.0, 1.0]]))
    assert found.total == 0.0
    assert found.columns.tolist() == [0.0, 0.0]
