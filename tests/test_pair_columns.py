"""Who won, where ids and labels come in several kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from optiframe.errors import InvalidInput
from optiframe.tables.pairs import read_preferences
from optiframe.tables.read import Table, read_table


def table(left: list[Any], right: list[Any], label: list[Any]) -> Table:
    return read_table(
        {"left": left, "right": right, "label": label}, ("left", "right"), ("label",), title="comparisons"
    )


@pytest.mark.parametrize(
    ("label", "rows"),
    [
        ([1, "2", 3, "x"], "row 3: the label is x, .* nor right \\(3\\); give"),
        ([1, 2, "x", "bad"], r"row 2: the label is x, .*\(2 rows are so: row 2, row 3\)"),
        ([1, 2.0, 5, "x"], r"row 2: the label is 5, .*\(2 rows are so: row 2, row 3\)"),
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
