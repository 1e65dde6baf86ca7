"""One thread of BLAS for matrices so small that waking others takes longer than they save."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from optiframe.errors import require

_SMALL = 10**7  # numbers: a product with a vector takes some milliseconds
_limiting = Lock()


@contextmanager
def one_thread(matrix: Any) -> Iterator[None]:
    """Let BLAS use one thread meanwhile, unless the matrix is large.

    A fit makes thousands of products. On two cores that others used as well, two threads took seven to ten
    times as long as one for 20,000 samples of 50 features. The limit is one for the whole process: of fits
    at the same time the first sets it and puts it back, so that none takes it for what was there before.
    """
    if matrix.shape[0] * matrix.shape[1] > _SMALL or not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()


@cache
def _libraries() -> Any:
    """Of those loaded so far, which is slow to find out; scikit-learn brings threadpoolctl."""
    import scipy.linalg.lapack  # noqa: F401  # whose library is to be among them

    return require("threadpoolctl", "sklearn", "optiframework-tvcs").ThreadpoolController()
