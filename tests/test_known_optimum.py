"""A stated optimum in a result, and in a comparison: gaps are from the lower of it and what was found."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optiframe
from optiframe import Budget, Composite, InvalidInput, Minimize
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.regularizers.norms import L1
from optiframe.problems.sets.vector_sets import Box

POINT, ZERO = np.array([3.0]), np.array(0.0)
BOWL: dict[str, Any] = {"name": "minimize", "objective": {"name": "squared-distance", "to": [3.0]}}
UNIT = {"name": "box", "lower": 0.0, "upper": 1.0}  # where the least value is 2


def findings(optimum: float | None, at: float = 1.0) -> list[str]:
    problem = Minimize(SquaredDistance(to=POINT), over=Box(lower=ZERO, upper=ZERO + 1), optimum=optimum)
    return [found.identifier for found in problem.diagnose(np.array([at]))]


def test_a_result_says_how_it_stands_to_a_known_optimum() -> None:
    assert findings(None) == findings(2.0) == findings(2.0001) == []
    assert findings(1.0) == ["objective.above-optimum"]
    assert findings(2.1) == ["objective.below-optimum"]
    assert findings(2.1, at=1.5) == []  # an answer outside of the constraints proves nothing
    result = optiframe.solve(optiframe.problem(**BOWL, over=UNIT, optimum=1.5), "scipy.lbfgs")
    (found,) = result.findings
    assert " is above the known optimum 1.5" in found.text


def test_the_optimum_goes_with_the_problem_that_it_is_formulated_as() -> None:
    fit = LeastSquares(matrix=np.eye(2), target=np.array([1.0, 0.0]))
    lasso = Composite(fit, plus=L1(weight=0.1), optimum=0.095)
    assert lasso.formulation is not None
    assert lasso.formulation.problem.known_optimum() == lasso.known_optimum() == 0.095
    plain = Composite(fit, optimum=0.0).formulation
    assert plain is not None
    assert plain.problem.known_optimum() == 0.0
    assert pickle.loads(pickle.dumps(lasso)).fingerprint() == lasso.fingerprint()


@pytest.mark.parametrize("optimum", ["low", float("nan"), [1.0]])
def test_an_optimum_that_is_no_number_is_refused(optimum: Any) -> None:
    with pytest.raises(InvalidInput, match="optimum"):
        Minimize(SquaredDistance(to=POINT), optimum=optimum)


def test_a_comparison_measures_gaps_from_the_lower_of_the_optimum_and_what_it_found(tmp_path: Path) -> None:
    problems = {
        "known": {**BOWL, "over": UNIT, "optimum": 1.0},  # nobody reaches it
        "wrong": {**BOWL, "over": UNIT, "optimum": 2.5},  # everybody is below
        "unknown": {**BOWL, "over": UNIT},
    }
    found = optiframe.compare(
        problems,
        ["scipy.lbfgs", "gradient.projected"],
        budget=Budget(iterations=100),
        folder=tmp_path,
        show=False,
    )
    best = {row.problem: found.records.best[row.outcome.solved] for row in found.records.rows if row.outcome}
    assert best == pytest.approx({"known": 1.0, "wrong": 2.0, "unknown": 2.0})


def test_without_an_optimum_a_problem_has_the_fingerprint_that_older_stores_hold() -> None:
    kept = "297820b2f222010d8da3cb2294b256a024d4649c92dbc33fe577faf2eb0c12a0"
    assert Minimize(SquaredDistance(to=np.array([1.0, 2.0]))).fingerprint() == kept
    assert Minimize(SquaredDistance(to=np.array([1.0, 2.0])), optimum=0.0).fingerprint() != kept
