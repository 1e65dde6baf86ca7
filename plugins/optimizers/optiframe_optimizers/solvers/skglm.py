"""skglm's working-set coordinate descent for a data fit plus a penalty that favours zeros."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.methods.smooth_part import first_point
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic
from optiframe.problems.regularizers.norms import L1, ElasticNet, GroupL1
from optiframe.problems.sets.vector_sets import NonNegative
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers import sparse_models
from optiframe_optimizers.solvers.engines import absent, library

_EPOCHS = 1000  # of coordinate descent in a working set: then the budget is asked again


class SkglmComposite(Solver[Composite, Array, None]):
    """skglm's coordinate descent over growing working sets, with Anderson's extrapolation.

    For least squares or a logistic loss plus the sum of absolute values, an elastic net or a group
    Lasso; with the first two an answer may also have to be non-negative. An iteration is a working set.
    The first run in a process compiles for some seconds, which a comparison's warm-up takes.
    """

    name = "skglm.composite"
    solves = Composite
    requires = ("skglm",)
    uses = ()
    accepts_start = True
    residual_meaning = sparse_models.RESIDUAL
    reference = "Bertrand, Klopfenstein, Bannier, Gidel and Massias 2022, Beyond L1 (skglm)"

    def unsuited(self, problem: Composite) -> str | None:
        reason = sparse_models.unsuited(problem, (L1, ElasticNet, GroupL1), positive=True)
        if reason is not None:
            return reason
        function = problem.function
        grouped = isinstance(problem.plus[0], GroupL1)
        if grouped and isinstance(function, Logistic) and sp.issparse(function.matrix):
            return "skglm takes no sparse matrix for the logistic loss with groups"
        return absent(self)

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        function = problem.function
        assert isinstance(function, LinearModel)  # else `unsuited` said so
        matrix = sparse_models.by_columns(function.matrix)
        x = first_point(problem, run)
        datafit, penalty, descent = _parts(problem, matrix)
        # One working set a call: the next one depends on nothing but the point that the last one left.
        solver = descent(
            max_iter=1, max_epochs=_EPOCHS, tol=run.budget.tolerance, fit_intercept=False, warm_start=True
        )
        target = np.ascontiguousarray(function.target, dtype=np.float64)
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # on ending after one, as asked
                found = solver.solve(matrix, target, datafit, penalty, x.copy(), matrix @ x)[0]
            still, x = np.array_equal(found, x), np.asarray(found, dtype=np.float64)
            yield Iterate(x, residual=sparse_models.residual(problem, x))
            if still:
                return Status.FINISHED, "skglm: another working set changes nothing"


def _parts(problem: Composite, matrix: Any) -> tuple[Any, Any, Any]:
    """skglm's data fit, penalty and solver."""
    datafits, penalties = library("skglm.datafits"), library("skglm.penalties")
    solvers = library("skglm.solvers")
    positive = isinstance(problem.over, NonNegative)
    term, squares = problem.plus[0], isinstance(problem.function, LeastSquares)
    if isinstance(term, GroupL1):
        groups = np.unique(np.asarray(term.groups), return_inverse=True)[1]
        order = np.argsort(groups, kind="stable").astype(np.int32)
        ends = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int32)
        fit = datafits.QuadraticGroup if squares else datafits.LogisticGroup
        weights = np.ones(len(ends) - 1)
        return (
            fit(ends, order),
            penalties.WeightedGroupL2(term.weight, weights, ends, order),
            solvers.GroupBCD,
        )
    fit = datafits.Quadratic() if squares else datafits.Logistic()
    if isinstance(term, ElasticNet):
        return fit, penalties.L1_plus_L2(term.weight, term.ratio, positive=positive), solvers.AndersonCD
    return fit, penalties.L1(term.weight, positive=positive), solvers.AndersonCD
