"""Tables of items that can be read and are probably not what was meant: the findings say so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from optiframe_tvcs import ItemSelection
from optiframe_tvcs.selection.doubts import nearly_alike, thousands, totals

import optiframe
from optiframe.errors import InvalidInput

ITEMS = {
    "item": ["oat milk", "soy milk", "butter", "muesli", "bread"],
    "value": [2.1, 1.4, 3.0, 2.6, 1.2],
    "brand": ["Oatly", "Alpro", "Farm", "Mill", "Mill"],
}


def found(items: Any, **bounds: Any) -> dict[str, str]:
    given = {"at_most": {"total": 3}, **bounds}
    problem = optiframe.problem("selection", items=items, views=["brand"], **given)
    result = optiframe.solve(problem, progress=False)
    return {finding.identifier.removeprefix("selection."): finding.text for finding in result.findings}


def with_row(item: str, value: float, brand: str) -> dict[str, list[Any]]:
    return {name: [*ITEMS[name], cell] for name, cell in zip(ITEMS, (item, value, brand), strict=True)}


def test_a_plain_table_raises_no_doubt() -> None:
    assert found(ITEMS).keys() == {"solve.recommended-solver"}


@pytest.mark.parametrize(("item", "value"), [("everything", 10.3), ("Total", 10.3), ("Subtotal Mill", 3.8)])
def test_a_row_of_totals_is_pointed_out(item: str, value: float) -> None:
    assert f"item {item} looks like a total" in found(with_row(item, value, "all"))["total-row"]


def test_thousands_of_items_called_sum_are_looked_through_in_one_pass() -> None:
    ids = np.array([f"sum-{number}" for number in range(100_000)], dtype=object)
    began = time.process_time()
    assert totals(ids, np.ones(len(ids))) == []
    assert time.process_time() - began < 5  # 0.1; 30 where each is compared with all rows above


def test_a_product_called_total_is_no_row_of_totals() -> None:
    assert totals(np.array(["a", "b", "c", "Total yoghurt"], dtype=object), np.array([1.0, 2, 4, 5])) == []


def test_points_that_may_separate_thousands_are_pointed_out(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("item;value;brand\na;2.100;x\nb;1.400;y\nc;900;x\n")
    assert "value 2.100 was read as 2.1; if the point separates thousands" in found(str(table))["thousands"]
    assert not thousands(np.array(["2.100", "1.400", "1.750"], dtype=object))  # the choice is the same
    assert not thousands(np.array(["0.125", "1.400", "1"], dtype=object))


def test_decimal_commas_are_read_where_all_values_have_them(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("item;value;brand\na;2,1;x\nb;-,5;y\nc;3;x\nd;1,250;y\n", encoding="utf-8")
    problem = optiframe.problem("selection", items=str(table), views=["brand"], at_most={"total": 3})
    result = optiframe.solve(problem, progress=False)
    assert problem.items.values.tolist() == [2.1, -0.5, 3.0, 1.25]
    assert "commas in value were read as decimal points: 2,1 as 2.1" in [f.text for f in result.findings]
    assert result.objective == -6.35


def test_points_separate_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("item;value\na;123.456,78\nb;-2.500\nc;3\nd;0,5\ne;1.000.000,125\n", encoding="utf-8")
    problem = optiframe.problem("selection", items=str(table), at_most={"total": 3})
    assert problem.items.values.tolist() == [123456.78, -2500.0, 3.0, 0.5, 1000000.125]
    result = optiframe.solve(problem, progress=False)
    said = [finding.text for finding in result.findings]
    assert "commas in value were read as decimal points: 123.456,78 as 123456.78" in said
    assert result.solution.columns()["value"].tolist() == [
        123456.78,
        3.0,
        1000000.125,
    ]  # a spreadsheet adds up


def test_commas_separate_thousands_beside_decimal_points() -> None:
    items = {**ITEMS, "value": ["1,234.50", "2,500", "999.5", "3", 4.5]}
    assert ItemSelection(items=items).items.values.tolist() == [1234.5, 2500.0, 999.5, 3.0, 4.5]
    assert "were read as signs between thousands: 1,234.50 as 1234.5" in found(items)["decimal-comma"]


@pytest.mark.parametrize(
    "cells",
    [
        ["1,250", "2,500"],
        ["1,234.50", "2,5"],
        ["1,234.50", "12,34"],
        ["1.234,50", "2,5", "2.5"],
        ["1.234,50", "2,5", 2.5],
        ["1.234,50", "12.34,50"],
        ["2.500", "1,5", "2,5"],
        ["1,250", "2,500", "1,5"],
        ["1,250", "2,500", "1,5", "2,5"],
        ["1,5", "2,5", "3.5"],
        ["1,5", "2,5", 3.5],
        ["1,5", "2"],
        ["1,5", "2,5 €"],
    ],
)
def test_commas_that_may_mean_something_else_are_refused(cells: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="must be a finite number"):
        found({**ITEMS, "value": [*cells, "1", "1", "1"][:5]})


def test_names_nearly_the_same_are_pointed_out_where_bounds_contradict_each_other() -> None:
    changed = {**ITEMS, "brand": ["Mill", "Alpro", "Farm", "mill", "Mill"]}
    said = found(changed, at_least={"brand": {"mill": 2}})
    assert "brand 'Mill' and 'mill' count as different" in said["spelled-twice"]


def test_names_of_groups_one_letter_apart_are_pointed_out() -> None:
    changed = {**ITEMS, "brand": ["Oatly", "Alpro", "Aplro", "Mill", "Mill"]}
    assert "brand 'Alpro' and 'Aplro' differ by one letter" in found(changed)["nearly-alike"]
    names = ["Nestle", "Nestles", "shelf 1", "shelf 2", "Mars", "Mark", "ALPRO", "alpro", "Ferrero", "Ferero"]
    pairs = nearly_alike(np.array(names, dtype=object))
    assert pairs == [("Ferrero", "Ferero"), ("Nestle", "Nestles")]


def test_values_that_are_all_below_zero_are_pointed_out() -> None:
    assert "no item has a value above 0" in found({**ITEMS, "value": [-1.0] * 5})["nothing-above-zero"]


@pytest.mark.parametrize("error", ["#N/A", "#REF!"])
def test_a_formula_that_failed_is_neither_a_missing_bound_nor_a_missing_mark(error: str) -> None:
    with pytest.raises(InvalidInput, match=f"the bound is '{error}'"):
        found(ITEMS, at_most={"brand": {"brand": ["Mill", "Farm"], "at_most": [error, 1]}})
    with pytest.raises(InvalidInput, match=f"slots is '{error}'"):
        found({**ITEMS, "slots": [error, 1, 1, 1, 1]}, at_most={"brand": "slots"})
    with pytest.raises(InvalidInput, match=f"keep is {error}; write yes"):
        found({**ITEMS, "keep": [error, None, None, None, None]}, fixed="keep")


def test_series_and_masks_of_pandas_are_bounds_and_marks() -> None:
    frame = pandas.DataFrame(ITEMS)
    problem = ItemSelection.from_frame(
        frame,
        views=["brand"],
        at_most={"brand": pandas.Series({"Mill": 1, "Alpro": 1})},
        fixed=frame.value < 1.3,
        forbidden=frame["item"][:1],
    )
    assert problem.fixed == ("bread",)
    assert ItemSelection(items=ITEMS, fixed=polars.Series(["bread"])).fixed == ("bread",)
    assert ItemSelection(items=ITEMS, at_most={"total": None}).counts.upper[0] > len(ITEMS["item"])
    assert problem.forbidden == ("oat milk",)
    bounds = optiframe.solve(problem, progress=False).to_tables()["bounds"]
    assert dict(zip(bounds["group"], bounds["at_most"], strict=True))["Mill"] == 1


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("1,4", "decimals are written with a point"),
        ("2,100", "without separators of thousands"),
        ("1.234,50", "without separators of thousands"),
        ("€ 1.40", "no currency, unit, percent sign or bracket"),
        ("14%", "no currency, unit, percent sign or bracket"),
        ("(1.4)", "no currency, unit, percent sign or bracket"),
    ],
)
def test_text_that_means_a_number_gets_advice(cell: str, advice: str) -> None:
    with pytest.raises(InvalidInput, match=advice):
        found({**ITEMS, "value": [cell, "1", "1", "1", "1"]})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"brands": ["Mill"], "at_most": [1]},
            r"needs a column 'brand' or 'group' that names .*mean 'brands'\?",
        ),
        (
            {"brand": ["Mill"], "atmost": [1]},
            r"needs a column 'at_most' or 'bound' or 'max' that holds .*mean 'atmost'\?",
        ),
        ({"brand": ["Mill", None], "at_most": [1, 2]}, r"at_most of brand row 1: brand is empty"),
        ({"brand": ["MILL"], "at_most": [1]}, r"no item is in brand 'MILL'.*did you mean 'Mill'\?"),
    ],
)
def test_tables_of_bounds_say_which_column_they_need(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        found(ITEMS, at_most={"brand": table})
