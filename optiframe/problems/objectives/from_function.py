"""An objective from a Python function, and where its derivatives come from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.engines import engine
from optiframe.problems.objectives.objective import FromFunction, title_of


def from_function(
    f: Callable[[Any], Any],
    shape: int | tuple[int, ...],
    gradient: Callable[[Any], Any] | None = None,
    hessian_product: Callable[[Any, Any], Any] | None = None,
    derivatives: str = "autograd",
) -> FromFunction:
    """An objective from a Python function.

    Parameters
    ----------
    f
        Takes a point (an array of `shape`), returns a number. For derivatives by autograd
        (extra "autodiff") it is written with ``autograd.numpy`` in place of ``numpy``.
    shape
        Shape of a point; a whole number for vectors.
    gradient, hessian_product
        ``gradient(x)`` and ``hessian_product(x, v)``, where they are known; derived
        otherwise, at a few times the cost of `f`.
    derivatives
        Where others come from: "autograd"; "jax" for a function written with ``jax.numpy``, which is
        compiled and gets 64 bits; "torch" for one written with PyTorch; "differences" of the value, two
        for each entry of a point, for any function (no Hessian products).

    Raises
    ------
    InvalidInput
        At once when `f` is not a function or `shape` no shape; on use when `f` does not
        return one number or its derivatives cannot be followed.
    """
    given = {"f": f, "gradient": gradient, "hessian_product": hessian_product}
    for key, function in given.items():
        if not callable(function) and (key == "f" or function is not None):
            raise InvalidInput(f"{key} must be a function, got {function!r:.40}")
    _refuse_several_arguments(f)
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in sizes):
        raise InvalidInput(f"shape must be a whole number or a tuple of them, got {shape!r:.40}")
    return engine(derivatives)(
        function=f,
        point_shape=tuple(map(int, sizes)),
        given_gradient=gradient,
        given_hessian_product=hessian_product,
    )


def _refuse_several_arguments(function: Callable[..., Any]) -> None:
    """Raise `InvalidInput` for a function that cannot be called with the point alone."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # compiled functions may not tell
        return
    try:
        signature.bind(None)
    except TypeError:
        raise InvalidInput(
            f"{title_of(function)} takes {signature}, and is called with one argument, the whole point as an "
            "array; write f(x) and use x[0], x[1], ... in it"
        ) from None
