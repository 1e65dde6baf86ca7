"""Using other people's libraries: imported on use, their seeds lent, their warnings passed on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from optiframe.errors import MissingPackage, require
from optiframe.solvers import Run

_LARGEST_SEED = 2**32  # of NumPy's old generator, exclusive


def library(module: str, extra: str) -> ModuleType:
    """Import a library on use; `MissingPackage` names the extra of this plugin that brings it."""
    return require(module, extra, of="optiframe-peers")


def absent(module: str, extra: str) -> str | None:
    """Why a solver that uses the library cannot run here; None where it is installed. Imports nothing."""
    if find_spec(module.partition(".")[0]) is not None:
        return None
    try:
        library(module, extra)
    except MissingPackage as error:
        return str(error)
    return None


def seed(run: Run) -> int:
    """A seed for a library that takes one, from the run's generator."""
    return int(run.rng.integers(_LARGEST_SEED))


@contextmanager
def visiting(run: Run, name: str) -> Iterator[None]:
    """While a library works: NumPy's global generator is seeded and afterwards put back; no deprecations.

    Other warnings become findings. What a library says about its own use of pandas is for its authors.
    """
    state = np.random.get_state()
    np.random.seed(seed(run))
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", kind)
            yield
    finally:
        np.random.set_state(state)
    for text in dict.fromkeys(str(warning.message) for warning in said):
        run.warn(f"{name}: {text}")
