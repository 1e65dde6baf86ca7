"""scikit-learn's logistic regression by each of its solvers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import Logistic
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.libraries import absent, library, seed, visiting
from optiframe_peers.regression.incidence import narrow

_STEPS = 100_000  # where the budget has no limit
_LEAST = 1e-50  # of C; liblinear runs for ever at 1e-200


class SklearnLogistic(Solver[Minimize, Array, None]):
    """scikit-learn's `LogisticRegression`, without intercept: mean logistic loss and an L2 term.

    Its objective is ours over l2, with C = 1/(n l2); so l2 must be above 0. The tolerance is the
    library's own, which each of its solvers reads in another way. A step is what the solver counts
    as an iteration: a pass over the rows for sag and saga.
    """

    name = "sklearn.logistic"
    reference = "Pedregosa et al. 2011, scikit-learn"
    solves = Minimize
    requires = ("scikit-learn:sklearn.linear_model",)
    one_shot = True
    residual_meaning = "largest entry of the gradient"

    method: Literal["lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga"] = Field(
        default="lbfgs", description="scikit-learn's solver"
    )
    tolerance: PositiveFloat = Field(default=1e-9, description="scikit-learn's tol")

    def unsuited(self, problem: Minimize) -> str | None:
        function = problem.function
        if not isinstance(function, Logistic):
            return f"the objective is {function.name!r}, and this solver is for 'logistic'"
        if not isinstance(problem.over, WholeSpace):
            return f"it minimizes over the set {problem.over.name!r}, and this solver without a constraint"
        if function.l2 == 0:
            return "scikit-learn is asked for an L2 term here; give an l2 above 0"
        if not _LEAST < self._c(function) < 1 / _LEAST:
            return f"C = 1/(n l2) would be {self._c(function):g}, at which scikit-learn's solvers do not end"
        if len(np.unique(function.target)) < 2:
            return "all labels are the same, which scikit-learn refuses"
        return absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        function = problem.function
        assert isinstance(function, Logistic)  # else `unsuited` said so
        limit = int(min(run.steps_left(), _STEPS))
        model = library("sklearn.linear_model").LogisticRegression(
            C=self._c(function),
            solver=self.method,
            fit_intercept=False,
            tol=self.tolerance,
            max_iter=limit,
            random_state=seed(run),
        )
        with visiting(run, "scikit-learn", identifier="learning.library-warning"):
            model.fit(narrow(function.matrix), function.target)
        x = np.asarray(model.coef_[0], dtype=np.float64)
        steps = min(max(1, int(model.n_iter_[0])), limit)
        yield Iterate(x, float(np.abs(function.gradient(x)).max()), steps=steps)
        used_up = steps == limit
        return (Status.ITERATION_LIMIT if used_up else Status.FINISHED), f"scikit-learn's {self.method} ended"

    @staticmethod
    def _c(function: Logistic) -> float:
        return float(1 / len(function) / function.l2)
