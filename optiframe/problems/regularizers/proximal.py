"""The proximal step of regularizers and a constraint set together, where there is an exact one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optiframe.errors import Unsuited
from optiframe.problems.regularizers.norms import L1, ElasticNet, SquaredL2
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe.records.fields import Array


@dataclass(frozen=True)
class Proximal:
    """A constraint set and regularizers, as one function whose proximal step is asked for.

    Half squared norms only scale the point. Of other regularizers there may be one: over every point, or,
    where it is separable and convex, over bounds, whose projection of its own step is then the exact one
    (a convex function of one variable is minimized over an interval by clipping its minimizer).
    """

    over: ConstraintSet
    terms: tuple[Regularizer, ...]

    @cached_property
    def parts(self) -> tuple[Regularizer, ...]:
        """The regularizers with mixtures taken apart."""
        taken = ((term.parts() if isinstance(term, ElasticNet) else (term,)) for term in self.terms)
        return tuple(part for parts in taken for part in parts)

    @cached_property
    def quadratic(self) -> float:
        """Weight of the half squared norm."""
        return sum(term.weight for term in self.parts if isinstance(term, SquaredL2))

    @cached_property
    def others(self) -> tuple[Regularizer, ...]:
        """What is left: sums of absolute values as one, and the rest."""
        absolute = sum(term.weight for term in self.parts if isinstance(term, L1))
        rest = tuple(term for term in self.parts if not isinstance(term, SquaredL2 | L1))
        return (L1(weight=absolute), *rest) if absolute else rest

    @cached_property
    def lacking(self) -> str | None:
        """Why there is no proximal step, in words; None when there is one."""
        if not self.over.offers(ConstraintSet.project):
            return f"the set {self.over.name!r} has no projection"
        without = [term.name for term in self.others if not term.offers(Regularizer.prox)]
        if without:
            return f"{' and '.join(map(repr, without))} has no proximal step"
        if len(self.others) > 1:
            names = " and ".join(repr(term.name) for term in self.others)
            return f"there is no exact proximal step of the sum of {names}"
        if not self.others or isinstance(self.over, WholeSpace):
            return None
        term = self.others[0]
        if term.separable and term.convex and self.over.separable:
            return None
        return f"there is no exact proximal step of {term.name!r} over the set {self.over.name!r}"

    @cached_property
    def nothing(self) -> bool:
        """Whether there are neither constraints nor regularizers."""
        return isinstance(self.over, WholeSpace) and not self.terms

    @property
    def convex(self) -> bool:
        """Whether the set and every regularizer is convex."""
        return self.over.convex and all(term.convex for term in self.terms)

    def value(self, x: Array) -> float:
        """The sum of the regularizers."""
        return sum(term.value(x) for term in self.terms)

    def step(self, v: Array, step: float) -> Array:
        """A member z of the set that minimizes ``step * value(z) + |z - v|^2 / 2``.

        Raises
        ------
        Unsuited
            When there is no exact one.
        """
        if self.nothing:
            return v
        if self.lacking is not None:
            raise Unsuited(self.lacking)
        shrink = 1.0 + step * self.quadratic
        v, step = (v / shrink, step / shrink) if self.quadratic else (v, step)
        for term in self.others:
            v = term.prox(v, step)
        return np.asarray(self.over.project(v)) if not isinstance(self.over, WholeSpace) else np.asarray(v)
