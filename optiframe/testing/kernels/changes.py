"""Calls of compiled kernels while another thread changes what they read."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import warnings
from collections.abc import Callable, Mapping
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.native import native

MOMENTS = 10  # of a call at which a change comes, evenly from its start to its end
MOST_SECONDS = 60  # for all calls of a kernel; one that is still running then hangs


def copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same arguments, with copies of the arrays."""
    return {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in arguments.items()}


def check_changes_meanwhile(reference: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Call a kernel while another thread overwrites its arrays, one at a time: it must answer or raise.

    A kernel checks its arguments and reads them again later, when they may be wrong. What it answers is not
    compared with anything. The calls run in a forked process, so that a crash is seen. They must take a
    millisecond or more for changes to meet them. Nothing is checked where the extension was not built, or
    where processes cannot be forked (Windows).

    Raises
    ------
    AssertionError
        When that process crashes or hangs.
    """
    kernel = native(reference)
    if kernel is reference or not hasattr(os, "fork"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of other threads, which the child does without
        child = os.fork()
    if child == 0:
        _change_each_and_exit(kernel, arguments)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    assert code == 0, f"{reference.__name__} ended with {how} when its arrays were changed during a call"


def _change_each_and_exit(kernel: Callable[..., Any], given: Mapping[str, Any]) -> None:
    code = 1
    try:
        faulthandler.disable()  # a crash is reported by the parent
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(MOST_SECONDS)
        _change_each(kernel, given)
        code = 0
    finally:
        os._exit(code)  # nothing of the tests runs twice


def _change_each(kernel: Callable[..., Any], given: Mapping[str, Any]) -> None:
    took = min(_seconds(kernel, copied(given)) for _ in range(3))
    for key, value in given.items():
        for wrong in _wrong_entries(value):
            for moment in range(MOMENTS):
                arguments = copied(given)
                other = Thread(target=_overwrite, args=(arguments[key], wrong, took * moment / MOMENTS))
                other.start()
                with contextlib.suppress(ValueError, TypeError, MemoryError, OverflowError):
                    kernel(**arguments)
                other.join()


def _seconds(kernel: Callable[..., Any], arguments: Mapping[str, Any]) -> float:
    start = perf_counter()
    kernel(**arguments)
    return perf_counter() - start


def _overwrite(array: NDArray[Any], wrong: Any, after: float) -> None:
    sleep(after)
    array[::2] = wrong  # half of it: groups that begin and end in one place would be empty


def _wrong_entries(value: Any) -> list[Any]:
    """Codes beyond every array, and ones within them that are not the ones that were counted."""
    if not isinstance(value, np.ndarray) or not value.size:
        return []
    if np.issubdtype(value.dtype, np.integer):
        limits = np.iinfo(value.dtype)
        return [limits.min, limits.max, max(limits.min, -1), value.min(), value.max()]
    return [np.nan, np.finfo(value.dtype).max] if np.issubdtype(value.dtype, np.floating) else []
