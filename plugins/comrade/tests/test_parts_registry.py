"""Filters, attacks, compressors and backends by name, and those that others bring."""

from __future__ import annotations

import pickle
import pkgutil
import tomllib
from typing import Any

import numpy as np
import optiframe_comrade
import pytest
from optiframe_comrade import Attack, Filter, Selecting
from optiframe_comrade.backends.backend import Backend
from optiframe_comrade.parts.attacks import Negative
from optiframe_comrade.solvers.comrade import Comrade

import optiframe
from optiframe import InvalidInput, part
from optiframe.records.fields import Array
from optiframe.registry.by_name import names
from optiframe.registry.registry import registry
from optiframe.testing.toml import to_toml

from .classification_twins import problem

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


def everything() -> list[Any]:
    """All registered parts of this plugin, with their defaults."""
    required = {"attack.gaussian": {"sigma": 1.0}}
    entries = [e for e in registry().entries("part") if e.distribution == "optiframework-comrade"]
    return [registry().get("part", entry.name)(**required.get(entry.name, {})) for entry in entries]


def test_every_part_loads_by_name_and_survives_a_file_and_a_pickle() -> None:
    found = everything()
    assert {type(each).family for each in found} == {"filter", "attack", "compressor", "backend"}
    for each in found:
        solver = Comrade.load(**{each.family: each.table()})
        assert getattr(solver, each.family) == each
        assert Comrade.load(**tomllib.loads(to_toml(solver))) == solver
        assert pickle.loads(pickle.dumps(solver)) == solver
        assert each.summary()
        settings = solver.model_dump()[each.family]
        assert settings == each.table()
        assert settings["name"] == each.name.partition(".")[2]


def test_a_part_is_chosen_by_name_by_table_or_as_an_object() -> None:
    chosen = [part(Attack, c) for c in ("negative", "attack.negative", {"name": "negative"}, Negative())]
    assert set(chosen) == {Negative(c=0.9)}
    assert part(Attack, {"name": "negative", "c": 0.5}) == Negative(c=0.5)
    assert isinstance(part(Backend, "in-process"), Backend)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"filter": "nrm"}, r"filter.*no part named 'filter.nrm'; did you mean 'filter.norm'"),
        ({"filter": "negative"}, "no part named 'filter.negative'"),
        ({"attack": {"name": "negative", "d": 1}}, r"unknown key \(valid keys: c\)"),
        ({"attack": {"name": "negative", "c": -1.0}}, "must be greater than 0, got -1.0"),
        ({"attack": {"c": 1.0}}, r"which attack\? \(known: .*negative"),
        ({"filter": Negative()}, "must be a filter: its name, a table with its name, or an object"),
        ({"filter": "attack.negative"}, "no part named 'filter.attack.negative'"),
        ({"compressor": 3}, "must be a compressor"),
    ],
)
def test_a_wrong_choice_is_an_error_in_words(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        Comrade(**given)


@pytest.mark.usefixtures("fresh_registry")
def test_a_third_partys_filter_is_used_by_name() -> None:
    @optiframe.register
    class Loudest(Selecting):
        """Keeps the vector of greatest norm."""

        name = "filter.loudest"

        def kept(self, vectors: Array, trim: int = 0) -> Any:
            return np.array([np.argmax(np.linalg.norm(vectors, axis=1))])

    assert "loudest" in names(Filter)
    result = optiframe.solve(
        problem(), "newton.comrade", filter="loudest", budget={"iterations": 2, "tolerance": 0.0}
    )
    assert [len(each.trimmed) for each in result.detail.exchanges] == [19, 19]
    assert result.settings["solver"]["filter"] == {"name": "loudest"}


def test_no_module_hides_what_the_package_exports() -> None:
    modules = {module.name for module in pkgutil.iter_modules(optiframe_comrade.__path__)}
    assert not modules & set(optiframe_comrade.__all__)
    assert callable(optiframe_comrade.curves)
    assert callable(optiframe_comrade.advice)


@pytest.mark.parametrize(
    ("solver", "old", "new"),
    [
        ("newton.comrade", {"home": "dask"}, "backend"),
        ("gradient.robust", {"dealing": "in-order"}, "sharding"),
        ("newton.polished", {"strange": 4.0}, "outlier_limit"),
        ("newton.comrade", {"backend": {"name": "flower", "resident": False}}, "persistent_client"),
    ],
)
def test_a_key_of_an_older_version_is_refused_with_its_new_name(
    solver: str, old: dict[str, Any], new: str
) -> None:
    with pytest.raises(InvalidInput, match=f"` is now called `{new}`$") as caught:
        optiframe.solver(solver, **old)
    assert "did you mean" not in str(caught.value)  # `dealing` looks like `deadline`
