"""The certificate: right when it holds, never for a support that can be beaten, and in whose units."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.kernels.projection import quantise
from optiframe_tvcs.program.proving import descend, exact_prices, fill, prove
from optiframe_tvcs.program.rounding import to_vertex
from optiframe_tvcs.program.support_program import SupportProgram
from optiframe_tvcs.projection.certificate import Bounds, Prices, check
from optiframe_tvcs.projection.worths import squares
from optiframe_tvcs.sets.three_view import ThreeView

from optiframe import Projection

from .support_twins import best_worth, papers_set, points, sets


def bounds_of(over: ThreeView) -> Bounds:
    rows, columns = over.views
    return Bounds(rows.labels, rows.caps, columns.labels, columns.caps, over.limit)


@given(st.data())
def test_any_prices_bound_every_support_and_only_the_best_is_certified(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    whole = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=over.elements, max_size=over.elements)), dtype=float
    )
    rows, columns = over.views

    def price(size: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), dtype=float)

    prices = Prices(float(price(1)[0]), price(len(rows)), price(len(columns)))
    chosen = data.draw(st.lists(st.booleans(), min_size=over.elements, max_size=over.elements))
    support = np.array(chosen, dtype=bool)
    found = check(whole, bounds_of(over), support, prices)
    best = best_worth(over, whole)
    assert found.dual >= best
    assert found.primal == whole[support].sum()
    if over.excess(support.astype(float)):
        assert not found.holds
        assert found.gap == math.inf
    else:
        assert found.gap >= best - found.primal
    if found.holds:
        assert found.primal == best == found.dual
        assert found.gap == found.failure == 0.0


@given(st.data())
def test_exact_prices_are_found_for_the_best_supports_and_no_others(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    program = SupportProgram.of(Projection(data.draw(points(over.elements)), over))
    chosen = data.draw(st.lists(st.booleans(), min_size=over.elements, max_size=over.elements))
    guess = np.array(chosen, dtype=bool) & (program.whole > 0)
    if over.excess(guess):
        guess = fill(program, np.flatnonzero(guess))
    prices = exact_prices(program, guess, descend(program, sweeps=1))
    best = float(program.whole[guess].sum()) == best_worth(over, program.whole)
    assert (prices is not None) == best
    assert prove(program, guess).certificate.exact == best


def test_a_price_out_of_place_is_found_and_its_reason_given() -> None:
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1)
    whole = np.array([9.0, 4.0, 1.0, 0.0])
    support = np.array([True, False, True, False])
    right = Prices(0.0, np.array([4.0, 0.0]), np.zeros(0))
    assert check(whole, bounds_of(over), support, right).holds
    cheap = check(whole, bounds_of(over), support, Prices(0.0, np.array([3.0, 0.0]), np.zeros(0)))
    assert (cheap.holds, cheap.worst, cheap.failure, cheap.gap) == (False, 1, 1.0, 1.0)
    assert cheap.reason == "element 1 has a reduced worth of the wrong sign"
    dear = check(whole, bounds_of(over), support, Prices(0.0, np.array([10.0, 0.0]), np.zeros(0)))
    assert (dear.worst, dear.failure) == (0, 1.0)
    negative = check(whole, bounds_of(over), support, Prices(0.0, np.array([4.0, -1.0]), np.zeros(0)))
    assert negative.reason == "row group 1 has a negative price"
    unused = check(whole, bounds_of(over), np.array([True, False, False, False]), right)
    assert not unused.holds
    full = check(whole, bounds_of(over), np.array([True, True, False, False]), right)
    assert full.reason == "row group 0 holds more elements than its bound allows"
    assert full.gap == math.inf
    worthless = check(whole, bounds_of(over), np.array([True, False, False, True]), right)
    assert not worthless.holds
    slack = ThreeView.of_matrix((2, 2), total=3, per_row=1)
    paid = check(whole, bounds_of(slack), support, Prices(1.0, np.array([3.0, 0.0]), np.zeros(0)))
    assert paid.reason == "the total has a price and is not used up"


def test_sums_beyond_53_bits_are_exact() -> None:
    p = 40_000
    whole = np.full(p, 2.0**50 - 1)
    over = ThreeView(total=p, size=p)
    found = check(whole, bounds_of(over), np.ones(p, dtype=bool), Prices(0.0, np.zeros(0), np.zeros(0)))
    assert found.holds
    assert found.primal == float(p * (2**50 - 1))
    off = check(whole, bounds_of(over), np.arange(p) > 0, Prices(0.0, np.zeros(0), np.zeros(0)))
    assert off.gap == 2.0**50 - 1  # one element of 40,000, to the last unit


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20).map(np.array))
def test_quantised_worths_are_whole_and_near(weights: np.ndarray) -> None:
    whole, scale = quantise(weights)
    assert np.array_equal(whole, np.rint(whole))
    assert whole.max() <= 2.0**50
    assert np.array_equal(whole > 0, weights > 0)
    assert (np.abs(whole / scale - weights) <= 1 / scale).all()


def test_whole_numbers_are_quantised_without_change() -> None:
    whole, scale = quantise(np.array([81.0, 0.0, -4.0, 1.0]))
    assert (whole / scale).tolist() == [81.0, 0.0, 0.0, 1.0]


def test_squares_keep_what_is_not_zero() -> None:
    worths, unit = squares(np.array([3.0, -2.0, 0.0, 1e-170]))
    assert unit == 1.0
    assert worths[:3].tolist() == [9.0, 4.0, 0.0]
    assert worths[3] > 0
    worths, unit = squares(np.array([3e200, 1e200]))
    assert worths[0] / worths[1] == pytest.approx(9.0)
    assert unit == math.inf


def test_the_rounding_bound_covers_what_quantising_costs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        over = ThreeView.of_matrix((3, 3), total=4, per_row=2, per_column=2)
        v = rng.standard_normal((3, 3)) * 10.0 ** rng.integers(-9, 1, (3, 3))
        found = over.select_for(v).certificate
        assert best_worth(over, v.ravel() ** 2) <= found.primal + found.gap + found.rounding
        assert found.rounding <= 18 * 2.0**-49 * (v**2).max()


def test_descending_prices_bound_from_above_and_never_rise() -> None:
    for seed in range(5):
        over, rng = papers_set(100, seed)
        program = SupportProgram.of(Projection(rng.standard_normal((10, 10)), over))
        none = np.zeros(100, dtype=bool)
        duals = [program.selection(none, descend(program, sweeps=k)).certificate.dual for k in (1, 2, 5, 20)]
        assert duals == sorted(duals, reverse=True)
        assert duals[-1] >= over.select_for(program.point).certificate.primal * (1 - 1e-12)


def test_fractional_shares_are_rounded_to_a_support_as_good() -> None:
    for seed in range(10):
        over, rng = papers_set(36, seed)
        v = rng.integers(0, 3, (6, 6)).astype(np.float64)  # many ties
        program = SupportProgram.of(Projection(v, over))
        # The mean of two best supports is a best answer between vertices.
        one = over.select_for(v).support
        other = over.select(np.where(v > 0, v**2 + 1e-4 * rng.random((6, 6)), 0.0)).support
        rounded = to_vertex(program, (one + other.astype(np.float64)) / 2)
        assert over.excess(rounded) == 0
        assert program.whole[rounded].sum() == program.whole[one].sum()
        assert prove(program, rounded).certificate.holds
