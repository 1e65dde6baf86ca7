"""The compiled kernels against slow twins, and the ways into them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.kernels import driver as compiled
from optiframe_tvcs.kernels.candidates import CHUNK, mark
from optiframe_tvcs.kernels.newton import newton_block
from optiframe_tvcs.kernels.scan import CHOSEN, LISTED, largest_worth, verify
from optiframe_tvcs.kernels.warm_start import near_each
from optiframe_tvcs.projection.certificate import Prices, check
from optiframe_tvcs.projection.plan import ProjectionPlan
from tvcs_common import KINDS, hard_instance, paper_instance, random_instance, set_of

from .support_twins import papers_set

LARGE = 3600  # elements beyond which samples and windows come in


def priced_list(rng: np.random.Generator, rows: int = 5, columns: int = 4, n: int = 60) -> dict[str, Any]:
    """Elements row by row with whole worths, some of them nothing, and prices."""
    row = np.sort(rng.integers(0, rows, n))
    return {
        "first": np.searchsorted(row, np.arange(rows + 1)).astype(np.int64),
        "row": row,
        "col": rng.integers(0, columns, n).astype(np.int32),
        "whole": np.maximum(rng.integers(-20, 100, n), 0).astype(np.float64),
        "rho": rng.integers(0, 60, rows).astype(np.float64),
        "b": rng.integers(0, 40, columns).astype(np.float64),
    }


def test_a_newton_step_is_that_of_the_plain_formula() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        made = priced_list(rng)
        y0, tau, total = float(rng.integers(0, 30)), float(rng.uniform(5, 50)), float(rng.integers(1, 60))
        price, base, caps = (
            np.maximum(made["rho"] - y0, 0),
            rng.integers(0, 3, 5) * 1.0,
            rng.integers(1, 12, 5),
        )
        window = np.where(rng.random(5) < 0.5, np.inf, 4.0)
        centre = y0 + price
        t = made["whole"] - made["b"][made["col"]]
        z = (t - (y0 + price)[made["row"]]) / tau + 0.5
        counts = base + np.bincount(made["row"], np.clip(z, 0, 1), minlength=5)
        slopes = np.bincount(made["row"], (z >= 0) & (z <= 1), minlength=5)
        over = counts - caps
        steps = np.divide(over, slopes, out=over.astype(float).copy(), where=slopes > 0)
        star = np.clip(centre + np.clip(steps, -1, 1) * tau, centre - window, centre + window)
        bound = star > y0
        left = np.where(bound, caps, counts).sum() - total
        slope = slopes[~bound].sum()
        expected = max(y0 + np.clip(left / slope if slope else left, -1, 1) * tau, 0.0)
        arguments = (made["first"], made["col"], made["whole"], base, caps, total, y0, price, made["b"])
        found, ramp = newton_block(*arguments, tau, centre, window, np.empty(5))
        assert found == pytest.approx(expected, abs=1e-9)
        assert ramp == slopes.sum()
        assert price == pytest.approx(np.maximum(star - expected, 0.0), abs=1e-9)


@pytest.mark.parametrize("n", [60, 3 * CHUNK])
def test_marks_and_counts_are_those_of_a_plain_pass(n: int) -> None:
    rng = np.random.default_rng(n)
    made = priced_list(rng, n=n)
    window_r, window_c = rng.integers(0, 9, 5) * 1.0, rng.integers(0, 9, 4) * 1.0
    row, col, whole = made["row"], made["col"], made["whole"]
    before = rng.integers(0, 4, n).astype(np.uint8)
    z = whole - made["rho"][row] - made["b"][col]
    near = (np.abs(z) <= np.maximum(window_r[row], window_c[col])) & (whole > 0)
    state, base_r, base_c, listed = before.copy(), np.zeros(5, int), np.zeros(4, int), np.zeros(5, int)
    arguments = (made["first"], col, whole, made["rho"], made["b"], window_r, window_c)
    found, wrong = mark(*arguments, state, base_r, base_c, listed, True)
    sure = (z > 0) & ~near
    assert np.array_equal(state, CHOSEN * (z > 0) + LISTED * near)
    assert np.array_equal(base_r, np.bincount(row[sure], minlength=5))
    assert np.array_equal(base_c, np.bincount(col[sure], minlength=4))
    assert np.array_equal(listed, np.bincount(row[near], minlength=5))
    assert found == near.sum()
    assert wrong == ((before < LISTED) & (before != (z > 0))).sum()

    near_r, near_c = np.empty(5), np.empty(4)
    near_each(made["first"], col, whole, made["rho"], made["b"], 7.0, near_r, near_c)
    assert np.array_equal(near_r, np.bincount(row[np.abs(z) <= 7], minlength=5))
    assert np.array_equal(near_c, np.bincount(col[np.abs(z) <= 7], minlength=4))


def test_the_compiled_check_finds_what_the_plain_one_finds() -> None:
    rng = np.random.default_rng(1)
    failing = 0
    for _ in range(40):
        made, caps_r, caps_c = priced_list(rng), rng.integers(1, 12, 5), rng.integers(1, 14, 4)
        total, y0 = int(rng.integers(5, 40)), float(rng.integers(0, 20))
        u, w = rng.integers(0, 20, 5) * 1.0, rng.integers(0, 20, 4) * 1.0
        support = (made["whole"] > y0 + u[made["row"]] + w[made["col"]]) ^ (rng.random(60) < 0.01)
        bounds = ProjectionPlan(made["row"].astype(np.int32), caps_r, made["col"], caps_c, total).bounds
        plain = check(made["whole"], bounds, support, Prices(y0, u, w))
        sums = np.zeros(6, np.int64)
        state = support.astype(np.uint8)
        arguments = (made["first"], made["col"], made["whole"], state, y0, u, w, caps_r, caps_c, total)
        failures = verify(*arguments, sums)
        assert (failures == 0) == plain.holds
        assert (int(sums[0]) << 26) + int(sums[1]) == plain.primal
        assert (int(sums[2]) << 26) + int(sums[3]) == plain.dual
        assert sums[5] == plain.failure
        failing += failures > 0
    assert failing > 20


def test_the_largest_worth_is_that_of_numpy_and_says_what_cannot_be_used() -> None:
    rng = np.random.default_rng(2)
    for values in (rng.standard_normal(50), -rng.random(7), np.array([-0.0]), np.array([])):
        assert largest_worth(values, False) == max(values.max(initial=0.0), 0.0)
        assert largest_worth(values, True) == (values**2).max(initial=0.0)
    for odd in (np.nan, -np.nan, np.inf, -np.inf):
        assert largest_worth(np.array([1.0, odd, 2.0]), False) == largest_worth(np.array([odd]), True) == -1.0
    assert largest_worth(np.array([1e200]), True) == largest_worth(np.array([1e-200]), True) == -1.0


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), most=st.sampled_from([300, 3 * LARGE]))
def test_keeping_entries_is_solving_for_their_squares(kind: str, seed: int, most: int) -> None:
    instance = random_instance(np.random.default_rng(seed), kind, most)
    plan = ProjectionPlan(*instance.bounds)
    v = instance.v
    found = plan.solve(v**2, compiled=True)
    report = plan._run(v, True, None, False, np.empty(0, bool), kept := np.empty(len(v)))
    assert report[0] == 0
    assert np.array_equal(kept, np.where(found.support, v, 0.0))


def test_a_few_thousand_elements_and_more_have_the_same_answer() -> None:
    instance = paper_instance(np.random.default_rng(3), 40)
    plan = ProjectionPlan(*instance.bounds)
    direct = plan.solve(instance.v**2, compiled=True)
    support, prices, report = np.empty(1600, bool), np.empty(1 + plan._groups[1]), np.empty(14, np.int64)
    failures, _ = compiled.project(
        instance.v, True, *plan._layout, False, False, prices, support, np.empty(0), report
    )
    assert failures == 0
    assert np.array_equal(support, direct.support)


@pytest.mark.parametrize("side", [40, 70])
@pytest.mark.parametrize("kind", ["gaussian", "ties", "pareto", "huge"])
def test_prices_from_anywhere_lead_to_the_same_worth(side: int, kind: str) -> None:
    instance = hard_instance(np.random.default_rng(4), side, kind)
    plan, rng = ProjectionPlan(*instance.bounds), np.random.default_rng(5)
    weights = instance.v**2
    cold = plan.solve(weights, compiled=True)
    for factor in (1.0, 1.001, 0.0, 5.0, 1e9):
        rows, columns = (rng.permutation(part) * factor for part in (cold.prices.rows, cold.prices.columns))
        warm = plan.solve(weights, Prices(cold.prices.total * factor, rows, columns), compiled=True)
        assert warm.certificate.holds
        assert warm.certificate.primal == cold.certificate.primal


def test_near_prices_leave_less_to_repair_than_none() -> None:
    instance = paper_instance(np.random.default_rng(6), 120)
    plan = ProjectionPlan(*instance.bounds)
    cold = plan.solve(instance.v**2, compiled=True)
    moved = instance.v * (1 + 0.01 * np.random.default_rng(7).standard_normal(120 * 120))
    warm = plan.solve(moved**2, cold.prices, compiled=True)
    assert warm.certificate.holds
    assert plan.effort is not None
    assert plan.effort.units < 12
    assert plan.effort.rounds <= 2


@pytest.mark.parametrize("p", [400, LARGE])
def test_points_that_are_read_only_or_in_pieces_are_not_compiled_for_anew(p: int) -> None:
    over, rng = papers_set(p, 8)
    side = round(p**0.5)
    v = rng.standard_normal((side, 2 * side))
    over.plan.solve(v[:, ::2].ravel() ** 2, compiled=True)
    known = [len(kernel.signatures) for kernel in (compiled.direct, compiled.project)]
    locked = v[:, :side].copy()
    locked.flags.writeable = False
    for point in (v[:, ::2], locked, np.asfortranarray(v[:, :side])):
        support = over.plan.solve(point.ravel() ** 2, compiled=True).support
        kept = np.empty(p)
        over.plan._run(point.T.reshape(-1)[::-1], True, None, False, np.empty(0, bool), kept)
        over.plan._run(point.reshape(-1), True, None, False, np.empty(0, bool), kept)
        assert np.array_equal(kept, np.where(support, point.ravel(), 0.0))
        assert np.array_equal(over.project(point), kept.reshape(point.shape))
    assert known == [len(kernel.signatures) for kernel in (compiled.direct, compiled.project)]


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_points_whose_squares_are_no_ordinary_numbers_are_projected_all_the_same(size: float) -> None:
    instance = paper_instance(np.random.default_rng(9), 62)
    over = set_of(instance)
    assert over.plan.keep(size * instance.v) is None
    assert np.array_equal(over.project(size * instance.v) != 0, over.project(instance.v) != 0)
