"""Answers that are none, of a solver of one's own; answers without the truth; and how many were flagged."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking

import optiframe
from optiframe import BrokenPlugin, Iterate, Iterates, NotConverged, Result, Run, Solver
from optiframe.registry.registry import registry

SOLVERS = [one.name for one in registry().entries("solver") if one.distribution == "optiframework-hodgerank"]


@cache
def votes() -> dict[str, Any]:
    """116 votes of four workers on the pairs of eight items, one in eight of them turned round."""
    rng = np.random.default_rng(3)
    left = rng.integers(8, size=116)
    right = (left + rng.integers(1, 8, size=116)) % 8
    winner = np.where((left < right) != (rng.random(116) < 0.125), left, right)
    return {"left": left, "right": right, "label": winner, "worker": rng.integers(4, size=116)}


def solved(solver: Any, comparisons: Any = None, **more: Any) -> Result:
    inputs = {name: more.pop(name) for name in ("truth", "outlier_truth") if name in more}
    problem = PairwiseRanking(comparisons=votes() if comparisons is None else comparisons, **inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return optiframe.solve(problem, solver, **more)


class OwnScores(Solver[PairwiseRanking, Ranking, None]):
    """Gives what the test says: scores through `problem.ranking`, with whatever else."""

    name = "own.scores"
    solves = PairwiseRanking
    given: ClassVar[list[dict[str, Any]]] = []

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        for one in self.given:
            yield Iterate(one)

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        return problem.ranking(**iterate.x)


def own(*given: dict[str, Any]) -> OwnScores:
    class Here(OwnScores):
        pass

    Here.given = list(given)
    return Here()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"scores": np.full(8, np.nan)}, "scores must be 8 finite numbers, .* got nan for item 0 and 7 more"),
        (
            {"scores": np.append(np.zeros(7), np.inf)},
            "scores must be 8 finite numbers, .* got inf for item 7",
        ),
        ({"scores": np.zeros(3)}, "scores must be 8 numbers, one for each item, got 3"),
        ({"scores": np.zeros((8, 1))}, r"one for each item, got shape \(8, 1\)"),
        ({"scores": None}, "one for each item, got NoneType"),
        ({"scores": list("abcdefgh")}, "one for each item, got list"),
        ({"scores": [[1.0], [2.0, 3.0]]}, "one for each item, got list"),
        ({"scores": np.zeros(8), "outliers": np.zeros(5)}, "outliers must be .* each merged row, got 5"),
        (
            {"scores": np.zeros(8), "entry": np.zeros(116)},
            "entry must be .* got 116; those of the caller's rows",
        ),
        ({"scores": np.zeros(8), "strength": [1.0]}, "strength must be .* each merged row, got 1"),
        ({"scores": np.zeros(8), "intervals": (np.zeros(8), np.zeros(2))}, "high must be 8 numbers.*got 2"),
    ],
)
def test_an_answer_without_a_number_for_each_is_laid_to_the_solver(answer: Any, message: str) -> None:
    with pytest.raises(
        BrokenPlugin, match=f"^own.scores does not give an answer to 'pairwise-ranking': .*{message}"
    ):
        solved(own(answer))


def test_scores_that_cease_to_be_numbers_are_said_and_everything_else_still_is() -> None:
    with np.errstate(invalid="ignore"):
        result = solved(own({"scores": np.arange(8.0)}, {"scores": np.append(np.arange(7.0), np.nan)}))
    (said,) = [one for one in result.findings if one.level == "error"]
    assert said.text == "1 of 8 scores are not finite numbers, so do not use the ranking: 7"
    assert len(result.to_tables()["workers"]["worker"]) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_no_bit_of_an_answer_depends_on_the_truth(name: str) -> None:
    if optiframe.why_unsuited(PairwiseRanking(comparisons=votes()), optiframe.solver(name)) is not None:
        with pytest.raises(optiframe.Unsuited):
            solved(name)
        return
    known = {
        "truth": {"item": [*range(7, -1, -1), 99], "score": [float(k) for k in range(9)]},
        "outlier_truth": np.arange(116) % 8 == 0,
    }
    few = {"draws": 20} if name == "hodge.bootstrap" else {}
    alone, told = (solved(name, seed=1, **few, **more) for more in ({}, known))
    assert np.array_equal(told.solution.scores, alone.solution.scores)
    for part in ("outliers", "entry", "strength", "low", "high"):
        ours, theirs = getattr(told.solution, part), getattr(alone.solution, part)
        assert (ours is None and theirs is None) or np.array_equal(ours, theirs, equal_nan=True)
    assert [one for one in told.findings if "of the truth" not in one.text] == list(alone.findings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hodge.lbi", "hodge.hlasso", "hodge.iss", "hodge.hlasso-l2"])
def test_how_many_comparisons_were_flagged_is_said_and_why(name: str) -> None:
    def said(**parameters: Any) -> str:
        result = solved(name, **parameters)
        (text,) = [one.text for one in result.findings if "taken for outliers" in one.text]
        assert text.startswith(f"{len(result.solution.flagged)} of 116 comparisons taken for outliers (")
        return text[text.index("(") :]

    assert said() == "(share = 0.05, the default)"
    assert said(share=0.1) == "(share = 0.1)"
    to = "t" if name in ("hodge.lbi", "hodge.iss") else "lambda_"
    assert said(**{to: 1.25}) == f"({to} = 1.25)"
    if name == "hodge.iss":
        return
    assert said(stop_rule="huber").endswith(", by stop_rule = huber)")
    if name == "hodge.lbi":
        assert said(budget={"iterations": 2}) == "(share = 0.05, the default, which was not reached)"
