"""crowd-kit's methods keep the contract of a solver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import pytest
from optiframe_peers.crowd.dawid_skene import DawidSkene, OneCoin
from optiframe_peers.crowd.glad import Glad
from optiframe_peers.crowd.kos import Kos
from optiframe_peers.crowd.majority import Majority
from optiframe_peers.crowd.mmsr import Mmsr
from optiframe_rankone.problem import LabelAggregation

from optiframe import Problem, Solver
from optiframe.testing import SolverContract

from .crowds import single_coin

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

SKILLS = np.array([0.8, 0.6, 0.7, 0.2, -0.1])


class OnLabels(SolverContract):
    classes: ClassVar[tuple[int, ...]] = (2, 3)
    seconds = 5.0  # a black box does not look at the clock

    def instances(self) -> Iterable[Problem]:
        return [
            LabelAggregation(**single_coin(0, SKILLS, tasks=25, per_task=4, classes=count))
            for count in self.classes
        ]


class TestMajority(OnLabels):
    solver: Solver = Majority()


class TestDawidSkene(OnLabels):
    solver: Solver = DawidSkene(rounds=5)


class TestOneCoin(OnLabels):
    solver: Solver = OneCoin(rounds=5)


@pytest.mark.slow  # conjugate gradients through pandas
class TestGlad(OnLabels):
    solver: Solver = Glad(rounds=1)
    classes = (3,)


class TestKos(OnLabels):
    solver: Solver = Kos(rounds=5)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"
    classes = (2,)


class TestMmsr(OnLabels):
    solver: Solver = Mmsr(rounds=50)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"


class TestMmsrWithASignedVote(OnLabels):
    solver: Solver = Mmsr(vote="signed", rounds=50)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"
