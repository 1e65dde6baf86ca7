"""scikit-learn's coordinate descent for the Lasso and its kin."""

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

_SWEEPS = 100_000  # where the budget has no limit


class SklearnComposite(Solver[Composite, Array, None]):
    """scikit-learn: least squares plus l1 or an elastic net by cyclic descent, logistic plus l1 by liblinear.

    A black box: it tells only of its end. The budget's tolerance is its own: on the duality gap over
    |target|^2 for least squares, on the subgradient for the logistic loss.
    """

    name = "sklearn.composite"
    solves = Composite
    requires = ("scikit-learn:sklearn",)
    uses = ()
    one_shot = True
    residual_meaning = sparse_models.RESIDUAL
    reference = "Pedregosa et al. 2011, scikit-learn; Fan et al. 2008, LIBLINEAR"

    def unsuited(self, problem: Composite) -> str | None:
        terms: tuple[type[Regularizer], ...] = (
            (L1,) if isinstance(problem.function, Logistic) else sparse_models.L1_OR_NET
        )
        reason = sparse_models.unsuited(problem, terms)
        if reason is None and not problem.plus[0].weight > 0:
            reason = "its regularizer has the weight 0"
        return reason or absent(self)

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        linear, function = library("sklearn.linear_model"), problem.function
        assert isinstance(function, LinearModel)  # else `unsuited` said so
        weight, ratio = sparse_models.weights(problem)
        limit = int(min(run.steps_left(), _SWEEPS))
        told = {"tol": run.budget.tolerance, "max_iter": limit, "fit_intercept": False}
        if isinstance(function, Logistic):
            model = linear.LogisticRegression(
                l1_ratio=1.0, C=1.0 / (len(function) * weight), solver="liblinear", **told
            )
        else:
            model = linear.ElasticNet(alpha=weight, l1_ratio=ratio, **told)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on its end, which the residual says
            model.fit(sparse_models.by_columns(function.matrix), np.asarray(function.target))
        x = np.asarray(model.coef_, dtype=np.float64).ravel()
        steps = int(np.clip(np.max(model.n_iter_), 1, limit))
        yield Iterate(x, residual=sparse_models.residual(problem, x), steps=steps)
        return (Status.ITERATION_LIMIT if steps == limit else Status.FINISHED), "scikit-learn: it ended"
