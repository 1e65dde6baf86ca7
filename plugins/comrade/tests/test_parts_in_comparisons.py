"""Whoever brings a piece of the method counts: in a run's settings and in a comparison's cells."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import optiframe
from optiframe.comparison.plan.content_key import cell_key
from optiframe.comparison.plan.plan import read_plan

from .classification_twins import problem

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")

FILTER = '''\
from optiframe_comrade import Selecting
class First(Selecting):
    """Keeps the first vectors."""
    name = "filter.acme-first"
    def kept(self, vectors, trim=0):
        return list(range(len(vectors) - trim))
'''
PLAN = """
[[problem]]
dataset = {name = "synthetic.covtype-shape", terms = 200, columns = 3}

[[solver]]
name = "newton.comrade"
filter = "acme-first"
workers = 4

[[solver]]
name = "newton.comrade"
workers = 4
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    """A distribution on disk that brings a filter."""
    package, info = tmp_path / "acme_filters", tmp_path / "acme_filters-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-filters\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[optiframe]\nacme = acme_filters\n")
    (info / "direct_url.json").write_text(json.dumps({"url": "file:///x", "dir_info": {"editable": True}}))
    (package / "__init__.py").write_text(
        "from optiframe.hookspec import Description, hookimpl\n\n\n@hookimpl\n"
        "def optiframe_plugin():\n"
        "    return [Description('part', 'filter.acme-first', '.first:First', 'Keeps the first')]\n"
    )
    (package / "first.py").write_text(FILTER)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("acme_filters", "acme_filters.first"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    optiframe.registry.registry.reset()
    return package


def planned(folder: Path) -> Any:
    path = folder / "plan.toml"
    path.write_text(PLAN)
    return read_plan(path)


def test_the_version_of_a_filters_package_is_in_the_settings_of_a_run(package: Path) -> None:
    result = optiframe.solve(
        problem(), "newton.comrade", workers=4, filter="acme-first", budget={"iterations": 1}
    )
    assert result.settings["versions"]["acme-filters"] == "1.0"
    assert {"optiframework", "numpy", "optiframework-comrade"} <= set(result.settings["versions"])


def test_the_version_of_a_filters_package_is_part_of_the_key_of_a_cell(package: Path) -> None:
    plan = planned(package)
    with_filter, without = (cell.solver for cell in plan.cells[:2])
    if "acme-filters" not in with_filter.versions:
        with_filter, without = without, with_filter
    assert with_filter.versions["acme-filters"] == "1.0"
    assert "acme-filters" not in without.versions

    def key(solver: Any) -> str:
        cell = plan.cells[0]
        return cell_key(cell.problem, solver, 0, budget=plan.budget, limits=plan.limits, measure=plan.measure)

    newer = replace(with_filter, versions={**with_filter.versions, "acme-filters": "2.0"})
    assert key(newer) != key(with_filter)


def test_an_edit_of_a_filters_package_under_work_makes_other_cells(package: Path) -> None:
    before = {cell.key for cell in planned(package).cells}
    assert {cell.key for cell in planned(package).cells} == before
    (package / "first.py").write_text(FILTER.replace("Keeps", "Holds"))
    # The cells of the other solver, whose filter is not from there, stay.
    assert len({cell.key for cell in planned(package).cells} & before) * 2 == len(before)
