"""Definition 2: whether a compressor loses less than it sends.

Q is a rho-approximate compressor when E |Q(x) - x|^2 <= (1 - rho) |x|^2 for every x, with rho
in [0, 1]. Below 0 it adds more error than there was signal, and the method's theory ends.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe_comrade.parts.kinds import Compressor


def measured_rho(
    compressor: Compressor, vectors: Iterable[Array], rng: np.random.Generator, draws: int = 100
) -> float:
    """The least 1 - mean |Q(x) - x|^2/|x|^2 over some vectors: rho is at most about this.

    Parameters
    ----------
    compressor
        What is measured.
    vectors
        Points x, of shape (d,); zeros are passed over.
    rng
        For the compressor's draws.
    draws
        Compressions a vector; the error of a mean falls as 1/sqrt(draws).

    Raises
    ------
    InvalidInput
        When no vector has an entry that is not zero.
    """
    least = np.inf
    for x in vectors:
        size = float(x @ x)
        if size == 0.0:
            continue
        off = [compressor.decode(compressor.encode(x, rng), len(x)) - x for _ in range(draws)]
        least = min(least, 1 - float(np.mean([d @ d for d in off])) / size)
    if least == np.inf:
        raise InvalidInput("rho is measured on vectors that are not zero; none was given")
    return least


def hard_vectors(size: int, rng: np.random.Generator) -> list[Array]:
    """Vectors that are hard for one compressor or another: even, one spike, steeply falling, Gaussian."""
    spike = np.zeros(size)
    spike[rng.integers(size)] = 1.0
    even = rng.choice([-1.0, 1.0], size)
    return [even, spike, even / np.arange(1, size + 1), *rng.standard_normal((3, size))]


def rho(compressor: Compressor, size: int, rng: np.random.Generator | None = None) -> float:
    """Definition 2's rho for vectors of `size` numbers: the compressor's own, else measured.

    What is measured, on `hard_vectors`, is an estimate from above.
    """
    known = compressor.rho(size)
    if known is not None:
        return known
    rng = np.random.default_rng(0) if rng is None else rng
    return measured_rho(compressor, hard_vectors(size, rng), rng)


def definition_2(compressor: Compressor, size: int) -> Finding | None:
    """A warning when Definition 2 fails for vectors of `size` numbers; None when it holds."""
    value = rho(compressor, size)
    if value >= 0.0:
        return None
    how = "has" if compressor.rho(size) is not None else "was measured to have"
    return Finding(
        "warning",
        f"{compressor.name} {how} rho = {value:.3g} for {size} numbers, so Definition 2 fails: it may add "
        "more error than there is signal, and no convergence is promised; use more levels or entries",
        identifier="federation.compressor-too-lossy",
    )
