"""nevergrad: some hundred methods without gradients by one interface."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from optiframe.errors import InvalidInput, nearest
from optiframe.methods.scipy_base import Posed, unsuited
from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import absent, library, seed

_LARGEST = 2**31 - 1  # a budget, for methods that plan ahead


class Nevergrad(Solver[Minimize, Array, None]):
    """A method of nevergrad by its name there: values only, in a box or without bounds.

    An iteration is one evaluation. Many of its methods ignore a start, so none is taken. Methods that
    spread their points over the budget see that of the evaluations, else that of the iterations. NGOpt and
    others that fit models raise a TypeError where nevergrad 1.0.12 meets NumPy 2.4.
    """

    name = "nevergrad"
    solves = Minimize
    requires = ("nevergrad",)
    uses = ()
    residual_meaning = "not computed: its methods go on until the budget ends them"
    reference = (
        "Bennet, Doerr, Moreau, Rapin, Teytaud and Teytaud 2021, Nevergrad: black-box optimization platform"
    )

    method: str = Field(default="TwoPointsDE", description="name in nevergrad's registry, such as PSO")

    @field_validator("method")
    @classmethod
    def _known(cls, given: str) -> str:
        if absent_library() is None:
            known = _registry()
            if given not in known:
                raise InvalidInput(f"nevergrad has no method {given!r}{nearest(given, known)}")
        return given

    def unsuited(self, problem: Minimize) -> str | None:
        reason = unsuited(problem, "bounds") or absent(self)
        if reason is not None:
            return reason
        told = problem.over.as_scipy(problem.function.shape)
        if told is None or told.bounds is None:
            return None
        lower, upper = np.broadcast_arrays(told.bounds.lb, told.bounds.ub)
        if (lower == upper).any():
            return "bounds leave an entry of a point one value only, and nevergrad needs an interval for each"
        finite = np.isfinite(lower) & np.isfinite(upper)
        if finite.all() or not (np.isfinite(lower) | np.isfinite(upper)).any():
            return None
        return "nevergrad takes a box with both bounds for every entry, or no bounds"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        posed = Posed(problem, run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on its own options and imports
            searcher = self._searcher(posed, run)
        best, least = posed.start, math.inf
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                candidate = searcher.ask()
                x = np.clip(np.asarray(candidate.value, dtype=np.float64), posed.box.lower, posed.box.upper)
                value = posed.flat.value(x)
                searcher.tell(candidate, value if math.isfinite(value) else math.inf)
            if value < least:
                best, least = x, value
            yield Iterate(posed.flat.point(best))
            if run.steps_left() == 0:
                return Status.ITERATION_LIMIT, "nevergrad: the budget is used up"

    def _searcher(self, posed: Posed, run: Run) -> Any:
        space = library("nevergrad").p.Array(init=posed.start)
        if np.isfinite(posed.box.lower).all():
            space = space.set_bounds(posed.box.lower, posed.box.upper)
        space.random_state = np.random.RandomState(seed(run))
        each = run.budget.evaluations_per_variable
        limits = [
            run.budget.evaluations,
            None if each is None else each * (posed.flat.size + 1),
            run.budget.iterations,
        ]
        budget = min([_LARGEST, *(limit for limit in limits if limit is not None)])
        return _registry()[self.method](parametrization=space, budget=budget)


def absent_library() -> str | None:
    """Why nevergrad cannot be asked for its methods; None where it is installed."""
    return absent(Nevergrad.model_construct())


def _registry() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library("nevergrad").optimizers.registry
