"""A plain fit says where bounds on groups do harm, and is silent where they hold."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_tvcs import ThreeView
from optiframe_tvcs.datasets.planted import PlantedClassification, PlantedRegression

import optiframe
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, SquaredHinge
from optiframe.solving.budget import Budget

IDENTIFIER = "sparse.views-do-not-help"


def found(made: PlantedRegression | PlantedClassification, *, wrong: bool, solver: str = "tvcs.iht") -> bool:
    """Whether a fit is warned of its groups; wrong ones are those of features in another order."""
    inputs = made.inputs()
    function: LinearModel = inputs["objective"]
    if wrong:
        order = np.random.default_rng(made.seed).permutation(function.matrix.shape[1])
        function = type(function)(matrix=function.matrix[:, order], target=function.target, l2=function.l2)
    problem = optiframe.Minimize(objective=function, over=inputs["over"])
    result = optiframe.solve(problem, solver, budget=Budget(iterations=200))
    return IDENTIFIER in {finding.identifier for finding in result.findings}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:optiframe.solving.solve.NotConverged")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solver", ["tvcs.iht", "tvcs.gradmp"])
def test_wrong_groups_are_found_and_right_ones_are_not_doubted(seed: int, solver: str) -> None:
    made = PlantedRegression(side=12, samples=400, seed=seed)
    assert found(made, wrong=True, solver=solver)
    assert not found(made, wrong=False, solver=solver)


def test_right_groups_without_a_total_are_not_doubted_for_using_few_entries() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((100, 20))
    target = matrix[:, :4] @ [1.0, -1.0, 2.0, 1.5] + 0.1 * rng.standard_normal(100)  # one row of four
    identifiers = []
    for per_row in (4, 1):
        over = ThreeView.of_matrix((5, 4), per_row=per_row, per_column=1)
        problem = optiframe.Minimize(LeastSquares(matrix=matrix, target=target), over=over)
        findings = optiframe.solve(problem, "tvcs.iht", progress=False).findings
        identifiers.append([finding.identifier for finding in findings])
    assert identifiers == [[], [IDENTIFIER]]


@pytest.mark.parametrize("bounds", [{}, {"per_row": 2}, {"per_row": 5, "per_column": 4}])
def test_groups_are_not_doubted_where_the_better_fit_keeps_to_them(bounds: dict[str, int]) -> None:
    matrix = np.random.default_rng(0).standard_normal((100, 20))  # without noise any fit can be better
    function = LeastSquares(matrix=matrix, target=matrix[:, [0, 1, 6]].sum(axis=1))
    problem = optiframe.Minimize(function, over=ThreeView.of_matrix((4, 5), total=3, **bounds))
    result = optiframe.solve(problem, "tvcs.iht")
    assert result.status is optiframe.Status.CONVERGED
    assert result.findings == ()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:optiframe.solving.solve.NotConverged")
@pytest.mark.parametrize("samples", [60, 120])
def test_few_samples_raise_no_doubt_about_right_groups(samples: int) -> None:
    for seed in range(5):
        assert not found(PlantedRegression(side=12, samples=samples, noise=0.5, seed=seed), wrong=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:optiframe.solving.solve.NotConverged")
def test_a_loss_without_a_likelihood_is_not_judged() -> None:
    made = PlantedClassification(side=8, samples=2000, seed=0)
    assert isinstance(made.inputs()["objective"], SquaredHinge)
    assert not found(made, wrong=True)
    logistic = made.model_copy(update={"loss": "logistic", "l2": 1e-3})
    assert found(logistic, wrong=True)
    assert not found(logistic, wrong=False)
