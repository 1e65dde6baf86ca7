"""Pairs to compare next: spread, aimed at the first places, and dealt out to workers under caps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.tools.next_pairs import suggest
from optiframe_hodgerank.trust import three_view as by_name
from optiframe_hodgerank.trust.next_pairs import Places, known_of
from scipy.special import ndtr

import optiframe
from optiframe import InvalidInput, MissingPackage, Unsuited, solve

from .path_twins import columns, votes


def crowd(items: int = 8, workers: int = 12, each: int = 20, clickers: int = 2) -> PairwiseRanking:
    """Votes by a clear order, of workers of whom the last few vote by a coin."""
    rng = np.random.default_rng(0)
    left = rng.integers(items, size=workers * each)
    right = (left + rng.integers(1, items, size=len(left))) % items
    worker = np.repeat(np.arange(workers), each)
    right_one = (rng.random(len(left)) < 0.9) ^ (left > right)
    right_one = np.where(worker >= workers - clickers, rng.random(len(left)) < 0.5, right_one)
    label = np.where(right_one, left, right)
    return PairwiseRanking(
        comparisons={
            "worker": [f"w{w}" for w in worker],
            "left": [f"i{i}" for i in left],
            "right": [f"i{i}" for i in right],
            "label": [f"i{i}" for i in label],
        }
    )


def pairs_of(table: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(sorted(pair)) for pair in zip(table["left"], table["right"], strict=True))


def test_no_pair_comes_twice_while_there_are_others() -> None:
    problem = votes(0, items=4, rows=20)
    assert pairs_of(suggest(problem, n=5)).most_common(1)[0][1] == 1
    assert set(pairs_of(suggest(problem, n=12)).values()) == {2}
    assert max(pairs_of(suggest(problem, n=5, per_pair=3)).values()) <= 3
    with pytest.raises(InvalidInput, match="n = 7 is more than 6 pairs of 4 items can make, 1 times each"):
        suggest(problem, n=7, per_pair=1)


def test_pairs_that_are_joined_first_count_among_those_that_came() -> None:
    apart = PairwiseRanking(comparisons={"left": [1, 3, 5], "right": [2, 4, 6], "label": [1, 3, 5]})
    assert pairs_of(suggest(apart, n=15)).most_common(1)[0][1] == 1


@pytest.mark.parametrize("name", ["hodge.l2", "hodge.bradley-terry", "ranking.crowd-bt"])
def test_aimed_pairs_settle_the_first_places(name: str) -> None:
    result = solve(crowd(), name)
    best = set(result.solution.items[result.solution.order[:2]].tolist())
    aimed = suggest(result, n=4, first=2)
    assert all(best & set(pair) for pair in pairs_of(aimed))
    assert (np.diff(aimed["gain"]) < 1e-9).all()


def test_the_aim_is_the_expected_loss_of_a_wrong_order() -> None:
    rng = np.random.default_rng(3)
    scores, root = rng.standard_normal(5), rng.standard_normal((5, 5))
    covariance = root @ root.T
    found = Places(scores, 2).loss(covariance)
    assert found is not None
    loss, slope = found
    first = set(np.argsort(-scores)[:2].tolist())

    def of_pair(i: int, j: int, variance: float) -> float:
        d, s = abs(scores[i] - scores[j]), np.sqrt(variance)
        return float(s * np.exp(-((d / s) ** 2) / 2) / np.sqrt(2 * np.pi) - d * ndtr(-d / s))

    aimed = [(i, j) for i, j in combinations(range(5), 2) if {i, j} & first]
    variance = {(i, j): covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for i, j in aimed}
    assert loss == pytest.approx(sum(of_pair(i, j, variance[i, j]) for i, j in aimed))
    for i, j in combinations(range(5), 2):
        step = 1e-6
        change = 0.0
        if (i, j) in variance:
            change = (of_pair(i, j, variance[i, j] + step) - of_pair(i, j, variance[i, j] - step)) / (
                2 * step
            )
        assert slope[i, j] == slope[j, i] == pytest.approx(change, abs=1e-8)


def test_where_the_first_places_are_settled_the_measure_decides() -> None:
    clear = {"left": [1, 2, 1, 3], "right": [2, 3, 3, 4], "margin": [100.0, 100.0, 200.0, 100.0]}
    result = solve(PairwiseRanking(comparisons=clear), "hodge.l2")
    aimed, plain = suggest(result, n=3, first=1), suggest(result, n=3)
    assert pairs_of(aimed) == pairs_of(plain)


def test_a_vote_on_a_plain_pair_tells_little() -> None:
    problem = crowd()
    known = known_of(problem.comparisons, solve(problem, "hodge.bradley-terry").solution, 2.0)
    p = 1 / (1 + np.exp(known.scores[None, :] - known.scores[:, None]))
    assert known.information == pytest.approx(2 * p * (1 - p))


def test_workers_are_asked_within_their_caps_and_never_twice() -> None:
    problem = crowd()
    done = {
        (worker, *sorted(pair))
        for worker, *pair in zip(
            problem.comparisons.worker_ids[problem.comparisons.worker],
            problem.item_ids[problem.comparisons.left],
            problem.item_ids[problem.comparisons.right],
            strict=True,
        )
    }
    result = solve(problem, "ranking.crowd-bt")
    table = suggest(result, n=15, per_worker=2, per_pair=1)
    assert len(table["worker"]) == 15
    assert max(Counter(table["worker"]).values()) <= 2
    assert max(pairs_of(table).values()) == 1
    asked = {(w, *sorted(p)) for w, *p in zip(table["worker"], table["left"], table["right"], strict=True)}
    assert not asked & done
    # Who votes by a coin is asked last.
    assert not {"w10", "w11"} & set(suggest(result, n=6, per_worker=1)["worker"])


def test_where_workers_cannot_take_all_that_is_wanted_no_pair_comes_twice_and_a_note_says_so() -> None:
    result = solve(crowd(), "ranking.suggest", n=40, per_worker=2)
    pairs = result.to_tables()["next_pairs"]
    assert 15 < len(pairs["left"]) <= 24
    assert (
        max(Counter(frozenset(pair) for pair in zip(pairs["left"], pairs["right"], strict=True)).values())
        == 1
    )
    (note,) = [one.text for one in result.findings if one.identifier == "ranking.next-pairs"]
    assert f"These are {len(pairs['left'])} of 40 wanted: no worker is asked for more than 2" in note


def test_named_workers_may_be_new_and_share_the_pairs_evenly() -> None:
    table = suggest(votes(0), n=6, workers=["ann", "bob", "cy"])
    assert sorted(Counter(table["worker"]).values()) == [2, 2, 2]
    assert set(table["worker"]) == {"ann", "bob", "cy"}


def test_where_workers_have_compared_all_pairs_nothing_is_left_to_ask() -> None:
    rows = {"worker": ["a", "a", "a"], "left": [1, 2, 1], "right": [2, 3, 3], "label": [1, 2, 3]}
    assert len(suggest(PairwiseRanking(comparisons=rows), n=3, per_worker=3)["left"]) == 0
    result = solve(PairwiseRanking(comparisons=rows), "ranking.suggest", n=3, per_worker=3)
    assert any(one.identifier == "ranking.no-next-pair" for one in result.findings)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"first": 0}, "first must be at least 1"),
        ({"first": 2}, "give it as `solution`"),
        ({"per_pair": 0}, "per_pair must be at least 1"),
        ({"per_worker": 0}, "per_worker must be at least 1"),
        ({"per_worker": 2}, "the comparisons name no worker"),
        ({"workers": []}, "workers is an empty list"),
        ({"workers": "ann"}, "workers must be a list of ids"),
        ({"n": 2.5}, "n must be at least 1"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        suggest(votes(0), **more)


def test_more_first_places_than_items_are_refused() -> None:
    with pytest.raises(InvalidInput, match="first must be from 1 to 5"):
        suggest(solve(votes(0), "hodge.l2"), first=6)
    with pytest.raises(Unsuited, match="first must be from 1 to 5"):
        solve(votes(0), "ranking.suggest", first=6)


def test_caps_of_workers_without_the_plugin_of_the_set_name_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(by_name, "_SET", "three-view of a plugin that is not there")
    with pytest.raises(MissingPackage, match="optiframework-tvcs"):
        suggest(crowd(), n=3, per_worker=1)
    with pytest.raises(Unsuited, match="optiframework-tvcs"):
        solve(crowd(), "ranking.suggest", per_worker=1)


@pytest.mark.slow
def test_the_solver_gives_the_answer_of_its_method_and_the_pairs_beside_it() -> None:
    problem = crowd()
    result = solve(problem, "ranking.suggest", n=4, first=2, per_worker=1)
    alone = solve(problem, "ranking.crowd-bt")
    assert np.array_equal(result.solution.scores, alone.solution.scores)
    tables = result.to_tables()
    assert (
        tables["next_pairs"]["left"].tolist() == suggest(alone, n=4, first=2, per_worker=1)["left"].tolist()
    )
    assert "reliability" in tables
    (note,) = [one.text for one in result.findings if one.identifier == "ranking.next-pairs"]
    assert note.startswith("compare next: i")
    assert note.endswith(", and 1 more (table next_pairs)")


def test_margins_are_suggested_for_by_a_file(tmp_path: Path) -> None:
    rows = columns(0, 6, 40)
    lines = [f"{i},{j},{y}" for i, j, y in zip(rows["left"], rows["right"], rows["margin"], strict=True)]
    (tmp_path / "margins.csv").write_text("\n".join(["left,right,margin", *lines]))
    made = optiframe.solver("ranking.suggest", of={"name": "hodge.hlasso", "share": 0.1}, n=3)
    again = optiframe.solver("ranking.suggest", **made.model_dump())
    problem = optiframe.problem("pairwise-ranking", comparisons=tmp_path / "margins.csv")
    one, other = (solve(problem, each).to_tables()["next_pairs"] for each in (made, again))
    assert one["left"].tolist() == other["left"].tolist()
    assert len(one["left"]) == 3
