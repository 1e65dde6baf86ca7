"""Every solver of this plugin, and every form of it that is another method, keeps the contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from optiframe_rankone.baselines.dawid_skene import DawidSkene
from optiframe_rankone.baselines.ebcc import EnhancedBayes
from optiframe_rankone.baselines.eigen_ratio import EigenvectorRatio
from optiframe_rankone.baselines.glad import Glad
from optiframe_rankone.baselines.iwmv import IterativeWeightedMajority
from optiframe_rankone.baselines.kos import KargerOhShah
from optiframe_rankone.baselines.m3v import MaxMarginMajority
from optiframe_rankone.baselines.majority import Majority
from optiframe_rankone.baselines.one_coin import OneCoinEM
from optiframe_rankone.baselines.opt_ds import OptDawidSkene
from optiframe_rankone.baselines.oracle import Oracle
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.solvers.coordinate import CoordinateDescent
from optiframe_rankone.solvers.crowd import CrowdMean
from optiframe_rankone.solvers.exponentiated import ExponentiatedGradient
from optiframe_rankone.solvers.pgd import ProjectedGradient
from optiframe_rankone.solvers.relaxation import TraceRelaxation

from optiframe import Budget, Problem, Solver
from optiframe.testing import SolverContract

from .slow import coin

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

SKILLS = np.array([0.8, 0.6, 0.7, 0.2, -0.1])
KNOWN = {"skills": {"worker": np.arange(5), "skill": SKILLS}}


def labels(classes: int = 2, tasks: int = 40) -> LabelAggregation:
    return coin(0, SKILLS, tasks=tasks, per_task=3, classes=classes, **KNOWN)


def exact_products() -> RankOneCompletion:
    """Products of skills around an odd ring of five: the least objective is 0."""
    skills, weights = np.array([0.9, 0.4, 0.6, 0.5, 0.7]), np.zeros((5, 5))
    for i in range(5):
        weights[i, (i + 1) % 5] = weights[(i + 1) % 5, i] = 3.0
    return RankOneCompletion(weights=weights, values=np.outer(skills, skills), lower=-1.0, upper=1.0)


class OnLabels(SolverContract):
    """Small instances with two and three classes."""

    def instances(self) -> Iterable[Problem]:
        return [labels(), labels(classes=3)]


class OnProducts(SolverContract):
    """Labels, and products whose optimum is known."""

    def instances(self) -> Iterable[Problem]:
        return [labels(), labels(classes=3), exact_products()]

    def optimum(self, problem: Problem) -> float | None:
        return 0.0 if isinstance(problem, RankOneCompletion) else None


def kept_by(solver: Solver, on: type[SolverContract] = OnLabels, **more: Any) -> type[SolverContract]:
    """The contract for a solver."""
    return type(type(solver).__name__, (on,), {"solver": solver, **more})


ENDLESS = Budget(iterations=200)  # on data this small the messages go round without end

TestCrowdMean = kept_by(CrowdMean())
TestMajority = kept_by(Majority())
TestOracle = kept_by(Oracle())
TestOneCoinEM = kept_by(OneCoinEM())
TestEnhancedBayes = kept_by(EnhancedBayes(subtypes=3, starts=2))
TestGlad = kept_by(Glad())
TestDawidSkene = kept_by(DawidSkene())
TestDawidSkeneWithEqualPrior = kept_by(DawidSkene(prior="equal", floor=1e-3))
TestOptDawidSkene = kept_by(OptDawidSkene())
TestKargerOhShah = kept_by(KargerOhShah(), budget=ENDLESS)
TestKargerOhShahOneVersusRest = kept_by(KargerOhShah(multiclass="one-vs-rest"), budget=ENDLESS)
TestKargerOhShahSingularVector = kept_by(KargerOhShah(form="singular-vector"))
TestEigenvectorRatio = kept_by(EigenvectorRatio())
TestRatioOfEigenvectors = kept_by(EigenvectorRatio(form="ratio-of-eigenvectors", multiclass="correlations"))
TestIterativeWeightedMajority = kept_by(IterativeWeightedMajority())
HARD = "so few labels of so many poor workers are too hard for it"
TestMaxMarginMajority = kept_by(
    MaxMarginMajority(),
    instances=lambda self: [labels(classes=3, tasks=6)],  # each run is nine runs, one for each price
    no_better_than_chance=HARD,
)
TestMaxMarginMajorityWithAPrice = kept_by(
    MaxMarginMajority(c=0.1), instances=lambda self: [labels(classes=3, tasks=15)], no_better_than_chance=HARD
)

TestProjectedGradient = kept_by(ProjectedGradient(), OnProducts)
TestProjectedGradientWithAFixedStep = kept_by(ProjectedGradient(step=0.02), OnProducts)
TestProjectedGradientWithAStepByLipschitz = kept_by(ProjectedGradient(step="lipschitz"), OnProducts)
TestProjectedGradientWithSignsRecovered = kept_by(ProjectedGradient(signs="recovered"), OnProducts)
TestCoordinateDescent = kept_by(CoordinateDescent(), OnProducts)
TestExponentiatedGradient = kept_by(ExponentiatedGradient(), OnProducts)
TestSymmetricScaling = kept_by(ExponentiatedGradient(route="sinkhorn"), OnProducts)
TestTraceRelaxation = kept_by(TraceRelaxation(), instances=lambda self: [labels(tasks=20), exact_products()])
