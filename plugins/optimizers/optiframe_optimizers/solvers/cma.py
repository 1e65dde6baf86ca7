"""CMA-ES, by the package of its author."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.methods.scipy_base import Posed, unsuited
from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import absent, library, two_entries

_SHARE = 0.3  # of a box's width: covers it, as the authors advise
_ALONE = 0.5  # first spread where an entry has no bounds, times the size of the start


class CmaEs(Solver[Minimize, Array, None]):
    """Evolution strategy with covariance matrix adaptation: values only, within bounds.

    For objectives that are rugged, noisy or badly scaled, of 2 to some hundred entries. One iteration
    samples a population and costs its values and O(n^2). Memory is O(n^2).
    """

    name = "cma"
    solves = Minimize
    requires = ("cma",)
    uses = ()
    accepts_start = True
    residual_meaning = "largest standard deviation of the distribution that is sampled"
    reference = "Hansen and Ostermeier 2001; Hansen 2016, The CMA evolution strategy: a tutorial"

    spread: PositiveFloat | None = Field(
        default=None, description="first standard deviation; none: .3 of each bounded entry's interval"
    )
    population: PositiveInt | None = Field(
        default=None, description="points in an iteration; none: 4 + 3 log n"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "bounds") or two_entries(problem) or absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        posed = Posed(problem, run)
        free = posed.box.lower < posed.box.upper
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its imports, and remarks on its own options
            strategy = self._strategy(posed, run, free)
        best, least = posed.start, math.inf
        while not (why := strategy.stop()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                points = strategy.ask()
                values = []
                for entries in points:
                    x = posed.start.copy()
                    x[free] = np.clip(entries, posed.box.lower[free], posed.box.upper[free])
                    values.append(posed.flat.value(x))
                    if values[-1] < least:
                        best, least = x, values[-1]
                # An infinite value is ranked last, nan would spoil the ranking.
                strategy.tell(points, [math.inf if math.isnan(value) else value for value in values])
            residual = float(np.max(strategy.result.stds))
            yield Iterate(posed.flat.point(best), residual=residual)
        return Status.FINISHED, "CMA-ES: " + ", ".join(f"{name} = {value}" for name, value in why.items())

    def _strategy(self, posed: Posed, run: Run, free: Any) -> Any:
        lower, upper, start = posed.box.lower[free], posed.box.upper[free], posed.start[free]
        with np.errstate(over="ignore", invalid="ignore"):
            width = upper - lower
        alone = _ALONE * max(1.0, float(np.max(np.abs(start))))
        spread = np.where(np.isfinite(width), _SHARE * width, alone)
        sigma = float(spread.max()) if self.spread is None else self.spread
        options = {
            "bounds": [lower, upper],
            "maxiter": math.inf,
            "randn": lambda *shape: run.rng.standard_normal(shape),
            "seed": math.nan,  # leaves NumPy's global generator alone
            "tolx": 0.0,
            "verbose": -9,
        }
        if self.spread is None:
            options["CMA_stds"] = spread / sigma
        if self.population is not None:
            options["popsize"] = self.population
        return library("cma").CMAEvolutionStrategy(start, sigma, options)
