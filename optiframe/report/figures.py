"""Figures for a paper, by Matplotlib: convergence of a problem, performance and data profiles.

Drawn without pyplot, so that nothing global changes; the width is a column of a paper or two,
text stays text in a PDF, and dashes and markers tell the solvers apart without colour.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from optiframe.comparison.records import Records
from optiframe.comparison.stats import convergence as curves_of
from optiframe.comparison.stats import profiles
from optiframe.comparison.stats.distances import distances, targets
from optiframe.comparison.stats.evaluation_profiles import ACCURACIES, evaluation_profile
from optiframe.comparison.stats.loss_table import measures
from optiframe.errors import InvalidInput, require
from optiframe.report.charts import AXES, MERIT
from optiframe.report.looks import Look, looks
from optiframe.report.writing import stem, write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMN, _WIDE = 3.3, 6.9  # inches: one and two columns of the usual journal page
_ENTRY = 0.14  # inches that a line of the legend is high
_FORMATS = ("pdf", "png")
_STYLE = {
    "font.size": 8,  # what is left of 10 points in the text when captions are 9
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "pdf.fonttype": 42,  # TrueType, which publishers ask for; Matplotlib's own default is type 3
    "axes.unicode_minus": False,
}


def write_figures(
    records: Records, folder: str | Path, *, formats: Sequence[str] = _FORMATS, wide: bool = False
) -> list[Path]:
    """Write convergence of each problem and both profiles; gives the files written.

    Parameters
    ----------
    records
        The comparison.
    folder
        Where to write; made when it is missing.
    formats
        "pdf" (text stays text) and "png" (300 dots an inch).
    wide
        As wide as two columns of a paper (6.9 inches) rather than one (3.3 inches).

    Returns
    -------
    list of Path
        Empty when no run has an objective to draw.

    Raises
    ------
    MissingPackage
        Without Matplotlib.
    InvalidInput
        For an unknown format, or when a file cannot be written.
    """
    for kind in formats:
        if kind not in _FORMATS:
            raise InvalidInput(f"a figure can be {' or '.join(_FORMATS)}, not {kind!r}")
    written = []
    for name, make in _all(records, wide):
        figure = make()
        written += [write_bytes(Path(folder) / f"{name}.{kind}", _rendered(figure, kind)) for kind in formats]
    return written


def convergence(records: Records, problem: str, *, wide: bool = False) -> Figure:
    """Suboptimality of one problem against time and iterations, medians with bands over seeds."""
    drawn = {
        against: [c for c in curves_of.convergence(records, against=against) if c.problem == problem]
        for against in ("time", "iterations")
    }
    figure, axes = _figure(wide, panels=2)
    for axis, (against, curves) in zip(axes, drawn.items(), strict=True):
        floor = _floor(curves)
        # A band that reaches up to a failure ends with the highest of the others.
        top = max((v for c in curves for v in (*c.median, *c.high) if math.isfinite(v)), default=1.0)
        for curve in curves:
            look = looks(records.solvers)[curve.solver]
            middle = _raised(curve.median, floor)
            _line(axis, curve.x, middle, look, curve.solver, hollow=True)
            # The last answer alone was judged apart from the solver.
            axis.plot(curve.x[-1:], middle[-1:], color=look.light, marker=look.marker, markersize=3.5)
            low, high = _raised(curve.low, floor), _raised(curve.high, floor, top)
            axis.fill_between(curve.x, low, high, step="post", color=look.light, alpha=0.15, linewidth=0)
        axis.set_xlabel(AXES[against])
        if curves:
            axis.set_yscale("log")
        axis.set_xlim(left=0)
    axes[0].set_ylabel("suboptimality")
    if not any(drawn.values()):
        _say(axes[0], "no objective was recorded")
    # At 8.5 points a letter is about .07 inches wide.
    figure.suptitle(_plain(problem, int((_WIDE if wide else _COLUMN) / 0.07)), fontsize=8.5)
    return _legend(figure, axes, wide)


def profile(
    records: Records,
    kind: Literal["performance", "data"],
    *,
    gap: float | None = None,
    measure: str | None = None,
    within: float | None = None,
    wide: bool = False,
) -> Figure:
    """The performance or data profile of time at one gap (the middle one by default), or by a metric."""
    how, words = _target(records, gap, measure, within)
    if kind == "performance":
        curves, label = profiles.performance_profile(records, **how), "time as a multiple of the best"
    else:
        curves, label = profiles.data_profile(records, **how), AXES["time"]
    return _profile_of(records, curves, f"{label}\n{words}", wide)


def _profile_of(records: Records, curves: Sequence[profiles.Curve], label: str, wide: bool) -> Figure:
    figure, (axis,) = _figure(wide, panels=1)
    for curve in curves:
        _line(axis, curve.x, curve.y, looks(records.solvers)[curve.solver], curve.solver)
    axis.set_xscale("log")
    _readable(axis.xaxis)
    axis.set_ylim(-0.02, 1.04)
    axis.set_xlabel(label)
    axis.set_ylabel("share of runs")
    return _legend(figure, [axis], wide)


def evaluations_profile(
    records: Records, kind: Literal["performance", "data"], *, accuracy: float, wide: bool = False
) -> Figure:
    """The performance or data profile on histories of evaluations, to an accuracy."""
    curves = evaluation_profile(records, kind, accuracy=accuracy)
    label = "evaluations as a multiple of the fewest" if kind == "performance" else AXES[MERIT]
    return _profile_of(records, curves, f"{label}\nmissing {accuracy:g} of the decrease", wide)


def _all(records: Records, wide: bool) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Names of files and how to make each figure, of those with something to show."""
    taken: set[str] = set()
    drawn = {curve.problem for curve in curves_of.convergence(records, against="iterations")}
    for problem in records.problems:
        if problem in drawn:
            own = stem(problem) or "problem"
            name = next(n for k in range(len(taken) + 1) if (n := f"{own}-{k}" if k else own) not in taken)
            taken.add(name)
            yield f"convergence-{name}", partial(convergence, records, problem, wide=wide)
    shown: dict[str, dict[str, Any]] = {
        f"{gap:g}": {"gap": gap}
        for gap in records.gaps
        if any(max(curve.y, default=0) > 0 for curve in profiles.data_profile(records, gap=gap))
    }
    # The primary metric is drawn too: it compares what suboptimality does not.
    measure = next(iter(measures(records)), "suboptimality")
    if measure != "suboptimality" and len(records.solvers) > 1:
        shown[stem(measure)] = {"measure": measure}
    for accuracy in ACCURACIES:
        if evaluation_profile(records, "data", accuracy=accuracy):
            for kind in ("performance", "data"):
                made = partial(evaluations_profile, records, kind, accuracy=accuracy, wide=wide)
                yield f"{kind}-profile-evaluations-{accuracy:g}", made
    for name, how in shown.items():
        yield f"performance-profile-{name}", partial(profile, records, "performance", wide=wide, **how)
        yield f"data-profile-{name}", partial(profile, records, "data", wide=wide, **how)


def _target(
    records: Records, gap: float | None, measure: str | None, within: float | None
) -> tuple[dict[str, Any], str]:
    """What a profile counts as solved: for `performance_profile`, and in words."""
    if measure not in (None, "suboptimality"):
        if within is None and gap is None:
            # The closest power of ten that is not the best alone.
            within = next((d for d in reversed(targets(distances(records, measure))) if d > 0), 0.0)
        how: dict[str, Any] = {"measure": measure, "within": within, "gap": gap}
        return how, f"{measure} within {within} of the best" if within else f"best {measure}"
    ordered = sorted(records.gaps) or [1e-4]
    chosen = ordered[len(ordered) // 2] if gap is None else gap
    return {"gap": chosen, "within": within}, f"gap {chosen:g}"


def _figure(wide: bool, panels: int) -> tuple[Figure, list[Any]]:
    matplotlib = require("matplotlib", "report")
    module = require("matplotlib.figure", "report")
    width = _WIDE if wide else _COLUMN
    # Panels stand under each other in one column and side by side in two.
    shape = (1, panels) if wide else (panels, 1)
    with matplotlib.rc_context(_STYLE):
        figure: Figure = _displayed(module.Figure)(
            figsize=(width, 2.3 * shape[0] + 0.5), layout="constrained"
        )
        axes = figure.subplots(*shape, squeeze=False)
    return figure, list(axes.flat)


@cache
def _displayed(kind: type[Figure]) -> type[Figure]:
    """Figures that a notebook shows although pyplot is not loaded, which would register them."""

    def _repr_png_(self: Figure) -> bytes:
        return _rendered(self, "png", dpi=120)

    return type("Figure", (kind,), {"_repr_png_": _repr_png_, "__doc__": kind.__doc__})


def _readable(axis: Any) -> None:
    """Plain numbers on a logarithmic axis, between the powers of ten too where it spans only few."""
    ticker = require("matplotlib.ticker", "report")
    low, high = axis.get_view_interval()
    between = ((10, (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)), (100, (1.0, 2.0, 5.0)), (math.inf, (1.0,)))
    axis.set_major_locator(ticker.LogLocator(subs=next(subs for most, subs in between if high / low <= most)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _line(
    axis: Any, x: Sequence[float], y: Sequence[float], look: Look, label: str, *, hollow: bool = False
) -> None:
    axis.plot(
        x,
        y,
        color=look.light,
        # In units of the line's width, as the page has them at its own.
        linestyle=(0, tuple(length / 2.2 for length in look.dashes)) if look.dashes else "solid",
        marker=look.marker,
        markevery=0.13,  # by distance along the curve, however its points are spaced
        markersize=3.5,
        markerfacecolor="white" if hollow else look.light,
        linewidth=1.3,
        drawstyle="steps-post",
        label=_plain(label),
    )


def _legend(figure: Figure, axes: Sequence[Any], wide: bool) -> Figure:
    """One legend below all panels, where it can cover no curve, in as many columns as fit."""
    drawn = [axis.get_legend_handles_labels() for axis in axes]
    found = {
        label: handle for handles, labels in drawn for handle, label in zip(handles, labels, strict=True)
    }
    if found:
        # At 7 points a letter is about .055 inches wide, and the line with its gaps .5.
        entry = 0.5 + 0.055 * max(len(label) for label in found)
        columns = max(1, min(len(found), int((_WIDE if wide else _COLUMN) / entry)))
        # A long legend makes the figure taller, not the panels smaller.
        figure.set_figheight(figure.get_figheight() + _ENTRY * max(0, math.ceil(len(found) / columns) - 3))
        figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=columns,
            fontsize=7,
            frameon=False,
            handlelength=3.2,
            columnspacing=1.2,
        )
    return figure


def _rendered(figure: Figure, kind: str, dpi: int = 300) -> bytes:
    matplotlib = require("matplotlib", "report")
    buffer = io.BytesIO()
    # Without a date the same comparison gives the same file.
    metadata = {"CreationDate": None} if kind == "pdf" else {}
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A title may have a letter that the font lacks; a box stands for it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def _floor(curves: Sequence[Any]) -> float:
    """A decade under the lowest value above zero: there zero is drawn on a logarithmic axis."""
    values = [float(v) for curve in curves for v in (*curve.median, *curve.low) if 0 < v < math.inf]
    return min(values, default=1e-15) / 10


def _raised(values: Sequence[float], floor: float, top: float = math.nan) -> list[float]:
    return [max(float(value), floor) if math.isfinite(value) else top for value in values]


def _plain(title: str, length: int = 40) -> str:
    """A title as it is written, cut to fit: between two dollar signs Matplotlib would read a formula."""
    return (title if len(title) <= length else f"{title[: length - 1]}…").replace("$", r"\$")


def _say(axis: Any, text: str) -> None:
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
