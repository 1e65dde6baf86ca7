"""Whether a filter withstands as many hostile workers as there may be."""

from __future__ import annotations

from optiframe.numbers import percent
from optiframe_comrade.parts.hessian_metric import HessianMetric
from optiframe_comrade.parts.kinds import Filter

ROUNDING = 1e-9  # so that .1 of 10 workers is 1 and not the ceiling of 1.0000000000000002


def outnumbered(filter: Filter, byzantine: int, left_out: int, workers: int) -> str | None:
    """What to warn of where more workers may lie than the filter withstands; None where it holds.

    Nobody is declared hostile outside a simulation: there the number left out, for filters that use it,
    says how many are reckoned with.
    """
    limit = filter.fails_from
    number = byzantine or (left_out if filter.trims else 0)
    share = number / workers
    if limit is None or not number or share < limit - ROUNDING:
        return None
    who = "are hostile" if byzantine else "may be hostile, as `trim` says"
    fails = f"can fail from {percent(limit)} on" if limit else "fails with a single one"
    stands = share < HessianMetric.fails_from
    remedy = (
        f"use {HessianMetric.name}" if stands else "no filter withstands that many: use more honest workers"
    )
    return (
        f"{number} of {workers} workers ({percent(share)}) {who}, and {filter.name} {fails}: "
        f"they may carry the answer anywhere; {remedy}"
    )
