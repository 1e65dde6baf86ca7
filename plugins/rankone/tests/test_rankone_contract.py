"""Every solver of this plugin keeps the contract."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from optiframe_rankone.baselines.majority import Majority
from optiframe_rankone.baselines.one_coin import OneCoinEM
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.solvers.coordinate import CoordinateDescent
from optiframe_rankone.solvers.exponentiated import ExponentiatedGradient
from optiframe_rankone.solvers.pgd import ProjectedGradient

from optiframe import Problem, Solver
from optiframe.testing import SolverContract

from .slow import single_coin

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def labels(classes: int = 2) -> LabelAggregation:
    skills = np.array([0.8, 0.6, 0.7, 0.2, -0.1])
    return LabelAggregation(**single_coin(0, skills, tasks=40, per_task=3, classes=classes))


def exact_products() -> RankOneCompletion:
    """Products of skills around an odd ring of five: the least objective is 0."""
    skills, weights = np.array([0.9, 0.4, 0.6, 0.5, 0.7]), np.zeros((5, 5))
    for i in range(5):
        weights[i, (i + 1) % 5] = weights[(i + 1) % 5, i] = 3.0
    return RankOneCompletion(weights=weights, values=np.outer(skills, skills), lower=-1.0, upper=1.0)


class TestMajority(SolverContract):
    solver = Majority()

    def instances(self) -> Iterable[LabelAggregation]:
        return [labels(), labels(classes=3)]


class TestOneCoinEM(SolverContract):
    solver = OneCoinEM()

    def instances(self) -> Iterable[LabelAggregation]:
        return [labels(), labels(classes=3)]


class TestProjectedGradient(SolverContract):
    solver: Solver[RankOneCompletion, np.ndarray, None] = ProjectedGradient()

    def instances(self) -> Iterable[Problem]:
        return [labels(), labels(classes=3), exact_products()]

    def optimum(self, problem: Problem) -> float | None:
        return 0.0 if isinstance(problem, RankOneCompletion) else None


class TestProjectedGradientWithAFixedStep(TestProjectedGradient):
    solver = ProjectedGradient(step=0.02)


class TestProjectedGradientWithAStepByLipschitz(TestProjectedGradient):
    solver = ProjectedGradient(step="lipschitz")


class TestProjectedGradientWithSignsRecovered(TestProjectedGradient):
    solver = ProjectedGradient(signs="recovered")


class TestCoordinateDescent(TestProjectedGradient):
    solver = CoordinateDescent()


class TestExponentiatedGradient(TestProjectedGradient):
    solver = ExponentiatedGradient()


class TestSymmetricScaling(TestProjectedGradient):
    solver = ExponentiatedGradient(route="sinkhorn")
