"""Compiled passes over comparisons and blocks of rows against plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optiframe_manifold.kernels import passes, reference

from optiframe.testing import check_changes_meanwhile, check_interruptible, check_kernel, check_refusals

ROUNDING = 1e-13  # of sums of some hundred terms


def numbers(rng: np.random.Generator, *shape: int, kind: type = np.float64) -> np.ndarray:
    return rng.standard_normal(shape).astype(kind)


def compared(rng: np.random.Generator, rows: int, items: int, count: int) -> dict[str, np.ndarray]:
    """Comparisons of a block's rows; some rows may have none, some many."""
    row = np.sort(rng.integers(0, rows, count)) if rows and items else np.zeros(0, np.int64)
    winner = rng.integers(0, max(items, 1), len(row)).astype(np.int32)
    loser = rng.integers(0, max(items, 1), len(row)).astype(np.int32)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows)[:rows])]).astype(np.int64)
    return {"pointer": pointer, "winner": winner, "loser": loser}


def cases(
    rows: int, items: int, count: int, seed: int
) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Arguments of every kernel."""
    rng = np.random.default_rng(seed)
    of = compared(rng, rows, items, count)
    n, rank = len(of["winner"]), 3
    x, left, right = numbers(rng, rows, items), numbers(rng, rows, rank), numbers(rng, items, rank)
    sides = {"to_left": numbers(rng, rows, rank), "to_right": numbers(rng, items, rank)}
    found = {
        "log_loss": {
            "margin": 3 * numbers(rng, n),
            "sigma": 0.7,
            "weight": rng.random(n) if seed % 2 else np.empty(0),
            "slope": np.zeros(n),
            "bend": np.zeros(n),
        },
        "gather": {"x": x, **of, "out": np.zeros(n)},
        "spread": {"into": x, **of, "amount": numbers(rng, n)},
        "margins": {"left": left, "right": right, **of, "out": np.zeros(n)},
        "pull": {"left": left, "right": right, **of, "amount": numbers(rng, n), **sides},
        "pull_along": {
            "left": numbers(rng, rows, 2 * rank),
            "right": numbers(rng, items, 2 * rank),
            **of,
            "slope": numbers(rng, n),
            "bend": rng.random(n),
            **sides,
        },
        "exp_sum": {"x": x, "shift": 2.0},
        "exp_terms": {"x": x, "shift": 2.0},
    }
    for name, kind in (("bend_rows", np.float64), ("bend_rows_single", np.float32)):
        found[name] = {
            "x": x.astype(kind),
            "d": numbers(rng, rows, items, kind=kind),
            "exponents": (1.5, 0.8, 0.3),
            **of,
            "slope": numbers(rng, n, kind=kind),
            "bend": rng.random(n).astype(kind),
        }
    return {name: (getattr(reference, name.removesuffix("_single")), given) for name, given in found.items()}


NAMES = list(cases(2, 3, 4, 0))


@pytest.mark.parametrize("name", NAMES)
@given(rows=st.integers(0, 12), items=st.integers(0, 20), count=st.integers(0, 80), seed=st.integers(0, 99))
@example(rows=1, items=1, count=1, seed=0)
@example(rows=1, items=1, count=3, seed=0)  # an item compared with itself: what is added is taken off again
@example(rows=2, items=600, count=900, seed=1)
@example(rows=0, items=0, count=0, seed=0)
def test_a_kernel_gives_what_its_reference_gives(
    name: str, rows: int, items: int, count: int, seed: int
) -> None:
    kernel, given = cases(rows, items, count, seed)[name]
    rounding = 2e-6 if name.endswith("single") else ROUNDING
    check_kernel(kernel, given, rtol=rounding, atol=rounding)  # sums of numbers of some ones may cancel


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_refused_and_crash_nothing(name: str) -> None:
    free = {"margins": {"right"}, "exp_sum": {"x"}, "exp_terms": {"x"}}  # as long as they like
    check_refusals(*cases(4, 5, 20, 1)[name], any_length=free.get(name, ()), optional={"weight"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing(name: str) -> None:
    check_changes_meanwhile(*cases(300, 400, 100_000, 1)[name])


def test_losses_and_exponentials_are_exact_to_a_few_last_digits() -> None:
    margin = np.concatenate([np.linspace(-40, 40, 999), [0.0, -0.0, 1e-9, 700, -700, 1e6, -1e6]])
    for weight in (np.empty(0), np.linspace(0, 2, len(margin))):
        given = {"margin": margin, "sigma": 1.0, "weight": weight}
        found, expected = np.empty((2, len(margin))), np.empty((2, len(margin)))
        loss = passes.log_loss(**given, slope=found[0], bend=found[1])
        assert loss == pytest.approx(
            reference.log_loss(**given, slope=expected[0], bend=expected[1]), rel=1e-14
        )
        np.testing.assert_allclose(found, expected, rtol=4e-15, atol=1e-300)
    for single in (0.0, 1e-9, 3.0, -3.0, 36.0, 50.0, -50.0):
        loss = passes.log_loss(np.array([single]), 1.0, np.empty(0), np.empty(1), np.empty(1))
        assert loss == pytest.approx(np.logaddexp(0.0, -single), rel=2e-15)
    x = np.sqrt(np.linspace(0, 600, 1501))[None, :]
    grown = x.copy()
    passes.exp_terms(grown, 0.0)
    np.testing.assert_allclose(grown, x * np.exp(x * x), rtol=2e-15)


@pytest.mark.parametrize("log_loss", [passes.log_loss, reference.log_loss])
def test_the_loss_of_certain_outcomes_keeps_its_digits(log_loss: Callable[..., float]) -> None:
    for one in (34.0, 37.0, 40.0, 100.0, 600.0):
        loss = log_loss(np.array([one]), 1.0, np.empty(0), np.empty(1), np.empty(1))
        assert loss == pytest.approx(np.exp(-one), rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_two_threads_at_once_give_the_same_answers(name: str) -> None:
    kernel, given = cases(40, 300, 20_000, 3)[name]
    door = getattr(passes, kernel.__name__)

    def answer(_: int) -> list[np.ndarray]:
        mine = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in given.items()}
        return [
            np.asarray(door(**mine), dtype=float),
            *(v for v in mine.values() if isinstance(v, np.ndarray)),
        ]

    alone = answer(0)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(answer, range(8)):
            for one, other in zip(found, alone, strict=True):
                np.testing.assert_array_equal(one, other)


LONG = """
import numpy as np
from optiframe_manifold.kernels import passes

count, rank = 20_000, 1_000_000
pointer, code = np.array([0, count]), np.zeros(count, np.int32)
left, right, half = np.ones((1, rank)), np.ones((1, rank)), np.zeros((1, rank // 2))
print("ready")
passes.{call}
"""


@pytest.mark.parametrize(
    "call",
    [
        "margins(left, right, pointer, code, code, np.empty(count))",
        "pull(left, right, pointer, code, code, np.ones(count), left.copy(), right.copy())",
        "pull_along(left, right, pointer, code, code, np.ones(count), np.ones(count), half, half.copy())",
    ],
)
@pytest.mark.skipif(passes.pull is reference.pull, reason="the extension was not built")
@pytest.mark.slow
def test_ctrl_c_ends_a_long_pass(call: str) -> None:
    check_interruptible(LONG.format(call=call))
