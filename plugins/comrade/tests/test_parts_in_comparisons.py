"""Whose package a filter is from counts in a comparison's cells."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import optiframe
from optiframe.comparison.plan.plan import read_plan

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
    monkeypatch.delitem(sys.modules, "acme_filters", raising=False)
    optiframe.registry.registry.reset()
    return package


def planned(folder: Path) -> Any:
    path = folder / "plan.toml"
    path.write_text(PLAN)
    return read_plan(path)


@pytest.mark.slow
def test_a_filters_package_counts_in_the_cells_that_use_it(package: Path) -> None:
    cells = planned(package).cells
    versions = {cell.solver.table.get("filter"): cell.solver.versions for cell in cells}
    assert versions["acme-first"]["acme-filters"] == "1.0"
    assert "acme-filters" not in versions[None]
    before = {cell.key for cell in cells}
    assert {cell.key for cell in planned(package).cells} == before
    (package / "first.py").write_text(FILTER.replace("Keeps", "Holds"))
    # The cells of the other solver, whose filter is not from there, stay.
    assert len({cell.key for cell in planned(package).cells} & before) * 2 == len(before)
