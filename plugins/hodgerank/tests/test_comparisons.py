"""The record of comparisons that everything else reads."""

from __future__ import annotations

import pickle

import pytest
from optiframe_hodgerank import RobustRanker, conditions, hodge_split, suggest, transitivity
from optiframe_hodgerank.data import comparisons_of
from optiframe_hodgerank.problem import answer_of

import optiframe

VOTES = {"left": ["a", "b", "a", "c"], "right": ["b", "c", "c", "a"], "label": ["a", "b", "c", "c"]}


def test_what_is_computed_once_is_not_pickled() -> None:
    comparisons = optiframe.problem("pairwise-ranking", comparisons=VOTES).comparisons
    scores = comparisons.graph.scores(comparisons.graph.margin)
    again = pickle.loads(pickle.dumps(comparisons))
    assert not {"merged", "graph"} & set(vars(again))
    assert again.graph.scores(again.graph.margin).tolist() == scores.tolist()


def test_tools_take_a_problem_a_result_and_a_fitted_ranker_alike() -> None:
    problem = optiframe.problem("pairwise-ranking", comparisons=VOTES)
    result, ranker = optiframe.solve(problem, "hodge.l2"), RobustRanker().fit(VOTES)
    for source in (problem, problem.comparisons, result, ranker):
        assert transitivity(source) == transitivity(problem)
        assert hodge_split(source).shares == hodge_split(problem).shares


def test_tools_take_an_answer_and_its_result_alike() -> None:
    drawn = {"name": "pairwise.random-order", "items": 6, "comparisons": 60, "outlier_share": 0.1}
    result = optiframe.solve(optiframe.problem(dataset=drawn), "hodge.lbi")
    problem, solution = result.problem, result.solution
    assert solution.outliers.any()
    assert conditions(problem, result) == conditions(problem, solution)
    wanted = suggest(problem, solution, 2)
    for found in (suggest(problem, result, 2), suggest(result, n=2)):
        assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in wanted.items()}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "not a NoneType$"),
        ([1, 2], "not a list$"),
        (RobustRanker(), "RobustRanker has learnt nothing yet; call fit"),
    ],
)
def test_what_has_no_comparisons_and_no_answer_is_refused(source: object, words: str) -> None:
    with pytest.raises(optiframe.InvalidInput, match=words):
        comparisons_of(source)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(optiframe.InvalidInput, match=words):
        answer_of(source)
