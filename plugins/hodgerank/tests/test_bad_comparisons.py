"""What is wrong with a table of comparisons is said with its rows, or becomes a finding."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.least_squares import LeastSquares

from optiframe import InvalidInput, solve


def table(**columns: Any) -> dict[str, Any]:
    return {"left": ["a", "b", "c"], "right": ["b", "c", "a"], "label": ["a", "b", "c"], **columns}


def without_label(**columns: Any) -> dict[str, Any]:
    return {name: values for name, values in table(**columns).items() if name != "label"}


BAD = {
    "self-comparison": (table(right=["b", "b", "a"]), r"row 1: left and right are both b; .* drop the row"),
    "one item": (
        {"left": ["a"], "right": ["a"], "label": ["a"]},
        "row 0: left and right are both a",
    ),
    "unknown winner": (
        table(label=["a", "d", "c"]),
        r"row 1: the label is d, which is neither left \(b\) nor right \(c\); give the winner's id",
    ),
    "several self-comparisons": (
        table(right=["a", "b", "a"]),
        r"row 0: left and right are both a \(2 such rows: row 0, row 1\); .* drop the rows",
    ),
    "several unknown winners": (table(label=["x", "b", "y"]), r"\(2 such rows: row 0, row 2\)"),
    "infinite margin": (without_label(margin=[1.0, math.inf, 2.0]), "row 1: the margin is inf; .* finite"),
    "margin whose square is no number": (
        without_label(margin=[1.0, -1e300, 2.0]),
        r"row 1: the margin is -1e\+300; .* give margins in a larger unit",
    ),
    "margins whose squares vanish": (
        without_label(margin=[1e-150, 1e-145, 0.0]),
        "row 1: the margin is 1e-145, and no other is larger; .* give margins in a smaller unit",
    ),
    "weighted squares too large": (
        without_label(margin=[1e10, -1e100, 1.0], weight=[1e105, 2e105, 1e105]),
        r"row 1: the weight is 2e\+105, with margins up to 1e\+100; .* too large to add up: divide",
    ),
    "weights too large to add up": (
        table(weight=[1e303, 4e303, 1e303]),
        r"row 1: the weight is 4e\+303, .* divide",
    ),
    "weighted squares that vanish": (
        without_label(margin=[1e-100, 1e-101, 0.0], weight=[2e-105, 3e-105, 2e-105]),
        "row 1: the weight is 3e-105, with margins up to 1e-100; .* vanish: multiply",
    ),
    "weights that vanish": (
        table(weight=[1e-305] * 3),
        "row 0: the weight is 1e-305, .* multiply all weights",
    ),
    "margin left empty": (without_label(margin=[1.0, None, 2.0]), "row 1: the margin is empty"),
    "margin in words": (without_label(margin=["1.5", "much", "2"]), "row 1: the margin is much"),
    "true as margin": (without_label(margin=[True, False, True]), "row 0: the margin is True"),
    "weight of zero": (table(weight=[1, 0, 1]), "row 1: the weight is 0; it must be a positive number"),
    "several bad weights": (table(weight=[-1, 0, 1]), r"row 0: the weight is -1.*\(2 such rows"),
    "weights beyond all numbers": (table(weight=[1e308] * 3), "the sum of the weights is not finite"),
    "weights too far apart": (
        table(weight=[1, 1e11, 1e11]),
        r"row 1 weighs 1e\+11 and row 0 weighs 1; .* drown in rounding",
    ),
    "true as label": (table(label=[True, False, True]), "give the winner's id, not true or false"),
    "true beside a tie": (table(label=[True, None, True]), "give the winner's id, not true or false"),
    "label and margin": (table(margin=[1, 1, 1]), "both a label and a margin"),
    "neither label nor margin": (
        without_label(),
        r"no column 'label' \(who won.*and no 'margin' \(by how much",
    ),
    "the winner under another name": (
        {**without_label(), "winner": ["a", "b", "c"]},
        r"mapped with `columns`, such as columns = \{ label = \"winner\" \}",
    ),
    "no rows": ({"left": [], "right": [], "label": []}, "no rows"),
    "empty id": (table(left=["a", None, "c"]), "row 1: left is empty"),
    "id that is a list": (table(left=["a", ["b"], "c"], label=["a", "c", "c"]), "must be hashable"),
    "zero that could be an item": (
        {"left": [0, 1, 1], "right": [1, 2, 2], "label": [0, 1, 0]},
        "row 2: the label 0 could be a tie or item 0; leave the label of ties empty",
    ),
}


def test_margins_and_weights_at_the_ends_of_what_is_taken_are_taken() -> None:
    for margin, weight in (([0.0, 0.0, 0.0], 1.0), ([1e-140, 0.0, 0.0], 1.0), ([1e140, 1.0, 0.0], 1e20)):
        PairwiseRanking(comparisons=without_label(margin=margin, weight=[weight] * 3))


@pytest.mark.parametrize("case", BAD)
def test_bad_comparisons_are_refused_naming_the_row(case: str) -> None:
    comparisons, message = BAD[case]
    with pytest.raises(InvalidInput, match=f"comparisons: .*{message}"):
        PairwiseRanking(comparisons=comparisons)


def test_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,label\n1,2,1\n\n2,2,2\n")
    with pytest.raises(InvalidInput, match=r"votes.csv line 4: left and right are both 2"):
        PairwiseRanking(comparisons=path)


BAD_INPUTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown column": ({"columns": {"winner": "label"}}, "unknown column 'winner'"),
    "column that is no text": ({"columns": {"label": 3}}, "name of column label must be text"),
    "columns that are no table": ({"columns": "label"}, "must be a table of our column name"),
    "an item twice": (
        {"truth": {"item": ["a", "b", "a"], "score": [1, 2, 3]}},
        "row 0, row 2: item a occurs 2 times",
    ),
    "other items": (
        {"truth": {"item": ["x", "y"], "score": [1, 2]}},
        "none of its items occurs .*these are x, y; there they",
    ),
    "no number": ({"truth": {"item": ["a", "b"], "score": [1, math.inf]}}, "row 1: the score is inf"),
    "too few outliers": ({"outlier_truth": [True, False]}, r"has shape .2,., but there are 3 comparisons"),
    "outliers by numbers": ({"outlier_truth": [1, 2, 0]}, "true or false"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_columns_and_truths_are_refused(case: str) -> None:
    inputs, message = BAD_INPUTS[case]
    with pytest.raises(InvalidInput, match=message):
        PairwiseRanking(comparisons=table(), **inputs)
    assert PairwiseRanking(comparisons=table(), outlier_truth=[1, 0, 0]).outlier_truth.tolist() == [1, 0, 0]


def test_a_disconnected_graph_is_ranked_by_component_and_says_so() -> None:
    comparisons = {"left": [1, 2, 3, 8], "right": [2, 3, 1, 9], "label": [1, 2, 1, 9]}
    problem = PairwiseRanking(comparisons=comparisons)
    result = solve(problem, LeastSquares())
    first = result.findings[0]
    assert first.level == "warning"
    assert "2 groups of items" in first.text
    assert first.about == (8, 9)
    ranking = result.solution
    assert ranking.rank.tolist() == [1, 2, 3, 2, 1]
    assert ranking.columns()["component"].tolist() == [0, 0, 0, 1, 1]
    for label in (0, 1):
        assert abs(ranking.scores[ranking.component == label].sum()) < 1e-12


@pytest.mark.parametrize(
    ("comparisons", "level", "text"),
    [
        (
            table(label=["", 0, None]),
            "warning",
            "all comparisons are ties: nothing is ranked, every score is 0",
        ),
        (table(label=["a", "", "c"]), "note", "1 of 3 comparisons are ties (33%)"),
        (
            table(label=["a", "b", "c"]),
            "note",
            "the winner comes first in every comparison",
        ),
        (
            table(label=["b", "c", "a"]),
            "note",
            "the winner comes second in every comparison",
        ),
        (
            without_label(margin=[2, 2, 2]),
            "warning",
            "every margin is 2: they say who was preferred, not by how much",
        ),
        (table(), "warning", "all scores are equal: preferences contradict each other"),
        (
            {name: values * 2 for name, values in table().items()},
            "note",
            "merged 6 comparisons into 3 distinct ones",
        ),
    ],
)
def test_what_comparisons_leave_open_is_a_finding(comparisons: Any, level: str, text: str) -> None:
    result = solve(PairwiseRanking(comparisons=comparisons), LeastSquares())
    assert [one.level for one in result.findings if one.text.startswith(text)] == [level]


def test_items_that_never_win_or_never_lose_are_named() -> None:
    comparisons = {"left": [1, 1, 2, 2, 3], "right": [2, 3, 3, 4, 2], "label": [1, 1, 2, 2, 3]}
    result = solve(PairwiseRanking(comparisons=comparisons), LeastSquares())
    named = {finding.text.split(":")[0]: finding.about for finding in result.findings}
    assert any(
        "never wins: 4. Read only that it is below those it met. The size of its" in finding.text
        for finding in result.findings
    )
    assert named["1 item never wins"] == (4,)
    assert named["1 item never loses"] == (1,)


def test_items_of_the_truth_that_were_never_compared_are_told() -> None:
    problem = PairwiseRanking(comparisons=table(), truth={"item": ["a", "b", "z"], "score": [1, 2, 3]})
    found = [finding.text for finding in solve(problem, LeastSquares()).findings]
    assert any("never compared, so not ranked: z" in text for text in found)


def test_files_frames_and_mappings_give_the_same_problem(tmp_path: Path) -> None:
    columns = {
        "worker": ["u", "u", "v", None],
        "left": [1, 2, 3, 1],
        "right": [2, 3, 1, 2],
        "label": [1, 3, 0, 2],
        "weight": [1.5, 2.0, 1.0, 0.25],
    }
    path = tmp_path / "comparisons.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    parquet = tmp_path / "comparisons.parquet"
    pl.DataFrame(columns, strict=False).write_parquet(parquet)
    problems = [
        PairwiseRanking(comparisons=value)
        for value in (columns, path, parquet, pd.DataFrame(columns), pl.DataFrame(columns))
    ]
    assert problems[0].comparisons.margin.tolist() == [1.0, -1.0, 0.0, -1.0]
    assert problems[0].comparisons.worker.tolist() == [0, 0, 1, -1]
    assert len({problem.fingerprint() for problem in problems}) == 1
    frame = solve(problems[3], LeastSquares()).solution.frame()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(solve(problems[4], LeastSquares()).solution.frame(), pl.DataFrame)
    assert isinstance(solve(problems[1], LeastSquares()).solution.frame(), dict)


def test_a_file_may_write_ids_as_numbers_in_one_column_and_as_text_in_another(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text("left,right,label\n1,2,1\nx,2,2\n1,x,0\n")
    problem = PairwiseRanking(comparisons=path, truth={"item": [1, 2], "score": [1.0, 0.0]})
    assert problem.item_ids.tolist() == ["1", "2", "x"]
    assert problem.comparisons.margin.tolist() == [1.0, -1.0, 0.0]
    assert np.array_equal(problem.truth.score, [1.0, 0.0, np.nan], equal_nan=True)
    path.write_text("left,right,label\n1,2,1\nx,2,\n1,2,2\n")
    assert PairwiseRanking(comparisons=path).comparisons.margin.tolist() == [1.0, 0.0, -1.0]
    path.write_text("left,right,label\n1,2,1\n2,3,tie\n")
    with pytest.raises(InvalidInput, match="line 3: the label is tie, which is neither left"):
        PairwiseRanking(comparisons=path)


WHOLE = pd.DataFrame({"left": [1, 2, 3], "right": [2, 3, 1], "label": pd.array([1, None, 1], dtype="Int64")})
NAMED = pd.DataFrame({"left": ["a", "b", "c"], "right": ["b", "c", "a"], "label": ["a", None, "a"]})
FRAMES = {
    "Int64": WHOLE,
    "convert_dtypes of numbers": WHOLE.convert_dtypes(),
    "pyarrow numbers": WHOLE.convert_dtypes(dtype_backend="pyarrow"),
    "string": NAMED.astype("string"),
    "convert_dtypes of text": NAMED.convert_dtypes(),
    "pyarrow text": NAMED.convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_a_missing_label_is_a_tie_in_every_dtype_of_pandas(case: str) -> None:
    assert PairwiseRanking(comparisons=FRAMES[case]).comparisons.margin.tolist() == [1.0, 0.0, -1.0]
