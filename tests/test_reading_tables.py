"""What tables hold beside what is read: mapped columns, unused ones, gaps by name, headers, separators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import optiframe
from optiframe.errors import InvalidInput
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import headings, missing, read_table
from optiframe.tables.unused_columns import likely, unused_columns

VOTES = {"left": ["tea", "milk", "tea"], "right": ["milk", "rum", "rum"], "label": ["tea", "rum", "tea"]}
LABELS = {"task": ["s", "s", "t", "t"], "worker": ["ann", "bob"] * 2, "label": ["x", "x", "y", "x"]}
USERS = {"user": ["ann", "ann", "bob"], **VOTES}


def as_file(columns: Mapping[str, list[Any]], folder: Path) -> str:
    path = folder / "own.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return str(path)


def one_type(values: list[Any]) -> list[Any]:
    return values if len({type(value) for value in values}) == 1 else [str(value) for value in values]


WAYS: dict[str, Callable[[Mapping[str, list[Any]], Path], Any]] = {
    "file": as_file,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame({name: one_type(values) for name, values in columns.items()}),
    "mapping": lambda columns, _: dict(columns),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Mapping[str, list[Any]]], Any]:
    return lambda columns: WAYS[request.param](columns, tmp_path)


def ranking(table: Any, **more: Any) -> Any:
    return optiframe.problem("pairwise-ranking", comparisons=table, **more)


def aggregation(table: Any, **more: Any) -> Any:
    return optiframe.problem("label-aggregation", labels=table, **more)


def notes(problem: Any, solver: str = "hodge.l2") -> list[str]:
    found = optiframe.solve(problem, solver).findings
    return [finding.text for finding in found if finding.level == "note"]


# -- columns that are mapped


@pytest.mark.parametrize(("ours", "given"), [("worker", "anotator"), ("weight", "wgt"), ("weight", "weight")])
def test_a_mapped_column_that_is_not_there_is_refused(way: Any, ours: str, given: str) -> None:
    table = way({**VOTES, "annotator": ["a", "b", "a"], "wght": [1, 2, 1]})
    with pytest.raises(
        InvalidInput, match=f"has no column '{given}', which `columns` gives for {ours}; it"
    ) as no:
        ranking(table, columns={ours: given})
    near = {"anotator": "annotator", "wgt": "wght", "weight": "wght"}[given]
    assert f"; did you mean {near!r}" in str(no.value)


def test_a_missing_column_is_looked_for_under_the_names_others_give_it() -> None:
    with pytest.raises(InvalidInput, match=r"no column 'worker'; .* did you mean 'annotator_id'\?"):
        aggregation({"task": [1], "annotator_id": ["a"], "label": ["x"]})


def test_an_empty_name_leaves_an_optional_column_out() -> None:
    table = {**VOTES, "margin": [1.0, -2.0, 3.0]}
    with pytest.raises(InvalidInput, match="both a label and a margin; keep one, or leave the other out"):
        ranking(table)
    assert ranking(table, columns={"label": ""}).comparisons.graded
    assert not ranking(table, columns={"margin": ""}).comparisons.graded
    with pytest.raises(InvalidInput, match="no column '', which `columns` gives for left"):
        ranking(table, columns={"left": "", "label": ""})


def test_comparisons_held_out_may_lack_the_weights_that_the_others_have() -> None:
    held = {name: values[:1] for name, values in USERS.items()}
    problem: Any = optiframe.problem(
        "collaborative-ranking",
        comparisons={**USERS, "times": [1, 2, 3]},
        held_out=held,
        columns={"weight": "times"},
    )
    assert problem.comparisons.weight.tolist() == [1.0, 2.0, 3.0]
    assert problem.held_out.weight is None


# -- columns that nothing reads


def test_columns_that_nothing_reads_are_named_and_the_likely_ones_asked_for(way: Any) -> None:
    table = way({**VOTES, "time": [1, 2, 3], "annotator": ["a", "b", "a"], "weigth": [1, 2, 1]})
    (said,) = [text for text in notes(ranking(table)) if "nothing reads" in text]
    assert "nothing reads the columns 'annotator', 'weigth', 'time'; is 'annotator' the worker?" in said
    assert "columns = { worker = \"annotator\" }; is 'weigth' the weight?" in said


def test_every_problem_of_tables_names_what_it_does_not_read() -> None:
    extra = {"note": ["-"] * 4}
    (said,) = [text for text in notes(aggregation({**LABELS, **extra}), "labels.majority") if "reads" in text]
    assert said == "labels: nothing reads the column 'note'"
    users: Any = optiframe.problem("collaborative-ranking", comparisons={**USERS, "wgt": [1, 2, 3]})
    (remark,) = users.comparisons.remarks
    assert remark.text.startswith("comparisons: nothing reads the column 'wgt'; is 'wgt' the weight?")


def test_a_table_whose_columns_are_all_read_somewhere_needs_no_word() -> None:
    table = {**LABELS, "right": ["x", "x", "y", "y"]}
    problem = aggregation(table, truth=table, columns={"truth": "right"})
    assert problem.labels.remarks == ()
    assert unused_columns("labels", ["", "Unnamed: 0"]) == ()  # the row numbers of R and pandas


def test_of_many_columns_that_nothing_reads_a_few_are_named() -> None:
    (said,) = unused_columns("votes", [f"q{i}" for i in range(40)], ["worker"])
    assert said.text == "votes: nothing reads the columns 'q0', 'q1', 'q2', 'q3', 'q4' and 35 more"


@pytest.mark.parametrize(
    ("ours", "name"),
    [
        ("worker", "Worker"),
        ("worker", "user_id"),
        ("worker", "Raters"),
        ("weight", "wieght"),
        ("label", "Winner"),
    ],
)
def test_another_spelling_or_word_is_taken_for_one_of_ours(ours: str, name: str) -> None:
    assert likely(ours, ["time", name, "age"]) == name


@pytest.mark.parametrize("name", ["time", "age", "comment", "session", "id"])
def test_other_names_are_not(name: str) -> None:
    assert likely("worker", [name]) is likely("weight", [name]) is None


# -- words for a gap, the same in files and frames


@pytest.mark.parametrize("word", ["NA", "N/A", "nan", "null", "None", "<NA>"])
def test_words_for_a_gap_are_no_ids_wherever_they_come_from(way: Any, word: str) -> None:
    table = way({**LABELS, "worker": ["ann", word, "ann", "bob"]})
    with pytest.raises(
        InvalidInput, match=rf"(row 1|line 3): worker is empty( \({word} counts as that\))?; drop"
    ):
        aggregation(table)
    with pytest.raises(InvalidInput, match="left is empty"):
        ranking(way({**VOTES, "left": ["tea", "milk", word]}))


@pytest.mark.parametrize("word", ["", "NA", "null"])
@pytest.mark.parametrize("ids", [["tea", "milk", "rum"], [1, 2, 3]])
def test_ties_that_come_from_empty_labels_are_said(way: Any, word: str, ids: list[Any]) -> None:
    one, two, three = ids
    table = way({"left": [one, two, one], "right": [two, three, three], "label": [one, word, word]})
    problem = ranking(table)
    assert problem.comparisons.margin.tolist() == [1.0, 0.0, 0.0]
    (said,) = [text for text in notes(problem) if "empty" in text]
    assert said.startswith("2 of 3 comparisons count as ties, because the label is empty")
    assert said.endswith("; if nobody answered there, drop the rows")
    assert ("(NA counts as that)" in said) == (word == "NA")


def test_ties_that_were_given_as_0_need_no_such_word() -> None:
    assert ranking({**VOTES, "label": ["tea", 0, "tea"]}).comparisons.remarks == ()


def test_comparisons_without_a_worker_are_counted_and_placed(way: Any) -> None:
    problem = ranking(way({**VOTES, "worker": ["ann", "", "bob"]}))
    (said,) = [text for text in notes(problem) if "worker" in text and "without" in text]
    assert said.startswith("1 comparison without a worker (")
    assert problem.comparisons.worker_ids.tolist() == ["ann", "bob"]
    (none,) = ranking(way({**VOTES, "worker": ["", " ", "NA"]})).comparisons.remarks
    assert none.text == "the column worker is empty, so nothing is reported about workers"


@pytest.mark.parametrize("library", [pd, pl])
def test_the_last_rows_of_a_frame_are_left_out_if_they_are_blank(library: Any) -> None:
    frame = library.DataFrame({"task": ["s", None, "t", None, ""], "value": [1.0, None, 2.0, None, None]})
    with pytest.raises(InvalidInput, match=r"^labels row 1: task is empty"):
        read_table(frame, ("task",), title="labels")
    table = read_table(frame[2:], ("task",), ("value",), title="labels")
    assert table["task"].tolist() == ["t"]
    assert table["value"].tolist() == [2.0]
    with pytest.raises(InvalidInput, match="labels has no rows"):
        read_table(frame[3:], ("task",), title="labels")


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "blank", [{"task": "", "note": " "}, {"task": None, "note": "  "}, {"task": " ", "note": None}]
)
def test_last_rows_of_blank_text_are_left_out_whether_or_not_a_column_has_nulls(
    library: Any, blank: dict[str, Any]
) -> None:
    rows = [{"task": "s", "note": ""}, {"task": "t", "note": "x"}, blank, blank]
    table = read_table(library.DataFrame(rows), ("task",), ("note",), title="labels")
    assert table["task"].tolist() == ["s", "t"]
    assert table["note"].tolist() == ["", "x"]


def test_many_blank_rows_at_the_end_are_found_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(column: Any) -> Any:
        asked.append(len(column))
        return missing(column)

    monkeypatch.setattr("optiframe.tables.read.missing", counted)
    frame = pd.DataFrame({"task": ["s", *[None] * 1000], "value": [1.0, *[None] * 1000]})
    assert len(read_table(frame, ("task",), ("value",), title="labels")) == 1
    assert len(asked) < 10


# -- headers in the middle, and other separators


@pytest.mark.parametrize("table", [LABELS, USERS])
def test_a_row_of_the_columns_names_is_refused_wherever_it_comes_from(way: Any, table: Any) -> None:
    again = {name: [*values[:2], name, *values[2:]] for name, values in table.items()}
    with pytest.raises(
        InvalidInput, match=r"line 4 repeats the header; delete|row 2: the values are the names of"
    ):
        read_table(way(again), tuple(table), title="own")


def test_ids_may_be_called_as_columns_are() -> None:
    table = {"left": ["left", "up"], "right": ["right", "left"], "label": ["left", "up"]}
    assert ranking(table).comparisons.margin.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_semicolons_tabs_and_bars_separate_values_where_the_header_has_nothing_else(
    tmp_path: Path, separator: str
) -> None:
    path = tmp_path / "own.csv"
    path.write_text('\ufefftask,worker,label\n1,a,x\n2,"b,c;d",y\n'.replace(",", separator), "utf-8")
    table = read_table(path, ("task", "worker", "label"), title="labels")
    assert table["task"].tolist() == [1, 2]
    assert table["worker"].tolist() == ["a", f"b{separator}c;d"]
    assert table.place(1) == "line 3"
    path.write_text(f'"task"{separator}"worker{separator}or"\n1{separator}2\n')
    assert read_table(path, ("task",), title="labels").unused == (f"worker{separator}or",)


def test_levels_of_the_index_are_read_where_they_are_called_as_columns_are() -> None:
    frame = pd.DataFrame({"task": [1, 2], "worker": ["a", "b"], "label": ["x", "y"]})
    for levels in (["task"], ["task", "worker"]):
        table = read_table(frame.set_index(levels), ("task", "worker", "label"), title="labels")
        assert [table[name].tolist() for name in frame] == [[1, 2], ["a", "b"], ["x", "y"]]
    own = frame.rename(columns={"task": "photo"}).set_index("photo")
    table = read_table(own, ("task", "worker"), title="labels", rename={"task": "photo"})
    assert table["task"].tolist() == [1, 2]


def test_a_header_with_commas_is_separated_by_commas_whatever_else_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("task,note;more\n1,2;3\n")
    assert read_table(path, ("task", "note;more"), title="labels")["note;more"].tolist() == ["2;3"]


def test_messages_about_columns_name_some_of_thousands(tmp_path: Path) -> None:
    names = [f"g{at}" for at in range(3000)]
    with pytest.raises(InvalidInput, match=r"'g19' and 2980 more \(needed: time"):
        read_table({name: [1] for name in names}, ("time",), title="levels")
    (tmp_path / "twice.csv").write_text(",".join([*names, *names]) + "\n")
    with pytest.raises(InvalidInput, match=r"line 1: columns 'g0', .* and 2995 more occur twice$"):
        read_table(tmp_path / "twice.csv", ("time",), title="levels")


def test_decimal_commas_are_read_beside_powers_of_ten(tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("time;level\n0;0,25\n1;5,2e-05\n2;1E3\n3;-0,125\n4;0,5\n")
    table = read_table(tmp_path / "levels.csv", ("time", "level"), title="levels")
    assert numbers(table, "level").tolist() == [0.25, 5.2e-05, 1000.0, -0.125, 0.5]


def test_decimals_with_a_comma_are_told_apart_from_other_text(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("left;right;margin\na;b;0,5\nb;c;1\n")
    with pytest.raises(
        InvalidInput, match="line 2: the margin is 0,5; it must be a finite number, and decimals"
    ):
        ranking(str(path))


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"\x1f\x8b\x08\x00", "t.csv is a gzip file; unpack it first: gunzip t.csv"),
        (b"PAR1abcd", "a Parquet file; let its name end in .parquet"),
        (b"PK\x03\x04abcd", "an Excel workbook or a zip file"),
        (b"\xd0\xcf\x11\xe0abcd", "an old Excel file"),
        (b'[{"task": 1}]', "JSON; pass pandas.read_json('t.csv')"),
    ],
)
def test_a_file_that_is_no_csv_is_refused_by_what_it_is(start: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(start)
    with pytest.raises(InvalidInput) as caught:
        read_table(path, ("task", "worker"), title="labels")
    assert said in str(caught.value)


PICTURES = {"picture": [1, 1, 2], "who": ["a", "b", "a"], "answer": ["x", "x", "y"]}
NAMES = {"task": "picture", "worker": "who", "label": "answer"}


@pytest.mark.parametrize(
    ("truth", "columns"),
    [
        ({"task": [1, 2], "label": ["x", "y"]}, NAMES),
        ({"task": [1, 2], "label": ["x", "y"]}, {"labels": NAMES}),
        ({"picture": [1, 2], "right": ["x", "y"]}, {**NAMES, "truth": "right"}),
        ({"id": [1, 2], "right": ["x", "y"]}, {"labels": NAMES, "truth": {"task": "id", "label": "right"}}),
    ],
)
def test_columns_of_labels_and_truth_are_mapped_together_or_one_by_one(truth: Any, columns: Any) -> None:
    problem = optiframe.problem("label-aggregation", labels=PICTURES, truth=truth, columns=columns)
    assert optiframe.solve(problem, "labels.majority").metrics["error"] == 0


def test_a_column_mapped_for_one_table_is_checked() -> None:
    with pytest.raises(InvalidInput, match=r"unknown column 'truth\.lable'"):
        optiframe.problem(
            "label-aggregation", labels=PICTURES, columns={"labels": NAMES, "truth": {"lable": "z"}}
        )


def test_blank_rows_and_columns_of_spreadsheets_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text('item,"margin\n (EUR)",,\na,1,,\n,,,\nb,2,, \n')
    table = read_table(path, ("item", "margin (EUR)"), title="items")
    assert table["item"].tolist() == ["a", "b"]
    assert table.place(1) == "line 5"
    assert headings(path) == ["item", "margin (EUR)", "", ""]


def test_a_value_in_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("item,value,,\na,1,,\nb,2,,see below\n")
    with pytest.raises(
        InvalidInput, match=r"own\.csv line 3: column 4 has a value and no name; name the column"
    ):
        read_table(path, ("item", "value"), title="items")
