"""The certificate: right when it holds, never for a support that can be beaten, and in whose units."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.kernels.numbers import exact_worths, quantise
from optiframe_tvcs.program.feasible import fill
from optiframe_tvcs.program.rounding import to_vertex
from optiframe_tvcs.program.support_program import SupportProgram
from optiframe_tvcs.projection.certificate import Bounds, Certificate, Prices, compare
from optiframe_tvcs.projection.optimality import check
from optiframe_tvcs.sets.three_view import ThreeView

from optiframe import Projection

from .support_twins import best_worth, papers_set, points, sets


def bounds_of(over: ThreeView) -> Bounds:
    rows, columns = over.views
    return Bounds(rows.labels, rows.caps, columns.labels, columns.caps, over.limit)


@pytest.mark.slow
@given(st.data())
def test_whatever_the_prices_only_the_best_is_certified(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    worths = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=over.elements, max_size=over.elements)), dtype=float
    )
    rows, columns = over.views

    def price(size: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), dtype=float)

    scale = data.draw(st.sampled_from([1.0, 2.0**47]))  # of the worths: few units, or many
    prices = Prices(float(price(1)[0]) * scale, price(len(rows)) * scale, price(len(columns)) * scale)
    chosen = data.draw(st.lists(st.booleans(), min_size=over.elements, max_size=over.elements))
    support = np.array(chosen, dtype=bool)
    found, exact = check(worths, bounds_of(over), support, prices, squared=False)
    best = best_worth(over, worths)
    feasible = not over.excess(support.astype(float)) and not (support & (worths == 0)).any()
    assert found.holds == (feasible and worths[support].sum() == best)
    assert found.primal == worths[support].sum()
    assert found.dual >= best
    if found.holds:
        assert found.primal == best == found.dual
        reduced = worths - exact.total - np.append(exact.rows, 0.0)[rows.labels]
        reduced -= np.append(exact.columns, 0.0)[columns.labels]
        assert (np.where(support, -reduced, reduced)[worths > 0] <= 0).all()
        assert exact.total == 0 or support.sum() == over.limit
        for price_of, view in ((exact.rows, rows), (exact.columns, columns)):
            assert (price_of >= 0).all()
            assert (view.counts(support) == view.caps)[price_of > 0].all()
    else:
        assert found.reason


@given(st.data())
def test_what_a_support_lacks_is_the_difference_of_the_worths(data: st.DataObject) -> None:
    over = data.draw(sets(most=7))
    program = SupportProgram.of(Projection(data.draw(points(over.elements)), over))
    chosen = data.draw(st.lists(st.booleans(), min_size=over.elements, max_size=over.elements))
    guess = np.array(chosen, dtype=bool) & (program.whole > 0)
    if over.excess(guess):
        guess = fill(program, np.flatnonzero(guess))
    squares = [Fraction(x) ** 2 for x in program.point.tolist()]
    worth, best = (
        sum((q for q, one in zip(squares, each.tolist(), strict=True) if one), Fraction(0))
        for each in (guess, program.best.support)
    )
    found = program.selection(guess).certificate
    assert found.holds == (worth == best)
    assert found.gap == pytest.approx(float(best - worth), rel=1e-12)
    assert (found.loss > 0) == (worth < best)


def test_a_support_that_breaks_a_bound_is_told_which() -> None:
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1)
    worths = np.array([9.0, 4.0, 1.0, 0.0])
    support = np.array([True, False, True, False])
    right = Prices(0.0, np.array([4.0, 0.0]) * 2.0**46, np.zeros(0))
    assert check(worths, bounds_of(over), support, right, squared=False)[0].holds
    for wrong, reason in (
        ([True, True, False, False], "row group 0 holds more elements than its bound allows"),
        ([True, False, False, True], "an element without worth is chosen"),
        ([True, False, False, False], "another support is worth more"),
    ):
        found, _ = check(worths, bounds_of(over), np.array(wrong), right, squared=False)
        assert (found.holds, found.reason) == (False, reason)
    for odd in (-1.0, 0.5, 2.0**51, np.nan):
        prices = Prices(odd, right.rows, right.columns)
        found, _ = check(worths, bounds_of(over), support, prices, squared=False)
        assert found.reason == "the prices are not whole numbers from 0 to 2**50"


def test_differences_far_below_rounding_are_found() -> None:
    p = 40_000
    worths = np.full(p, 2.0**50)
    worths[0] += 2.0
    over = ThreeView(total=p - 1, size=p)
    everything_but = [np.arange(p) != left_out for left_out in (0, p - 1)]
    worse, best = everything_but
    found = compare(worths, bounds_of(over), worse, best, squared=False)
    assert not found.holds
    assert found.gap == 2.0  # the sums need 66 bits
    assert compare(worths, bounds_of(over), best, best, squared=False).holds


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20).map(np.array),
    st.sampled_from([0, 1000, -900]),
    st.booleans(),
)
def test_rounded_worths_are_whole_and_near(values: np.ndarray, power: int, squared: bool) -> None:
    values = np.ldexp(values, power)
    whole, unit = quantise(values, squared)
    assert np.array_equal(whole, np.rint(whole))
    assert whole.max() <= 2.0**50
    assert np.array_equal(whole > 0, values != 0 if squared else values > 0)
    exact, finest = exact_worths(values, squared)
    for q, n in zip(whole.tolist(), exact, strict=True):
        assert (
            abs(Fraction(q) * Fraction(2) ** unit - Fraction(n) * Fraction(2) ** finest)
            <= Fraction(2) ** unit
        )


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
        assert program.selection(rounded).certificate.holds


def test_a_certificate_shows_what_it_proves_or_why_it_does_not() -> None:
    proved = Certificate(True, 25.0, 25.0, 0.0, 0.0, "")
    assert "<p>Proved: no feasible support is worth more than 25.</p>" in proved._repr_html_()
    other = Certificate(False, 24.0, 25.0, 1.0, 0.04, "another support is worth more")
    assert other.in_words() == ["Not proved best: another support is worth more (gap 1, loss 4%)."]


def test_an_answer_of_another_method_is_judged() -> None:
    over = ThreeView.of_matrix((2, 3), total=3, per_row=[1, 0], per_column=1)
    point = np.array([[3.0, 4.0, 0.0], [9.0, 1.0, 1.0]])
    best = over.judge(point, over.project(point))
    assert best.certificate.holds
    worse = over.judge(point, [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])  # what is kept counts, and not its value
    assert worse.support.tolist() == [True, False, False, False, False, False]
    assert (worse.certificate.primal, worse.certificate.gap) == (9.0, 7.0)
    assert (worse.prices.rows == best.prices.rows).all()
    for outside, reason in ((point[0], "row group 0 holds more"), ([0, 0, 0], "row group 1 holds more")):
        judged = over.judge(point, [outside, [1.0, 0.0, 0.0]])
        assert judged.certificate.gap == math.inf
        assert reason in judged.certificate.reason
        assert reason in judged.diagnose()[0].text
    (finding,) = over.judge(point, np.zeros(over.shape)).diagnose()
    assert finding.text == "nothing is chosen; tvcs.exact finds the best"


@pytest.mark.parametrize(
    ("total", "labels", "point", "answer"),
    [
        (1, [0, 1, 1], [10, 2, 1], [0, 0, 1]),
        (None, [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]),
    ],
)
def test_entries_that_no_support_can_hold_are_part_of_the_distance(
    total: int | None, labels: list[int], point: list[float], answer: list[float]
) -> None:
    over = ThreeView(total=total, rows={"labels": labels, "bounds": [0, 2]}, size=len(labels))
    loss = over.judge(point, answer).certificate.loss
    away, nearest = (float(np.linalg.norm(np.subtract(point, x))) for x in (answer, over.project(point)))
    assert loss == pytest.approx(1 - nearest / away)


@pytest.mark.parametrize(
    ("point", "support"),
    [
        ([1e192, 1e155, 0, 0], [1, 0, 0, 0]),  # all that was left is lost
        ([2e-308, 1e308, 2.0000001e-308, 1e-308], [1, 1, 0, 0]),
        ([3e-200, 2e-200, 1e-200, 1e-200], [0, 1, 1, 0]),
        ([0.1, 0.7, 0, 0], [1, 0, 0, 0]),  # the nearest point is the point itself
        ([1, 1 + 2**-52, 1, 1], [1, 0, 1, 0]),
        ([0, 0, 0, 1e308], [0, 0, 0, 0]),
    ],
)
def test_the_loss_is_right_whatever_the_size_of_the_entries(point: list[float], support: list[int]) -> None:
    over = ThreeView(size=4, total=2)
    found = over.judge(point, support).certificate
    kept = np.array(support, dtype=bool)
    away, nearest = (
        sum((Fraction(x) ** 2 for x, one in zip(point, each, strict=True) if not one), Fraction(0))
        for each in (kept, over.select_for(point).support)
    )
    share = float((away - nearest) / away)
    assert found.loss == pytest.approx(share / (1 + math.sqrt(nearest / away)), rel=1e-12)
    assert "worth 0 more" not in found.reason


def test_the_loss_of_worths_is_a_share_of_the_best_worth() -> None:
    over = ThreeView(size=3, total=2)
    worths = np.array([1.7e308, 1.7e308, 0.85e308])
    one, best = (np.array(each, dtype=bool) for each in ([0, 1, 1], [1, 1, 0]))
    assert compare(worths, bounds_of(over), one, best, squared=False).loss == pytest.approx(0.25)
