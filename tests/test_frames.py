"""Tables in from frames, mappings and files; the same kind out; bad ones named by row or line."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optiframe.errors import InvalidInput
from optiframe.records.fields import paths_relative_to
from optiframe.tables.columns import GAP_WORDS
from optiframe.tables.file_formats import write_table
from optiframe.tables.frames import to_frame
from optiframe.tables.read import Coded, encode, read_table

COLUMNS = ("task", "worker", "label")
ROWS = {"task": [3, 1, 3], "worker": ["ann", "bob", "bob"], "label": [0.5, 1.0, 0.0]}

FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def read(value: Any, *columns: str, **more: Any) -> Any:
    return read_table(value, columns or COLUMNS, title="labels", **more)


def refusal(value: Any, *columns: str, **more: Any) -> str:
    """The message with which reading is refused."""
    with pytest.raises(InvalidInput) as caught:
        read(value, *columns, **more)
    return str(caught.value)


def csv_file(folder: Path, content: str | bytes, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- every way in


@pytest.mark.parametrize("backend", FRAMES)
def test_a_frame_gives_checked_columns_and_remembers_its_library(backend: str) -> None:
    table = read(FRAMES[backend](ROWS))
    assert table.backend == backend
    assert [table[name].dtype for name in COLUMNS] == [np.int64, object, np.float64]
    assert {name: table[name].tolist() for name in COLUMNS} == ROWS
    assert table.place(1) == "row 1"


@pytest.mark.parametrize("backend", FRAMES)
def test_the_same_kind_of_frame_comes_out(backend: str) -> None:
    frame = FRAMES[backend](ROWS)
    out = to_frame(read(frame).columns, backend)
    assert type(out) is type(frame)
    assert out.equals(frame)


@pytest.mark.parametrize("backend", FRAMES)
def test_whole_numbers_beside_a_gap_stay_whole(backend: str) -> None:
    out = to_frame({"label": np.array([2**60 + 1, None], dtype=object)}, backend)
    label = nw.from_native(out, eager_only=True)["label"]
    assert label.dtype == nw.Int64
    assert label.drop_nulls().to_list() == [2**60 + 1]


def test_a_mapping_goes_in_and_out_as_a_mapping_of_arrays() -> None:
    table = read({"task": np.array([3, 1, 3]), "worker": ROWS["worker"], "label": pd.Series(ROWS["label"])})
    assert table.backend is None
    out = to_frame(table.columns, None)
    assert {name: values.tolist() for name, values in out.items()} == ROWS
    assert all(isinstance(values, np.ndarray) for values in out.values())


@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "LABELS.PARQUET"])
@pytest.mark.parametrize("as_text", [True, False])
def test_what_is_written_to_a_file_is_read_back(tmp_path: Path, name: str, as_text: bool) -> None:
    rows = {"task": [3, 1], "worker": ['a "quoted", name', "two\nlines"], "label": [-1, 1]}
    path = tmp_path / name
    write_table(rows, path)
    table = read(str(path) if as_text else path)
    assert {column: table[column].tolist() for column in COLUMNS} == rows
    assert table.backend is None


def test_a_relative_path_starts_at_the_folder_of_the_file_that_named_it(tmp_path: Path) -> None:
    csv_file(tmp_path, "task\n7\n")
    with paths_relative_to(tmp_path):
        assert read("labels.csv", "task")["task"].tolist() == [7]


def test_columns_can_be_renamed_and_further_ones_are_ignored() -> None:
    table = read({"item": [1], "task": [9], "note": ["x"]}, "task", rename={"task": "item"})
    assert table["task"].tolist() == [1]
    assert list(table.columns) == ["task"]


def test_an_optional_column_may_be_absent_or_have_gaps() -> None:
    assert list(read({"task": [1]}, "task", optional=["worker"]).columns) == ["task"]
    table = read({"task": [1, 2], "worker": ["a", None]}, "task", optional=["worker"])
    assert table["worker"].tolist() == ["a", None]


def test_a_pandas_index_plays_no_part() -> None:
    frame = pd.DataFrame({"task": [5, 6], "worker": ["a", None]}, index=[100, 200])
    assert read(frame, "task")["task"].tolist() == [5, 6]
    assert "row 1" in refusal(frame, "task", "worker")


def test_numbered_pandas_columns_beside_the_named_ones_do_not_matter() -> None:
    assert read(pd.DataFrame({0: [1], "task": [2]}), "task")["task"].tolist() == [2]


# -- missing values, by row or line

GAPS = {
    "pandas nan": pd.DataFrame({"task": [1.0, np.nan]}),
    "pandas Int64": pd.DataFrame({"task": pd.array([1, None], dtype="Int64")}),
    "pandas string": pd.DataFrame({"task": pd.array(["a", None], dtype="string")}),
    "pandas category": pd.DataFrame({"task": pd.Categorical(["a", None])}),
    "pandas date": pd.DataFrame({"task": pd.to_datetime(["2020-01-01", None])}),
    "pandas objects": pd.DataFrame({"task": ["a", pd.NA]}, dtype=object),
    "polars null": pl.DataFrame({"task": [1, None]}),
    "polars nan": pl.DataFrame({"task": [1.0, float("nan")]}),
    "polars text": pl.DataFrame({"task": ["a", " "]}),
    "polars bool": pl.DataFrame({"task": [True, None]}),
    "pyarrow null": pa.table({"task": [1, None]}),
    "pyarrow text": pa.table({"task": ["a", None]}),
    "list": {"task": ["a", None]},
    "blank text": {"task": ["a", " \t"]},
    "masked array": {"task": np.ma.array([1, 2], mask=[False, True])},
    "date array": {"task": np.array(["2020-01-01", "NaT"], dtype="M8[D]")},
}


@pytest.mark.parametrize("gap", GAPS)
def test_a_missing_value_is_refused_with_its_row(gap: str) -> None:
    assert refusal(GAPS[gap], "task") == "labels row 1: task is empty; drop the row or give a value"


def test_a_missing_value_in_a_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = csv_file(tmp_path, 'task,worker,label\n1,a,0\n\n"2","b\nb",1\n3, ,1\n')
    assert refusal(path).startswith("labels.csv line 6: worker is empty")


def test_missing_values_of_all_columns_are_said_at_once(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "task,worker,label\n1,a,0\n,b,1\n2,,1\n,a,1\n")
    with pytest.raises(InvalidInput) as caught:
        read(path)
    remedy = "is empty; drop the row or give a value"
    assert [text for _, text in caught.value.problems] == [
        f"labels.csv line 3, line 5: task {remedy}",
        f"labels.csv line 4: worker {remedy}",
    ]
    assert str(caught.value) == "; ".join(text for _, text in caught.value.problems)


def test_many_missing_values_are_counted_and_only_the_first_named() -> None:
    shown = "row 0, row 1, row 2, row 3, row 4"
    assert f"{shown} and 4 more: task is empty" in refusal({"task": [None] * 9}, "task")
    assert f"{shown}: task is empty" in refusal({"task": [None] * 5}, "task")


# -- CSV: what counts as a line, a number, a header


def test_lines_are_counted_as_an_editor_does(tmp_path: Path) -> None:
    # A quoted line break, blank lines before and between, and a last line without an end.
    path = csv_file(tmp_path, '\ntask,label\n"one\ntwo",1\n\n\nthree,2\nfour,3')
    table = read(path, "task", "label")
    assert table["task"].tolist() == ["one\ntwo", "three", "four"]
    assert [table.place(row) for row in range(3)] == ["line 3", "line 7", "line 8"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_ending_is_read(tmp_path: Path, end: str) -> None:
    table = read(csv_file(tmp_path, end.join(["task,label", "1,2", "", "3,4", ""])), "task", "label")
    assert table["task"].tolist() == [1, 3]
    assert table.place(1) == "line 4"


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = csv_file(tmp_path, b"\xef\xbb\xbftask,label\n1,2\n")
    assert read(path, "task", "label")["task"].tolist() == [1]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2 ", "-3"], [1, 2, -3]),
        (["007", "8"], ["007", "8"]),
        (["0", "-0"], ["0", "-0"]),
        (["1", "x"], ["1", "x"]),
        (["1.0", "2"], ["1.0", "2"]),
        (["+1", "2"], ["+1", "2"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["٣", "2"], ["٣", "2"]),
        (["9" * 18, "1"], [10**18 - 1, 1]),
        (["9" * 30, "1"], ["9" * 30, "1"]),
    ],
)
def test_a_column_is_whole_numbers_only_when_every_cell_is_one_written_plainly(
    tmp_path: Path, cells: list[str], expected: list[Any]
) -> None:
    path = csv_file(tmp_path, "task\n" + "\n".join(cells))
    assert read(path, "task")["task"].tolist() == expected


BAD_FILES = {
    "empty file": (b"", "labels.csv is empty; it needs a header line"),
    "blank lines only": (b"\n\n", "labels.csv is empty; it needs a header line"),
    "header only": (b"task,label\n", "labels.csv has no rows"),
    "missing column": (b"tsk,label\n1,2\n", "no column 'task'; it has 'tsk', 'label'"),
    "colons": (b"task:label\n1:2\n", "labels.csv has no column 'task'; it has 'task:label'"),
    "header twice": (b"task,label\n1,2\n\ntask,label\n3,4\n", "labels.csv line 4 repeats the header; delete"),
    "files one after the other": (
        b"\xef\xbb\xbfa,task,label\n0,1,2\n" * 3,
        "labels.csv line 3 repeats the header (and so does 1 further line); delete",
    ),
    "column twice": (b"task,label,task\n1,2,3\n", "line 1: column 'task' occurs twice"),
    "column twice by blanks": (b"task,label, task\n1,2,3\n", "line 1: column 'task' occurs twice"),
    "row too short": (b"task,label\n1,2\n3\n", "labels.csv line 3: 1 values where the header has 2"),
    "row too long": (b"task,label\n\n1,2,3\n", "labels.csv line 3: 3 values where the header has 2"),
    "quote left open": (b'task,label\n1,2\n"3,4\n', "line 3: not valid CSV"),
    "text after a quote": (b'task,label\n"1"x,2\n', "line 2: not valid CSV"),
    "Latin-1": ("task,label\nJosé,2\n".encode("latin-1"), "labels.csv is not UTF-8 text"),
    "UTF-16": ("task,label\n1,2\n".encode("utf-16"), "labels.csv is not UTF-8 text"),
    "cell of 1 MB": (b"task,label\n" + b"a" * 10**6 + b",1\n", "line 2: not valid CSV (field larger"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_with_its_name_and_place(tmp_path: Path, case: str) -> None:
    content, expected = BAD_FILES[case]
    message = refusal(csv_file(tmp_path, content), "task", "label")
    assert expected in message
    assert len(message) < 300  # whatever the file holds, the sentence stays one


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere.parquet", "nowhere.xlsx"])
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path / name) == f"no file {tmp_path / name}"


@pytest.mark.parametrize("name", ["some.csv", "some.parquet", "some.xlsx", "some"])
def test_a_folder_in_place_of_a_file_is_called_so(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert refusal(tmp_path / name) == f"{tmp_path / name} is a folder, and a file is needed"


@pytest.mark.parametrize("content", [b"", b"task,label\n1,2\n"])
def test_a_parquet_file_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    path = csv_file(tmp_path, content, "labels.parquet")
    assert "labels.parquet is not a readable Parquet file" in refusal(path)


# -- frames and mappings that are none

BAD_VALUES = {
    "nothing": (None, "a NoneType is not a table"),
    "number": (5, "a int is not a table"),
    "list": ([1, 2], "a list is not a table"),
    "matrix": (np.zeros((2, 2)), "a ndarray is not a table"),
    "lazy frame": (pl.LazyFrame({"task": [1]}), "or Excel file; call its collect() first"),
    "no rows": (pa.table({"task": pa.array([], pa.int64())}), "labels has no rows"),
    "no columns": (pd.DataFrame(), "labels has no column 'task'; it has none"),
    "empty mapping": ({}, "labels has no column 'task'; it has none"),
    "semicolons": (
        pd.DataFrame({"task;worker": [1]}),
        "columns look separated by semicolons, read it so",
    ),
    "tabs": (pd.DataFrame({"task\tworker": [1]}), "its columns look separated by tabs, read it so"),
    "commas": (pd.DataFrame({"task,worker": [1]}), "its columns look separated by commas, read it so"),
    "scalar column": ({"task": 5}, "column 'task' is a int; give a list"),
    "text column": ({"task": "abc"}, "column 'task' is a str; give a list"),
    "unordered column": ({"task": {1, 2}}, "column 'task' is a set; give a list"),
    "matrix column": ({"task": np.zeros((2, 2))}, "column 'task' is an array of 2 dimensions"),
    "pandas name twice": (pd.DataFrame([[1, 2]], columns=["task", "task"]), "column 'task' occurs twice"),
    "pyarrow name twice": (pa.table([[1], [2]], names=["task", "task"]), "column 'task' occurs twice"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_what_is_no_table_is_refused_in_words(case: str) -> None:
    value, expected = BAD_VALUES[case]
    assert expected in refusal(value, "task")


def test_columns_of_different_length_are_refused() -> None:
    message = refusal({"task": [1, 2], "label": [1]}, "task", "label")
    assert message == "labels: columns differ in length: {'task': 2, 'label': 1}"


# -- ids of any size and kind

HUGE = [10**29, 10**29 + 1, 5]

HUGE_IDS = {
    "list": {"task": HUGE},
    "pandas": pd.DataFrame({"task": HUGE}),
    "polars": pl.DataFrame({"task": HUGE}, schema={"task": pl.Int128}),
    "pyarrow": pa.table({"task": pa.array([decimal.Decimal(v) for v in HUGE], pa.decimal128(38))}),
    "past 64 bits by one": {"task": [2**63, 2**63 - 1, 5]},
    "unsigned": {"task": np.array([2**64 - 1, 2**64 - 2, 5], dtype=np.uint64)},
    "with a fraction": {"task": [2**53, 2**53 + 1, 0.5]},
    "beyond any float": {"task": [10**400, 10**400 + 1, 0.5]},
}


@pytest.mark.parametrize("kind", HUGE_IDS)
def test_huge_numbers_stay_apart(kind: str) -> None:
    codes, ids = encode(read(HUGE_IDS[kind], "task")["task"])
    assert len(set(codes.tolist())) == len(ids) == 3
    smallest = ids[0]
    assert codes[2] == 0
    assert smallest in (5, 0.5)


@pytest.mark.parametrize("make", [dict, *FRAMES.values()])
def test_an_id_of_a_megabyte_of_text_is_kept_whole(make: Callable[[dict[str, Any]], Any]) -> None:
    ids = ["a" * 10**6, "a" * (10**6 - 1) + "b"]
    assert read(make({"task": ids}), "task")["task"].tolist() == ids


def test_text_and_numbers_that_look_alike_are_different_ids() -> None:
    codes, ids = encode(read({"task": [1, "1", 1, "x"]}, "task")["task"])
    assert codes.tolist() == [0, 1, 0, 2]
    assert ids.tolist() == [1, "1", "x"]


def test_an_id_that_cannot_be_hashed_is_refused() -> None:
    column = read(pl.DataFrame({"task": [[1], [2]]}), "task")["task"]
    with pytest.raises(InvalidInput, match="tasks: an id must be hashable, such as text or a number"):
        encode(column, "tasks")


def test_tuples_are_ids_like_any_other() -> None:
    codes, ids = encode(read({"task": [("b", 1), ("a", 2), ("b", 1)]}, "task")["task"])
    assert codes.tolist() == [1, 0, 1]
    assert ids.tolist() == [("a", 2), ("b", 1)]


ORDINARY_IDS = st.one_of(
    st.lists(st.integers(), min_size=1),
    st.lists(st.integers(-3, 3), min_size=1),
    # Hypothesis draws texts that stand in the code it tests, too, and some of them mean a missing value.
    st.lists(st.text(min_size=1).filter(lambda text: text.strip() not in {"", *GAP_WORDS}), min_size=1),
    st.lists(st.sampled_from(["x", "y", "zz"]), min_size=1),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.tuples(st.integers(0, 2), st.text(max_size=2)), min_size=1),
)


@pytest.mark.parametrize("backend", FRAMES)
def test_text_out_of_a_frame_is_read_as_codes_that_encode_would_give(backend: str) -> None:
    ids = ["b", "é", "a b", "b", "Z", "😀", "é", "10", "9"]
    frame = FRAMES[backend]({"task": ids})
    table = read(frame.convert_dtypes() if backend == "pandas" else frame, "task")
    assert isinstance(table.parts["task"], Coded)
    for ours, theirs in zip(table.encoded("task", "tasks"), encode(table["task"]), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert table["task"].tolist() == table.columns["task"].tolist() == ids
    assert "task" in table
    assert "label" not in table


@pytest.mark.parametrize("backend", FRAMES)
@pytest.mark.parametrize("gap", [None, "", " \t"])
def test_a_gap_in_text_is_named_by_its_row_in_every_library(backend: str, gap: str | None) -> None:
    said = refusal(FRAMES[backend]({"task": ["a", "b", gap, "a", gap]}), "task")
    assert said == "labels row 2, row 4: task is empty; drop the row or give a value"


def test_text_in_several_pieces_is_one_column() -> None:
    pieces = pa.table({"task": pa.chunked_array([["a", "b"], ["c", "a"]])})
    codes, ids = read(pieces, "task").encoded("task", "tasks")
    assert (codes.tolist(), ids.tolist()) == ([0, 1, 2, 0], ["a", "b", "c"])


@given(ids=ORDINARY_IDS, data=st.data())
def test_codes_do_not_depend_on_the_order_of_rows(ids: list[Any], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(ids))))
    column = read({"task": ids}, "task")["task"]
    shuffled = read({"task": [ids[i] for i in order]}, "task")["task"]
    codes, names = encode(column)
    codes_shuffled, names_shuffled = encode(shuffled)
    assert codes_shuffled.tolist() == codes[order].tolist()
    assert names_shuffled.tolist() == names.tolist()


@given(ids=st.lists(st.one_of(st.integers(0, 3), st.sampled_from(["0", "1", "a"])), min_size=1))
def test_codes_stand_for_the_ids_they_came_from(ids: list[Any]) -> None:
    codes, names = encode(read({"task": ids}, "task")["task"])
    assert [names.tolist()[code] for code in codes] == ids
    assert len(set(names.tolist())) == len(names)


@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=8),
            st.integers(-(10**17), 10**17),
        ),
        min_size=1,
    ).filter(lambda rows: all(text.strip() for text, _ in rows))
)
def test_any_text_survives_a_csv_file(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    path = tmp_path_factory.mktemp("csv") / "labels.csv"
    write_table({"worker": ["x", *[text for text, _ in rows]], "label": [0, *[n for _, n in rows]]}, path)
    table = read(path, "worker", "label")
    assert table["worker"].tolist() == ["x", *[text.strip() for text, _ in rows]]
    assert table["label"].tolist() == [0, *[n for _, n in rows]]
