"""What a solver of this plugin cannot take is refused with the reason, and with what to do."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_tvcs.learning.baselines import ExclusiveLasso, FewerViews
from optiframe_tvcs.learning.gradmp import GradientMatchingPursuit
from optiframe_tvcs.learning.htp import HardThresholdingPursuit
from optiframe_tvcs.learning.stochastic import StochasticGradMP, StochasticIHT
from optiframe_tvcs.sets.three_view import ThreeView
from optiframe_tvcs.solvers.exact import ExactProjection
from optiframe_tvcs.solvers.first_order import FirstOrderProjection
from optiframe_tvcs.solvers.greedy import GreedyProjection
from optiframe_tvcs.solvers.pdhg import PrimalDualProjection

from optiframe import Minimize, Projection, Solver, Unsuited, from_function, solve
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.objective import Objective, SquaredDistance
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Box, Cardinality

SQUARES = LeastSquares(matrix=np.eye(4), target=np.ones(4))
LABELS = Logistic(matrix=np.eye(4), target=np.ones(4))
OWN = from_function(lambda x: x @ x, 4, gradient=lambda x: 2 * x)
ONE = Cardinality(size=1)
VIEWS = ThreeView.of_matrix((2, 2), 2, 1, 1)
ROWS = ThreeView.of_matrix((2, 2), 2, 1)
CASES: list[tuple[Solver, Objective, ConstraintSet, str]] = [
    (HardThresholdingPursuit(), SQUARES, Box(), r"tvcs\.iht takes any set that can project"),
    (GradientMatchingPursuit(), SQUARES, Box(), r"tvcs\.iht takes any set that can project"),
    (StochasticGradMP(), SQUARES, Box(), r"tvcs\.iht takes any set that can project"),
    (HardThresholdingPursuit(inner="least-squares"), LABELS, ONE, "is not least squares"),
    (GradientMatchingPursuit(inner="least-squares"), LABELS, ONE, "is not least squares"),
    (StochasticGradMP(inner="least-squares"), LABELS, ONE, "is not least squares"),
    (HardThresholdingPursuit(step="lipschitz"), OWN, ONE, 'take "backtracking" or give a number'),
    (StochasticIHT(), SquaredDistance(to=np.ones(4)), ONE, "not a finite sum"),
    (StochasticIHT(), OWN, ONE, "the objective '<lambda>' is not a finite sum"),
    (FewerViews(), SQUARES, ONE, "no views to leave out"),
    (FewerViews(views="columns"), SQUARES, ROWS, "no bounds on its columns"),
    (FewerViews(), SQUARES, ThreeView.of_matrix((2, 2), None, 1), "no bound on the total"),
    (ExclusiveLasso(), SQUARES, ONE, "no groups to penalise"),
    (ExclusiveLasso(), SQUARES, ThreeView(size=4, total=1), "neither row nor column groups"),
    (ExclusiveLasso(), OWN, VIEWS, "give a step"),
    (ExclusiveLasso(penalty="held-out"), SQUARES, VIEWS, "there are 4; give a penalty"),
    (ExclusiveLasso(penalty="held-out", step=0.5), OWN, VIEWS, "no samples to hold out"),
]


@pytest.mark.parametrize(("solver", "objective", "over", "message"), CASES)
def test_a_problem_it_cannot_take_is_refused_in_words(
    solver: Solver, objective: Objective, over: ConstraintSet, message: str
) -> None:
    with pytest.raises(Unsuited, match=message):
        solve(Minimize(objective, over=over), solver)


@pytest.mark.parametrize(
    "solver", [ExactProjection(), PrimalDualProjection(), GreedyProjection(), FirstOrderProjection()]
)
def test_projections_onto_other_sets_are_not_theirs(solver: Solver) -> None:
    with pytest.raises(Unsuited, match="it projects onto the set 'cardinality'"):
        solve(Projection(np.ones(4), ONE), solver)
