"""Small linear algebra in one thread, where the threads of OpenBLAS only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread meanwhile; without threadpoolctl, which scikit-learn brings, do nothing.

    SciPy's L-BFGS-B solves small triangular systems at every step. With two threads of OpenBLAS on two busy
    cores a step took 8 ms of processor time, with one 0.2 ms.
    """
    controller = _controller()
    if controller is None:
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    """Of the libraries loaded so far, which is slow to find out; None without threadpoolctl."""
    import scipy.linalg.lapack  # noqa: F401  # whose library is to be among them

    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
