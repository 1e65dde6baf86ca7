"""Splicing: exchange entries of the support for better ones as long as the best fit improves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.gradmp import digest, doubled_projector
from optiframe_tvcs.learning.restricted import Inner, minimise_on, why_not_inner
from optiframe_tvcs.learning.trials import Trials, trials
from optiframe_tvcs.sets.sparse_sets import (
    Projector,
    first_point,
    norm,
    not_of_supports,
    projector,
    support,
)

_LEAST_FALL = 1e-10  # relative fall of the objective that counts: ten times the restricted minimum's accuracy
_SEEN = 4  # wide fits of the objective itself, before a pursuit is judged by the values that it meets
_FAR = 3.0  # their standard deviations; at 2 and 2.5 better fits were missed on planted labels


class Splicing(Solver[Minimize, Array, None]):
    """Splicing over a set of supports: pursuits and exchanges, as long as the best fit improves.

    ::

        pursuit    fit on the support and the entries of largest gradient, three times as many in all; the
                   projection drops the rest; again from there, up to `pursuit` times, or until the values
                   met lie three standard deviations above the best and no model replaces the fits
        exchange   worth in the support   x_j^2 h_j / 2              loss when entry j is left out
                   worth outside          gradient_j^2 / (2 h_j)     gain when entry j comes in
                   for k = s, s/2, .., 1: force the k best entries from outside in; the projection of the
                   worths drops the cheapest others; where no k helps, each of the `width` best alone

    h is the diagonal of the Hessian for linear models, else 1. A support is kept if its best fit is better.
    Exchanges over `Cardinality` are the splicing of abess; since the projection chooses what is dropped, they
    work for every set of supports, a three-view set too. They change few entries at a time, and end early
    where features are correlated; a pursuit (as `tvcs.gradmp`) fits many together and leads on from there.

    Needs a gradient and a set of supports (see `tvcs.gradmp`). Of linear models the second-order model around
    the point says which supports are worth a fit (`second_order.SecondOrder`; least squares agree with it).
    It is not followed where the objective turns out to differ. An iteration costs a gradient, the rows of the
    Hessian that belong to the entries tried, and few minimisations on a support. For other objectives it
    costs, until a support is better, at most log2(s) + width projections and minimisations on a support, and
    two for each step of a pursuit (`restricted.minimise_on`), which take most of the time.

    Convergence: the objective falls with every iteration, so it ends after finitely many (`finished`), at a
    point that nothing tried improves. A fit counts as no better, and ends, where twice the fall that its
    Newton step expects does not suffice, or the second-order model's fall and a fifth of its quadratic term.
    That is a stronger local minimum than that of `tvcs.htp`, and still not proved the best.

    The residual is the length of the last move.
    """

    name = "tvcs.splicing"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    residual_meaning = "length of the last move"
    reference = "Zhu, Wen, Zhu, Zhang, Wang 2020, PNAS (abess), Algorithm 1"

    width: PositiveInt = Field(
        default=10, description="number of entries outside the support that are tried one by one at the end"
    )
    pursuit: NonNegativeInt = Field(
        default=20, description="steps of a gradient matching pursuit at most; 0: none"
    )
    inner: Inner = "auto"

    def unsuited(self, problem: Minimize) -> str | None:
        return not_of_supports(problem) or why_not_inner(problem.function, self.inner)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        function, onto = problem.function, projector(problem.over)
        x = first_point(problem, run)
        x = minimise_on(function, support(x), x, self.inner, run.time_left)
        value = function.value(x)
        yield Iterate(x)
        trying = trials(function, self.inner, run.time_left)
        fitted: set[bytes] = set()  # wide supports; each is fitted once in a run
        while True:
            trying.around(x)
            better, ahead = self._pursued(problem, trying, x, value, fitted)
            if better is None:
                for kept in self._candidates(function, onto, x, trying.gradient(x)):
                    trial = trying.fit(kept, np.where(kept, x, 0.0), value)
                    if trial is not None and _is_better(trial[1], value):
                        better, ahead = trial
                        break
                    if run.time_left() == 0:
                        break
            if better is None:
                return Status.FINISHED, "no exchange improves the fit"
            residual, x, value = norm(better - x), better, ahead
            yield Iterate(x, residual)

    def _pursued(
        self, problem: Minimize, trying: Trials, x: Array, value: float, fitted: set[bytes]
    ) -> tuple[Array | None, float]:
        """The best fit on a support that a pursuit from `x` meets, and its value; None: none is better."""
        function, onto, doubled = problem.function, projector(problem.over), doubled_projector(problem)
        best, least, z, met = None, value, x, {digest(support(x))}
        dear: list[float] = []  # values after fits that no model could replace
        for _ in range(self.pursuit):
            if len(dear) >= _SEEN and np.mean(dear) - _FAR * np.std(dear) > least:
                break
            wide = support(doubled.project(trying.gradient(z))) | support(z)
            if isinstance(function, LinearModel) and np.count_nonzero(wide) >= len(function):
                break  # it fits the samples exactly, whatever the rest
            if (key := digest(wide)) in fitted or trying.time_left() == 0:
                break
            fitted.add(key)
            z = np.asarray(onto.project(trying.wide(wide, z)))
            if trying.strayed:
                dear.append(function.value(z))
            if (key := digest(support(z))) in met:
                continue
            met.add(key)
            trial = trying.fit(support(z), z, least)
            if trial is not None and _is_better(trial[1], least):
                best, least = trial
        return best, least

    def _candidates(
        self, function: Objective, onto: Projector, x: Array, gradient: Array
    ) -> Iterator[NDArray[np.bool_]]:
        """Other supports of the set, from large exchanges to single ones; each once."""
        inside = support(x)
        bend = np.sqrt(_bends(function, x))
        worths = np.where(inside, np.abs(x) * bend, np.abs(gradient) / bend).ravel()
        outside = np.where(inside.ravel(), -1.0, worths)
        order = np.argsort(-outside, kind="stable")[: np.count_nonzero(outside > 0)]
        inner = np.where(inside.ravel(), worths, 0.0)
        above = 2.0 * norm(worths)  # an entry forced in outweighs all others together
        met = {digest(inside)}

        def exchanged(forced: NDArray[np.intp], others: Array) -> Iterator[NDArray[np.bool_]]:
            point = others.copy()
            point[forced] = above
            kept = support(np.asarray(onto.project(point.reshape(x.shape))))
            if (key := digest(kept)) not in met:
                met.add(key)
                yield kept

        yield from exchanged(order[:0], worths)  # all by their worth
        count = min(max(1, int(np.count_nonzero(inside))), len(order))
        while count > 0:
            yield from exchanged(order[:count], inner)
            count //= 2
        for single in order[1 : self.width]:
            yield from exchanged(np.array([single]), inner)


def _is_better(ahead: float, value: float) -> bool:
    return ahead < value - _LEAST_FALL * abs(value)


def _bends(function: Objective, x: Array) -> Array:
    """The diagonal of the Hessian of a linear model; else ones, which leaves the order of worths to x."""
    if not isinstance(function, LinearModel):
        return np.ones(x.shape)
    weights = function.bends(function.matrix @ x) / len(function)
    squares = function.matrix.multiply(function.matrix) if hasattr(function.matrix, "multiply") else None
    diagonal = function.matrix.T**2 @ weights if squares is None else squares.T @ weights
    diagonal = np.asarray(diagonal + function.ridge)
    # A constant column of zeros, or a loss that is flat here: no division by nothing.
    least = float(diagonal.max(initial=0.0)) * 1e-12
    return np.maximum(diagonal, least) if least > 0 else np.ones(x.shape)
