"""Compiled passes over a block of rows against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from optiframe_comrade.kernels import reference

from optiframe.native import native
from optiframe.testing import check_changes_meanwhile, check_interruptible, check_kernel, check_refusals

# Margins where the loss, its slope and its bend are small, large, equal and rounded away.
MARGINS = np.concatenate([np.linspace(-40, 40, 999), [0.0, -0.0, 1e-9, 700, -700, 1e6, -1e6]])


def logistic_arguments(predictions: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
    n = len(predictions)
    return {"predictions": predictions, "target": target, "slopes": np.empty(n), "roots": np.empty(n)}


@given(n=st.integers(0, 1500), spread=st.sampled_from([1e-9, 1.0, 50.0]), seed=st.integers(0, 99))
@example(n=0, spread=1.0, seed=0)
@example(n=1, spread=1.0, seed=0)
@example(n=513, spread=1.0, seed=0)
def test_the_logistic_loss_and_its_derivatives_are_those_of_numpy(n: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = logistic_arguments(spread * rng.standard_normal(n), rng.choice([-1.0, 1.0], n))
    given["slopes"][:] = given["roots"][:] = 0.0
    check_kernel(reference.logistic, given, rtol=1e-14)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_extreme_margins_are_exact_to_a_few_last_digits(sign: float) -> None:
    total, slopes, roots = _run(MARGINS, np.full(len(MARGINS), sign))
    assert total == pytest.approx(np.logaddexp(0.0, -sign * MARGINS).sum(), rel=1e-14)
    expected = logistic_arguments(MARGINS, np.full(len(MARGINS), sign))
    reference.logistic(**expected)
    np.testing.assert_allclose(slopes, expected["slopes"], rtol=4e-15, atol=1e-300)
    np.testing.assert_allclose(roots, expected["roots"], rtol=4e-15, atol=1e-150)


def test_margins_beyond_every_exponential_have_no_curvature() -> None:
    total, slopes, roots = _run(np.array([1e3, -1e3, np.nan]), np.ones(3))
    assert np.isnan(total)
    np.testing.assert_array_equal(slopes, [0.0, -1.0, np.nan])
    np.testing.assert_array_equal(roots, [0.0, 0.0, np.nan])


def _run(predictions: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    from optiframe_comrade.kernels import passes

    given = logistic_arguments(predictions, target)
    return passes.logistic(**given), given["slopes"], given["roots"]


@given(rows=st.integers(0, 40), columns=st.integers(0, 40), seed=st.integers(0, 99))
def test_scaled_rows_are_those_of_numpy_bit_for_bit(rows: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_kernel(
        reference.scale,
        {
            "block": rng.standard_normal((rows, columns)),
            "roots": rng.random(rows),
            "into": np.zeros((rows, columns), np.float32),
        },
    )


def gram_arguments(rows: int, columns: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((rows, columns), density=0.3, format="csr", rng=rng)
    matrix.sort_indices()
    index = {name: getattr(matrix, name).astype(np.int32) for name in ("indices", "indptr")}
    total = rng.standard_normal((columns, columns))
    return {"data": matrix.data, **index, "weights": rng.random(rows), "total": total}


@given(rows=st.integers(0, 30), columns=st.integers(1, 20), seed=st.integers(0, 99))
def test_the_gram_matrix_of_sparse_rows_is_that_of_scipy(rows: int, columns: int, seed: int) -> None:
    check_kernel(reference.sparse_gram, gram_arguments(rows, columns, seed), rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "place", "value", "why"),
    [
        ("indices", 0, 7, "columns of total"),
        ("indices", 0, -1, "columns of total"),
        ("indices", 1, 0, "rise in each row"),
        ("indptr", 0, -1, "indptr must rise"),
        ("indptr", 1, 99, "indptr must rise"),
        ("indptr", 2, 0, "indptr must rise"),
    ],
)
def test_columns_and_rows_that_are_none_are_refused(name: str, place: int, value: int, why: str) -> None:
    from optiframe_comrade.kernels import passes

    given = {
        "data": np.ones(4),
        "indices": np.array([0, 2, 1, 2], np.int32),
        "indptr": np.array([0, 2, 4], np.int32),
        "weights": np.ones(2),
        "total": np.zeros((3, 3)),
    }
    given[name][place] = value
    with pytest.raises(ValueError, match=why):
        passes.sparse_gram(**given)


def test_wrong_arguments_are_refused_and_crash_nothing() -> None:
    rng = np.random.default_rng(0)
    check_refusals(reference.logistic, logistic_arguments(rng.standard_normal(9), np.ones(9)))
    block, into = rng.standard_normal((5, 3)), np.zeros((5, 3), np.float32)
    check_refusals(reference.scale, {"block": block, "roots": np.ones(5), "into": into})
    check_refusals(reference.sparse_gram, gram_arguments(6, 4))


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    rng = np.random.default_rng(0)
    check_changes_meanwhile(
        reference.logistic, logistic_arguments(rng.standard_normal(10**5), np.ones(10**5))
    )
    block, into = rng.standard_normal((1000, 100)), np.zeros((1000, 100), np.float32)
    check_changes_meanwhile(reference.scale, {"block": block, "roots": np.ones(1000), "into": into})
    check_changes_meanwhile(reference.sparse_gram, gram_arguments(2000, 50))


# A pass of NumPy ends before Ctrl-C does anything: without the extension passes are short ones.
ROWS = 200_000 if native(reference.logistic) is reference.logistic else 20_000_000
LONG = """
import numpy as np
from optiframe_comrade.kernels import passes

n = {rows}
z, y = np.zeros(n), np.zeros(n)
rows, into = z.reshape(-1, 10), y.view(np.float32)[:n].reshape(-1, 10)
column, start = np.zeros(n, np.int32), np.arange(n + 1, dtype=np.int32)
print("ready")
while True:
    passes.{call}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "logistic(z, z, y, y)",
        "scale(rows, z[: n // 10], into)",
        "sparse_gram(z, column, start, z[:n], np.zeros((1, 1)))",
    ],
)
def test_ctrl_c_ends_a_long_pass(call: str) -> None:
    check_interruptible(LONG.format(call=call, rows=ROWS))
