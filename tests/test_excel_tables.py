"""Workbooks as tables: the first sheet, its rows as the spreadsheet numbers them, and broken files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from optiframe.errors import InvalidInput
from optiframe.tables.read import headings, read_table


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_workbook_is_read_with_the_rows_of_the_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["item ", "value", None], ["a", 1.5], [], [" b", 2, None]])
    table = read_table(path, ("item", "value"), title="items")
    assert table["item"].tolist() == ["a", "b"]
    assert table["value"].tolist() == [1.5, 2.0]
    assert [table.place(row) for row in range(2)] == ["line 2", "line 4"]
    assert headings(path) == ["item", "value"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"p\.xlsx: the first sheet is empty"),
        ([["item", "item"], ["a", 1]], r"row 1: column 'item' occurs twice"),
        ([["item"], ["a", 1]], r"row 2: column 2 has a value and no name"),
        ([["item", "value"], ["a", None]], r"p\.xlsx line 2: value is empty"),
        ([["item", "worth"], ["a", 1]], r"p\.xlsx has no column 'value'"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_named(tmp_path: Path, rows: list[list[Any]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_table(workbook(tmp_path / "p.xlsx", rows), ("item", "value"), title="items")


def test_files_that_are_no_workbooks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.xlsx"
    with pytest.raises(InvalidInput, match="no file"):
        read_table(path, ("item",), title="items")
    path.write_text("item\na\n")
    with pytest.raises(InvalidInput, match="not a readable Excel workbook"):
        read_table(path, ("item",), title="items")
    with pytest.raises(InvalidInput, match=r"files \.ods are not read; save the sheet as \.xlsx or as CSV"):
        read_table(tmp_path / "p.ods", ("item",), title="items")
