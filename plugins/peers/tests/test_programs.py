"""Projection through highspy, assignments by OR-tools: the contract, and our exact answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from optiframe_peers.projection.highs import HighsProjection
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import Projection, solve
from optiframe.problems.sets import Cardinality
from optiframe.solving.budget import Budget
from optiframe.solving.result import Status
from optiframe.testing import SolverContract


def instance(seed: int) -> Projection:
    """Random sets with bounds of 0, views left out, elements in no group; every other point with ties."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(0, 60))
    table: dict[str, object] = {"size": p, "total": int(rng.integers(0, p + 2))}
    for view in ("rows", "columns"):
        groups = int(rng.integers(0, 8))
        if groups:
            table[view] = {"labels": rng.integers(-1, groups, p), "bounds": rng.integers(0, 6, groups)}
    v = rng.standard_normal(p) if seed % 2 else rng.integers(-3, 4, p).astype(np.float64)
    return Projection(v, ThreeView.load(**table))


class TestHighs(SolverContract):
    solver = HighsProjection()

    def instances(self) -> Iterable[Projection]:
        return [instance(1), instance(4)]

    def optimum(self, problem: Projection) -> float:
        return problem.objective(problem.onto.project(problem.point))


class TestHighsWithoutPresolve(TestHighs):
    solver = HighsProjection(presolve=False, method="choose")


@pytest.mark.parametrize("method", ["simplex", "ipm", "choose"])
def test_every_method_finds_and_proves_the_exact_projection(
    method: Literal["simplex", "ipm", "choose"],
) -> None:
    for seed in range(40):
        problem = instance(seed)
        found = solve(problem, HighsProjection(method=method), progress=False)
        exact = problem.objective(problem.onto.project(problem.point))
        assert found.objective == pytest.approx(exact, rel=1e-9, abs=1e-9), seed
        assert found.detail.certificate.holds, seed


def test_it_stops_at_its_time_limit() -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.indices((300, 300)).reshape(2, -1)
    over = ThreeView.load(
        total=4000,
        rows={"labels": rows, "bounds": np.full(300, 20)},
        columns={"labels": columns, "bounds": np.full(300, 20)},
    )
    problem = Projection(rng.standard_normal(rows.size), over)
    with pytest.warns(optiframe.NotConverged, match="ran out of time"):
        result = solve(problem, HighsProjection(presolve=False), budget=Budget(time=1e-6), progress=False)
    assert result.status is Status.TIME_LIMIT


def test_other_sets_are_refused_in_words() -> None:
    with pytest.raises(optiframe.Unsuited, match="'three-view' sets only"):
        solve(Projection(np.ones(3), Cardinality(size=1)), HighsProjection(), progress=False)


def test_the_assignment_by_ortools_is_our_own_and_keeps_the_contract() -> None:
    child = Path(__file__).with_name("assignment_child.py")
    done = subprocess.run([sys.executable, str(child)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == []
    for ours, theirs, proved in found["sums"]:
        assert theirs == pytest.approx(ours)
        assert proved
    assert "highspy cannot be loaded beside it" in found["beside"]
