"""Projections by highspy and OR-tools, assignments by OR-tools: the contract, and our exact answers."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from optiframe_peers.projection.highs import HighsProjection
from optiframe_tvcs import OPTIFRAME_RENAMED
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import Projection, solve
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.solving.budget import Budget
from optiframe.solving.result import Status
from optiframe.testing import SolverContract

from .ortools_child import instance


class TestHighs(SolverContract):
    solver = HighsProjection()

    def instances(self) -> Iterable[Projection]:
        return [instance(1), instance(4)]

    def optimum(self, problem: Projection) -> float:
        return problem.objective(problem.onto.project(problem.point))


class TestHighsWithoutPresolve(TestHighs):
    solver = HighsProjection(presolve=False, method="choose")


@pytest.mark.slow
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


def test_small_entries_are_kept_beside_large_ones_and_closed_ones_left_out() -> None:
    v = np.array([1e4, 1.0, 2.0, 3.0])  # squares beyond the tolerances of HiGHS
    found = solve(Projection(v, ThreeView(size=4, total=3)), "highspy.projection", progress=False)
    assert found.solution.tolist() == [1e4, 0.0, 2.0, 3.0]
    assert found.detail.certificate.holds
    over = ThreeView.of_matrix((2, 2), total=2, per_row=[0, 2])  # the first row can hold nothing
    found = solve(Projection(np.array([[1e40, 1.0], [0.2, 0.1]]), over), "highspy.projection", progress=False)
    assert found.solution.tolist() == [[0.0, 0.0], [0.2, 0.1]]
    assert found.detail.certificate.holds


def test_converged_means_the_nearest_point() -> None:
    over, missed = ThreeView(size=4, total=2), 0
    for point in itertools.permutations([1e8, 1.0, 2.0, 3.0]):  # the last three are nothing to HiGHS
        result = solve(Projection(np.array(point), over), "highspy.projection", progress=False)
        nearest = set(result.solution.tolist()) == {0.0, 1e8, 3.0}
        assert (result.status is Status.CONVERGED) == result.detail.certificate.holds == nearest
        if not nearest:
            missed += 1
            assert result.detail.certificate.gap in {5.0, 8.0}  # 4 or 1 kept in place of 9
            assert "not the best" in result.findings[0].text
    assert missed


def test_names_that_moved_here_say_so_where_they_were() -> None:
    for old, now in OPTIFRAME_RENAMED.items():
        with pytest.raises(optiframe.UnknownName, match=f"'{old}'; use {re.escape(now)} instead$"):
            optiframe.solver(old)
        assert optiframe.solver(now.split()[0])  # which is there


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


def test_it_runs_in_a_process_where_highs_ran_on_more_threads_and_leaves_them_free() -> None:
    import highspy

    def on_two_threads() -> None:
        highs = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 2, "parallel": "on"}.items():
            highs.setOptionValue(option, value)
        highs.addVars(1, np.zeros(1), np.ones(1))
        highs.run()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal

    on_two_threads()
    assert solve(instance(1), "highspy.projection", progress=False).status is Status.CONVERGED
    on_two_threads()
    highspy.Highs.resetGlobalScheduler(True)


def test_other_sets_are_refused_in_words() -> None:
    with pytest.raises(optiframe.Unsuited, match="'three-view' sets only"):
        solve(Projection(np.ones(3), Cardinality(size=1)), HighsProjection(), progress=False)


def test_ortools_names_what_cannot_be_loaded_beside_it() -> None:
    import cvxpy  # which loads highspy

    assert cvxpy.__name__ in sys.modules
    with pytest.raises(optiframe.Unsuited, match=r"highspy is loaded in this process .* process of its own"):
        solve(instance(1), "ortools.projection")


@pytest.mark.slow
def test_answers_of_ortools_are_our_own_and_keep_the_contract() -> None:
    child = Path(__file__).with_name("ortools_child.py")
    done = subprocess.run([sys.executable, str(child)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == []
    for ours, theirs, proved in found["found"]:
        assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-9)
        assert proved
    assert "highspy cannot be loaded beside it" in found["beside"]


def test_highs_prints_no_banner() -> None:
    code = (
        "import optiframe; from optiframe import Projection; from optiframe_tvcs import ThreeView; "
        "r = optiframe.solve(Projection([3.0, 1.0, 2.0], ThreeView(size=3, total=2)), 'highspy.projection', "
        "progress=False); print(r.status)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["converged"]
