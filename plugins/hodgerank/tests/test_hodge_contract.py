"""The solvers of this plugin keep the contract."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.solvers.least_squares import LeastSquares

import optiframe
from optiframe.testing import SolverContract


def voted() -> PairwiseRanking:
    return optiframe.problem(dataset={"name": "pairwise.random-order", "items": 6, "comparisons": 80})


def graded() -> PairwiseRanking:
    rng = np.random.default_rng(0)
    left = rng.integers(5, size=30)
    right = (left + rng.integers(1, 5, size=30)) % 5
    return PairwiseRanking(comparisons={"left": left, "right": right, "margin": rng.standard_normal(30)})


class TestLeastSquares(SolverContract):
    solver = LeastSquares()

    def instances(self) -> Iterable[PairwiseRanking]:
        return [voted(), graded()]


class TestLeastSquaresWithTheSplit(TestLeastSquares):
    solver = LeastSquares(split=True)


class TestBradleyTerry(SolverContract):
    solver = BradleyTerry()

    def instances(self) -> Iterable[PairwiseRanking]:
        return [voted()]


class TestBradleyTerryWithoutAPrior(TestBradleyTerry):
    solver = BradleyTerry(prior=0)
