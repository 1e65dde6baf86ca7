"""What is wrong with a collaborative-ranking problem is said with its rows, users and items."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_manifold.answer import Rankings
from optiframe_manifold.estimator import CollaborativeRanker
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.problem import CollaborativeRanking

from optiframe import InvalidInput, Unsuited, solve


def table(**columns: Any) -> dict[str, Any]:
    return {
        "user": [1, 1, 2],
        "left": ["a", "b", "c"],
        "right": ["b", "c", "a"],
        "label": ["a", "b", "c"],
        **columns,
    }


BAD_TABLES = {
    "self-comparison": (table(right=["b", "b", "a"]), r"row 1: left and right are both b; .* drop the row"),
    "unknown winner": (table(label=["a", "d", "c"]), r"row 1: the label is d, which is neither left \(b\)"),
    "user left empty": (table(user=[1, None, 2]), "row 1: user is empty; drop the row or give a value"),
    "user that is nan": (table(user=[1.0, math.nan, 2.0]), "row 1: user is empty"),
    "item left empty": (table(left=["a", None, "c"]), "row 1: left is empty"),
    "weight of nan": (table(weight=[1, math.nan, 1]), "row 1: the weight is empty; it must be a positive"),
    "weight of zero": (table(weight=[1, 0, 1]), "row 1: the weight is 0; it must be a positive number"),
    "infinite weight": (table(weight=[1, math.inf, 1]), "row 1: the weight is inf; it must be a positive"),
    "weights beyond all numbers": (table(weight=[1e308] * 3), "the sum of the weights is not finite"),
    "true as label": (table(label=[True, False, True]), "give the winner's id, not true or false"),
    "no rows": (table(user=[], left=[], right=[], label=[]), "no rows"),
    "no user": ({k: v for k, v in table().items() if k != "user"}, "no column 'user'"),
    "no label": ({k: v for k, v in table().items() if k != "label"}, "no column 'label'"),
    "a margin for the winner": (
        {k: v for k, v in table(margin=[1.0, math.nan, 2.0]).items() if k != "label"},
        r"no column 'label'; it has .*'margin'",
    ),
    "a number": (7, "a int is not a table"),
    "user that is a list": (table(user=[1, [2], 3]), "must be hashable"),
    "columns of two lengths": (table(user=[1, 2]), "differ in length"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_comparisons_are_refused_naming_the_row(case: str) -> None:
    value, sentence = BAD_TABLES[case]
    with pytest.raises(InvalidInput, match=sentence):
        CollaborativeRanking(comparisons=value, rank=1)


def test_labels_that_name_sides_get_the_mapping_to_write_and_it_works() -> None:
    sides = table(label=["left", "right", "tie"])
    with pytest.raises(
        InvalidInput, match=r'outcomes = { "left" = "left", "right" = "right", "tie" = "tie" }'
    ):
        CollaborativeRanking(comparisons=sides, rank=1)
    outcomes = {side: side for side in ("left", "right", "tie")}
    problem = CollaborativeRanking(comparisons=sides, outcomes=outcomes, rank=1)
    assert problem.comparisons.outcome.tolist() == [1.0, -1.0, 0.0]
    ranker = CollaborativeRanker(1, outcomes=outcomes).fit(sides)
    assert ranker.partial_fit(sides).score(sides) == ranker.score(sides)


def test_users_and_items_in_two_spellings_are_named() -> None:
    spelled = table(user=["Ann", "ann ", "bob"], left=["a", "b", "C"], label=["a", "b", "C"])
    problem = CollaborativeRanking(comparisons=spelled, rank=1)
    named = {each.identifier: each.about for each in problem.comparisons.remarks}
    assert named["comparisons.item-spelled-twice"] == ("C", "c")
    assert named["comparisons.user-spelled-twice"] == ("Ann", "ann ")


def test_wrong_rows_of_several_kinds_are_said_at_once() -> None:
    wrong = table(right=["a", "c", "a"], label=["a", "b", "d"], weight=[1.0, -1.0, 1.0])
    with pytest.raises(InvalidInput) as caught:
        CollaborativeRanking(comparisons=wrong, rank=1)
    own, winner, weight = (text for _, text in caught.value.problems)
    assert own.startswith("comparisons row 0: left and right are both a")
    assert winner.startswith("comparisons row 2: the label is d, which is neither")
    assert weight.startswith("comparisons row 1: the weight is -1.0")
    assert {path for path, _ in caught.value.problems} == {("comparisons",)}


BAD_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "rank above the users": (
        {"rank": 3},
        "rank: is 3, but scores of 3 items for 2 users have rank 2 at most; give a rank up to that",
    ),
    "rank above the one user": (
        {"comparisons": table(user=[1, 1, 1]), "rank": 2},
        "scores of 3 items for 1 user have rank 1 at most",
    ),
    "rank of zero": ({"rank": 0}, "rank: must be greater than 0"),
    "sigma of zero": ({"sigma": 0.0}, "sigma: must be at least 1e-50"),
    "sigma whose square is zero": ({"sigma": 1e-200}, "sigma: must be at least 1e-50"),
    "sigma whose square is infinite": ({"sigma": 1e200}, r"sigma: must be at most 1e\+50"),
    "sigma that is nan": ({"sigma": math.nan}, "sigma: must be a finite number"),
    "negative multiplier": ({"multiplier": -1.0}, "multiplier: must be at least 0"),
    "another penalty": ({"penalty": "frobenious"}, "penalty: .* did you mean 'frobenius'"),
    "a user not listed": ({"users": [1, 3]}, "row 2: 2 is not among the users .* list every user in `users`"),
    "users not listed": ({"users": [3]}, "row 0, row 1, row 2: 1, 2 are not among the users"),
    "items not listed": ({"items": ["a", "b"]}, "row 1, row 2: c is not among the items"),
    "a user listed twice": ({"users": [1, 2, 2]}, "users: 2 occurs more than once"),
    "a user without id": ({"users": [1, None, 2]}, "users: entry 1 is empty"),
    "users as one word": ({"users": "ann"}, "users: must be a list of ids"),
    "users as a number": ({"users": 5}, "users: .* a int; give a list"),
    "no users": ({"users": []}, "users: .* no rows"),
    "truth of another size": (
        {"truth": np.ones((3, 3))},
        r"truth: has shape \(3, 3\), there are 2 users and 3",
    ),
    "truth with a gap": ({"truth": [[1.0, 2.0, math.nan], [1.0, 2.0, 3.0]]}, r"truth: entry \[0, 2\] is nan"),
    "truth factors with a gap": (
        {"truth": LowRank(np.full((2, 1), np.nan), np.ones((3, 1)))},
        "truth: has an entry that is not finite",
    ),
    "truth without a pair": (
        {"truth": {"user": [1, 1, 1, 2, 2], "item": list("abcab"), "score": [1.0] * 5}},
        "truth: item c of user 2 has no score",
    ),
    "truth with a pair twice": (
        {"truth": {"user": [1, 1, 1, 2, 2, 2, 2], "item": list("abcabcc"), "score": [1.0] * 7}},
        "truth: item c of user 2 has 2 scores",
    ),
    "truth of a stranger": (
        {"truth": {"user": [1, 9], "item": ["a", "b"], "score": [1.0, 2.0]}},
        "truth: user 9 is not among the users",
    ),
    "truth of strangers": (
        {"truth": {"user": [8, 9], "item": ["a", "b"], "score": [1.0, 2.0]}},
        "truth: user 8, 9 are not among the users",
    ),
    "held out by a stranger": (
        {"held_out": table(user=[1, 1, 9])},
        "held_out row 2: 9 is not among the users of this problem",
    ),
    "held out with nan": (
        {"held_out": table(weight=[1, math.nan, 1])},
        "held_out row 1: the weight is empty",
    ),
    "an unknown column": ({"columns": {"usr": "user"}}, "unknown column 'usr'; did you mean 'user'"),
    "an unknown key": ({"lambda": 2}, "unknown key"),
}


@pytest.mark.parametrize("case", BAD_FIELDS)
def test_bad_parameters_are_refused_in_words(case: str) -> None:
    more, sentence = BAD_FIELDS[case]
    with pytest.raises(InvalidInput, match=sentence):
        CollaborativeRanking(**{"comparisons": table(), "rank": 1, **more})


def test_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("user,left,right,label\n1,a,b,a\n1,b,c,x\n")
    with pytest.raises(InvalidInput, match=r"votes\.csv line 3: the label is x"):
        CollaborativeRanking(comparisons=path, rank=1)


def test_text_ids_of_a_file_find_numbers_listed(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    pd.DataFrame(table(user=["1", "1", "x"])).to_csv(path, index=False)  # a column of text
    problem = CollaborativeRanking(comparisons=path, users=[1, "x"], rank=1)
    assert problem.comparisons.user.tolist() == [0, 0, 1]


def test_answers_of_other_problems_are_refused() -> None:
    problem = CollaborativeRanking(comparisons=table(), rank=1)
    factors = LowRank(np.ones((2, 1)), np.ones((3, 1)))
    with pytest.raises(InvalidInput, match="is a Rankings, such as the solution of an earlier run"):
        problem.check(factors)
    with pytest.raises(InvalidInput, match="for other users"):
        problem.check(Rankings(np.array([1, 3]), problem.item_ids, factors, 1.0))
    with pytest.raises(InvalidInput, match="for other items"):
        problem.check(Rankings(problem.user_ids, np.array(["a", "b", "d"]), factors, 1.0))
    with pytest.raises(InvalidInput, match="there are 2 users and 3 items"):
        problem.check(
            Rankings(problem.user_ids, problem.item_ids, LowRank(np.ones((3, 1)), np.ones((2, 1))), 1)
        )


def test_a_table_read_for_other_users_is_refused() -> None:
    problem = CollaborativeRanking(comparisons=table(), rank=1)
    with pytest.raises(InvalidInput, match="was read for other users than these"):
        problem.model_copy(update={"users": [1, 2, 3]})
    other = CollaborativeRanking(comparisons=table(user=[1, 1, 3]), rank=1)
    with pytest.raises(InvalidInput, match="held_out: was read for other users"):
        problem.model_copy(update={"held_out": other.comparisons})


def test_a_solver_for_points_that_are_arrays_is_unsuited() -> None:
    problem = CollaborativeRanking(comparisons=table(), rank=1)
    with pytest.raises(Unsuited, match="LowRank"):
        solve(problem, "scipy.lbfgs")


@pytest.mark.parametrize("sigma", [1e-50, 1e50])
def test_the_extreme_sigmas_give_numbers(sigma: float) -> None:
    problem = CollaborativeRanking.load(comparisons=table(), sigma=sigma)
    found = solve(problem, "manifold.trust-region", progress=False)
    assert math.isfinite(found.objective)


def test_users_and_tops_there_are_not_are_refused_in_words() -> None:
    found = solve(CollaborativeRanking.load(comparisons=table()), "manifold.trust-region").solution
    with pytest.raises(InvalidInput, match=r"no user '1' among the 2 ranked; did you mean 1, .* type int"):
        found.scores("1")
    with pytest.raises(InvalidInput, match=r"there is no user \[1\]"):
        found.scores([1])
    for top in (0, -1, 2.5, True):
        for asked in (found.columns, lambda top: found.ranking(1, top)):
            with pytest.raises(InvalidInput, match="top must be a whole number of at least 1"):
                asked(top)
