"""What cannot be known is said, and never filled in from the start."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation

import optiframe

from .slow import rows, said

DESCENTS = ("rankone.pgd", "rankone.coordinate")
SOLVERS = (*DESCENTS, "rankone.exponentiated", "scipy.lbfgs")


def clique(size: int) -> np.ndarray:
    return np.ones((size, size)) - np.eye(size)


def ring(size: int) -> np.ndarray:
    step = np.roll(np.eye(size), 1, axis=1)
    return step + step.T


def every_pattern(classes: int, workers: int) -> dict[str, list[int]]:
    """Each way in which the workers can answer, once: all correlations are 0."""
    patterns = enumerate(itertools.product(range(classes), repeat=workers))
    return rows(*((t, worker, label) for t, labels in patterns for worker, label in enumerate(labels)))


# All correlations 0


@pytest.mark.parametrize("solver", DESCENTS)
@pytest.mark.parametrize(("classes", "workers"), [(2, 4), (3, 4), (2, 5)])
def test_labels_without_any_correlation_give_no_skill_and_tie_every_task(
    solver: str, classes: int, workers: int
) -> None:
    result = optiframe.solve(LabelAggregation(labels=every_pattern(classes, workers)), solver)
    assert result.solution.skills.tolist() == [0.0] * workers
    assert result.solution.tied.all()
    assert said(result, "every skill is zero").level == "error"


@pytest.mark.parametrize("solver", DESCENTS)
def test_an_entry_whose_partners_all_end_at_0_does_not_keep_its_start(solver: str) -> None:
    zero = RankOneCompletion(weights=clique(4), values=np.zeros((4, 4)))
    assert optiframe.solve(zero, solver).solution.tolist() == [0.0] * 4
    # Against their bounds rather than by a value of 0.
    against = RankOneCompletion(weights=clique(3), values=-clique(3), lower=0.0, start=[0.5, 0.5, 0.5])
    assert optiframe.solve(against, solver).solution.tolist() == [0.0] * 3


@pytest.mark.parametrize("solver", DESCENTS)
def test_who_never_had_anybody_to_compare_with_keeps_the_start_and_is_named(solver: str) -> None:
    upper = np.array([1.0, 0.0, 0.0])
    held = RankOneCompletion(weights=clique(3), values=clique(3), lower=np.zeros(3), upper=upper)
    result = optiframe.solve(held, solver)
    assert result.solution.tolist() == [0.5, 0.0, 0.0]
    assert said(result, "only together with rows that the bounds hold at 0").about == (0,)


def test_a_worker_who_only_meets_newcomers_is_named_as_assumed() -> None:
    labels = rows(*(row for t in range(6) for row in ((t, "ann", t % 2), (t, f"new{t}", 0))))
    result = optiframe.solve(LabelAggregation(labels=labels), "rankone.coordinate")
    assert said(result, "only with workers without weight").about == ("ann",)


# Rank-one completion


BAD: dict[str, tuple[np.ndarray, np.ndarray, str, tuple[int, ...]]] = {
    "an even ring": (ring(4), np.full((4, 4), 0.25), "in a bipartite group", (0, 1, 2, 3)),
    "two rows": (clique(2), np.full((2, 2), 0.25), "in a bipartite group", (0, 1)),
    "two groups": (np.kron(np.eye(2), clique(3)), np.full((6, 6), 0.25), "outside the largest", (3, 4, 5)),
    "a row alone": (np.pad(clique(3), (0, 1)), np.full((4, 4), 0.25), "without a known entry", (3,)),
    "no entry at all": (np.zeros((3, 3)), np.full((3, 3), 0.25), "every weight is 0", ()),
    "all values zero": (clique(4), np.zeros((4, 4)), "every known value is 0", ()),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", BAD)
def test_what_the_known_entries_leave_open_is_said_whatever_the_solver(case: str, solver: str) -> None:
    weights, values, words, about = BAD[case]
    result = optiframe.solve(RankOneCompletion(weights=weights, values=values), solver)
    found = said(result, words)
    assert found.about == about
    assert found.level in ("warning", "error")


def test_entries_that_tell_everything_bring_a_note_on_the_sign_alone() -> None:
    problem = RankOneCompletion(weights=ring(5), values=np.full((5, 5), 0.25))
    findings = optiframe.solve(problem, "rankone.pgd").findings
    assert [(finding.level, finding.text[:8]) for finding in findings] == [("note", "x and -x")]
    positive = problem.model_copy(update={"lower": 0.0})
    assert optiframe.solve(positive, "rankone.pgd").findings == ()
