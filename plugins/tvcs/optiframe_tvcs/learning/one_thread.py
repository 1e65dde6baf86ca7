"""One thread of BLAS for matrices so small that waking others takes longer than they save."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from optiframe.errors import require

_SMALL = 10**7  # numbers: a product with a vector takes some milliseconds


def one_thread(matrix: Any) -> AbstractContextManager[Any]:
    """Let BLAS use one thread meanwhile, unless the matrix is large.

    A fit makes thousands of products. On two cores that others used as well, two threads took seven to ten
    times as long as one for 20,000 samples of 50 features.
    """
    if matrix.shape[0] * matrix.shape[1] > _SMALL:
        return nullcontext()
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


@cache
def _libraries() -> Any:
    """Of those loaded so far, which is slow to find out; scikit-learn brings threadpoolctl."""
    import scipy.linalg.lapack  # noqa: F401  # whose library is to be among them

    return require("threadpoolctl", "sklearn", "optiframework-tvcs").ThreadpoolController()
