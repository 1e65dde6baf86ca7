"""Figures that pages quote are what their benchmark prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optiframe_rankone.problem import LabelAggregation

BENCH = Path(__file__).parents[3] / "examples" / "bench"


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_pages_quote_what_the_errors_on_the_shipped_sets_are() -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "labels_shipped_sets.py"], capture_output=True, text=True, check=True
    )
    table, *_ = done.stdout.split("\n\n")
    assert re.search(r"mean error of labels.crowd .* target at most 1: reached", done.stdout)
    for page in ("howto/choose-a-solver.md", "methods/rankone.md"):
        assert table in (BENCH.parents[1] / "docs" / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("page", ["howto/choose-a-solver.md", "methods/rankone.md", "decisions/rankone.md"])
def test_figures_of_sets_that_are_not_here_say_so(page: str) -> None:
    text = " ".join((BENCH.parents[1] / "docs" / page).read_text(encoding="utf-8").split())
    assert text.count("ten other real label sets, which are not shipped here") == 1
    assert "ten real" not in text


def test_the_reason_of_the_recommendation_names_no_sets_that_are_not_here() -> None:
    problem = LabelAggregation(labels={"task": [0, 0], "worker": [0, 1], "label": [0, 1]})
    ((solver, reason),) = problem.recommended()
    assert solver == "labels.crowd"
    assert "five real label sets, which helped to choose it" in reason


def test_confusion_matrices_too_large_for_memory_are_not_recommended() -> None:
    labels = {
        "task": np.arange(12_000) // 2,
        "worker": np.arange(12_000) % 4_000,
        "label": np.arange(12_000) % 160,
    }
    ((solver, reason),) = LabelAggregation(labels=labels).recommended()
    assert solver == "labels.one-coin-em"
    assert "4000 workers and 160 classes" in reason
