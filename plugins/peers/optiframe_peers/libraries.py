"""Using other people's libraries: imported on use, their seeds lent, their warnings passed on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np

from optiframe import errors
from optiframe.errors import require
from optiframe.records.record import Record
from optiframe.solving.result import Status
from optiframe.solving.solver import Run

_PLUGIN = "optiframework-peers"
_LARGEST_SEED = 2**32  # of NumPy's old generator, exclusive


def library(module: str) -> ModuleType:
    """Import a library on use; `MissingPackage` names the command that installs it."""
    return require(module, of=_PLUGIN)


def absent(solver: Record) -> str | None:
    """Why a solver cannot run here where its library is not installed; None where it is. Imports nothing."""
    return errors.absent(solver.requires, _PLUGIN)


def seed(run: Run) -> int:
    """A seed for a library that takes one, from the run's generator."""
    return int(run.rng.integers(_LARGEST_SEED))


def at_most(rounds: int, run: Run) -> int:
    """So many rounds, or what is left of the budget."""
    return int(min(rounds, run.steps_left()))


def cut_short(made: int, asked: int) -> tuple[Status, str] | None:
    """The verdict on a library that makes a fixed number of rounds, where the budget had fewer."""
    if made == asked:
        return None
    return Status.ITERATION_LIMIT, f"the budget had {made} of the {asked} rounds"


@contextmanager
def drawing_from(start: int) -> Iterator[None]:
    """While a library draws from NumPy's global generator: seeded, and afterwards put back."""
    state = np.random.get_state()
    np.random.seed(start)
    try:
        yield
    finally:
        np.random.set_state(state)


@contextmanager
def visiting(run: Run, name: str, *, identifier: str) -> Iterator[None]:
    """While a library works: what it draws is seeded by the run; no deprecations are shown.

    Other warnings become findings with this identifier. What a library says about its own use of pandas
    is for its authors.
    """
    with drawing_from(seed(run)), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in said):
        run.warn(f"{name}: {text}", identifier=identifier)
