"""Collections: one name in a comparison's file, many data sets in its plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import NonNegativeInt

import optiframe
from optiframe import BrokenPlugin, Collection, DataSet, InvalidInput, register
from optiframe.comparison.plan.inputs import check_inputs
from optiframe.comparison.plan.plan import make_plan, read_plan


@pytest.fixture(autouse=True)
def corners(fresh_registry: None) -> None:
    """A data set of one parameter, and a collection of several of it."""

    @register
    class Corner(DataSet):
        """A bowl around a corner."""

        name = "corner.one"
        problem = "minimize"
        number: NonNegativeInt = 0

        def inputs(self) -> dict[str, Any]:
            return {"objective": {"name": "squared-distance", "to": [float(self.number)]}}

    @register
    class Corners(Collection):
        """Bowls around corners."""

        name = "corner"
        problem = "minimize"
        count: NonNegativeInt = 2

        def members(self) -> Mapping[str, Mapping[str, Any]]:
            if not self.count:
                raise InvalidInput("a collection of nothing")
            return {f"corner {n}": {"name": "corner.one", "number": n} for n in range(self.count)}


def titles(text: str, folder: Path) -> list[str]:
    path = folder / "run.toml"
    path.write_text(text + '\n[[solver]]\nname = "scipy.lbfgs"\n')
    return [cell.problem.title for cell in read_plan(path).cells]


@pytest.mark.slow
def test_a_collection_becomes_a_problem_for_each_member(tmp_path: Path) -> None:
    found = titles('[[problem]]\ndataset = {name = "corner", count = 3}', tmp_path)
    assert sorted(found) == ["corner 0", "corner 1", "corner 2"]
    by_name = titles('[[problem]]\ntitle = "all"\ndataset = "corner"', tmp_path)
    assert sorted(by_name) == ["all corner 0", "all corner 1"]


@pytest.mark.slow
def test_a_member_is_planned_by_its_own_name_alone() -> None:
    plan = make_plan(["corner"], ["scipy.lbfgs"])
    alone = make_plan([{"dataset": {"name": "corner.one", "number": 1}}], ["scipy.lbfgs"])
    assert alone.cells[0].key in {cell.key for cell in plan.cells}
    collection = optiframe.dataset("corner", count=2)
    assert {cell.key for cell in make_plan([collection], ["scipy.lbfgs"]).cells} == {
        cell.key for cell in plan.cells
    }


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("{name = 'corner', count = 0}", "problem.0: a collection of nothing"),
        ("{name = 'corner', count = -1}", "problem.0.dataset.count: must be at least 0, got -1"),
        ("{name = 'corner', cuont = 1}", "problem.0.dataset.cuont: unknown key; did you mean 'count'"),
        ("{name = 'corner', count = {sweep = [1, 2]}}", "corner 0 is the same problem as corner 0"),
    ],
)
def test_what_is_wrong_with_a_collection_is_said_at_its_place(table: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        titles(f"[[problem]]\ndataset = {table}", tmp_path)
    assert words in str(caught.value)


def test_a_collection_is_no_problem_by_itself_and_says_what_is() -> None:
    with pytest.raises(
        InvalidInput, match=r"a collection of 2 data sets .*name = \"corner.one\", number = 0"
    ):
        optiframe.problem(dataset="corner")


def test_members_that_are_no_tables_are_refused_with_what_to_give() -> None:
    @register
    class Listed(Collection):
        """A list of data sets."""

        name = "corner.listed"
        problem = "minimize"

        def members(self) -> Any:
            return [optiframe.dataset("corner.one")]

    words = r"corner.listed: members\(\) must give a table for each title"
    with pytest.raises(BrokenPlugin, match=words):
        make_plan(["corner.listed"], ["scipy.lbfgs"])
    with pytest.raises(BrokenPlugin, match=words):
        optiframe.problem(dataset="corner.listed")


def test_the_name_of_a_data_set_that_ends_like_a_file_is_no_missing_file(tmp_path: Path) -> None:
    @register
    class FromTable(DataSet):
        """A bowl, from a table."""

        name = "corner.csv"
        problem = "minimize"

        def inputs(self) -> dict[str, Any]:
            return {"objective": {"name": "squared-distance", "to": [1.0]}}

    for table in ({"dataset": "corner.csv"}, {"dataset": {"name": "corner.csv"}}):
        check_inputs(table, "minimize", tmp_path)
    with pytest.raises(InvalidInput, match=r"there is no file corners\.csv"):
        check_inputs({"dataset": "corners.csv"}, "minimize", tmp_path)
