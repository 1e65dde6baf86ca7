"""The solvers of this plugin keep the contract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.data import Covariates
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bradley_terry import BradleyTerry
from optiframe_hodgerank.solvers.crowd_bt import CrowdBradleyTerry

import optiframe
from optiframe.testing import SolverContract

from .path_twins import votes

QUICK: list[tuple[str, dict[str, Any]]] = [
    ("hodge.l2", {}),
    ("hodge.hlasso", {"share": 0.2}),
    ("hodge.lbi", {}),
    ("hodge.iss", {}),
    ("hodge.iht", {}),
    ("hodge.capped", {"share": 0.2, "per_pair": 2}),
    ("hodge.bradley-terry", {}),
    ("ranking.crowd-bt", {}),
]
LONGER: list[tuple[str, dict[str, Any]]] = [
    ("hodge.l2", {"split": True}),
    ("hodge.hlasso", {"share": 0.2, "method": "grid"}),
    ("hodge.hlasso", {"stop_rule": "cross-validation"}),
    ("hodge.hlasso", {"stop_rule": "huber"}),
    ("hodge.hlasso-l2", {"share": 0.1}),
    ("hodge.lbi", {"variant": "gradient"}),
    ("hodge.lbi", {"variant": "parallel", "threads": 2}),
    ("hodge.lbi", {"stop_rule": "cross-validation"}),
    ("hodge.ilts", {}),
    ("hodge.bradley-terry", {"prior": 0}),
    ("hodge.bradley-terry", {"ties": "rao-kupper"}),
    ("ranking.suggest", {"n": 3, "first": 2}),
    ("hodge.bootstrap", {"draws": 20}),
    ("hodge.bootstrap", {"of": "hodge.iht", "draws": 40, "level": 0.95, "steps": 50}),
]


def named(solvers: list[tuple[str, dict[str, Any]]], *marks: Any) -> list[Any]:
    return [pytest.param(name, given, id=" ".join((name, *given)), marks=marks) for name, given in solvers]


@pytest.mark.parametrize(("name", "given"), [*named(QUICK), *named(LONGER, pytest.mark.slow)])
class TestSolvers(SolverContract):
    @pytest.fixture(autouse=True)
    def chosen(self, name: str, given: dict[str, Any]) -> None:
        self.solver = optiframe.solver(name, **given)

    def instances(self) -> Iterable[PairwiseRanking]:
        if isinstance(self.solver, BradleyTerry | CrowdBradleyTerry):
            data = {"name": "pairwise.random-order", "items": 6, "comparisons": 80}
            nameless = optiframe.problem(dataset=data)
            by_five = replace(
                nameless.comparisons, worker=np.arange(nameless.rows) % 5, worker_ids=np.array(list("abcde"))
            )
            swayed = replace(nameless.comparisons, covariates=Covariates(("side",), np.ones((80, 1))))
            with_side = [PairwiseRanking(comparisons=swayed)] if isinstance(self.solver, BradleyTerry) else []
            return [nameless, PairwiseRanking(comparisons=by_five), *with_side]
        return [votes(0), votes(1, noise=0.1)]
