"""What compiled code reports of a projection, in numbers, and what they mean: effort and certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from optiframe_tvcs.projection.certificate import Certificate
from optiframe_tvcs.projection.layouts import Counts

REPORT = 14  # numbers in a report: eight of effort and six of the check


@dataclass(frozen=True)
class Effort:
    """How the last projection of a plan was found.

    Parameters
    ----------
    path
        "plain" (NumPy), "compiled", or "fallback" (compiled, and the guard tripped).
    candidates
        Elements that the repair looked at first.
    units
        Units that the smoothed prices left in the wrong place.
    paths, arcs
        Paths along which units were carried, and arcs looked at.
    rounds
        Lists of candidates that the repair needed; 1 when the first held all that mattered.
    """

    path: str
    candidates: int = 0
    units: int = 0
    paths: int = 0
    arcs: int = 0
    rounds: int = 0


def read_report(report: Counts, failures: int, scale: float, total: int) -> tuple[Effort, Certificate]:
    """The effort, and the certificate of a compiled check, whose sums come in two parts; `loss` is left open.

    Parameters
    ----------
    report
        Numbers of effort, then those of the check: worth and bound by prices as counts of 2**26 and a
        rest each, the worst element (-1: none) and its failure.
    failures, scale
        As compiled code gives them.
    total
        The bound on the whole vector.
    """
    paths, arcs, held, fallback, positive, candidates, units, rounds, *sums = report.tolist()
    effort = Effort("fallback" if fallback else "compiled", candidates, units, paths, arcs, rounds)
    primal, dual = (sums[0] << 26) + sums[1], (sums[2] << 26) + sums[3]
    worst = sums[4] if sums[4] >= 0 else None
    reason = ""
    if failures:
        reason = "a bound is broken, or has a price and is not used up"
        if worst is not None:
            reason = f"element {worst} has a reduced worth of the wrong sign"
    return effort, Certificate(
        holds=failures == 0,
        exact=failures == 0,
        primal=primal / scale,
        dual=dual / scale,
        gap=(dual - primal) / scale if failures == 0 else math.inf,  # a bound may be broken
        worst=worst,
        failure=sums[5] / scale,
        rounding=(held + min(total, positive)) / scale,
        loss=1.0,
        reason=reason,
    )
