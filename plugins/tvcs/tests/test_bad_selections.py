"""What a buyer with a spreadsheet gets wrong, and what the message says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_tvcs import ItemSelection

import optiframe
from optiframe.errors import InvalidInput

ITEMS = {
    "sku": ["milk", "bread", "oats"],
    "margin": [2.1, 1.2, 0.7],
    "brand": ["Farm", "Mill", "Mill"],
    "slots": [1, 2, 2],
    "keep": ["x", None, "no"],
}
GOOD: dict[str, Any] = {
    "items": ITEMS,
    "columns": {"item": "sku", "value": "margin"},
    "views": ["brand"],
}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"columns": {"item": "sku", "value": "margn"}}, r"items: there is no column 'margn'; .*mean 'margin'\?"),
    ({"columns": {"item": "sku"}}, r'no column \'value\'; name the one .* columns = \{ value = "\.\.\." \}'),
    (
        {"columns": {"sku": "item"}},
        r"columns: unknown column 'sku' \(columns that can be mapped: item, value",
    ),
    ({"views": ["brnd"]}, r"no column 'brnd' for the view 'brnd' .*did you mean 'brand'\?"),
    ({"views": 3}, r"views: must be a list of columns that group the items"),
    ({"views": ["brand", "brand"]}, r"views: 'brand' is there twice"),
    ({"views": {"total": "brand"}}, r"a view cannot be called 'total'"),
    ({"views": {"brand": []}}, r"view 'brand': give a column or a list"),
    ({"views": {"end": ["brand", "brand"]}}, r"view 'end' names a column twice"),
    ({"views": {"word": ["brand", "sku"]}, "items": {**ITEMS, "sku": ["Farm", "b", "c"]}}, r"are both Farm"),
    ({"items": {**ITEMS, "sku": ["milk", "bread", "milk"]}}, r"row 2: sku milk is there already \(row 0\)"),
    ({"items": {**ITEMS, "margin": [1, None, 2]}}, r"row 1: margin is empty"),
    ({"items": {**ITEMS, "margin": [1, "€2", 2]}}, r"row 1: the margin is €2; it must be a finite number"),
    ({"items": {**ITEMS, "margin": [1e308, 1e308, 2]}}, r"the sum of margin is not finite"),
    ({"items": {**ITEMS, "brand": ["Farm", "", "Mill"]}}, r"row 1: brand is empty; drop the row"),
    ({"items": {name: [] for name in ITEMS}}, r"items has no rows"),
    ({"items": 7}, r"a int is not a table"),
    ({"at_most": 3}, r"at_most: give bounds by view, such as \{ brand = 3 \}"),
    ({"at_most": {"shelf": 3}}, r"there is no view 'shelf' \(bounds go by: total, brand\)"),
    ({"at_most": {"slots": 3}}, r"add it to views = \[\.\.\.\] to bound it: slots is a column"),
    (
        {"views": {"make": "brand"}, "at_most": {"brand": 3}},
        r"no view 'brand'; bounds on the column brand go by the name of its view, make \(bounds go by",
    ),
    ({"at_most": {"brand": -1}}, r"at_most\.brand: the bound is -1; a bound is a whole number of at least 0"),
    ({"at_most": {"brand": 1.5}}, r"the bound is 1\.5; a bound is a whole number"),
    ({"at_most": {"brand": True}}, r"the bound is True; a bound is a whole number"),
    ({"at_most": {"total": "all"}}, r"the bound on the whole choice is 'all'"),
    ({"at_most": {"brand": {"Mil": 1}}}, r"no item is in brand 'Mil'; correct .*did you mean 'Mill'\?"),
    ({"at_most": {"brand": {"Mill": "many"}}}, r"brand Mill: the bound is 'many'"),
    ({"at_most": {"brand": {}}}, r"there is no bound; give at least one brand"),
    ({"at_most": {"brand": [1, 2]}}, r"a list does not say which brand each bound is for"),
    ({"at_most": {"brand": "slts"}}, r"'slts' is neither a column of items nor a file; .*'slots'\?"),
    ({"at_most": {"total": 2.5, "brand": {"Fram": 1}}}, r"total: .* is 2\.5;.*brand: .*did you mean 'Farm'"),
    ({"fixed": "milk, bread"}, r'write several items as \["one", "another"\]'),
    ({"at_most": {"brand": "margin"}}, r"row 0: margin is 2\.1; a bound is a whole number"),
    (
        {"items": {**ITEMS, "slots": [1, 2, 3]}, "at_most": {"brand": "slots"}},
        r"row 2: slots of brand Mill is 3 here, and 2 in row 1; give each brand one bound",
    ),
    ({"at_most": {"brand": "none.csv"}}, r"no file none\.csv"),
    (
        {"at_least": {"brand": {"group": ["Mill"], "size": [1]}}},
        r"needs a column 'at_least' or 'bound' or 'min' that holds",
    ),
    (
        {"at_least": {"brand": {"brand": ["Mill", "Mill"], "bound": [1, 2]}}},
        r"row 1: brand Mill has a bound already \(at_least of brand row 0\)",
    ),
    ({"fixed": ["mlk"]}, r"fixed: there is no item 'mlk' in items; did you mean 'milk'\?"),
    ({"fixed": "kep"}, r"'kep' is neither a column of items nor an item; did you mean 'keep'\?"),
    ({"fixed": "brand"}, r"row 0: brand is Farm; write yes, x or 1"),
    ({"fixed": [["milk"]]}, r"fixed: a name must be text or a number"),
    ({"fixed": 5}, r"fixed: must be a list of items"),
    ({"fixed": np.array([True, False])}, r"fixed: a mask has a mark for each of the 3 items, got 2"),
    ({"fixed": "none.csv"}, r"fixed: no file none\.csv"),
    ({"fixed": {"sku": ["milk", "mlk"]}}, r"fixed row 1: items has no sku 'mlk'; did you mean 'milk'\?"),
    ({"at_most": {"brand": "40%"}}, r"'40%' is neither a column of items nor a file"),
    ({"at_most": {"brand": 0.4}}, r"the bound is 0\.4; a bound .*; write how many items the share comes to"),
    ({"at_most": {"brand": {"Mill": "40 %"}}}, r"is '40 %'; .*; write how many items the share comes to"),
    (
        {"items": {"": ["Farm"], "X": [1], "Y": [2], "Z": [3]}, "columns": {}, "views": ["a", "b"]},
        r"a matrix with a row for each a and a column for each b, write 'a' into its first cell",
    ),
    ({"fixed": ["milk"], "forbidden": "keep"}, r"milk: fixed and forbidden at once"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        optiframe.problem("selection", **{**GOOD, **change})


@pytest.mark.parametrize("cell", ["1.000", "12.000", "1.234.567", "1.200", "1,000", "5,0", "1'000", "1 000"])
def test_a_bound_with_a_separator_is_refused_and_not_read_as_a_smaller_one(cell: str) -> None:
    said = f"is {re.escape(repr(cell))}; a bound is .*; write it in digits alone, without separators"
    items = {**ITEMS, "slots": [cell] * 3}
    for given in ({"total": cell}, {"brand": {"brand": ["Mill"], "bound": [cell]}}, {"brand": "slots"}):
        with pytest.raises(InvalidInput, match=said):
            optiframe.problem("selection", **{**GOOD, "items": items, "at_most": given})


def test_whole_bounds_as_programs_write_them_are_read() -> None:
    bounds = {"brand": {"brand": ["Farm", "Mill"], "at_most": ["3.0", "0.000"]}, "total": " 7 "}
    problem = optiframe.problem("selection", **GOOD, at_most=bounds)
    assert problem.at_most["brand"].tolist() == [3, 0]
    assert problem.at_most["total"].tolist() == [7]


@pytest.mark.parametrize("name", ["DataFrame", "Series"])
def test_a_frame_or_series_of_all_bounds_is_refused_in_words(name: str) -> None:
    bounds = {
        "DataFrame": pd.DataFrame({"brand": ["Mill"], "at_most": [1]}),
        "Series": pd.Series({"total": 3}),
    }
    for field in ("at_most", "at_least"):
        with pytest.raises(InvalidInput, match=rf"{field}: give bounds by view, such as .*; got a {name}$"):
            ItemSelection.from_frame(
                ITEMS, item="sku", value="margin", views="brand", **{field: bounds[name]}
            )


def test_all_bounds_on_groups_without_items_are_named_at_once(tmp_path: Path) -> None:
    bounds = tmp_path / "brands.csv"
    bounds.write_text("brand,at_most\nFarm,2\nOld,0\nGone,0\nMill,1\nPast,3\n")
    with pytest.raises(InvalidInput) as error:
        ItemSelection(**GOOD, at_most={"brand": bounds})
    assert str(error.value).endswith(
        "at_most.brand: brands.csv line 3: no item is in brand 'Old', nor in 2 more that have bounds: "
        "Gone, Past; correct the names, or leave these out"
    )


def test_items_without_a_name_must_differ_in_their_groups() -> None:
    table = {"a": [1, 1, 1], "b": [2, 3, 2], "value": [1, 1, 1]}
    with pytest.raises(
        InvalidInput, match=r"row 2: a and b 1 / 2 is there already \(row 0\); keep one, or name"
    ):
        optiframe.problem("selection", items=table, views=["a", "b"])


def test_a_forgotten_column_of_items_is_asked_for_as_files_and_frames_name_it() -> None:
    table = {"brand": ["Farm", "Mill", "Mill"], "value": [1, 1, 1]}
    with pytest.raises(
        InvalidInput, match=r'columns = \{ item = "\.\.\." \}, or with item="\.\.\." of'
    ) as refused:
        ItemSelection.from_frame(table, views="brand")
    assert "keep one" not in str(refused.value)


def test_lines_of_files_are_named(tmp_path: Path) -> None:
    items, bounds = tmp_path / "items.csv", tmp_path / "bounds.csv"
    items.write_text("item,value,brand\na,1,x\nb,2,y\n")
    bounds.write_text("brand,at_most\nx,1\nz,2\n")
    with pytest.raises(InvalidInput, match=r"bounds\.csv line 3: no item is in brand 'z'"):
        optiframe.problem("selection", items=str(items), views="brand", at_most={"brand": str(bounds)})
    items.write_text("item,value,brand\na,1,x\na,2,y\n")
    with pytest.raises(InvalidInput, match=r"items\.csv line 3: item a is there already \(line 2\)"):
        optiframe.problem("selection", items=str(items), views="brand")


def test_semicolons_that_a_comma_in_the_header_hides_are_named(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("item;value, in EUR;brand\na;1;x\nb;2\n")
    with pytest.raises(InvalidInput, match=r"no column 'value'; .*; if semicolons separate .* write sep=;"):
        optiframe.problem("selection", items=str(items), views="brand")


def test_commas_that_lists_with_semicolons_hide_are_named(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("item,value,shelf,Sizes S;M;L;XL;XXL\nshirt,1,A,3;4;5;2;1\nhat,2,B,1;0;0;0;2\n")
    with pytest.raises(InvalidInput, match=r"no column 'value'; .*; if commas separate .* write sep=, in"):
        optiframe.problem("selection", items=str(items), views="shelf")
    items.write_text("sep=,\n" + items.read_text())
    assert len(optiframe.problem("selection", items=str(items), views="shelf").items) == 2


def test_a_title_above_the_headings_is_named(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("Spring assortment,,\nitem,value,brand\na,1,x\n")
    with pytest.raises(InvalidInput, match=r"'Spring assortment' alone, which looks like a title; delete"):
        optiframe.problem("selection", items=str(items), views="brand")


def test_nothing_is_said_of_what_bounds_cost_where_there_are_none() -> None:
    problem = optiframe.problem("selection", **GOOD)
    result = optiframe.solve(problem, progress=False)
    assert not any("bound costs" in line for line in problem.in_words(result.solution))
    assert "selection.no-bounds" in {finding.identifier for finding in result.findings}


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (
            {"at_least": {"brand": {"Mill": 3}}},
            r"keeps this bound: brand Mill: at least 3 \(it has 2 items\)",
        ),
        (
            {"at_least": {"brand": {"Mill": 2}}, "at_most": {"brand": {"Mill": 1}}},
            r"these 2 bounds .*no smaller set.*brand Mill: at most 1.*brand Mill: at least 2",
        ),
        (
            {"at_most": {"total": 1}, "fixed": ["milk", "oats"]},
            r"these 3 bounds .*the whole choice: at most 1; \(2\) milk, oats are fixed\. Relax one of them",
        ),
        ({"at_least": {"total": 4}}, r"the whole choice: at least 4 \(there are 3 items\)"),
        (
            {"at_least": {"brand": 1}, "forbidden": ["milk"]},
            r"these 2 bounds .*brand Farm: at least 1 \(it has 1 item\); \(2\) milk is forbidden",
        ),
    ],
)
def test_bounds_that_contradict_each_other_are_named(bounds: dict[str, Any], message: str) -> None:
    result = optiframe.solve(optiframe.problem("selection", **GOOD, **bounds), progress=False)
    assert result.status == "infeasible"
    assert result.solution is None
    assert re.search(message, result.message), result.message
