"""The comparisons across plugins: each file in its small size, and what its page says may be compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optiframe
from optiframe.comparison.plan.plan import read_plan
from optiframe.registry.user_modules import import_user_module

pytestmark = [pytest.mark.slow, pytest.mark.ci, pytest.mark.usefixtures("data_folder")]

ROOT = Path(__file__).parent.parent
CROSS = ROOT / "examples" / "cross"
FILES = sorted(CROSS.glob("*.toml"))
FITTED = {"rankone.pgd", "rankone.coordinate", "rankone.exponentiated", "scipy.lbfgs"}


def small_size(file: Path) -> tuple[list[str], list[str]]:
    """What the file's first lines give after `--set`, and after `--import`."""
    line = re.search(r"^# A small size:\n#   (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None, f"{file.name} names no small size"
    words = shlex.split(line[1])
    pairs = list(pairwise(words))
    return [word for option, word in pairs if option == "--set"], [
        str(ROOT / word) for option, word in pairs if option == "--import"
    ]


def with_seed(value: Any, seed: int) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {"from"}:
            return seed
        return {key: with_seed(each, seed) for key, each in value.items()}
    return value


@cache
def solved(file: Path) -> list[tuple[str, str, Any]]:
    return list(each_solved(file))


def each_solved(file: Path) -> Iterator[tuple[str, str, Any]]:
    """Problem, solver and result (None: unsuited) of each cell, all in this process."""
    changes, modules = small_size(file)
    for module in modules:
        import_user_module(module)
    plan = read_plan(file, changes, modules)
    problems: dict[str, Any] = {}
    for cell in plan.cells:
        table = {k: v for k, v in with_seed(cell.problem.table, cell.seed).items() if k != "title"}
        if cell.problem.title not in problems:
            problems[cell.problem.title] = optiframe.problem(**table)
        problem = problems[cell.problem.title]
        given = {k: v for k, v in cell.solver.table.items() if k != "title"}
        solver = optiframe.solver(**given)
        if optiframe.why_unsuited(problem, solver) is not None:
            yield cell.problem.title, cell.solver.title, None
            continue
        result = optiframe.solve(
            problem, solver, budget=plan.budget, seed=cell.seed, progress=False, trace=False
        )
        yield cell.problem.title, cell.solver.title, result


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_solver_answers_and_objectives_belong_to_one_problem(file: Path) -> None:
    found = solved(file)
    assert found
    for problem in {title for title, _, _ in found}:
        judged = {
            result.solved
            for title, _, result in found
            if title == problem and result is not None and np.isfinite(result.objective)
        }
        assert len(judged) <= 1, problem
    unsuited = {solver for _, solver, result in found if result is None}
    assert unsuited <= {"crowdkit.wawa", "crowdkit.kos"}  # it breaks on current pandas; two classes only


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_only_solvers_that_fit_correlations_have_an_objective_of_labels() -> None:
    for _, solver, result in solved(CROSS / "labels.toml"):
        if result is not None:
            assert np.isfinite(result.objective) == (solver in FITTED), solver


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_the_file_of_full_size_is_a_plan(file: Path) -> None:
    modules = small_size(file)[1]
    for module in modules:
        import_user_module(module)
    assert read_plan(file, [], modules).cells


def test_a_worker_with_all_answers_reversed_is_known_to_be_wrong() -> None:
    import_user_module(str(CROSS / "few_workers.py"))
    given = optiframe.dataset("pairwise.few-workers", comparisons=300, workers=6, reversers=1).inputs()
    worker, wrong = given["comparisons"]["worker"], given["outlier_truth"]
    of_reverser = np.unique(worker[wrong])
    assert len(of_reverser) == 1
    assert wrong[worker == of_reverser[0]].all()
    place = dict(zip(given["truth"]["item"], given["truth"]["score"], strict=True))
    table = given["comparisons"]
    for left, right, label, reversed_ in zip(
        table["left"], table["right"], table["label"], wrong, strict=True
    ):
        better = left if place[left] > place[right] else right
        assert (label != better) == reversed_


def test_reversing_real_workers_changes_their_decided_answers_only() -> None:
    import_user_module(str(CROSS / "few_workers.py"))
    plain = optiframe.dataset("pairwise.human-age").inputs()["comparisons"]
    given = optiframe.dataset("pairwise.human-age-reversed", reversers=3).inputs()
    changed = given["comparisons"]["label"] != plain["label"]
    np.testing.assert_array_equal(changed, given["outlier_truth"])
    assert len(np.unique(plain["worker"][changed])) == 3
