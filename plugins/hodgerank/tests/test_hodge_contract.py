"""The solvers of this plugin keep the contract."""

from __future__ import annotations

from collections.abc import Iterable

from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.solvers.least_squares import LeastSquares

import optiframe
from optiframe.testing import SolverContract

from .path_twins import ranking_of


def voted() -> PairwiseRanking:
    return optiframe.problem(dataset={"name": "pairwise.random-order", "items": 6, "comparisons": 80})


class TestLeastSquares(SolverContract):
    solver = LeastSquares()

    def instances(self) -> Iterable[PairwiseRanking]:
        return [voted(), ranking_of(0, 5, 30)]


class TestLeastSquaresWithTheSplit(TestLeastSquares):
    solver = LeastSquares(split=True)


class TestBradleyTerry(SolverContract):
    solver = BradleyTerry()

    def instances(self) -> Iterable[PairwiseRanking]:
        return [voted()]


class TestBradleyTerryWithoutAPrior(TestBradleyTerry):
    solver = BradleyTerry(prior=0)
