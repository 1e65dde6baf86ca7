"""Kernels in C++ against plain NumPy and SciPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optiframe_hodgerank.kernels import multigrid, reference, rows

from optiframe.testing import check_changes_meanwhile, check_interruptible, check_kernel, check_refusals

from .test_multigrid import chain, image

compiled_only = pytest.mark.skipif(rows.merge is reference.merge, reason="NumPy checks its own arguments")
VALUES = {"signs": [-1.0, 0.0, 1.0, -0.0], "few": [0.5, -0.5, 2.0, -0.0, 1e140], "one": [1.0]}


def comparisons(items: int, count: int, values: str, seed: int) -> dict[str, Any]:
    """Rows with margins of a kind and weights, some of a pair of one item."""
    rng = np.random.default_rng(seed)
    margin = rng.standard_normal(count) if values == "real" else rng.choice(VALUES[values], count)
    left, right = rng.integers(0, max(items, 1), (2, count))
    return {"items": items, "left": left, "right": right, "margin": margin, "weight": rng.random(count)}


drawn = st.builds(
    comparisons,
    st.integers(1, 40),
    st.integers(0, 200),
    st.sampled_from([*VALUES, "real"]),
    st.integers(0, 10**6),
)
many_items = comparisons(300, 200, "signs", 0)  # too many for a table of all pairs


@given(given_rows=drawn, weighted=st.booleans())
@example(given_rows=comparisons(0, 0, "one", 0), weighted=True)
@example(given_rows=comparisons(1, 1, "one", 0), weighted=True)
@example(given_rows=many_items, weighted=True)
@example(given_rows=many_items, weighted=False)
def test_rows_are_merged_as_by_numpy(given_rows: dict[str, Any], weighted: bool) -> None:
    check_kernel(reference.merge, {**given_rows, **({} if weighted else {"weight": None})})


def test_many_rows_of_a_pair_are_merged_as_by_numpy() -> None:
    for values in ("signs", "few", "real"):
        check_kernel(reference.merge, comparisons(3, 5000, values, 1))


def by_pair(given_rows: dict[str, Any]) -> tuple[reference.RowsByPair, reference.RowsByPair]:
    """The same rows in C++ and in NumPy."""
    return rows.RowsByPair(**given_rows), reference.RowsByPair(**given_rows)


@given(given_rows=drawn)
@example(given_rows=comparisons(0, 0, "one", 0))
@example(given_rows=comparisons(1, 1, "one", 0))
def test_rows_are_sorted_by_pair_as_by_numpy(given_rows: dict[str, Any]) -> None:
    found, expected = by_pair(given_rows)
    for name in ("first_pair", "other", "first_row", "margin", "weight", "whole"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)


@given(
    given_rows=drawn,
    level=st.sampled_from([0.0, 0.3, 1.0, np.inf, -1e-11]),
    scale=st.sampled_from([0.0, 0.5]),
)
@example(given_rows=comparisons(0, 0, "one", 0), level=1.0, scale=0.0)
@example(given_rows=comparisons(1, 1, "one", 0), level=1.0, scale=0.0)
def test_passes_over_rows_are_those_of_numpy(given_rows: dict[str, Any], level: float, scale: float) -> None:
    both, items = by_pair(given_rows), given_rows["items"]
    rng = np.random.default_rng(0)
    scores, v = scale * np.round(rng.standard_normal((2, items)), 1)
    pairs = len(both[0].other)
    answers = []
    for one in both:
        kept, force, degree, product = np.empty(pairs), np.empty(items), np.empty(items), np.empty(items)
        loss = one.huber(level, scores, 1e-8, kept, force)
        one.degrees(kept, degree)
        one.laplacian_product(kept, v, product)
        answers.append([np.array(loss), kept, force, degree, product, np.array(one.parts(kept, 2e-8))])
    for found, expected in zip(*answers, strict=True):
        size = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)


@compiled_only
def test_rows_by_pair_keep_what_they_were_made_of() -> None:
    given_rows = comparisons(5, 30, "real", 0)
    found = rows.RowsByPair(**given_rows)
    before = found.huber(0.5, np.zeros(5), 1e-8, np.empty(len(found.other)), np.empty(5))
    for name in ("left", "right", "margin", "weight"):
        given_rows[name][:] = 2**40
    assert found.huber(0.5, np.zeros(5), 1e-8, np.empty(len(found.other)), np.empty(5)) == before
    other = found.other
    with pytest.raises(ValueError, match="read-only"):
        other[0] = 99
    del found
    assert (other < 5).all()  # which outlives the rows


def step(items: int, count: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    given_rows = comparisons(items, count, "real", seed)
    del given_rows["items"]
    dual, outliers = rng.standard_normal((2, count))
    return {
        **given_rows,
        "scores": rng.standard_normal(items),
        "dual": dual,
        "outliers": outliers,
        "after": np.zeros(count),
        "dt": 0.7,
        "kappa": 3.0,
        "into": np.zeros(items),
    }


@given(items=st.integers(1, 40), count=st.integers(0, 200), seed=st.integers(0, 10**6))
@example(items=0, count=0, seed=0)
def test_a_step_of_bregman_iteration_is_that_of_numpy(items: int, count: int, seed: int) -> None:
    check_kernel(reference.bregman_block, step(items, count, seed), rtol=1e-13)


def graph(name: str) -> dict[str, Any]:
    made = {"image": image(24, 22), "chain": chain(700), "small": chain(9)}[name]
    order = np.lexsort((made.right, made.left))
    columns = {key: getattr(made, key)[order] for key in ("left", "right", "margin", "weight")}
    return {"items": made.items + 3, **columns}  # and items that nobody compared


@pytest.mark.parametrize("name", ["image", "chain", "small"])
def test_a_multigrid_cycle_is_that_of_scipy(name: str) -> None:
    found, expected = by_pair(graph(name))
    ours, twin = multigrid.multigrid(found), reference.multigrid(expected)
    assert ours is not None
    assert twin is not None
    for one, other in zip(ours.smallest(), twin.smallest(), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4)
    nodes = len(ours.smallest()[0]) - 1
    rng = np.random.default_rng(0)
    items = len(found.first_pair) - 1
    inverse = rng.standard_normal((nodes, nodes)).astype(np.float32)
    b = rng.standard_normal(items).astype(np.float32)
    x, y = np.empty((2, items), dtype=np.float32)
    ours.cycle(b, inverse, x)
    twin.cycle(b, inverse, y)
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-4 * np.abs(y).max())


def test_random_graphs_have_no_cycle_in_either() -> None:
    rng = np.random.default_rng(0)
    left, right = np.sort(rng.integers(0, 2000, (2, 6000)), axis=0)
    far = {"items": 2000, "left": left, "right": right, "margin": np.ones(6000), "weight": np.ones(6000)}
    found, expected = by_pair(far)
    assert multigrid.multigrid(found) is None
    assert reference.multigrid(expected) is None


def made(items: int, left: Any, right: Any, margin: Any, weight: Any) -> Any:
    """Every pass over rows by pair, as a function."""
    of = rows.RowsByPair(items, left, right, margin, weight)
    items, pairs = len(of.first_pair) - 1, len(of.other)
    kept, force = np.empty(pairs), np.empty(items)
    of.huber(0.5, np.zeros(items), 1e-8, kept, force)
    of.degrees(kept, force)
    of.laplacian_product(kept, np.zeros(items), force)
    of.parts(kept, 2e-8)
    if (grid := multigrid.multigrid(of)) is not None:
        nodes = len(grid.smallest()[0]) - 1
        b, inverse = np.ones(items, np.float32), np.ones((nodes, nodes), np.float32)
        grid.cycle(b, inverse, np.empty_like(b))
    return of


def test_wrong_arguments_are_refused_and_crash_nothing() -> None:
    check_refusals(reference.merge, comparisons(9, 30, "signs", 0), optional={"weight"})
    check_refusals(reference.merge, comparisons(9, 30, "real", 0), optional={"weight"})
    check_refusals(reference.bregman_block, step(9, 30, 0))
    check_refusals(reference.RowsByPair, comparisons(9, 30, "real", 0))


@pytest.mark.slow
@pytest.mark.parametrize(("items", "values"), [(20, "signs"), (400, "real")])
def test_arrays_that_another_thread_changes_crash_nothing(items: int, values: str) -> None:
    given_rows = comparisons(items, 20_000, values, 0)
    check_changes_meanwhile(reference.merge, given_rows)
    check_changes_meanwhile(reference.RowsByPair, given_rows)
    check_changes_meanwhile(reference.bregman_block, step(items, 100_000, 0))


@compiled_only
def test_wrong_arguments_of_passes_are_refused() -> None:
    of = rows.RowsByPair(**graph("image"))
    items, pairs = len(of.first_pair) - 1, len(of.other)
    long, short = np.empty(items + 1), np.empty(items - 1)
    right, kept = np.zeros(items), np.zeros(pairs)
    grid = multigrid.multigrid(of)
    assert grid is not None
    b, inverse = np.ones(items, np.float32), np.ones((3, 3), np.float32)
    for wrong in (
        long,
        short,
        right.astype(np.float32),
        np.empty((items, 1)),
        np.empty(2 * items)[::2],
        None,
    ):
        for call in (
            lambda wrong=wrong: of.huber(0.5, wrong, 1e-8, kept, right),
            lambda wrong=wrong: of.huber(0.5, right, 1e-8, kept, wrong),
            lambda wrong=wrong: of.huber(0.5, right, 1e-8, wrong, right),
            lambda wrong=wrong: of.degrees(kept, wrong),
            lambda wrong=wrong: of.degrees(wrong, right),
            lambda wrong=wrong: of.laplacian_product(kept, wrong, right),
            lambda wrong=wrong: of.laplacian_product(kept, right, wrong),
            lambda wrong=wrong: of.parts(wrong, 0.0),
            lambda wrong=wrong: grid.cycle(wrong, inverse, b),
            lambda wrong=wrong: grid.cycle(b, inverse, wrong),
        ):
            with pytest.raises((TypeError, ValueError)):
                call()
    with pytest.raises((TypeError, ValueError)):
        grid.cycle(b, inverse, b)


@compiled_only
@pytest.mark.parametrize("values", ["signs", "real"])
def test_wrong_rows_reach_no_memory_but_theirs(values: str) -> None:
    rng = np.random.default_rng(0)
    for number in (np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0):
        given_rows = comparisons(150, 400, values, 0)
        given_rows[rng.choice(["margin", "weight"])][:] = number
        rows.merge(*given_rows.values())
        made(**given_rows)


def test_two_threads_at_once_give_the_same_answers() -> None:
    of = rows.RowsByPair(**graph("image"))
    items, pairs = len(of.first_pair) - 1, len(of.other)
    scores = np.random.default_rng(0).standard_normal(items)

    def passes(seed: int) -> list[Any]:
        kept, force, product = np.empty(pairs), np.empty(items), np.empty(items)
        loss = of.huber(0.3, scores, 1e-8, kept, force)
        of.laplacian_product(kept, scores, product)
        merged = rows.merge(*comparisons(30, 5000, "real", 0).values())
        return [loss, kept, force, product, *merged]

    alone = passes(0)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(passes, range(20)):
            for one, other in zip(found, alone, strict=True):
                np.testing.assert_array_equal(one, other)


# A pass of NumPy ends before Ctrl-C does anything: without the extension passes are short ones.
FEWER = 100 if rows.merge is reference.merge else 1
LONG = f"""
import numpy as np
from optiframe_hodgerank.kernels import multigrid, rows
n, count = {200_000 // FEWER}, {4_000_000 // FEWER}
left = np.random.default_rng(0).integers(0, n, count)
right = (left + 1 + np.random.default_rng(1).integers(0, 20, count)) % n
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "kernel"),
    [
        ("y = np.sin(np.arange(count))", "rows.merge(n, left, right, y, None)"),
        ("y = np.ones(count)", "rows.RowsByPair(n, left, right, y, y)"),
        (
            "y = np.ones(count); of = rows.RowsByPair(n, left, right, y, y); x = np.zeros(n)",
            "of.huber(1.0, x, 1e-8, np.empty(len(of.other)), x)",
        ),
        ("y = np.ones(count); of = rows.RowsByPair(n, left, right, y, y)", "multigrid.multigrid(of)"),
    ],
)
def test_an_interruption_is_noticed(before: str, kernel: str) -> None:
    check_interruptible(f'{LONG}{before}\nprint("ready", flush=True)\nwhile True:\n    {kernel}\n')
