"""A problem recommends a solver for its data, and whoever solves without one is told which and why."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import optiframe as of
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.solving.recommend import recommend

from .command_line import run_in


def bowl() -> of.Minimize:
    return of.Minimize(LeastSquares(matrix=[[2.0, 0.0], [0.0, 1.0]], target=[2.0, 3.0]))


class Wrapped(of.Problem[np.ndarray]):
    """A problem of a third party that recommends nothing and formulates to a bowl."""

    name = "test.wrapped"

    def formulate(self) -> of.Formulation:
        return of.Formulation(bowl(), interpret=lambda x: x, encode=lambda x: x)


class Choosy(Wrapped):
    """Recommends what is not there, what does not suit, and then what does."""

    name = "test.choosy"

    def recommended(self):
        return (
            ("nobody.knows-it", "it is not registered"),
            ("test.absent", "its library is not installed"),
            ("test.refusing", "it refuses"),
            ("scipy.trust-constr", "it is the first that works"),
        )


class Alone(of.Problem[np.ndarray]):
    """Neither recommends nor formulates."""

    name = "test.alone"


class Absent(of.Solver[of.Minimize, np.ndarray, None]):
    """Its library is not installed."""

    name = "test.absent"
    solves = of.Minimize
    requires = ("a_library_that_nobody_has",)

    def iterates(self, problem, run):
        yield of.Iterate(problem.initial())


class Refusing(Absent):
    """Suits no problem."""

    name = "test.refusing"
    requires = ()

    def unsuited(self, problem):
        return "never"


@pytest.mark.usefixtures("fresh_registry")
def test_the_first_that_is_registered_installed_and_suited_is_taken() -> None:
    of.register(Absent)
    of.register(Refusing)
    chosen = recommend(Choosy())
    assert chosen.solver.name == "scipy.trust-constr"
    assert chosen.reason == "it is the first that works"


def test_a_problem_that_recommends_nothing_is_solved_as_what_it_formulates_to() -> None:
    result = of.solve(Wrapped())
    np.testing.assert_allclose(result.solution, [1.0, 3.0], atol=1e-5)
    assert result.settings["solver"]["name"] == "scipy.lbfgs"


def test_the_result_says_which_solver_was_chosen_and_why() -> None:
    result = of.solve(bowl())
    assert result.findings[0].level == "note"
    assert result.findings[0].text.startswith("scipy.lbfgs was chosen because the objective has a gradient")
    assert result.settings["recommended"] in result.findings[0].text
    named = of.solve(bowl(), "scipy.lbfgs")
    assert "recommended" not in named.settings
    assert not any("was chosen" in finding.text for finding in named.findings)


class Knowing(of.Solver[Alone, np.ndarray, None]):
    """Takes the problem that recommends nothing."""

    name = "test.knowing"
    solves = Alone

    def iterates(self, problem, run):
        yield of.Iterate(np.zeros(1))


@pytest.mark.usefixtures("fresh_registry")
def test_where_nothing_is_recommended_the_error_lists_the_solvers_that_take_the_problem() -> None:
    with pytest.raises(of.InvalidInput, match="none that is installed takes it"):
        of.solve(Alone())
    of.register(Knowing)
    with pytest.raises(
        of.InvalidInput, match=r"no solver is recommended for 'test\.alone'; name one .*test\.knowing"
    ):
        of.solve(Alone())


def test_where_autograd_cannot_follow_a_function_the_error_says_that() -> None:
    def own(x):
        return float(np.sum(x**2))

    problem = of.Minimize(of.from_function(own, 3), over={"name": "cardinality", "size": 1})
    with pytest.raises(of.InvalidInput, match=r"autograd cannot follow the function 'own'.* its gradient"):
        of.solve(problem)


def test_parameters_without_a_solver_are_refused() -> None:
    with pytest.raises(of.InvalidInput, match=r"parameters \(memory\) go with a solver's name"):
        of.solve(bowl(), memory=5)


def test_a_file_without_a_solver_uses_the_recommended_one(tmp_path: Path) -> None:
    (tmp_path / "bowl.toml").write_text(
        '[problem]\nname = "minimize"\n'
        'objective = { name = "least-squares", matrix = [[2.0, 0.0], [0.0, 1.0]], target = [2.0, 3.0] }\n'
    )
    shown = run_in(tmp_path, "solve", "bowl.toml").stdout
    assert "minimize by scipy.lbfgs" in shown
    assert "note: scipy.lbfgs was chosen because" in shown


@pytest.mark.slow
def test_solvers_are_listed_by_the_name_of_a_problem(tmp_path: Path) -> None:
    shown = run_in(tmp_path, "list", "solvers", "label-aggregation").stdout
    assert "labels.dawid-skene" in shown
    assert "hodge.lbi" not in shown
    entries = [" ".join(entry.split()) for entry in re.split(r"\n  (?=\S)", shown)]
    through = [entry.split()[0] for entry in entries if "(through rank-one-completion)" in entry]
    assert {"rankone.pgd", "rankone.coordinate"} <= set(through)
    assert not any(name.startswith("labels.") for name in through)
    wrong = run_in(tmp_path, "list", "solvers", "label-agregation", code=2).stderr
    assert "did you mean 'label-aggregation'" in wrong


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("dataset", "solver"),
    [
        ("synthetic.single-coin", "labels.crowd"),
        ("rank-one.grid", "rankone.pgd"),
        ("pairwise.bias", "hodge.iss"),
        ("pairwise.human-age", "ranking.crowd-bt"),
        ("pairwise.pc-vqa", "ranking.crowd-bt"),
        ("collaborative.low-rank", "manifold.trust-region"),
        pytest.param("synthetic.covtype-shape", "newton.exact", marks=pytest.mark.slow),  # seconds
        ("assignment.uniform", "tvcs.assignment-iht"),
        ("grn.dream4-10.1", "tvcs.iht"),
        ("sparse.planted-regression", "tvcs.iht"),
    ],
)
def test_every_problem_of_ours_recommends_a_solver(dataset: str, solver: str) -> None:
    chosen = recommend(of.problem(dataset=dataset))
    assert chosen.solver.name == solver
    assert chosen.reason[0].islower()
    assert not chosen.reason.endswith(".")


def test_a_projection_onto_a_three_view_set_is_exact() -> None:
    problem = of.Projection([1.0, 2.0], onto={"name": "three-view", "total": 1, "size": 2})
    assert recommend(problem).solver.name == "tvcs.exact"
