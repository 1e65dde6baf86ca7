"""Workbooks as tables: the first sheet, its rows as the spreadsheet numbers them, and broken files."""

from __future__ import annotations

import math
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pytest

import optiframe
from optiframe.errors import InvalidInput
from optiframe.files.output import write
from optiframe.tables import excel
from optiframe.tables.file_formats import write_table
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
    assert [table.place(row) for row in range(2)] == ["row 2", "row 4"]
    assert headings(path) == ["item", "value"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"p\.xlsx: the first sheet is empty"),
        ([["item", "item"], ["a", 1]], r"row 1: column 'item' occurs twice"),
        ([["item"], ["a", 1]], r"row 2: column 2 has a value and no name"),
        ([["item", "value"], ["a", None]], r"p\.xlsx row 2: value is empty"),
        ([["item", "worth"], ["a", 1]], r"p\.xlsx has no column 'value'"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_named(tmp_path: Path, rows: list[list[Any]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_table(workbook(tmp_path / "p.xlsx", rows), ("item", "value"), title="items")


def test_dates_stay_dates_in_workbooks_and_have_no_time_in_csv(tmp_path: Path) -> None:
    noon, day = datetime(2024, 5, 1, 12), datetime(2024, 5, 1)
    rows = [["day", "time"], [day, day], [None, noon]]
    path = workbook(tmp_path / "p.xlsx", rows)
    table = read_table(path, ("time",), ("day",), title="items")
    assert table["day"].tolist() == [date(2024, 5, 1), None]
    assert table["time"].tolist() == [day, noon]
    frame = pandas.DataFrame({"day": pandas.to_datetime(["2024-05-01", None])})
    frames = {"day": read_table(frame, (), ("day",), title="items")["day"]}
    for columns, kept in ((table.columns, [day, None]), (frames, [day, None])):
        write_table(columns, tmp_path / "a.xlsx")
        sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
        column = [cell.value for cell in sheet[1]].index("day") + 1
        assert [sheet.cell(row, column).value for row in (2, 3)] == kept
        assert sheet.cell(2, column).number_format == "yyyy-mm-dd"
    write_table(table.columns, tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == ["time,day", "2024-05-01 00:00:00,2024-05-01", "2024-05-01 12:00:00,"]
    old = {"day": [date(1789, 7, 14), datetime(2024, 5, 1, tzinfo=UTC)]}
    write_table(old, tmp_path / "a.xlsx")  # neither is in Excel's calendar
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert [sheet.cell(row, 1).value for row in (2, 3)] == ["1789-07-14", "2024-05-01 00:00:00+00:00"]


@pytest.mark.parametrize(
    "fine",
    [
        datetime(2024, 1, 1, 23, 59, 59, 999999),
        pandas.Timestamp("2024-01-01 00:00:00.000000005"),
        pandas.Timestamp("2024-01-01 12:00:00.000001"),
    ],
)
def test_times_finer_than_excel_keeps_are_written_with_all_digits(fine: datetime, tmp_path: Path) -> None:
    rough = datetime(2024, 1, 1, 23, 59, 59, 999000)
    write_table({"at": [rough, fine]}, tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx", ("at",), title="times")
    assert table["at"].tolist() == [rough, str(fine)]
    write_table({"at": [datetime(2024, 1, 1), fine]}, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().split("\n")[1:3] == ["2024-01-01 00:00:00", str(fine)]


def test_a_sheet_is_named_after_the_file(tmp_path: Path) -> None:
    path = workbook(tmp_path / "plan.xlsx", [["item"], ["a"]])
    book = openpyxl.load_workbook(path)
    hidden = book.create_sheet("Q1.2026 #2", 0)
    hidden.sheet_state = "hidden"
    for row in (["item"], ["b"], [None]):
        hidden.append(row)
    book.save(path)
    named = f"{path}#Q1.2026 #2"
    assert headings(named) == ["item"]
    table = read_table(named, ("item",), title="items")
    assert (table["item"].tolist(), table.place(0), table.notes) == (["b"], "row 2", ())
    assert read_table(path, ("item",), title="items")["item"].tolist() == ["a"]
    with pytest.raises(InvalidInput, match=r"no sheet 'Shet' \(sheets: Q1.2026 #2, Sheet\); .* 'Sheet'\?"):
        read_table(f"{path}#Shet", ("item",), title="items")
    with pytest.raises(InvalidInput, match=r"no file .*none\.xlsx"):
        read_table(str(tmp_path / "none.xlsx#Sheet"), ("item",), title="items")
    other = workbook(tmp_path / "plan.xlsx#a.xlsx", [["item"], ["c"]])
    assert read_table(other, ("item",), title="items")["item"].tolist() == ["c"]


def test_files_that_are_no_workbooks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.xlsx"
    with pytest.raises(InvalidInput, match="no file"):
        read_table(path, ("item",), title="items")
    path.write_text("item\na\n")
    with pytest.raises(InvalidInput, match="not a readable Excel workbook"):
        read_table(path, ("item",), title="items")
    with pytest.raises(InvalidInput, match=r"files \.ods are not read; save the sheet as \.xlsx or as CSV"):
        read_table(tmp_path / "p.ods", ("item",), title="items")


def test_the_first_visible_sheet_is_read_and_others_are_mentioned(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "settings"
    book.active.append(["item", "value"])
    book.active.sheet_state = "hidden"
    for title, row in (("spring", ["a", 1]), ("summer", ["b", 2])):
        sheet = book.create_sheet(title)
        sheet.append(["item", "value"])
        sheet.append(row)
    book.active = 1
    book.save(tmp_path / "p.xlsx")
    table = read_table(tmp_path / "p.xlsx", ("item", "value"), title="items")
    assert table["item"].tolist() == ["a"]
    said = "p.xlsx: only the first sheet, 'spring', was read, and not 'summer'; name another as p.xlsx#summer"
    assert table.notes == (said,)


def test_hidden_rows_are_read_and_mentioned(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["item"], ["a"], ["b"], ["c"]])
    book = openpyxl.load_workbook(path)
    for row in (2, 4):
        book.active.row_dimensions[row].hidden = True
    book.save(path)
    table = read_table(path, ("item",), title="items")
    assert table["item"].tolist() == ["a", "b", "c"]
    assert table.notes == (
        "p.xlsx: 2 hidden rows were read like all others; delete rows that should not count",
    )


def test_a_formula_that_was_never_calculated_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["item", "value"], ["a", 1], [], ["b", "=B2*2"]])
    with pytest.raises(InvalidInput, match=r"p\.xlsx row 4: value is a formula without a saved result; open"):
        read_table(path, ("item",), ("value",), title="items")


def test_blanks_alone_are_an_empty_cell_and_no_formula(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["item", "shelf"], ["a", "cold"], ["b", "  "]])
    with pytest.raises(InvalidInput, match=r"p\.xlsx row 3: shelf is empty; drop the row or give a value"):
        read_table(path, ("item", "shelf"), title="items")


def test_a_formula_whose_saved_result_is_empty_text_is_an_empty_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["item", "mark"], ["a", "x"], ["b", '=IF(1>2,"x","")']])
    saved = tmp_path / "saved.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(saved, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("sheet1.xml"):  # openpyxl saves no results; a spreadsheet saves an empty text so
                assert b'<c r="B3"><f>' in text
                text = text.replace(b'<c r="B3"><f>', b'<c r="B3" t="str"><f>')
            new.writestr(name, text)
    table = read_table(saved, ("item",), ("mark",), title="items")
    assert table["mark"].tolist() == ["x", None]


def test_tables_are_written_to_a_workbook_as_they_are(tmp_path: Path) -> None:
    columns = {
        "id": ["=1+1", 10**17, 7, None],
        "value": [0.1, math.nan, math.inf, True],
        "name": ["Süßwaren", "", "a\nb\x01", "007"],
    }
    write_table(columns, tmp_path / "out.xlsx")
    rows = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows())
    assert [[cell.value for cell in row] for row in rows] == [
        ["id", "value", "name"],
        ["=1+1", 0.1, "Süßwaren"],
        ["100000000000000000", None, None],
        [7, "inf", "a\nb\ufffd"],
        [None, True, "007"],
    ]
    assert not any(cell.data_type == "f" for row in rows for cell in row)


def test_a_table_too_long_for_a_sheet_is_written_as_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = optiframe.solve(optiframe.problem("projection", point=[1.0, 2.0], onto="simplex"))
    monkeypatch.setattr(excel, "_MOST_ROWS", 2)
    with pytest.raises(InvalidInput, match="no more than 2 rows; write CSV or Parquet"):
        write_table(result.to_tables()["solution"], tmp_path / "answer.xlsx")
    for answer in ("answer", "trace"):  # the trace has a file of its own
        written = [path.name for path in write(result, tmp_path, f"{answer}.xlsx")]
        assert written[0] == {"answer": "answer.csv", "trace": "trace-table.csv"}[answer]
        assert "trace.csv" in written
        assert (tmp_path / written[0]).read_text().startswith("index,value\n0,")


def test_whole_numbers_kept_as_text_are_numbers(tmp_path: Path) -> None:
    rows = [["shelf", "sku", "code"], [1, "007", "a"], ["2", "12", 3]]
    table = read_table(workbook(tmp_path / "p.xlsx", rows), ("shelf", "sku", "code"), title="items")
    assert table["shelf"].tolist() == [1, 2]
    assert table["sku"].tolist() == ["007", "12"]
    assert table["code"].tolist() == ["a", 3]


def test_line_breaks_in_names_of_columns_are_blanks(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["margin\n (EUR)"], [1]])
    assert headings(path) == ["margin (EUR)"]


@pytest.mark.parametrize("error", ["#REF!", "#DIV/0!", "#N/A"])
def test_failed_formulas_are_no_ids(tmp_path: Path, error: str) -> None:
    with pytest.raises(InvalidInput, match=rf"brand is empty \({error} counts as that\)"):
        read_table(workbook(tmp_path / "p.xlsx", [["brand"], ["a"], [error]]), ("brand",), title="items")


def test_an_empty_cell_among_merged_ones_is_explained(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", [["brand"], ["a"], ["b"]])
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet["B1"], sheet["B2"], sheet["B3"] = "item", 1, 2
    sheet.merge_cells("A2:A3")
    book.save(path)
    with pytest.raises(
        InvalidInput, match=r"row 3: brand is empty; .*; merged cells hold a value in the first"
    ):
        read_table(path, ("brand", "item"), title="items")
