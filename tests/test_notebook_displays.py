"""What notebooks show: cells of tables, and the words of objects that have no table."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import optiframe
from optiframe.notebook import table
from optiframe.numbers import DASH
from optiframe.report.drawing import Scale, tick
from optiframe.testing import Certificate


def test_unknown_numbers_are_a_dash_and_rounding_is_zero() -> None:
    shown = table({"residual": [math.nan, -0.0, 3.7e-17, 1.0068e-5]})
    cells = [part.partition("</td>")[0] for part in shown.split('<td class="number">')[1:]]
    assert cells == [DASH, "0", "0", "1.01e-5"]


@pytest.mark.parametrize("items", [["tea", "milk"], np.array(["tea", "milk"])])
def test_text_is_not_set_as_numbers_are(items: object) -> None:
    assert "<th>item</th>" in table({"item": items})
    assert '<th class="number">rank</th>' in table({"rank": np.array([1, 2])})


def test_an_objective_of_a_function_shows_no_place_in_memory() -> None:
    bowl = optiframe.Minimize(optiframe.from_function(lambda x: (x**2).sum(), shape=2))
    assert "0x" not in repr(bowl) + bowl._repr_html_()


def test_a_certificate_shows_its_sentence_first() -> None:
    shown = Certificate("agrees", "agrees with CVXPY")._repr_html_()
    assert shown.index("<p>agrees with CVXPY</p>") < shown.index("<details>")


@pytest.mark.parametrize("high", [1.6, 4.0, 9.9, 37.0, 63.0])
def test_labels_of_a_logarithmic_axis_do_not_overlap(high: float) -> None:
    scale = Scale(1.7e-4, 1.7e-4 * high, 55.0, 430.0, log=True)
    ticks = scale.ticks()
    assert ticks
    for one, other in pairwise(ticks):
        assert scale(other) - scale(one) > 6.3 * (len(tick(one)) + len(tick(other))) / 2
