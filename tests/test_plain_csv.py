"""Large CSV files, divided into cells by pyarrow or pandas: columns, lines and errors as line by line."""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optiframe.errors import InvalidInput
from optiframe.tables import plain_csv
from optiframe.tables.columns import as_array
from optiframe.tables.file_formats import header, read_csv, read_lines
from optiframe.tables.read import read_table

NUMBERS = ["0", "7", "-3", "12", "999999999999999999", "-999999999999999999"]
TEXTS = ["ann", "b c", "Ünïcode", "x" * 40, "1.5", "2020-01-01", "true", "t1", "12:30", "日本", "0x"]
ODD_CELLS = [
    "", " ", "NA", "nan", "null", "007", "+5", "-0", " 5", "5 ", "0x1F", "1e3", "1000000000000000000", "1_0",
    "9223372036854775808", "\u00a0", "a\u2028b", "\x0b", "tail ", "\tq", "None", "\x85", "٣",
]  # fmt: skip
ODD_QUOTES = ['"a|b"', '"|"', '"', '""', '"a""b"', 'a"b', ' "a"', '"a" ', '"a\nb"', '"a"b', '"\r\n"', '""""']
ODD_BYTES = [b'"', b'"a"', b"\0", b"\r", b"\xff", b"\xef\xbb\xbf", b"\n", b"\n\n", b"\r\n\r\n", b";", b","]


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_csv, "LEAST", 0)


def outcome(read: Any, path: Path) -> Any:
    """What reading gives, in a form that can be compared, types included."""
    try:
        columns, lines = read(path)
    except InvalidInput as error:
        return str(error)
    arrays = {name: as_array(column) for name, column in columns.items()}
    return list(lines), [
        (name, str(a.dtype), [(type(v), v) for v in a.tolist()]) for name, a in arrays.items()
    ]


def odd_file(seed: int) -> bytes:
    """A table of a few columns, half of them with something unusual in some cell, line or byte."""
    rng = random.Random(seed)
    columns, rows = rng.randint(1, 4), rng.randint(2, 30)
    kinds = [
        rng.choice([NUMBERS, TEXTS, NUMBERS + TEXTS, [str(k) for k in range(90)]]) for _ in range(columns)
    ]
    table = [[rng.choice(kind) for kind in kinds] for _ in range(rows)]
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 3)):
            table[rng.randrange(rows)][rng.randrange(columns)] = rng.choice(ODD_CELLS)
    header = [
        rng.choice(["task", " worker", "label", "ö", "1"]) + ("" if rng.random() < 0.1 else str(k))
        for k in range(columns)
    ]
    if rng.random() < 0.1:
        header[-1] += rng.choice([",5", ";5", "\t"])
    if rng.random() < 0.1:
        table.insert(rng.randint(0, rows), header)
    if rng.random() < 0.1:
        table[rng.randrange(rows)].append("more")
    end = rng.choice(["\n", "\r\n"])
    separator = rng.choice([",", ",", ";", "\t"])
    quoting = rng.choice([0, 0, 0.3, 1])  # none, some cells, as R does
    table = [[f'"{cell}"' if rng.random() < quoting else cell for cell in row] for row in table]
    header = [f'"{cell}"' for cell in header] if quoting else header
    if quoting and rng.random() < 0.3:
        table[rng.randrange(rows)][0] = rng.choice(ODD_QUOTES).replace("|", separator)
    content = end.join(separator.join(row) for row in [header, *table]) + rng.choice(["", end])
    if rng.random() < 0.1:
        content = f"sep={separator}{end}{content}"
    found = rng.choice([b"", b"", b"\xef\xbb\xbf"]) + content.encode()
    if rng.random() < 0.2:
        at = rng.randrange(len(found))
        found = found[:at] + rng.choice(ODD_BYTES) + found[at:]
    return found


@pytest.fixture(params=["pyarrow", "pandas"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading by either library."""
    if request.param == "pandas":
        monkeypatch.setitem(sys.modules, "pyarrow.csv", None)


@pytest.mark.usefixtures("library")
@pytest.mark.slow
def test_odd_files_mean_the_same_as_when_they_are_read_line_by_line(tmp_path: Path) -> None:
    plain, path = 0, tmp_path / "own.csv"
    for seed in range(1000):
        path.write_bytes(odd_file(seed))
        assert outcome(read_csv, path) == outcome(read_lines, path), (seed, path.read_bytes())
        plain += plain_csv.read_plain(path) is not None
    assert 300 < plain < 900  # both ways are tried, each often enough


@pytest.mark.parametrize("declared", ["sep=;", "SEP=;", '"sep=;"', "sep=|"])
@pytest.mark.usefixtures("library")
def test_a_first_line_for_excel_names_the_separator(declared: str, tmp_path: Path) -> None:
    path, sign = tmp_path / "own.csv", declared.strip('"')[-1]
    path.write_text("\ufeff" + declared + '\r\nid;"value, in EUR"\r\na;1\r\nb;\r\n'.replace(";", sign))
    assert outcome(read_csv, path) == outcome(read_lines, path)
    assert header(path) == ["id", "value, in EUR"]
    path.write_text("id;0;0,5\na;1;2\nb;1\n")
    with pytest.raises(InvalidInput, match=r"own\.csv line 2.*if semicolons .* write sep=; in a line above"):
        read_lines(path)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("S;Chor, groß;Schach\nA;10;6\nB;;10\n", ["S", "Chor, groß", "Schach"]),
        ("S;Chor, groß;Schach\nA;10,5;6\nB;9,5;10\n", ["S", "Chor, groß", "Schach"]),
        ("id;Punkte (1,5 max);Region\na;1,5;N\nb;0,5;S\n", ["id", "Punkte (1,5 max)", "Region"]),
        ("id;Punkte (1,5 max);Note\na;1,5;0,7\n\n;;\nb;0,5;1\n", ["id", "Punkte (1,5 max)", "Note"]),
        ("id,name;alias,value\na,x;y,2\nb,z,1\n", ["id", "name;alias", "value"]),
        ("id\tname, full\tage\na\tDoe, Jo\t7\n", ["id", "name, full", "age"]),
        ('id;name, "full"\na;1\n', ["id", 'name, "full"']),
    ],
)
@pytest.mark.usefixtures("library")
def test_a_name_may_hold_another_sign_than_the_one_that_separates(
    content: str, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(content, encoding="utf-8")
    assert header(path) == list(read_lines(path)[0]) == names
    monkeypatch.setattr(plain_csv, "LEAST", 0)
    assert outcome(read_csv, path) == outcome(read_lines, path)


@pytest.mark.usefixtures("library")
def test_lines_are_counted_from_the_line_that_names_the_separator(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("sep=;\nid;value, in EUR\na;1\nb;\n")
    with pytest.raises(InvalidInput, match=r"own\.csv line 4: value, in EUR is empty"):
        read_table(path, header(path), title="own")


@pytest.mark.slow
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("cell", ODD_CELLS)
@pytest.mark.parametrize("others", [NUMBERS, TEXTS])
def test_an_unusual_cell_far_down_changes_the_column_as_it_does_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, others: list[str]
) -> None:
    monkeypatch.setattr(plain_csv, "_GLANCE", 64)
    path = tmp_path / "own.csv"
    path.write_text("a,b\n" + "".join(f"{x},1\n" for x in [*others * 8, cell]), "utf-8", newline="")
    assert outcome(read_csv, path) == outcome(read_lines, path)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("cell", ODD_QUOTES)
def test_quotes_mean_the_same_as_line_by_line(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "own.csv"
    for row in (f"{cell},2", f"1,{cell}", f"{cell},{cell}", f"{cell}", f"1,2,{cell}"):
        path.write_text(f'"a",b\n"1","x"\n3,y\n{row}\n5,"z"\n', newline="")
        assert outcome(read_csv, path) == outcome(read_lines, path), row
    path.write_text('"a",b\n"1","x y"\n3,y\n')
    found = plain_csv.read_plain(path)
    assert found is not None
    assert found[0]["a"].tolist() == [1, 3]


@pytest.mark.usefixtures("library")
def test_a_cell_longer_than_the_standard_library_takes_is_refused_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("a,b\n1,2\n1,2\n" + "x" * (csv.field_size_limit() + 1) + ",2\n")
    assert outcome(read_csv, path) == outcome(read_lines, path)
    assert "line 4: not valid CSV (field larger than field limit" in outcome(read_csv, path)


@pytest.mark.usefixtures("library")
def test_plain_files_are_read_into_numbers_and_codes(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("task,worker\n3,bob\n1,ann\n3,bob\n")
    found = plain_csv.read_plain(path)
    assert found is not None
    columns, lines = found
    assert columns["task"].tolist() == [3, 1, 3]
    assert columns["worker"].ids.tolist() == ["ann", "bob"]
    assert columns["worker"].codes.tolist() == [1, 0, 1]
    assert list(lines) == [2, 3, 4]
    table = read_table(path, ("task", "worker"), title="own")
    assert table.place(2) == "line 4"


def test_messages_name_the_line_of_a_gap_in_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("task,worker\n" + "1,ann\n" * 50 + "1,\n" + "2,bob\n" * 9)
    assert plain_csv.read_plain(path) is not None
    with pytest.raises(InvalidInput, match=r"own\.csv line 52: worker is empty"):
        read_table(path, ("task", "worker"), title="own")


def test_without_a_library_a_file_is_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert plain_csv.read_plain(path) is None
    assert outcome(read_csv, path) == (
        [2, 3],
        [("a", "int64", [(int, 1), (int, 2)]), ("b", "object", [(str, "x"), (str, "y")])],
    )


def test_small_files_do_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    path = tmp_path / "own.csv"
    path.write_text("a\n1\n2\n")
    assert plain_csv.read_plain(path) is None
    assert np.array_equal(read_csv(path)[0]["a"], [1, 2])
