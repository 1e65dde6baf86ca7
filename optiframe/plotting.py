"""What the pictures of plugins share: figures that pyplot does not keep, one palette, the legend's place.

matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from optiframe.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, told apart with every kind of colour vision.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#8C8C8C"

# Colour, mark and line of the first, second, ... curve; all differ, for grey prints.
LOOKS = (
    (BLUE, "o", "-"),
    (VERMILION, "s", "--"),
    (GREEN, "^", "-."),
    (PURPLE, "D", ":"),
    (ORANGE, "v", "-"),
    (SKY, "P", "--"),
    (BLACK, "X", "-."),
)


def empty_figure(width: float, height: float) -> Figure:
    """A figure of its own, in inches; not pyplot's, which would keep it until it is closed.

    Raises
    ------
    MissingPackage
        Without matplotlib.
    """
    figure: Figure = _shown_in_notebooks()(figsize=(width, height), dpi=150, layout="constrained")
    return figure


@cache
def _shown_in_notebooks() -> type[Figure]:
    """A figure that a notebook shows as a picture, although pyplot does not know it."""
    plain: type[Figure] = require("matplotlib.figure", "plots").Figure

    class Picture(plain):  # type: ignore[misc, valid-type]  # matplotlib is imported on use
        def _repr_png_(self) -> bytes:
            written = BytesIO()
            self.savefig(written, format="png")
            return written.getvalue()

        def __reduce__(self) -> tuple[Any, ...]:  # a class within a function has no name to pickle by
            return plain, (), plain.__getstate__(self)

    return Picture


def empty_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """An `empty_figure` with one panel, without its upper and right edges."""
    figure = empty_figure(width, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """The panel's legend, below the figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
