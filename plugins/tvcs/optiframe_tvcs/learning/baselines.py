"""What Sec. 5.1 compares with: fewer views, and the exclusive LASSO; each answer is projected at the end."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.exclusive_norm import shrink_groups
from optiframe_tvcs.learning.gradmp import GradientMatchingPursuit
from optiframe_tvcs.learning.htp import HardThresholdingPursuit
from optiframe_tvcs.learning.iht import IterativeHardThresholding
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.sparse_sets import first_point, norm
from optiframe_tvcs.sets.three_view import ThreeView

Inside = Solver[Minimize, Array, None]

# From hardly any penalty to one that leaves a few entries a group, where features and targets are near unit
# size; objectives are means, so the number of samples does not move it.
_TRIED = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_HELD_OUT = 5  # one sample in five

_INSIDE: dict[str, Inside] = {
    "iht": IterativeHardThresholding(),
    "gradmp": GradientMatchingPursuit(refit=False),  # what follows a fit here is the projection
    "htp": HardThresholdingPursuit(),
}


class FewerViews(Solver[Minimize, Array, None]):
    """Sparse learning that knows only some of a three-view set's bounds, projected onto all at the end.

    - ``total``: the bound on the whole vector alone ("overall sparsity");
    - ``rows``, ``columns``: that, where there is one, and the bounds of one view ("bilevel exclusive
      sparsity").

    Needs a `ThreeView` with those bounds. Costs what the method inside costs; the answer of
    each recorded iterate costs one projection more. The best of those by the objective is
    kept, which is kinder to these methods than the last one.

    Convergence and residual are those of the method inside, over the larger set; for the point
    projected at the end nothing is promised.
    """

    name = "tvcs.fewer-views"
    solves = Minimize
    accepts_start = True
    monotone = False
    residual_meaning = "that of the method inside, before the last projection"
    reference = "Yang et al., Sec. 5.1 (bilevel exclusive sparsity; overall sparsity)"

    views: Literal["total", "rows", "columns"] = Field(
        default="total",
        description=(
            "which bounds it keeps while it searches: the total only, or also those of the rows or the "
            "columns"
        ),
    )
    method: Literal["iht", "gradmp", "htp"] = Field(
        default="iht", description="the method inside, tvcs.<method>"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        over = problem.over
        if not isinstance(over, ThreeView):
            return f"the set {over.name!r} has no views to leave out"
        if self.views == "total" and over.total is None:
            return "the three-view set has no bound on the total"
        if self.views != "total" and getattr(over, self.views) is None:
            return f"the three-view set has no bounds on its {self.views}"
        return self._inside().unsuited(self._larger(problem))

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return (yield from self._inside().iterates(self._larger(problem), run))

    def finish(self, problem: Minimize, iterate: Iterate) -> Array:
        return np.asarray(problem.over.project(iterate.x))

    def _inside(self) -> Inside:
        return _INSIDE[self.method]

    def _larger(self, problem: Minimize) -> Minimize:
        over = problem.over
        assert isinstance(over, ThreeView)  # else `unsuited` said so
        larger: ConstraintSet
        if self.views == "total":
            larger = Cardinality(size=over.limit)
        else:
            larger = over.model_copy(update={"columns" if self.views == "rows" else "rows": None})
        return Minimize(problem.function, over=larger, start=problem.start)


class ExclusiveLasso(Solver[Minimize, Array, None]):
    """The exclusive LASSO: squared l1 norms of the groups as a penalty, projected at the end.

    Minimises ``objective + penalty * sum over groups of (sum of |x| in the group)^2`` over both
    views' groups, by three-operator splitting: the gradient of the objective, and one
    proximal step for each view, whose groups do not overlap (see `exclusive_norm.shrink_groups`).
    The penalty makes entries of a group compete, but does not count them: the answer is the
    projection onto the set, the bound on the total included.

    Needs a `ThreeView` with a row or column view, a convex objective with a gradient, and a
    bound on its curvature or a step. One iteration costs a gradient and two sorts; memory is a
    few vectors.

    Convergence: to the minimum of the penalised objective for any step below 2/L (Davis, Yin
    2017, Theorem 3.1). The paper names neither algorithm nor penalty. With ``penalty = "held-out"`` it
    is the one out of 1e-6, 1e-5, .., 1e-2 whose projected answer from four fifths of the samples has
    the least loss on the rest, and five runs on these, each within the iterations of the budget, come first.
    Objectives here are means, the paper's are sums: their penalty over n.

    The residual is the distance between the points of the two proximal steps over the step,
    before the projection.
    """

    name = "tvcs.exclusive-lasso"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    residual_meaning = "distance of the two views' proximal points over the step, before the last projection"
    reference = "Kong et al. 2014 (Yang et al., Sec. 5.1); splitting of Davis, Yin 2017"

    penalty: NonNegativeFloat | Literal["held-out"] = Field(
        default=1e-3, description="weight of the squared group norms; held-out: chosen by samples held out"
    )
    step: PositiveFloat | None = Field(default=None, description="none: 1 / curvature bound of the objective")

    def unsuited(self, problem: Minimize) -> str | None:
        over = problem.over
        if not isinstance(over, ThreeView):
            return f"the set {over.name!r} has no groups to penalise"
        if over.rows is None and over.columns is None:
            return "the three-view set has neither row nor column groups"
        if self.step is None and not problem.function.offers(Objective.curvature):
            return f"the objective {problem.function.known_as!r} has no curvature bound; give a step"
        if self.penalty == "held-out":
            if not isinstance(problem.function, FiniteSum):
                title = problem.function.known_as
                return f"the objective {title!r} has no samples to hold out; give a penalty"
            if len(problem.function) < _HELD_OUT:
                return (
                    f"samples are held out by fifths, and there are {len(problem.function)}; give a penalty"
                )
        return None

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        function = problem.function
        assert isinstance(problem.over, ThreeView)  # else `unsuited` said so
        rows, columns = problem.over.views
        curvature = function.curvature() if self.step is None else 1.0 / self.step
        step = 1.0 / curvature if curvature > 0 else 1.0
        penalty = self._by_held_out(problem, run) if self.penalty == "held-out" else self.penalty
        weight = step * penalty
        z = first_point(problem, run)
        while True:
            x = _shrunk(z, rows, weight)
            ahead = _shrunk(2 * x - z - step * function.gradient(x), columns, weight)
            z = z + ahead - x
            yield Iterate(ahead, norm(ahead - x) / step, info={"penalty": penalty})

    def _by_held_out(self, problem: Minimize, run: Run) -> float:
        function = problem.function
        assert isinstance(function, FiniteSum)  # else `unsuited` said so
        order = run.rng.permutation(len(function))
        held_out, rest = np.split(order, [len(order) // _HELD_OUT])
        judge, part = function.take(held_out), Minimize(function.take(rest), over=problem.over)
        budget = run.budget.model_copy(update={"time": None})  # the time left is `solve`'s to mind
        losses = {}
        for penalty in _TRIED:
            found = run.solve(ExclusiveLasso(penalty=penalty, step=self.step), part, budget=budget)
            losses[penalty] = judge.value(found.solution)
        return min(losses, key=losses.__getitem__)

    def finish(self, problem: Minimize, iterate: Iterate) -> Array:
        return np.asarray(problem.over.project(iterate.x))


def _shrunk(v: Array, groups: Groups, weight: float) -> Array:
    return shrink_groups(v.reshape(-1), groups, weight).reshape(v.shape)
