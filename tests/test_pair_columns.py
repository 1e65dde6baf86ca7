"""Who won, where ids and labels come in several kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from optiframe.errors import InvalidInput
from optiframe.tables.pairs import read_preferences
from optiframe.tables.read import Table, headings, read_table


def table(left: list[Any], right: list[Any], label: list[Any]) -> Table:
    return read_table(
        {"left": left, "right": right, "label": label}, ("left", "right"), ("label",), title="comparisons"
    )


@pytest.mark.parametrize(
    ("label", "rows"),
    [
        ([1, "2", 3, "x"], "row 3: the label is x, .* nor right \\(3\\); give"),
        ([1, 2, "x", "bad"], r"row 2: the label is x, .*\(2 such rows: row 2, row 3\)"),
        ([1, 2.0, 5, "x"], r"row 2: the label is 5, .*\(2 such rows: row 2, row 3\)"),
        (["1", "2.0", "3", "x"], "row 3: the label is x, .* nor right \\(3\\); give"),
    ],
)
@pytest.mark.parametrize("kind", [int, float])
def test_only_the_rows_that_are_wrong_are_blamed_where_text_stands_beside_numbers(
    kind: Any, label: list[Any], rows: str
) -> None:
    left, right = [kind(i) for i in (1, 2, 3, 1)], [kind(i) for i in (2, 3, 1, 3)]
    with pytest.raises(InvalidInput, match=rows.replace("(3\\)", "(3(?:.0)?\\)")):
        read_preferences(table(left, right, label))


@pytest.mark.parametrize("kinds", [(int, int), (float, float), (float, int)])
def test_numbers_and_their_text_name_the_same_winner(kinds: tuple[Any, Any]) -> None:
    left, right = [kinds[0](i) for i in (1, 2, 3, 1, 1, 2)], [kinds[1](i) for i in (2, 3, 1, 3, 2, 1)]
    preferred = read_preferences(table(left, right, [1, "3", None, 3.0, "0", "0.0"]))[1]
    assert preferred.tolist() == [1.0, -1.0, 0.0, -1.0, 0.0, 0.0]


def test_ids_that_are_no_whole_numbers_keep_their_digits(tmp_path: Path) -> None:
    file = tmp_path / "comparisons.csv"
    file.write_text("left,right,label\n1.5,2.0,1.5\n2.0,2.5,2.5\n1.5,2.5,x\n")
    with pytest.raises(InvalidInput, match=r"line 4: the label is x, which is neither left \(1.5\)"):
        read_preferences(read_table(file, ("left", "right"), ("label",), title="comparisons"))


def test_an_item_called_zero_makes_the_label_zero_ambiguous_beside_text() -> None:
    with pytest.raises(InvalidInput, match="row 1: the label 0 could be a tie or item 0"):
        read_preferences(table([0, 1, 2], [1, 2, 0], [0, 0, "2"]))


SIDES = {"A": "left", "B": "right", "draw": "tie", "1": "left"}


def test_outcomes_say_what_labels_stand_for_beside_ids() -> None:
    labels: list[Any] = ["A", "B", "draw", "x", None, "1", 1, 1.0]
    given = table(["x"] * 8, ["y"] * 8, labels)
    assert read_preferences(given, SIDES)[1].tolist() == [1, -1, 0, 1, 0, 1, 1, 1]
    given = table(["x"] * 2, ["y"] * 2, [True, False])
    assert read_preferences(given, {"true": "right", "false": "left"})[1].tolist() == [-1, 1]


def test_a_mapping_is_proposed_only_where_there_is_one_and_labels_name_sides() -> None:
    given = table(["x", "y"], ["y", "z"], ["a", "b"])
    with pytest.raises(InvalidInput, match=r'outcomes = \{ "a" = "left", "b" = "right" \}'):
        read_preferences(given, {})
    with pytest.raises(InvalidInput) as refused:
        read_preferences(given)
    assert "outcomes" not in str(refused.value)
    with pytest.raises(InvalidInput, match=r'"a" = "left", "odd" = "left, right or tie" \}'):
        read_preferences(table(["x", "y"], ["y", "z"], ["a", "odd"]), {})


def test_headings_are_read_without_the_rows(tmp_path: Path) -> None:
    columns = {"left": [1], "right": [2], " label ": [1]}
    assert headings(columns) == ["left", "right", " label "]
    assert headings(pl.DataFrame(columns)) == ["left", "right", " label "]
    file = tmp_path / "votes.csv"
    file.write_text("\nleft;right; label \n1;2\n")  # the row is too short, which reading says
    assert headings(file) == ["left", "right", "label"]
    file.write_bytes(b"\xff\xfe,x\n")
    assert headings(file) == headings(tmp_path / "none.csv") == headings(3) == []
    pl.DataFrame(columns).write_parquet(tmp_path / "votes.parquet")
    assert headings(tmp_path / "votes.parquet") == ["left", "right", " label "]
    (tmp_path / "broken.parquet").write_text("none")
    assert headings(tmp_path / "broken.parquet") == []
