"""Pictures: what they show, read from the figures themselves."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_manifold.plots.methods import plot_convergence, plot_error, plot_time

import optiframe
from optiframe import InvalidInput

from .cases import drawn

pytestmark = pytest.mark.slow  # seconds together, for matplotlib


@cache
def runs() -> dict[str, Any]:
    problem = drawn(15, 12, 5.0)
    return {
        "spectral": optiframe.solve(problem, "manifold.trust-region"),
        "random": optiframe.solve(problem, "manifold.trust-region", init="random"),
    }


def table() -> pd.DataFrame:
    rows = [
        {"solver": solver, "d": d, "K": 100 * d, "error": scale / d + seed / 100, "seconds": scale * d + seed}
        for solver, scale in (("one", 1.0), ("other", 2.0))
        for d in (2.0, 5.0, 10.0)
        for seed in range(5)
    ]
    return pd.DataFrame(rows)


def words(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_convergence_has_a_panel_for_each_quantity_and_axis() -> None:
    figure = plot_convergence(runs())
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "gradient norm",
        "",
        "objective less the best of all",
        "",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "outer iterations", "seconds"]
    assert words(figure) == ["spectral", "random"]
    first = figure.axes[0].lines[0]
    np.testing.assert_allclose(first.get_ydata(), runs()["spectral"].trace["residual"])
    assert all(axes.get_yscale() == "log" for axes in figure.axes)


def test_differences_that_are_rounding_are_not_shown() -> None:
    figure = plot_convergence(runs(), ("gap",), ("time",))
    shown = np.concatenate([line.get_ydata() for line in figure.axes[0].lines])
    assert len(figure.axes) == 1
    assert shown.min() > 1e-15 * runs()["random"].objective


def test_the_legend_stays_within_the_page() -> None:
    longer = {f"a solver of a rather long name, {k}": run for k, run in runs().items()}
    figure = plot_convergence(longer, ("gradient",), ("time",))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_errors_are_medians_with_quartiles() -> None:
    figure = plot_error(table())
    axes = figure.axes[0]
    assert words(figure) == ["one", "other"]
    np.testing.assert_allclose(axes.lines[1].get_ydata(), [2 / d + 0.02 for d in (2, 5, 10)])
    band = axes.collections[0].get_paths()[0].vertices
    at = band[band[:, 0] == 2.0][:, 1]
    assert (at.min(), at.max()) == pytest.approx((0.51, 0.53))
    assert axes.get_xlabel() == "rescaled sample size d"
    assert axes.get_ylim()[0] == 0.0


def test_times_are_on_two_logarithmic_axes_with_plain_numbers() -> None:
    figure = plot_time(table())
    axes = figure.axes[0]
    figure.draw_without_rendering()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["200", "500", "1,000"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [4.0, 7.0, 12.0])


def test_what_cannot_be_drawn_says_why() -> None:
    other = optiframe.solve(drawn(12, 10, 5.0, rank=1), "manifold.trust-region")
    with pytest.raises(InvalidInput, match="solved different problems"):
        plot_convergence(runs() | {"other": other})
    with pytest.raises(InvalidInput, match="at least one result"):
        plot_convergence({})
    with pytest.raises(InvalidInput, match="quantities must be some of gradient, gap"):
        plot_convergence(runs(), ("slope",))  # type: ignore[arg-type]  # a wrong one
    with pytest.raises(InvalidInput, match="runs has no column 'seconds'"):
        plot_time(table().drop(columns="seconds"))
    with pytest.raises(InvalidInput, match=r"runs row 0: the seconds is 0\.0; it must be a positive number"):
        plot_time(table().assign(seconds=0.0))
    with pytest.raises(InvalidInput, match="runs row 0: the error is much; it must be a finite number"):
        plot_error(table().assign(error="much"))
