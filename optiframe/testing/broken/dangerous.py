"""Solvers that hang or end the process, each in one situation: only a check in isolation survives them.

They are apart from `solvers`, which any test may run where it stands.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterates, Run
from optiframe.testing.broken.solvers import Honest


class _WithoutEnd(Honest):
    """Honest while it counts iterations; given time only, it never yields."""

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        if run.budget.iterations is None:
            self._wait(problem, run)
        yield from super().iterates(problem, run)

    def _wait(self, problem: Minimize, run: Run) -> None:
        raise NotImplementedError


class Busy(_WithoutEnd):
    """Hangs: iterates on and on within one iterate, and looks at no clock."""

    name = "bad.busy"

    def _wait(self, problem: Minimize, run: Run) -> None:
        x = self._begin(problem, run)
        while True:
            x = self._advance(problem, run, x)


class Waiting(_WithoutEnd):
    """Hangs: waits for an answer that never comes, and will not be terminated."""

    name = "bad.waiting"

    def _wait(self, problem: Minimize, run: Run) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Event().wait()


class _Fatal(Honest):
    """Honest from its own beginning; a start ends the process."""

    def _begin(self, problem: Minimize, run: Run) -> Array:
        if run.start is not None:
            self._end()
        return super()._begin(problem, run)

    def _end(self) -> None:
        raise NotImplementedError


class Segfaulting(_Fatal):
    """Crashes: reads memory that is not there."""

    name = "bad.segfaulting"

    def _end(self) -> None:
        ctypes.string_at(0)


class Aborting(_Fatal):
    """Crashes: gives up, as a failed assertion in a library does."""

    name = "bad.aborting"

    def _end(self) -> None:
        os.abort()


class Leaving(_Fatal):
    """Ends the process at once, and says that all is well."""

    name = "bad.leaving"

    def _end(self) -> None:
        os._exit(0)


class Quitting(_Fatal):
    """Asks the whole program to end."""

    name = "bad.quitting"

    def _end(self) -> None:
        sys.exit("nothing left to do")
