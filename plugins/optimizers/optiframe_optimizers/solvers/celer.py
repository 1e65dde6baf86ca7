"""celer's working sets with dual extrapolation for the Lasso and its kin."""

from __future__ import annotations

import warnings

import numpy as np

from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.losses import LinearModel, Logistic
from optiframe.problems.regularizers.norms import L1
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers import sparse_models
from optiframe_optimizers.solvers.engines import absent, library

_SETS = 1000  # working sets at most
_FINEST = 1e-14  # celer does not end at 0


class CelerComposite(Solver[Composite, Array, None]):
    """celer: least squares plus l1 or an elastic net, or a logistic loss plus l1.

    A black box: celer tells only of its end. The budget's tolerance is its own, on the duality gap.
    """

    name = "celer.composite"
    solves = Composite
    requires = ("celer",)
    uses = ()
    one_shot = True
    residual_meaning = sparse_models.RESIDUAL
    reference = (
        "Massias, Gramfort and Salmon 2018, Celer: a fast solver for the Lasso with dual extrapolation"
    )

    def unsuited(self, problem: Composite) -> str | None:
        terms: tuple[type[Regularizer], ...] = (
            (L1,) if isinstance(problem.function, Logistic) else sparse_models.L1_OR_NET
        )
        return sparse_models.unsuited(problem, terms) or absent(self)

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        celer, function = library("celer"), problem.function
        assert isinstance(function, LinearModel)  # else `unsuited` said so
        weight, ratio = sparse_models.weights(problem)
        limit = int(min(run.steps_left(), _SETS))
        told = {"tol": max(run.budget.tolerance, _FINEST), "max_iter": limit, "fit_intercept": False}
        if isinstance(function, Logistic):
            model = celer.LogisticRegression(C=1.0 / (len(function) * weight), **told)
        else:
            model = celer.ElasticNet(alpha=weight, l1_ratio=ratio, **told)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on its end, which the residual says
            model.fit(sparse_models.by_columns(function.matrix), np.asarray(function.target))
        x = np.asarray(model.coef_, dtype=np.float64).ravel()
        yield Iterate(x, residual=sparse_models.residual(problem, x))
        return Status.FINISHED, "celer: its tolerance or its last working set was reached"
