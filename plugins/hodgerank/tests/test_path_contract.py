"""The solvers of this plugin keep the contract."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bootstrap import BootstrapIntervals
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.solvers.capped import CappedThresholding
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.inverse_scale import InverseScaleSpace
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.solvers.least_squares import LeastSquares
from optiframe_hodgerank.solvers.refit import HuberLassoRefit
from optiframe_hodgerank.solvers.thresholding import IterativeHardThresholding, IterativeLeastTrimmedSquares

import optiframe
from optiframe import Solver
from optiframe.testing import SolverContract

from .path_twins import votes


class TestHuberLasso(SolverContract):
    solver: Solver = HuberLasso(share=0.2)

    def instances(self) -> Iterable[PairwiseRanking]:
        return [votes(0), votes(1, noise=0.1)]


@pytest.mark.slow
class TestHuberLassoWithCrossValidation(TestHuberLasso):
    solver = HuberLasso(stop_rule="cross-validation")


@pytest.mark.slow
class TestHuberLassoByTheScale(TestHuberLasso):
    solver = HuberLasso(stop_rule="huber")


@pytest.mark.slow
class TestHuberLassoOnAGrid(TestHuberLasso):
    solver = HuberLasso(share=0.2, method="grid")


@pytest.mark.slow
class TestHuberLassoRefit(TestHuberLasso):
    solver = HuberLassoRefit(share=0.1)


class TestLinearizedBregman(TestHuberLasso):
    solver = LinearizedBregman()


@pytest.mark.slow
class TestLinearizedBregmanWithCrossValidation(TestHuberLasso):
    solver = LinearizedBregman(stop_rule="cross-validation")


@pytest.mark.slow
class TestLinearizedBregmanByGradient(TestHuberLasso):
    solver = LinearizedBregman(variant="gradient")


@pytest.mark.slow
class TestLinearizedBregmanInParallel(TestHuberLasso):
    solver = LinearizedBregman(variant="parallel", threads=2)


class TestInverseScaleSpace(TestHuberLasso):
    solver = InverseScaleSpace()


class TestIterativeHardThresholding(TestHuberLasso):
    solver = IterativeHardThresholding()


@pytest.mark.slow
class TestIterativeLeastTrimmedSquares(TestHuberLasso):
    solver = IterativeLeastTrimmedSquares()


class TestCappedThresholding(TestHuberLasso):
    solver = CappedThresholding(share=0.2, per_pair=2)


class TestLeastSquares(TestHuberLasso):
    solver = LeastSquares()


@pytest.mark.slow
class TestLeastSquaresWithTheSplit(TestHuberLasso):
    solver = LeastSquares(split=True)


class TestBradleyTerry(SolverContract):
    solver: Solver = BradleyTerry()

    def instances(self) -> Iterable[PairwiseRanking]:
        return [optiframe.problem(dataset={"name": "pairwise.random-order", "items": 6, "comparisons": 80})]


@pytest.mark.slow
class TestBradleyTerryWithoutAPrior(TestBradleyTerry):
    solver = BradleyTerry(prior=0)


@pytest.mark.slow
class TestBootstrapIntervals(TestHuberLasso):
    solver = BootstrapIntervals(draws=20)


@pytest.mark.slow
class TestBootstrapIntervalsOfAnotherMethod(TestHuberLasso):
    solver = BootstrapIntervals(of="hodge.iht", draws=40, level=0.95, steps=50)
