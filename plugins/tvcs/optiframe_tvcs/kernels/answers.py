"""How a projection went, in the same terms from the kernel and from its reference."""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """How a projection was found.

    Parameters
    ----------
    candidates
        Elements that the repair looked at first.
    units
        Units that the first prices left in the wrong place.
    paths, arcs
        Paths along which units were carried, and arcs looked at.
    rounds
        Lists of candidates that the repair needed; 1 when the first held all that mattered.
    open
        Elements near enough to the prices that rounding the worths may have decided them.
    levels
        Times that some of these were solved again in a finer unit.
    fallback
        Whether the repair was given up, or not begun, because of the work it would take. Paths between groups
        alone, the network simplex or cost scaling then find the support.
    """

    candidates: int = 0
    units: int = 0
    paths: int = 0
    arcs: int = 0
    rounds: int = 0
    open: int = 0
    levels: int = 0
    fallback: bool = False


class Report(NamedTuple):
    """How a projection went.

    Parameters
    ----------
    refused
        Whether a value is not finite, so that nothing was written.
    unit
        Prices are counted in units of 2**unit.
    effort
        How much work it took.
    """

    refused: bool = False
    unit: int = 0
    effort: Effort = Effort()
