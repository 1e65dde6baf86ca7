"""The methods the paper compares with keep the contract."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from optiframe_rankone.baselines.dawid_skene import DawidSkene
from optiframe_rankone.baselines.eigen_ratio import EigenvectorRatio
from optiframe_rankone.baselines.iwmv import IterativeWeightedMajority
from optiframe_rankone.baselines.kos import KargerOhShah
from optiframe_rankone.baselines.m3v import MaxMarginMajority
from optiframe_rankone.baselines.opt_ds import OptDawidSkene
from optiframe_rankone.baselines.oracle import Oracle
from optiframe_rankone.problem import LabelAggregation

from optiframe import Budget, Problem, Solver
from optiframe.testing import SolverContract

from .slow import single_coin

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

SKILLS = np.array([0.8, 0.6, 0.7, 0.2, -0.1])


class OnLabels(SolverContract):
    """Small instances with two and three classes."""

    def instances(self) -> Iterable[Problem]:
        known = {"skills": {"worker": np.arange(5), "skill": SKILLS}}
        return [
            LabelAggregation(**single_coin(0, SKILLS, tasks=40, per_task=3, classes=classes), **known)
            for classes in (2, 3)
        ]


class TestDawidSkene(OnLabels):
    solver: Solver = DawidSkene()


class TestDawidSkeneWithEqualPrior(OnLabels):
    solver: Solver = DawidSkene(prior="equal", floor=1e-3)


class TestOptDawidSkene(OnLabels):
    solver: Solver = OptDawidSkene()


class TestKargerOhShah(OnLabels):
    solver: Solver = KargerOhShah()
    budget = Budget(iterations=200)  # on data this small the messages go round without end


class TestKargerOhShahOneVersusRest(OnLabels):
    solver: Solver = KargerOhShah(multiclass="one-vs-rest")
    budget = Budget(iterations=200)


class TestKargerOhShahSingularVector(OnLabels):
    solver: Solver = KargerOhShah(form="singular-vector")


class TestEigenvectorRatio(OnLabels):
    solver: Solver = EigenvectorRatio()


class TestRatioOfEigenvectors(OnLabels):
    solver: Solver = EigenvectorRatio(form="ratio-of-eigenvectors", multiclass="correlations")


class TestIterativeWeightedMajority(OnLabels):
    solver: Solver = IterativeWeightedMajority()


class TestMaxMarginMajority(OnLabels):
    solver: Solver = MaxMarginMajority()
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"

    def instances(self) -> Iterable[Problem]:
        # Smaller: each run is nine runs, one for each price tried.
        return [LabelAggregation(**single_coin(0, SKILLS, tasks=15, per_task=3, classes=3))]


class TestMaxMarginMajorityWithAPrice(OnLabels):
    solver: Solver = MaxMarginMajority(c=0.1)


class TestOracle(OnLabels):
    solver: Solver = Oracle()
