"""Holds compiled kernels to their references in Python, and hands them arguments they must refuse."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from time import sleep
from typing import Any

import numpy as np

from optiframe.native import native


def check_kernel(reference: Callable[..., Any], arguments: Mapping[str, Any], rtol: float = 0.0) -> Any:
    """Run a kernel and its reference on copies of the same arguments, and return what the kernel returns.

    Compared are what they return and every array they were given, which they may have written to:
    floats within `rtol` of the reference relative to the largest magnitude of their array (0 for the same
    bits), all else exactly. The kernel is called by position, in the order of its reference's parameters.
    Where the extension was not built the reference is compared with itself.

    Raises
    ------
    AssertionError
        When they differ.
    """
    mine, theirs = _copied(arguments), _copied(arguments)
    expected = reference(**theirs)
    result = native(reference)(*(mine[key] for key in inspect.signature(reference).parameters))
    name = reference.__name__
    _compare(result, expected, rtol, f"what {name} returns")
    for key in arguments:
        _compare(mine[key], theirs[key], rtol, f"{key} after {name}")
    return result


def check_refusals(reference: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Call a kernel with each argument spoilt in turn: it must answer, or raise TypeError or ValueError.

    Anything else, a crash of the interpreter above all, is a fault of the kernel. Where the extension was
    not built there is nothing to check: NumPy does not reach out of bounds.
    """
    kernel = native(reference)
    if kernel is reference:
        return
    refused = 0
    for key, value in arguments.items():
        for spoilt in _spoilt(value):
            try:
                kernel(**{**_copied(arguments), key: spoilt})
            except (TypeError, ValueError):
                refused += 1
    assert refused, f"{reference.__name__} refused nothing"


def check_interruptible(code: str, within: float = 2.0) -> None:
    """Run Python `code` in a process of its own, which prints "ready" before a kernel of many seconds.

    Ctrl-C half a second later must end it with KeyboardInterrupt `within` seconds: far more than a kernel
    takes to notice (.05 s), as machines of tests are slow.
    """
    command = [sys.executable, "-u", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            line = child.stdout.readline()
            assert line == "ready\n", f"the code must print ready, and printed {line!r}"
            sleep(0.5)
            assert child.poll() is None, "the kernel ended before Ctrl-C"
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=within)
        finally:
            child.kill()
    assert "KeyboardInterrupt" in said, said


def _copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in arguments.items()}


def _compare(found: Any, expected: Any, rtol: float, what: str) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected), f"{what}: {len(found)} parts, not {len(expected)}"
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            _compare(one, other, rtol, f"part {k} of {what}")
    elif isinstance(expected, np.ndarray | float):
        numbers, wanted = np.asarray(found), np.asarray(expected)
        assert numbers.shape == wanted.shape, f"{what}: shape {numbers.shape}, not {wanted.shape}"
        assert numbers.dtype == wanted.dtype, f"{what}: {numbers.dtype}, not {wanted.dtype}"
        if rtol and np.issubdtype(wanted.dtype, np.floating):
            finite = np.abs(wanted[np.isfinite(wanted)])
            atol = rtol * float(finite.max(initial=0.0))
            np.testing.assert_allclose(numbers, wanted, rtol=0, atol=atol, err_msg=what)
        else:
            np.testing.assert_array_equal(numbers, wanted, err_msg=what)
    else:
        assert found == expected, f"{what}: {found!r}, not {expected!r}"


def _spoilt(value: Any) -> Iterator[Any]:
    """What a caller might hand over by mistake instead of a right value."""
    yield None
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (-1, 0, value + 1, 2**62, -(2**62))
    if not isinstance(value, np.ndarray):
        return
    # Copies: beyond a part of an array there is still memory, which a kernel might use unseen.
    yield from (
        value[:0].copy(),
        value[:-1].copy(),
        np.concatenate([value, value[-1:]]),
        np.concatenate([value, value]),
    )
    yield np.repeat(value, 2, axis=0)[::2]  # every other entry of another array
    yield value.reshape(-1, 1) if value.ndim == 1 else value.ravel()
    yield from (np.zeros(value.shape, dtype) for dtype in (np.int16, np.float16, np.bool_, np.complex128))
    locked = value.copy()
    locked.flags.writeable = False
    yield locked
    if np.issubdtype(value.dtype, np.integer):
        least, most = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
        for code in {least, max(least, -1), min(1_000_003, most), most}:
            for place in {0, len(value) // 2, len(value) - 1} if len(value) else set[int]():
                wrong = value.copy()
                wrong[place] = code
                yield wrong
        yield value[::-1].copy()
    elif np.issubdtype(value.dtype, np.floating):
        for number in (np.nan, np.inf, -np.inf, 1e308 if value.dtype == np.float64 else 3e38):
            yield np.full_like(value, number)
