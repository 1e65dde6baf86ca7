"""`Estimator` and the mapping of columns: what the estimators of the plugins share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import pytest
from sklearn.base import clone

from optiframe import Budget, Minimize, NotConverged, problem
from optiframe.errors import InvalidInput, UnknownName
from optiframe.estimator import BudgetLike, Estimator
from optiframe.records.fields import Array
from optiframe.reference.scipy_lbfgs import ScipyLBFGS
from optiframe.solving.sources import SolverChoice
from optiframe.tables.column_names import column_names


class Closest(Estimator[Minimize, Array]):
    """The point that is closest to a point: itself."""

    families: ClassVar[tuple[str, ...]] = ("labels", "scipy")

    def __init__(
        self, solver: SolverChoice = None, *, shift: float = 0.0, seed: int = 0, budget: BudgetLike = None
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget)
        self.shift = shift

    def fit(self, frame: Any, truth: Any = None) -> Self:
        objective = {"name": "squared-distance", "to": np.asarray(frame) + self.shift}
        return self._learn(problem("minimize", objective=objective))

    def partial_fit(self, frame: Any) -> Self:
        return self._learn(self._asked(), start=lambda: np.asarray(frame))

    @property
    def point_(self) -> Any:
        return self._learnt("point_").solution

    def predict(self) -> Any:
        return self._answer()


def test_parameters_inside_are_read_from_a_name_a_table_or_an_object() -> None:
    assert Closest().get_params() == {"solver": None, "shift": 0.0, "seed": 0, "budget": None}
    model = Closest({"name": "lbfgs", "memory": 5}, budget=Budget(iterations=7))
    assert model.get_params()["solver__memory"] == 5
    assert model.get_params()["budget__iterations"] == 7
    assert "solver__name" not in model.get_params()
    assert Closest(ScipyLBFGS(memory=3)).get_params()["solver__memory"] == 3


def test_a_parameter_inside_is_changed_after_what_it_is_inside_of() -> None:
    model = Closest().set_params(solver__memory=4, solver=ScipyLBFGS(memory=3), budget__time=2.0)
    assert model.solver == {"name": "scipy.lbfgs", **dict(ScipyLBFGS(memory=4))}
    assert model.budget == {"time": 2.0}
    assert Closest("lbfgs").set_params(solver__memory=4).solver == {"name": "scipy.lbfgs", "memory": 4}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            "sede",
            r"Closest has no parameter 'sede'; did you mean 'seed'\? \(parameters: solver, shift, seed,",
        ),
        ("seed__low", "Closest has no parameter 'seed__low'"),
    ],
)
def test_a_parameter_there_is_not_changes_nothing(wrong: str, words: str) -> None:
    model = Closest("cvxpy")
    with pytest.raises(InvalidInput, match=words):
        model.set_params(**{"solver": "lbfgs", wrong: 1})
    assert model.solver == "cvxpy"


@pytest.mark.parametrize(
    "solver", ["lbfgs", "LBFGS ", "scipy.lbfgs", {"name": "lbfgs", "memory": 5}, ScipyLBFGS()]
)
def test_a_solver_is_found_by_its_short_or_full_name(solver: SolverChoice) -> None:
    model = Closest(solver).fit([1.0, 2.0])
    assert model.result_.settings["solver"]["name"] == "scipy.lbfgs"
    assert not model.findings_


def test_a_full_name_without_a_family_goes_before_a_short_one() -> None:
    assert Closest("cvxpy").fit([1.0, 2.0]).result_.settings["solver"]["name"] == "cvxpy"


@pytest.mark.parametrize(
    ("solver", "error", "words"),
    [
        ("lbfgz", UnknownName, "no solver named 'labels.lbfgz'"),
        ({"name": "scipy.lbfgs", "memry": 1}, InvalidInput, "did you mean 'memory'"),
        (3, InvalidInput, "a solver is chosen by its name or by a table with a name, got 3"),
        ({"memry": 1}, InvalidInput, "scipy.lbfgs: memry: unknown key; did you mean 'memory'"),
        ({"problem": 1}, InvalidInput, r"scipy.lbfgs: problem: unknown key \(valid keys: "),
    ],
)
def test_a_wrong_solver_is_reported_by_fit(solver: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Closest(solver).fit([1.0, 2.0])


def test_without_a_solver_the_recommended_one_is_taken_with_the_parameters_given() -> None:
    model = Closest().set_params(solver__memory=3).fit([1.0, 2.0])
    assert model.result_.settings["solver"] == {"name": "scipy.lbfgs", **dict(ScipyLBFGS(memory=3))}
    assert model.findings_[0].text.startswith("scipy.lbfgs was chosen because the objective has a gradient")
    assert model.findings_ == model.result_.findings
    assert model.result_.settings["recommended"] in model.findings_[0].text


def test_the_seed_the_budget_and_a_start_reach_the_run() -> None:
    with pytest.warns(NotConverged):
        model = Closest("lbfgs", seed=5, budget={"iterations": 1}).fit([1.0, 2.0])
    assert model.result_.settings["seed"] == 5
    assert model.result_.settings["budget"]["iterations"] == 1
    assert model.n_iter_ == model.result_.iterations == 1
    np.testing.assert_allclose(model.set_params(budget=None).partial_fit([1.0, 2.0]).point_, [1.0, 2.0])
    with pytest.raises(InvalidInput, match="seed must be a whole number of at least 0, got -1"):
        model.set_params(seed=-1).fit([1.0, 2.0])


def test_scikit_learn_clones_it_and_sees_whether_it_is_fitted() -> None:
    model = Closest({"name": "lbfgs", "memory": 5}, seed=3, shift=0.0)
    assert not model.__sklearn_is_fitted__()
    assert model.fit([1.0, 2.0]).__sklearn_is_fitted__()
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) == "Closest(solver={'name': 'lbfgs', 'memory': 5}, seed=3)"
    assert not copy.__sklearn_is_fitted__()


def test_what_is_learnt_is_there_after_fit_alone() -> None:
    model = Closest()
    with pytest.raises(AttributeError, match=r"point_ is learnt by fit\(frame\); call it first"):
        model.point_  # noqa: B018  # the access is the test
    for ask in (model.predict, lambda: model.partial_fit([0.0])):
        with pytest.raises(InvalidInput, match=r"nothing has been learnt yet; call fit\(frame\) first"):
            ask()
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
