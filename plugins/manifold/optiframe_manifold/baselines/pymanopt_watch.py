"""Following pymanopt's optimizers, which have no callback."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from optiframe.errors import require
from optiframe.solving.callbacks import Emit
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Run
from optiframe_manifold.solvers.trust_region_loop import NO_PLACE_TO_BEGIN

Which = Literal["trust-region", "conjugate-gradient", "steepest-descent"]
_ENDLESS = 10**9  # pymanopt wants a number; the core keeps the limits
_REFUSED = 40  # steps refused in a row, at a quarter of the radius each: no step of any length is good


class Stuck(Exception):
    """Raised inside pymanopt, whose trust region goes on where no step is good."""


class Watch:
    """Where pymanopt is: it takes gradients only at points it has accepted."""

    def __init__(self, emit: Emit, read: Callable[[Any], Any], *, skip: bool) -> None:
        self._emit, self._read = emit, read
        self._skip = skip  # those look at their limits, and tell their point, at the start, too
        self._at: Any = None
        self._products, self._any = 0, False
        self._told: Any = None
        self._refused = 0

    def gradients(self, gradient: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A gradient that tells where it is asked for."""

        def watched(point: Any) -> Any:
            self._at = point
            return gradient(point)

        return watched

    def products(self, product: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """A Hessian product that is counted."""

        def watched(point: Any, v: Any) -> Any:
            self._products += 1
            return product(point, v)

        return watched

    def step(self, gradient_norm: float) -> None:
        """pymanopt has finished an outer step."""
        if self._skip:
            self._skip = False
            return
        assert self._at is not None
        self._refused = self._refused + 1 if self._told is self._at else 0
        self._told = self._at
        self._send(self._at, gradient_norm)
        if self._refused >= _REFUSED:
            raise Stuck

    def last(self, point: Any, gradient_norm: float) -> None:
        """pymanopt has ended; where it made no step, its point has not been told yet."""
        if not self._any:
            self._send(point, gradient_norm)

    def _send(self, point: Any, gradient_norm: float) -> None:
        self._any = True
        info = {"products": float(self._products)}
        self._products = 0
        self._emit(Iterate(self._read(point), residual=float(gradient_norm), info=info))


def watched_optimizer(which: Which, watch: Watch, run: Run, **parameters: Any) -> Any:
    """One of pymanopt's optimizers, within the run's limits, that tells a watch of every outer step."""
    optimizers = require("pymanopt", "pymanopt").optimizers
    base: Any = {
        "trust-region": optimizers.TrustRegions,
        "conjugate-gradient": optimizers.ConjugateGradient,
        "steepest-descent": optimizers.SteepestDescent,
    }[which]

    class Watched(base):  # type: ignore[misc]  # pymanopt has no types
        def _check_stopping_criterion(self, **state: Any) -> Any:
            watch.step(state["gradient_norm"])
            return super()._check_stopping_criterion(**state)

    return Watched(
        max_time=run.time_left(),
        max_iterations=_ENDLESS,
        min_gradient_norm=run.budget.tolerance,
        verbosity=0,
        **parameters,
    )


def searched(task: Any, optimizer: Any, begin: Any, watch: Watch, run: Run) -> tuple[Status, str]:
    """Run pymanopt's optimizer on its problem from a point, and say how it ended."""
    with np.errstate(all="ignore"):  # a trial step may overflow; pymanopt then shortens it
        norm = float(task.manifold.norm(begin, task.riemannian_gradient(begin)))
        if not math.isfinite(float(task.cost(begin)) + norm):
            return Status.DIVERGED, NO_PLACE_TO_BEGIN
        if norm <= run.budget.tolerance:  # pymanopt would divide by a norm of zero
            watch.last(begin, norm)
            return Status.FINISHED, "the start is the answer"
        try:
            found = optimizer.run(task, initial_point=begin)
        except Stuck:
            return Status.STALLED, f"pymanopt: the last {_REFUSED} steps were refused, however short"
    watch.last(found.point, found.gradient_norm)
    reason = found.stopping_criterion.removeprefix("Terminated - ").partition(" after ")[0]
    timed_out = reason.startswith("max time")
    return Status.TIME_LIMIT if timed_out else Status.STALLED, f"pymanopt: {reason}"
