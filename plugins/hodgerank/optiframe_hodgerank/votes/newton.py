"""Damped Newton steps to the minimum of a convex function, whatever it is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self, TypeVar

from optiframe.solving.result import Status

_DECREASE = 1e-4  # share of the predicted decrease a step must reach (Armijo), as usual for Newton's method
_HALVINGS = 40  # of a step: 2^-40 of a Newton step no longer changes scores within rounding
ROUNDING = 8.881784197001252e-16
"""Of a sum of logarithms, relative to it: four units in the last place."""

AT_REST = (Status.STALLED, "a further Newton step no longer changes the likelihood beyond rounding")
"""How a solver ends whose last step changed the function no more."""

P = TypeVar("P", bound="NewtonPoint")


class NewtonPoint(ABC):
    """A point, the function's value there, and the Newton step.

    `longest` is the largest change that a step may make, where longer ones overshoot.
    """

    longest: ClassVar[float] = math.inf

    @property
    @abstractmethod
    def value(self) -> float:
        """Of the function."""

    @property
    @abstractmethod
    def rise(self) -> float:
        """Slope times Newton step, below 0: minus twice the decrease that the step predicts."""

    @property
    @abstractmethod
    def residual(self) -> float:
        """The largest change that the Newton step makes."""

    @abstractmethod
    def moved(self, length: float) -> Self:
        """After so much of the Newton step."""

    @property
    def at_rest(self) -> bool:
        """Whether a step changes the function by no more than rounding."""
        return -self.rise <= ROUNDING * max(self.value, 1.0)

    def next(self) -> Self:
        """After the longest of the halved steps that lowers the function enough (Armijo's rule)."""
        if self.at_rest:
            return self.moved(1.0)
        length = 1.0 if self.residual <= self.longest else self.longest / self.residual
        rounding, rise = ROUNDING * max(self.value, 1.0), self.rise
        after = self
        for _ in range(_HALVINGS):
            after = self.moved(length)
            if after.value <= self.value + _DECREASE * length * rise + rounding:
                break
            length /= 2
        return after


def newton(point: P) -> Iterator[tuple[P, bool]]:
    """Points after each step, and whether the step before no longer changed the function."""
    while True:
        # Not the slope: where votes decide nothing, it is small far from the minimum.
        last = point.at_rest
        point = point.next()
        yield point, last
