"""Definition 2: whether a compressor loses less than it sends.

Q is a rho-approximate compressor when E |Q(x) - x|^2 <= (1 - rho) |x|^2 for every x, with rho
in [0, 1]. Below 0 it adds more error than there was signal, and the method's theory ends.
"""

from __future__ import annotations

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe_comrade.parts.kinds import Compressor


def definition_2(compressor: Compressor, size: int) -> Finding | None:
    """A warning when Definition 2 fails for vectors of `size` numbers; None where it holds."""
    rho = compressor.rho(size)
    if rho is None or rho >= 0.0:
        return None
    return Finding(
        "warning",
        f"{compressor.name} has rho = {number(rho)} for {size} numbers, so Definition 2 fails: it may add "
        "more error than there is signal, and no convergence is promised; use more levels or entries",
        identifier="federation.compressor-too-lossy",
    )
