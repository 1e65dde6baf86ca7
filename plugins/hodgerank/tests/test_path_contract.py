"""The solvers that follow a path, or take a number of outliers, keep the contract."""

from __future__ import annotations

from collections.abc import Iterable

from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bootstrap import BootstrapIntervals
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.inverse_scale import InverseScaleSpace
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.solvers.refit import HuberLassoRefit
from optiframe_hodgerank.solvers.thresholding import IterativeHardThresholding, IterativeLeastTrimmedSquares

from optiframe import Solver
from optiframe.testing import SolverContract

from .path_twins import votes


class TestHuberLasso(SolverContract):
    solver: Solver = HuberLasso(share=0.2)

    def instances(self) -> Iterable[PairwiseRanking]:
        return [votes(0), votes(1, noise=0.1)]


class TestHuberLassoOnAGrid(TestHuberLasso):
    solver = HuberLasso(share=0.2, method="grid")


class TestHuberLassoRefit(TestHuberLasso):
    solver = HuberLassoRefit(share=0.1)


class TestLinearizedBregman(TestHuberLasso):
    solver = LinearizedBregman()


class TestLinearizedBregmanByGradient(TestHuberLasso):
    solver = LinearizedBregman(variant="gradient")


class TestLinearizedBregmanInParallel(TestHuberLasso):
    solver = LinearizedBregman(variant="parallel", threads=2)


class TestInverseScaleSpace(TestHuberLasso):
    solver = InverseScaleSpace()


class TestIterativeHardThresholding(TestHuberLasso):
    solver = IterativeHardThresholding()


class TestIterativeLeastTrimmedSquares(TestHuberLasso):
    solver = IterativeLeastTrimmedSquares()


class TestBootstrapIntervals(TestHuberLasso):
    solver = BootstrapIntervals(draws=20)


class TestBootstrapIntervalsOfAnotherMethod(TestHuberLasso):
    solver = BootstrapIntervals(of={"name": "hodge.iht", "share": 0.1}, draws=40, level=0.95, steps=50)
