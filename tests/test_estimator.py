"""`Estimator` and the mapping of columns: what the estimators of the plugins share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import pytest
from sklearn.base import clone

from optiframe import Budget, problem, solve
from optiframe.errors import InvalidInput
from optiframe.estimator import Estimator
from optiframe.reference.scipy_lbfgs import ScipyLBFGS
from optiframe.tables.column_names import column_names


class Closest(Estimator):
    """The point that is closest to a point: itself."""

    nested: ClassVar[tuple[str, ...]] = ("solver", "budget")

    def __init__(
        self, solver: Any = "scipy.lbfgs", *, seed: int = 0, budget: Budget | Mapping[str, Any] | None = None
    ) -> None:
        self.solver = solver
        self.seed = seed
        self.budget = budget

    def fit(self, frame: Any, truth: Any = None) -> Self:
        objective = {"name": "squared-distance", "to": frame}
        self.result_ = solve(problem("minimize", objective=objective), self.solver)
        return self

    @property
    def point_(self) -> Any:
        return self._learnt("point_").solution

    def predict(self) -> Any:
        return self._solution()


def test_parameters_inside_are_read_from_a_name_a_table_or_an_object() -> None:
    assert Closest().get_params() == {"solver": "scipy.lbfgs", "seed": 0, "budget": None}
    model = Closest({"name": "scipy.lbfgs", "memory": 5}, budget=Budget(iterations=7))
    assert model.get_params()["solver__memory"] == 5
    assert model.get_params()["budget__iterations"] == 7
    assert "solver__name" not in model.get_params()
    assert Closest(ScipyLBFGS(memory=3)).get_params()["solver__memory"] == 3


def test_a_parameter_inside_is_changed_after_what_it_is_inside_of() -> None:
    model = Closest().set_params(solver__memory=4, solver=ScipyLBFGS(memory=3), budget__time=2.0)
    assert model.solver == {"name": "scipy.lbfgs", **dict(ScipyLBFGS(memory=4))}
    assert model.budget == {"time": 2.0}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            "sede",
            r"Closest has no parameter 'sede'; did you mean 'seed'\? \(parameters: solver, seed, budget\)",
        ),
        ("seed__low", "Closest has no parameter 'seed__low'"),
    ],
)
def test_a_parameter_there_is_not_changes_nothing(wrong: str, words: str) -> None:
    model = Closest()
    with pytest.raises(InvalidInput, match=words):
        model.set_params(**{"solver": "cvxpy", wrong: 1})
    assert model.solver == "scipy.lbfgs"


def test_scikit_learn_clones_it_and_sees_whether_it_is_fitted() -> None:
    model = Closest(seed=3)
    assert not model.__sklearn_is_fitted__()
    assert model.fit([1.0, 2.0]).__sklearn_is_fitted__()
    copy = clone(model)
    assert repr(copy) == "Closest(seed=3)"
    assert not copy.__sklearn_is_fitted__()


def test_what_is_learnt_is_there_after_fit_alone() -> None:
    model = Closest()
    with pytest.raises(AttributeError, match=r"point_ is learnt by fit\(frame\); call it first"):
        model.point_  # noqa: B018  # the access is the test
    with pytest.raises(InvalidInput, match=r"nothing has been learnt yet; call fit\(frame\) first"):
        model.predict()
    assert model.fit([1.0, 2.0]).point_.tolist() == pytest.approx([1.0, 2.0])
    assert model.predict() is model.point_


def test_a_mapping_of_columns_is_taken_as_it_is() -> None:
    assert column_names({"left": "first"}, ("left", "right")) == {"left": "first"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("left", "must be a table of our column name to yours, got 'left'"),
        (
            {"lft": "first"},
            "unknown column 'lft'; did you mean 'left'? (columns that can be mapped: left, right)",
        ),
        ({"left": 1}, "the name of column left must be text, got 1"),
    ],
)
def test_a_wrong_mapping_of_columns_is_refused_in_words(given: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        column_names(given, ("left", "right"))
    assert str(caught.value) == message
