"""evalica's, choix's and crowd-kit's ranking methods keep the contract of a solver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import pytest
from optiframe_peers.ranking.choix_likelihood import Mm, Opt
from optiframe_peers.ranking.choix_spectral import Ilsr, RankCentrality
from optiframe_peers.ranking.crowdkit_models import BradleyTerry as CrowdBradleyTerry
from optiframe_peers.ranking.crowdkit_models import NoisyBradleyTerry
from optiframe_peers.ranking.evalica_elo import Elo
from optiframe_peers.ranking.evalica_likelihood import BradleyTerry, Newman
from optiframe_peers.ranking.evalica_shares import AverageWinRate, Counting, Eigen, PageRank

from optiframe import Problem, Solver
from optiframe.testing import SolverContract

from .votes import votes

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


class OnVotes(SolverContract):
    ties: ClassVar[tuple[float, ...]] = (0.0, 0.3)
    seconds = 5.0  # a black box does not look at the clock

    def instances(self) -> Iterable[Problem]:
        return [votes(seed, ties=share) for seed, share in enumerate(self.ties)]


class TestBradleyTerryOfEvalica(OnVotes):
    solver: Solver = BradleyTerry()


class TestNewman(OnVotes):
    solver: Solver = Newman()


class TestElo(OnVotes):
    solver: Solver = Elo()


class TestCounting(OnVotes):
    solver: Solver = Counting()


class TestAverageWinRate(OnVotes):
    solver: Solver = AverageWinRate()


class TestEigen(OnVotes):
    solver: Solver = Eigen(reverse=True)


class TestPageRank(OnVotes):
    solver: Solver = PageRank()


class TestIlsr(OnVotes):
    solver: Solver = Ilsr()


class TestIlsrWithAPrior(OnVotes):
    solver: Solver = Ilsr(alpha=0.1)


class TestRankCentrality(OnVotes):
    solver: Solver = RankCentrality()


class TestOpt(OnVotes):
    solver: Solver = Opt()


class TestMm(OnVotes):
    solver: Solver = Mm()


class TestBradleyTerryOfCrowdKit(OnVotes):
    solver: Solver = CrowdBradleyTerry(rounds=50)


class TestNoisyBradleyTerry(OnVotes):
    solver: Solver = NoisyBradleyTerry(rounds=20)
    ties = (0.0, 0.0)
