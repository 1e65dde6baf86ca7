"""Comparisons as others write them: Arena files, winners and losers, matrices, labels that name a side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optiframe_hodgerank.estimator import RobustRanker
from optiframe_hodgerank.problem import PairwiseRanking

import optiframe
from optiframe import InvalidInput
from optiframe.files.solve_file import SolveFile

ARENA = {
    "question_id": ["q1", "q2", "q3", "q4"],
    "model_a": ["gpt", "claude", "gpt", "llama"],
    "model_b": ["claude", "llama", "llama", "claude"],
    "winner": ["model_a", "tie", "tie (bothbad)", "model_b"],
    "judge": ["u", "v", "u", "w"],
    "conversation_a": ["[...]"] * 4,
    "turn": [1] * 4,
}
WINS = pd.DataFrame([[0, 3, 1], [2, 0, 4], [0, 1, 0]], index=list("abc"), columns=list("abc"))


def read(comparisons: Any, **more: Any) -> PairwiseRanking:
    return PairwiseRanking(comparisons=comparisons, **more)


def notes(problem: PairwiseRanking) -> dict[str, str]:
    return {one.identifier: one.text for one in problem.comparisons.remarks}


def votes_of(problem: PairwiseRanking) -> list[tuple[str, str, float]]:
    """Left, right and outcome of each row."""
    table = problem.comparisons
    ids = table.item_ids
    return [
        (ids[a], ids[b], y) for a, b, y in zip(table.left, table.right, table.margin.tolist(), strict=True)
    ]


@pytest.mark.parametrize("way", ["mapping", "pandas", "polars", "csv", "parquet"])
@pytest.mark.parametrize("wanted", [None, "arena"])
def test_an_arena_file_is_read_with_its_judges_as_workers(way: str, wanted: Any, tmp_path: Path) -> None:
    given: Any = {"mapping": ARENA, "pandas": pd.DataFrame(ARENA), "polars": pl.DataFrame(ARENA)}.get(way)
    if way == "csv":
        given = tmp_path / "battles.csv"
        pd.DataFrame(ARENA).to_csv(given, index=False)
    elif way == "parquet":
        given = tmp_path / "battles.parquet"
        pl.DataFrame(ARENA).write_parquet(given)
    problem = read(given, format=wanted)
    assert votes_of(problem) == [
        ("gpt", "claude", 1.0),
        ("claude", "llama", 0.0),
        ("gpt", "llama", 0.0),
        ("llama", "claude", -1.0),
    ]
    assert problem.comparisons.worker_ids.tolist() == ["u", "v", "w"]
    found = notes(problem)  # conversations need no note, ties are no empty labels
    assert list(found) == ([] if wanted else ["ranking.recognized-format"])
    if not wanted:
        assert (
            "was read as format = 'arena', since its columns are model_a, model_b, winner"
            in (found["ranking.recognized-format"])
        )


def test_an_arena_file_may_name_the_winner_and_have_other_columns() -> None:
    table = {name: ARENA[name] for name in ("model_a", "model_b", "winner")}
    table |= {"winner": ["gpt", "both_bad", "tie", "claude"], "rater": list("xxyy"), "style": [1, 2, 3, 4]}
    problem = read(table, columns={"worker": "rater"})
    assert problem.comparisons.margin.tolist() == [1.0, 0.0, 0.0, -1.0]
    assert problem.comparisons.worker_ids.tolist() == ["x", "y"]
    assert "'style'" in notes(problem)["data.unused-columns"]


def test_predict_takes_pairs_under_the_headings_of_an_arena_file() -> None:
    ranker = RobustRanker().fit(ARENA)
    asked = pd.DataFrame({"model_a": ["gpt", "llama"], "model_b": ["llama", "claude"], "turn": [1, 1]})
    found = ranker.predict(asked)
    ours = ranker.predict({"left": ["gpt", "llama"], "right": ["llama", "claude"]})
    assert found["margin"].tolist() == ours["margin"].tolist()
    with pytest.raises(InvalidInput, match="pairs has no column 'left'"):
        ranker.predict({"a": ["gpt"], "b": ["llama"]})


def test_winners_and_losers_are_read_with_workers_and_weights() -> None:
    table = {"winner": list("aba"), "loser": list("bcc"), "worker": list("uvu"), "weight": [1, 2, 0.5]}
    problem = read(table)
    assert votes_of(problem) == [("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 1.0)]
    assert problem.comparisons.weight.tolist() == [1.0, 2.0, 0.5]
    assert problem.comparisons.worker_ids.tolist() == ["u", "v"]
    assert "format = 'winner-loser'" in notes(problem)["ranking.recognized-format"]
    named = read(table, format="winner-loser")
    assert notes(named) == {}
    assert named.comparisons.margin.tolist() == problem.comparisons.margin.tolist()
    other = {"won": table["winner"], "lost": table["loser"]}
    renamed = read(other, format="winner-loser", columns={"left": "won", "label": "won", "right": "lost"})
    assert votes_of(renamed) == votes_of(problem)


@pytest.mark.parametrize("way", ["index", "column", "polars", "csv", "shuffled"])
def test_a_matrix_of_wins_is_read_cell_by_cell(way: str, tmp_path: Path) -> None:
    given: Any = WINS.reset_index()
    if way == "index":
        given = WINS
    elif way == "polars":
        given = pl.DataFrame(given.to_dict("list"))
    elif way == "csv":
        given = tmp_path / "wins.csv"
        WINS.to_csv(given)
    elif way == "shuffled":
        given = given.iloc[[2, 0, 1]]
    problem = read(given)
    table = problem.comparisons
    found = {(a, b): w for (a, b, _), w in zip(votes_of(problem), table.weight.tolist(), strict=True)}
    expected = {(a, b): float(WINS.loc[a, b]) for a in WINS for b in WINS if WINS.loc[a, b]}
    assert found == expected
    assert (table.margin == 1.0).all()
    assert "rows and columns have the same names" in notes(problem)["ranking.recognized-format"]
    assert notes(read(given, format="matrix")) == {}
    if way == "csv":
        assert list(table.lines) == [2, 2, 3, 3, 4]


def test_a_matrix_ranks_as_the_votes_it_counts() -> None:
    rows = [(a, b) for a in WINS for b in WINS for _ in range(WINS.loc[a, b])]
    votes = {"winner": [a for a, _ in rows], "loser": [b for _, b in rows]}
    ours, theirs = (optiframe.solve(read(each), "hodge.bradley-terry").solution for each in (WINS, votes))
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-9)
    np.testing.assert_allclose(ours.low, theirs.low, atol=1e-9)


def test_a_table_with_label_and_margin_is_read_as_its_format_says() -> None:
    both = {"left": ["a", "b"], "right": ["b", "c"], "label": ["a", "b"], "margin": [1.5, -2.0]}
    assert read(both, format="votes").comparisons.margin.tolist() == [1.0, 1.0]
    graded = read(both, format="margin").comparisons
    assert (graded.margin.tolist(), graded.graded) == ([1.5, -2.0], True)
    with pytest.raises(InvalidInput, match="format = 'votes' reads the label, and format = 'margin' the"):
        read(both)


@pytest.mark.parametrize(
    ("labels", "outcomes", "margin"),
    [
        (["A", "B", "draw"], {"A": "left", "B": "right", "draw": "tie"}, [1, -1, 0]),
        ([1, 0, 1], {"1": "left", "0": "right"}, [1, -1, 1]),
        ([1, -1, 0], {"1": "left", "-1": "right", "0": "tie"}, [1, -1, 0]),
        ([1.0, 2.0, 2.0], {"1": "left", "2": "right"}, [1, -1, -1]),
        ([True, False, True], {"true": "left", "false": "right"}, [1, -1, 1]),
        (["model_a", "tie", "model_b"], {"model_a": "left", "tie": "tie", "model_b": "right"}, [1, 0, -1]),
        (["win", "loss", "win"], {"win": "left", "loss": "right"}, [1, -1, 1]),
    ],
)
def test_labels_that_name_a_side_get_the_mapping_to_write_and_it_works(
    labels: Any, outcomes: Any, margin: Any
) -> None:
    table = {"left": ["x", "y", "z"], "right": ["y", "z", "x"], "label": labels}
    with pytest.raises(InvalidInput) as refused:
        read(table)
    told = str(refused.value)
    assert "outcomes = {" in told
    for label, side in outcomes.items():
        assert f'{label} = "{side}"' in told or f'"{label}" = "{side}"' in told
    problem = read(table, outcomes=outcomes)
    assert problem.comparisons.margin.tolist() == margin
    assert notes(problem) == {}  # ties that are named are no empty labels


def test_numbers_that_name_sides_get_the_mapping_beside_items_that_are_numbers() -> None:
    table = {"left": [1, 2, 3, 4], "right": [2, 3, 4, 1], "label": [1, 2, 2, 1]}
    with pytest.raises(InvalidInput, match=r'outcomes = { "1" = "left", "2" = "right" }'):
        read(table)
    named = read(table, outcomes={"1": "left", "2": "right"})
    assert named.comparisons.margin.tolist() == [1, -1, -1, 1]


def test_labels_in_another_language_get_a_mapping_to_fill_in() -> None:
    table = {"left": ["x", "y"], "right": ["y", "z"], "label": ["links", "rechts"]}
    with pytest.raises(
        InvalidInput, match=r'{ "links" = "left, right or tie", "rechts" = "left, right or tie" }'
    ):
        read(table)


def test_a_label_spelled_unlike_its_item_is_refused_with_both_spellings() -> None:
    for label in ("X", " x", "x "):
        table = {"left": ["x", "y"], "right": ["y", "z"], "label": [label, "y"]}
        with pytest.raises(
            InvalidInput, match=f"row 0: the label is '{label}' and the item 'x'; they differ in"
        ):
            read(table)


def test_a_label_that_names_no_side_gets_no_mapping() -> None:
    for table in (
        {"left": ["x", "y"], "right": ["y", "z"], "label": ["x", "w"]},
        {"left": [1, 2], "right": [2, 3], "label": [1, 1]},  # item 1, which is not in the row
    ):
        with pytest.raises(InvalidInput, match=r"row 1: the label is") as refused:
            read(table)
        assert "outcomes" not in str(refused.value)


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "unknown format": (ARENA, {"format": "arenas"}, "format: must be one of .* did you mean 'arena'"),
    "unknown winner": (
        ARENA | {"winner": ["model_a", "tie", "modelb", "model_b"]},
        {"format": "arena"},
        r"row 2: the label is modelb, .* give the winner's id or one of model_a, model_b, tie, ",
    ),
    "no loser": (
        {"winner": ["a"], "looser": ["b"]},
        {"format": "winner-loser"},
        "needs the columns winner, loser, and there is no loser; the table has 'winner', 'looser'",
    ),
    "no votes": ({"left": ["a"], "right": ["b"]}, {"format": "votes"}, "format = 'votes' needs .* no label"),
    "an item against itself": (
        {"winner": ["a", "b"], "loser": ["b", "b"]},
        {},
        "row 1: left and right are both b",
    ),
    "an outcome that is none": (
        ARENA,
        {"outcomes": {"tie": "maybe"}},
        "label tie must stand for left, right or tie",
    ),
    "outcomes that are no table": (
        ARENA,
        {"outcomes": "tie"},
        "must be a table of label to left, right or tie",
    ),
    "an item without a row": (WINS.iloc[:2].reset_index(), {"format": "matrix"}, "there is no row for c"),
    "an item without a column": (WINS[["a", "b"]].reset_index(), {"format": "matrix"}, "no column for c"),
    "an item twice": (
        WINS.reset_index().iloc[[0, 0, 1]],
        {"format": "matrix"},
        "the column 'index' has a name twice",
    ),
    "an array": (
        np.eye(3),
        {"format": "matrix"},
        "give a data frame, a mapping of columns or a file, not ndarray",
    ),
    "one item": ({"item": ["a"], "a": [0]}, {"format": "matrix"}, "there are 2 columns"),
    "fewer wins than none": (WINS.replace(4, -4), {}, "row 1: the wins of b over c are -4; .* at least 0"),
    "wins in words": (WINS.astype(object).replace(4, "four"), {}, "the wins of b over c are four"),
    "wins over itself": (WINS + np.eye(3, dtype=int), {}, "row 0: a has 1 wins over itself"),
    "no win": (WINS * 0, {}, "has no win: every cell is empty or 0"),
    "covariates of a matrix": (
        WINS,
        {"covariates": ["length"]},
        "a matrix of wins has no columns of covariates",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_of_its_format_is_refused(case: str) -> None:
    comparisons, more, message = BAD[case]
    with pytest.raises(InvalidInput, match=message):
        read(comparisons, **more)


def test_a_gap_in_a_matrix_is_no_win() -> None:
    problem = read(WINS.astype(object).where(WINS > 0, None))
    assert problem.comparisons.weight.tolist() == [3.0, 1.0, 2.0, 4.0, 1.0]


def test_headings_that_leave_a_doubt_are_read_by_our_names() -> None:
    table = {"left": list("ab"), "right": list("bc"), "label": list("ac")}
    table |= {"winner": list("bb"), "loser": list("ac")}
    problem = read(table)
    assert problem.comparisons.margin.tolist() == [1.0, -1.0]
    assert "ranking.recognized-format" not in notes(problem)
    with pytest.raises(InvalidInput, match="has no column 'left'"):
        read({**ARENA, "loser": ["a"] * 4})
    columns = {"left": "winner", "right": "loser", "label": "winner"}
    assert notes(read({"winner": ["a", "b"], "loser": ["b", "c"]}, columns=columns)) == {}


def test_an_item_in_two_spellings_is_named() -> None:
    votes = {"left": ["GPT-4", "b", "b"], "right": ["b", "gpt-4 ", "c"], "label": ["b", "b", "c"]}
    result = optiframe.solve(read(votes), "hodge.l2")
    (told,) = [one for one in result.findings if one.identifier == "comparisons.item-spelled-twice"]
    assert told.level == "warning"
    assert set(told.about) == {"GPT-4", "gpt-4 "}
    assert "'GPT-4' and 'gpt-4 '" in told.text
    assert "comparisons.item-spelled-twice" not in notes(read({**votes, "right": ["b", "gpt-5", "c"]}))


def test_a_ranker_reads_batches_and_scores_by_its_format() -> None:
    model = RobustRanker(format="arena").fit(pd.DataFrame(ARENA))
    more = {"model_a": ["gpt", "new"], "model_b": ["new", "llama"], "winner": ["model_a", "model_a"]}
    model.partial_fit(pd.DataFrame(more))
    assert set(model.ranking_) == {"gpt", "claude", "llama", "new"}
    assert model.score(pd.DataFrame(more)) == 1.0
    sides = RobustRanker(outcomes={"A": "left", "B": "right"})
    sides.fit({"left": ["x", "y"], "right": ["y", "z"], "label": ["A", "B"]})
    assert sides.result_.problem.comparisons.margin.tolist() == [1.0, -1.0]


def test_a_file_of_the_command_line_names_the_format(tmp_path: Path) -> None:
    pd.DataFrame(ARENA).to_csv(tmp_path / "battles.csv", index=False)
    (tmp_path / "board.toml").write_text(
        '[problem]\nname = "pairwise-ranking"\ncomparisons = "battles.csv"\nformat = "arena"\n'
        'outcomes = { "tie (bothbad)" = "right" }\n'
    )
    problem = SolveFile.read(tmp_path / "board.toml").problem
    assert problem.comparisons.margin.tolist() == [1.0, 0.0, -1.0, -1.0]
    assert problem.comparisons.worker_ids.tolist() == ["u", "v", "w"]


def test_a_label_that_is_a_number_beside_text_ids_is_named_for_that() -> None:
    numbers = {"left": ["1", "2"], "right": ["2", "3"], "label": [1, 3]}
    with pytest.raises(InvalidInput) as caught:
        read(numbers)
    assert "the label is 1 and the item '1' (2 such rows: row 0, row 1); one is text" in str(caught.value)
    with pytest.raises(InvalidInput, match=r"'A' and the item 'a'; they differ in capitals"):
        read({"left": ["a"], "right": ["b"], "label": ["A"]})
