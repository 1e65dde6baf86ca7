"""Tools take a problem, the result of a solver or a fitted estimator, and find in it what they need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Self

import numpy as np
import pytest

import optiframe
from optiframe.estimator import Estimator
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.solving.sources import answer_of, part_of

MINIMIZE = optiframe.Minimize(LeastSquares(matrix=np.diag([2.0, 1.0]), target=np.array([2.0, 3.0])))
RESULT = optiframe.solve(MINIMIZE, "scipy.lbfgs")
FITTED = SimpleNamespace(result_=RESULT)


class Unfitted(Estimator[optiframe.Minimize, object]):
    """One that has not been given any data."""

    def fit(self, frame: object) -> Self:
        return self


@pytest.mark.parametrize("source", [MINIMIZE.function, MINIMIZE, RESULT, FITTED])
def test_a_part_is_found_from_wherever_the_path_is_entered(source: object) -> None:
    part = part_of(source, LeastSquares, "problem", "function", wanted="an objective")
    assert part is MINIMIZE.function


@pytest.mark.parametrize("source", [None, SimpleNamespace(), [1.0]])
def test_what_has_no_such_part_is_refused_by_its_type(source: object) -> None:
    with pytest.raises(optiframe.InvalidInput, match=f"give an objective, not a {type(source).__name__}$"):
        part_of(source, LeastSquares, "problem", "function", wanted="an objective")


def test_an_estimator_that_is_not_fitted_is_sent_to_fit() -> None:
    with pytest.raises(
        optiframe.InvalidInput, match=r"this Unfitted has learnt nothing yet; call fit\(frame\)"
    ):
        part_of(Unfitted(), LeastSquares, "problem", "function", wanted="an objective")


def test_an_answer_is_the_one_given_or_else_that_of_the_source() -> None:
    other = np.zeros(2)
    for source in (RESULT, FITTED):
        assert answer_of(source) is answer_of(MINIMIZE, source) is RESULT.solution
        assert answer_of(source, other) is other
    with pytest.raises(optiframe.InvalidInput, match="give an answer as well"):
        answer_of(MINIMIZE)
