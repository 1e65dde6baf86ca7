"""Holds compiled kernels to their references in Python, and hands them arguments they must refuse."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.native import native
from optiframe.testing.kernels.changes import copied

_TOGETHER = 200  # calls with several wrong arguments: milliseconds


def check_kernel(
    reference: Callable[..., Any], arguments: Mapping[str, Any], rtol: float = 0.0, atol: float = 0.0
) -> Any:
    """Run a kernel and its reference on copies of the same arguments, and return what the kernel returns.

    Compared are what they return and every array they were given, which they may have written to:
    floats within `rtol` of the reference relative to the largest magnitude of their array, and within `atol`
    more where sums may cancel (0 for the same bits); all else exactly. The kernel is called by position, in
    the order of its reference's parameters. Where the extension was not built the reference is compared with
    itself.

    Raises
    ------
    AssertionError
        When they differ.
    """
    mine, theirs = copied(arguments), copied(arguments)
    expected = reference(**theirs)
    result = native(reference)(*(mine[key] for key in inspect.signature(reference).parameters))
    name = reference.__name__
    _compare(result, expected, rtol, atol, f"what {name} returns")
    for key in arguments:
        _compare(mine[key], theirs[key], rtol, atol, f"{key} after {name}")
    return result


def check_refusals(
    reference: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    any_length: Collection[str] = (),
    any_number: Collection[str] = (),
    optional: Collection[str] = (),
) -> None:
    """Call a kernel with each argument spoiled in turn: it must raise TypeError or ValueError every time.

    Then with two or three of them spoiled together, at random, where it may answer as well. Spoiled are
    lengths, shapes, dtypes and layouts of arrays, codes in arrays of integers, counts, and the right to
    write to an array that the kernel writes to; and None is passed. Numbers that no memory depends on (nan,
    a larger count) may also be answered. Where the extension was not built there is nothing to check: NumPy
    does not reach out of bounds.

    Parameters
    ----------
    any_length
        Arrays that may be shorter or longer, because no other argument gives their length.
    any_number
        Integers, and arrays of integers, that may have any value.
    optional
        Arguments that may be None or empty.

    Raises
    ------
    AssertionError
        When a wrong argument is accepted; the message lists all of them. A crash of the interpreter is a
        fault of the kernel, too.
    """
    kernel = native(reference)
    if kernel is reference:
        return
    written = _written(kernel, arguments)
    accepted = []
    for key, value in arguments.items():
        allowed = {"number or not"}
        allowed |= {"a length", "no entries"} if key in any_length else set()
        allowed |= {"an integer"} if key in any_number else set()
        allowed |= {"None", "no entries"} if key in optional else set()
        allowed |= set() if key in written else {"read-only"}
        for kind, spoiled in _spoiled(value):
            try:
                kernel(**{**copied(arguments), key: spoiled})
            except (TypeError, ValueError):
                continue
            if kind not in allowed:
                accepted.append(f"{key} may be {kind}: {_shown(spoiled)}")
    assert not accepted, f"{reference.__name__} takes wrong arguments: " + "; ".join(accepted)
    spoils = {key: [wrong for _, wrong in _spoiled(value)] for key, value in arguments.items()}
    several = [
        key for key, wrong in spoils.items() if wrong and key not in any_number
    ]  # large ones take long
    rng = np.random.default_rng(0)
    for _ in range(_TOGETHER):
        chosen = rng.permutation(several)[: rng.integers(2, 4)]
        wrong = {str(key): spoils[key][rng.integers(len(spoils[key]))] for key in chosen}
        with suppress(TypeError, ValueError):
            kernel(**{**copied(arguments), **wrong})


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


def _compare(found: Any, expected: Any, rtol: float, atol: float, what: str) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected), f"{what}: {len(found)} parts, not {len(expected)}"
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            _compare(one, other, rtol, atol, f"part {k} of {what}")
    elif isinstance(expected, np.ndarray | float):
        numbers, wanted = np.asarray(found), np.asarray(expected)
        assert numbers.shape == wanted.shape, f"{what}: shape {numbers.shape}, not {wanted.shape}"
        assert numbers.dtype == wanted.dtype, f"{what}: {numbers.dtype}, not {wanted.dtype}"
        if rtol and np.issubdtype(wanted.dtype, np.floating):
            finite = np.abs(wanted[np.isfinite(wanted)])
            within = rtol * float(finite.max(initial=0.0)) + atol
            np.testing.assert_allclose(numbers, wanted, rtol=0, atol=within, err_msg=what)
        else:
            np.testing.assert_array_equal(numbers, wanted, err_msg=what)
    else:
        assert found == expected, f"{what}: {found!r}, not {expected!r}"


def _written(kernel: Callable[..., Any], arguments: Mapping[str, Any]) -> set[str]:
    """The arrays that a kernel writes to."""
    given = copied(arguments)
    kernel(**given)
    arrays = [key for key, value in arguments.items() if isinstance(value, np.ndarray)]
    return {key for key in arrays if not np.array_equal(given[key], arguments[key], equal_nan=True)}


def _shown(value: Any) -> str:
    array = isinstance(value, np.ndarray)
    return f"{value.dtype} of shape {value.shape}" if array else repr(value)


def _spoiled(value: Any) -> Iterator[tuple[str, Any]]:
    """What a caller might pass by mistake instead of a right value, and what kind of mistake it is."""
    if value is not None:
        yield "None", None
    if isinstance(value, tuple):
        yield "a length", value[:-1]
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (("an integer", wrong) for wrong in (-1, 0, 2**62, -(2**62)))
        yield "number or not", value + 1
    if isinstance(value, np.ndarray):
        yield from _spoiled_arrays(value)


def _spoiled_arrays(value: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    # Copies: beyond a part of an array there is still memory, which a kernel might use unseen.
    yield "no entries", value[:0].copy()
    yield "a length", value[:-1].copy()
    yield "a length", np.concatenate([value, value[-1:]])
    yield "a length", np.concatenate([value, value])
    yield "a layout", np.repeat(value, 2, axis=0)[::2]  # every other entry of another array
    yield "a shape", value.reshape(-1, 1) if value.ndim == 1 else value.ravel()
    for dtype in (np.int16, np.float16, np.bool_, np.complex128):
        if value.dtype != dtype:
            yield "a dtype", np.zeros(value.shape, dtype)
    locked = value.copy()
    locked.flags.writeable = False
    yield "read-only", locked
    if np.issubdtype(value.dtype, np.integer):
        least, most = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
        # Not -1, which may stand for no group.
        for code in sorted({least, max(least, -2), min(1_000_003, most), most}):
            for place in sorted({0, len(value) // 2, len(value) - 1}) if len(value) else []:
                wrong = value.copy()
                wrong[place] = code
                yield "an integer", wrong
        yield "number or not", value[::-1].copy()
    elif np.issubdtype(value.dtype, np.floating):
        for number in (np.nan, np.inf, -np.inf, 1e308 if value.dtype == np.float64 else 3e38):
            yield "number or not", np.full_like(value, number)
