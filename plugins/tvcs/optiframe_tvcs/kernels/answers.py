"""What a projection says of itself: the same from the kernel and from its reference."""

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
    fallback
        Whether the repair took too much work, and worths were scaled bit by bit in its place.
    """

    candidates: int = 0
    units: int = 0
    paths: int = 0
    arcs: int = 0
    rounds: int = 0
    fallback: bool = False


class Proof(NamedTuple):
    """Complementary slackness over all elements and bounds, in whole units.

    Parameters
    ----------
    failures
        Elements and bounds that fail; 0 proves the support best for the whole-number worths. -1 where there
        was nothing to prove: a value is not finite, or its square no ordinary number.
    worth, bound
        Worth of the support, and the one that no support exceeds, by the prices; equal where nothing fails.
    worst, failure
        Element whose reduced worth is farthest on the wrong side, -1 for none, and by how much.
    """

    failures: int = 0
    worth: int = 0
    bound: int = 0
    worst: int = -1
    failure: int = 0


class Report(NamedTuple):
    """What a projection says of itself.

    Parameters
    ----------
    scale
        Whole units in one of the real worth, a power of two.
    positive, held
        Elements that are worth something, and those chosen.
    """

    scale: float = 1.0
    positive: int = 0
    held: int = 0
    effort: Effort = Effort()
    proof: Proof = Proof()
