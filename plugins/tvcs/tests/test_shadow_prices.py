"""Shadow prices are what one more unit of a bound is worth, by solving again with that unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs import Groups, ThreeView, shadow_prices

from optiframe import InvalidInput

from .support_twins import best_worth, sets


def raised(groups: Groups, group: int) -> Groups:
    return Groups.of_labels(groups.labels, groups.caps + (np.arange(len(groups)) == group))


@given(st.data())
def test_gains_are_those_of_solving_again(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    p = over.elements
    scale = data.draw(st.sampled_from([1, 2**40, 2**500]))  # of what is above 2
    drawn = data.draw(st.lists(st.integers(-1, 6), min_size=p, max_size=p))
    whole = np.array([n * scale if n > 2 else n for n in drawn], dtype=object)
    worth, positive = whole.astype(float), np.maximum(whole, 0)
    found, best = shadow_prices(over, worth), best_worth(over, positive)
    prices = over.select(worth).prices
    more = over.model_copy(update={"total": None if over.total is None else over.total + 1})
    assert found.total == float(best_worth(more, positive) - best)
    for view, gain, price in (("rows", found.rows, prices.rows), ("columns", found.columns, prices.columns)):
        groups = getattr(over, view)
        for group in range(0 if groups is None else len(groups)):
            wider = over.model_copy(update={view: raised(groups, group)})
            assert gain[group] == float(best_worth(wider, positive) - best)
        assert (gain <= price * (1 + 1e-9) + 1e-9).all()


def test_one_huge_worth_does_not_blur_what_the_others_are_worth() -> None:
    over = ThreeView(total=2, size=4)
    for huge in (1e16, 1e308):
        assert shadow_prices(over, np.array([huge, 0.3, 0.2, 0.1])).total == 0.2
    with pytest.raises(InvalidInput, match=r"entry \[2\] of the worths is nan; every entry must be finite"):
        shadow_prices(over, np.array([1.0, 2.0, np.nan, 3.0]))


def test_a_bound_that_others_stop_from_helping_gains_nothing() -> None:
    # The total and the columns are used up together: a place more in all has nowhere to go.
    over = ThreeView.of_matrix((2, 2), total=2, per_column=1)
    found = shadow_prices(over, np.array([[4.0, 3.0], [2.0, 1.0]]))
    assert found.total == 0.0
    assert found.columns.tolist() == [0.0, 0.0]


def test_worths_as_large_as_float64_goes_have_prices_and_proofs() -> None:
    largest = float(np.finfo(np.float64).max)
    assert shadow_prices(ThreeView(size=1, total=0), np.array([largest])).total >= largest
    assert shadow_prices(ThreeView(size=2, total=1), np.array([largest, 1.0])).total == 1.0
    whole = ThreeView(size=2, total=2).select(np.array([1.7e308, 1.7e308])).certificate  # without a warning
    assert (whole.holds, whole.primal) == (True, np.inf)
