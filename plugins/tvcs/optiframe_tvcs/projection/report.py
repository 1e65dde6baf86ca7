"""The certificate of a projection, from what its kernel reports."""

from __future__ import annotations

import math

from optiframe_tvcs.kernels.answers import Report
from optiframe_tvcs.projection.certificate import Certificate


def certificate_of(report: Report, total: int) -> Certificate:
    """The certificate in the units of the worths; its `loss` is left open.

    Parameters
    ----------
    total
        The bound on the whole vector.
    """
    proof, scale = report.proof, report.scale
    reason = ""
    if proof.failures:
        reason = "a bound is broken, or has a price and is not used up"
        if proof.worst >= 0:
            reason = f"element {proof.worst} has a reduced worth of the wrong sign"
    proved = proof.failures == 0
    return Certificate(
        holds=proved,
        exact=proved,
        primal=proof.worth / scale,
        dual=proof.bound / scale,
        gap=(proof.bound - proof.worth) / scale if proved else math.inf,  # a bound may be broken
        worst=proof.worst if proof.worst >= 0 else None,
        failure=proof.failure / scale,
        rounding=(report.held + min(total, report.positive)) / scale,
        loss=1.0,
        reason=reason,
    )
