"""Workers: exact chances against enumeration, and the right ones named."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.answer_tables import wilson
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.kernels.reference_votes import _binomial as binomial
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.workers import count_workers, holm, suspicious
from scipy.stats import binom

import optiframe

ITEMS = 8


def crowd(seed: int, *, honest: int = 12, clicks: int = 0, reverses: int = 0, rows: int = 60) -> Any:
    """Votes by honest workers (right 9 times of 10), by some who click left, and some who reverse."""
    rng = np.random.default_rng(seed)
    count = honest + clicks + reverses
    worker = np.repeat(np.arange(count), rows)
    left = rng.integers(ITEMS, size=len(worker))
    right = (left + rng.integers(1, ITEMS, size=len(worker))) % ITEMS
    better = np.maximum(left, right)
    worse = np.minimum(left, right)
    label = np.where(rng.random(len(worker)) < 0.9, better, worse)
    label = np.where(worker >= honest, left, label)
    label = np.where(worker >= honest + clicks, worse, label)
    names = np.array([f"w{one:02}" for one in range(count)], dtype=object)
    return {"worker": names[worker], "left": left, "right": right, "label": label}


def solved(rows: dict[str, Any], solver: str = "hodge.l2") -> tuple[Comparisons, Any]:
    problem = PairwiseRanking(comparisons=rows)
    return problem.comparisons, optiframe.solve(problem, solver).solution


def test_who_clicks_left_and_who_reverses_are_named_and_nobody_else() -> None:
    comparisons, solution = solved(crowd(0, clicks=2, reverses=1))
    found = {finding.about: finding.text for finding in suspicious(comparisons, solution)}
    assert set(found) == {("w12", "w13"), ("w14",)}
    assert "chose the same side" in found["w12", "w13"]
    assert found["w12", "w13"].startswith("2 workers")
    assert ": w12, w13 (test at 5%" in found["w12", "w13"]
    assert "worker w14 contradicts the ranking in more than half" in found[("w14",)]
    assert "ranking.crowd-bt counts votes by the reliability" in found[("w14",)]


def test_a_method_that_weighs_workers_names_each_of_them_for_one_thing() -> None:
    rows = crowd(0, honest=20, clicks=2, reverses=2)
    result = optiframe.solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt")
    about = {(each.identifier, each.about): each.text for each in result.findings if each.level == "warning"}
    assert set(about) == {
        ("ranking.unreliable-worker", ("w22", "w23")),
        ("ranking.unreliable-worker", ("w20", "w21")),
        ("ranking.same-side-worker", ("w20", "w21")),
    }
    habit = about["ranking.same-side-worker", ("w20", "w21")]
    assert habit.endswith("all of them are already named as unreliable")
    remarks = result.to_tables()["workers"]["remark"].tolist()
    assert remarks[20:22] == ["unreliable, clicks left"] * 2
    assert remarks[22:] == ["votes against the ranking"] * 2
    assert not any(remarks[:20])


def test_whom_only_the_test_finds_is_still_named() -> None:
    rows = crowd(0, reverses=1)
    problem = PairwiseRanking(comparisons=rows)
    answer = optiframe.solve(problem, "ranking.crowd-bt").solution
    unaware = replace(answer, verdicts=np.full(len(problem.comparisons.worker_ids), "", dtype=object))
    assert {each.about for each in suspicious(problem.comparisons, answer)} == set()
    found = list(suspicious(problem.comparisons, unaware))
    assert [each.about for each in found] == [("w12",)]
    assert "crowd-bt" not in found[0].text


def test_who_may_only_guess_is_not_accused_of_voting_against() -> None:
    # Of six votes, four against the ranking: surely not reliable, and perhaps no more than a guesser.
    rows = crowd(1, honest=30, reverses=3)
    known = optiframe.solve(PairwiseRanking(comparisons=rows), "ranking.crowd-bt").detail
    chance = known.belief[:, :5].sum(axis=1)  # of a share of at most 0.4
    assert known.against.sum() == 3
    doubtful = replace(
        known,
        belief=np.vstack([known.belief, np.full(11, 1 / 7) * (np.arange(11) < 7)]),
        worker=np.append(known.worker, "w99"),
        votes=np.append(known.votes, 6),
    )
    assert chance[known.against].min() > 0.8
    assert doubtful.flagged[-1]
    assert not doubtful.against[-1]
    assert doubtful.verdicts[-1] == "unreliable"


def test_the_findings_and_the_table_of_an_answer_say_so() -> None:
    problem = PairwiseRanking(comparisons=crowd(0, clicks=1, reverses=1))
    result = optiframe.solve(problem, "hodge.lbi")
    assert any("chose the same side" in finding.text for finding in result.findings)
    table = result.to_tables()["workers"]
    assert table["remark"].tolist() == [""] * 12 + ["clicks left", "contradicts the ranking"]
    assert table["left_share"][12] == 1.0
    assert table["contradiction_rate"][13] > 0.8
    assert (table["rate_low"] <= table["rate"]).all()
    without = optiframe.solve(problem, "hodge.l2").to_tables()["workers"]
    assert list(without)[:3] == ["worker", "comparisons", "contradictions"]


def test_better_items_on_one_side_accuse_nobody_of_clicking() -> None:
    rows = crowd(2)
    lost = np.where(rows["label"] == rows["left"], rows["right"], rows["left"])
    assert not list(suspicious(*solved({**rows, "left": rows["label"], "right": lost})))  # by outcome
    better, worse = np.maximum(rows["left"], rows["right"]), np.minimum(rows["left"], rows["right"])
    counts = count_workers(*solved({**rows, "left": better, "right": worse}))
    assert counts is not None
    assert counts.left_share.mean() > 0.85
    assert not counts.clickers.any()


def test_a_mirror_of_the_data_swaps_left_and_right_and_nothing_else() -> None:
    rows = crowd(4, clicks=1)
    mirrored = {**rows, "left": rows["right"], "right": rows["left"]}
    one, other = (count_workers(*solved(data)) for data in (rows, mirrored))
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.left_share, 1 - other.left_share)
    np.testing.assert_allclose(one.position_p, other.position_p, rtol=1e-9)
    assert one.remarks[-1] == "clicks left"
    assert other.remarks[-1] == "clicks right"


def test_counts_are_those_of_a_loop() -> None:
    rows = crowd(5, reverses=1, rows=20)
    rows["label"] = [None if at % 7 == 0 else label for at, label in enumerate(rows["label"].tolist())]
    rows["worker"] = [None if at % 11 == 0 else name for at, name in enumerate(rows["worker"].tolist())]
    comparisons, solution = solved(rows)
    counts = count_workers(comparisons, solution)
    assert counts is not None
    score = dict(zip(solution.items.tolist(), solution.scores.tolist(), strict=True))
    for code, name in enumerate(comparisons.worker_ids.tolist()):
        mine = [at for at, who in enumerate(rows["worker"]) if who == name]
        decided = [at for at in mine if rows["label"][at] is not None]
        lost = {at: rows["left"][at] + rows["right"][at] - rows["label"][at] for at in decided}
        assert counts.comparisons[code] == len(mine)
        assert counts.decided[code] == counts.judged[code] == len(decided)
        assert counts.left[code] == sum(rows["label"][at] == rows["left"][at] for at in decided)
        against = sum(score[rows["label"][at]] < score[lost[at]] for at in decided)
        assert counts.contradictions[code] == against


def test_a_workers_chance_is_that_of_all_answers_enumerated() -> None:
    rows = {
        "worker": ["a"] * 4 + ["b"] * 6,
        "left": [0, 0, 1, 2, 0, 0, 1, 2, 1, 2],
        "right": [1, 2, 2, 0, 1, 2, 2, 0, 0, 1],
        "label": [0, 0, 1, 2, 0, 0, 1, 0, 0, 2],
    }
    comparisons, solution = solved(rows)
    counts = count_workers(comparisons, solution)
    assert counts is not None
    s = solution.scores
    kind = np.sign(np.round(s[np.array(rows["left"])] - s[np.array(rows["right"])], 9))
    went_left = np.array(rows["label"]) == np.array(rows["left"])
    chance = {k: (went_left[4:][kind[4:] == k].sum() + 1) / ((kind[4:] == k).sum() + 2) for k in (-1, 0, 1)}
    seen, at_most, at_least = int(went_left[:4].sum()), 0.0, 0.0
    for answers in product([0, 1], repeat=4):
        likely = np.prod([chance[k] if a else 1 - chance[k] for a, k in zip(answers, kind[:4], strict=True)])
        at_most += likely * (sum(answers) <= seen)
        at_least += likely * (sum(answers) >= seen)
    assert counts.position_p[0] == pytest.approx(min(1.0, 2 * min(at_most, at_least)))
    assert counts.adversary_p[0] == pytest.approx(binom.sf(counts.contradictions[0] - 1, 4, 0.5))


@settings(max_examples=40)
@given(st.integers(0, 5000), st.floats(0.001, 0.999))
def test_binomial_chances_are_right_and_sum_to_one(trials: int, share: float) -> None:
    chances, first = binomial(trials, share)
    np.testing.assert_allclose(
        chances, binom.pmf(first + np.arange(len(chances)), trials, share), rtol=1e-8, atol=1e-300
    )
    assert chances.sum() == pytest.approx(1.0)


@settings(max_examples=60)
@given(st.lists(st.floats(0.0, 0.2), min_size=1, max_size=8))
def test_holm_rejects_as_the_steps_say(p: list[float]) -> None:
    left, expected = list(range(len(p))), np.zeros(len(p), dtype=bool)
    while left:
        least = min(left, key=lambda at: p[at])
        if p[least] * len(left) > 0.05:
            break
        expected[least] = True
        left.remove(least)
    np.testing.assert_array_equal(holm(np.array(p)), expected)


@settings(max_examples=40)
@given(st.integers(1, 300), st.floats(0, 1))
def test_wilsons_interval_holds_the_shares_a_score_test_does_not_reject(count: int, part: float) -> None:
    hits = round(part * count)
    low, high = (float(end[0]) for end in wilson(np.array([hits]), np.array([count])))
    for end in (low, high):
        if 0 < end < 1:
            z = (hits / count - end) / np.sqrt(end * (1 - end) / count)
            assert abs(z) == pytest.approx(1.6448536)
    assert 0 <= low <= hits / count + 1e-12
    assert hits / count - 1e-12 <= high <= 1


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_worker_of_human_age_who_answers_the_other_way_round_is_named() -> None:
    result = optiframe.solve(optiframe.problem(dataset="pairwise.human-age"), "hodge.lbi")
    named = {finding.about for finding in result.findings if "contradict" in finding.text and finding.about}
    assert (5,) in named  # 136 of 150 against the ranking
