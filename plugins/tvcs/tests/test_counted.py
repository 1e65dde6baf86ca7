"""Sparse solvers where evaluations are counted, as a comparison does, and where they are limited."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_tvcs import ThreeView

import optiframe
from optiframe import Minimize
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.objectives.robust_losses import Huber
from optiframe.solving.counting import counted
from optiframe.solving.result import Status

SOLVERS = ["tvcs.iht", "tvcs.htp", "tvcs.gradmp", "tvcs.splicing", "tvcs.stochastic-gradmp"]
LOSSES = [LeastSquares, Logistic, SquaredHinge, Huber]


def planted(loss: type[LinearModel]) -> Minimize:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((60, 12))
    target = matrix[:, :3].sum(axis=1) + rng.standard_normal(60)
    target = np.sign(target) if loss in (Logistic, SquaredHinge) else target
    over = ThreeView.of_matrix((3, 4), total=3, per_row=2, per_column=1)
    return Minimize(loss(matrix=matrix, target=target, l2=0.01), over=over)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_run_whose_evaluations_are_counted_is_the_same_run(loss: type[LinearModel], solver: str) -> None:
    problem = planted(loss)
    plain, seen = optiframe.solve(problem, solver), optiframe.solve(counted(problem)[0], solver)
    assert (seen.status, seen.message) == (plain.status, plain.message)
    assert np.array_equal(seen.solution, plain.solution)


@pytest.mark.parametrize("loss", LOSSES[1:])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_budget_of_evaluations_ends_a_sparse_solver(loss: type[LinearModel], solver: str) -> None:
    problem = planted(loss)
    enough = optiframe.solve(problem, solver, budget={"evaluations": 100_000})
    assert enough.objective == pytest.approx(optiframe.solve(problem, solver).objective, rel=1e-6)
    with pytest.warns(optiframe.NotConverged):
        ended = optiframe.solve(problem, solver, budget={"evaluations": 10})
    assert ended.status is Status.EVALUATION_LIMIT
