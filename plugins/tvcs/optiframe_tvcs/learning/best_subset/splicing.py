"""Splicing: exchange entries of the support for better ones as long as the best fit improves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import Field, NonNegativeInt, PositiveInt

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.best_subset.all_supports import AllSupports
from optiframe_tvcs.learning.best_subset.search import Search
from optiframe_tvcs.learning.best_subset.small import small_search
from optiframe_tvcs.learning.best_subset.trials import trials
from optiframe_tvcs.learning.restricted import Inner, minimise_on, why_not_inner
from optiframe_tvcs.learning.with_intercept import counted
from optiframe_tvcs.sets.sparse_sets import first_point, norm, not_of_supports, support

_STEPS = 20  # of a pursuit
_STEPS_BESIDE_PAIRS = 4  # more found hardly better fits where all pairs are compared, in more time


class Splicing(Solver[Minimize, Array, None]):
    """Splicing over a set of supports: pursuits and exchanges, as long as the best fit improves.

    ::

        pursuit    fit on the support and the entries of largest gradient, three times as many in all; the
                   projection drops the rest; again from there, up to `pursuit` times, or until the values
                   met lie three standard deviations above the best and no model replaces the fits
        exchange   worth in the support   x_j^2 h_j / 2              loss when entry j is left out
                   worth outside          gradient_j^2 / (2 h_j)     gain when entry j comes in
                   for k = s, s/2, .., 1: force the k best entries from outside in; the projection of the
                   worths drops the cheapest others
        pair       where no k helps: the best pairs of an entry that goes and one that comes, others fitted
                   anew, up to `width` of them; in sets with groups, with more than 2,000 labels, and for
                   objectives that are no linear models, each of the `width` best from outside alone

    h is the diagonal of the Hessian for linear models, else 1. A support is kept if its best fit is better.
    Exchanges over `Cardinality` are the splicing of abess; since the projection chooses what is dropped, they
    work for every set of supports, a three-view set too. They judge entries one by one, and end early where
    features are correlated; pairs and a pursuit (as `tvcs.gradmp`), which fit others together, lead on from
    there. All pairs are compared in the second-order model by one inverse, in O(s^2 features).

    Needs a gradient and a set of supports (see `tvcs.gradmp`). Of linear models the second-order model around
    the point says which supports are worth a fit (`second_order.SecondOrder`; least squares agree with it).
    It is not followed where the objective turns out to differ. An iteration costs a gradient, the rows of the
    Hessian that belong to the entries tried, and few minimisations on a support. For other objectives it
    costs, until a support is better, at most log2(s) + width projections and minimisations on a support, and
    two for each step of a pursuit (`restricted.minimise_on`), which take most of the time.

    Convergence: the objective falls with every iteration, so it ends after finitely many, at a point that
    nothing tried improves (`finished`). Of least squares, all supports are then compared by branch and bound;
    where `proof` is enough for that, the answer is the best of all (`converged`, see `all_supports`). A fit
    counts as no better, and ends, where twice the fall that its Newton step expects does not suffice, or the
    second-order model's fall and a fifth of its quadratic term. Where time ends before all of this was tried,
    the run ends as `time_limit`. `finished` is a stronger local minimum than
    that of `tvcs.htp`, and no proof.

    The residual is the length of the last move.
    """

    name = "tvcs.splicing"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    residual_meaning = "length of the last move"
    reference = "Zhu, Wen, Zhu, Zhang, Wang 2020, PNAS (abess), Algorithm 1"

    width: PositiveInt = Field(
        default=10,
        description="number of pairs, or of entries outside the support, that are tried singly at the end",
    )
    pursuit: NonNegativeInt | None = Field(
        default=None,
        description="steps of a gradient matching pursuit at most; 0: none; default: 4 where all pairs of "
        "entries are compared, else 20",
    )
    proof: NonNegativeInt = Field(
        default=1_000_000,
        description="multiplications at most, of about a nanosecond each, to compare all supports of least "
        "squares; 0: none, and none near by",
    )
    inner: Inner = "auto"

    def unsuited(self, problem: Minimize) -> str | None:
        return not_of_supports(problem) or why_not_inner(problem.function, self.inner)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        last: Array | None = None
        # A stop that the user asks for is the end of the time: one proof may take as long as all else.
        search = self.search(problem, lambda: 0.0 if run.stopping else run.time_left())
        for x, _ in self.fits(problem, first_point(problem, run), search):
            yield Iterate(x) if last is None else Iterate(x, norm(x - last))
            last = x
            if (end := not_finite(problem.function.gradient(x))) is not None:
                return end
        if search.proved:
            return Status.CONVERGED, "no support of the set fits better: all were compared"
        if run.stopping:
            return Status.CANCELLED, "stopped by the user"
        if run.time_left() == 0:
            return Status.TIME_LIMIT, (
                f"stopped after {run.budget.time:g} s, before all that leads to better fits was tried: raise "
                "the budget, or lower the solver's proof"
            )
        return Status.FINISHED, "no exchange improves the fit"

    def search(self, problem: Minimize, time_left: Callable[[], float], *, prove: bool = True) -> AllSupports:
        """What leads from fit to fit; runs may share one, and then fit no wide support twice."""
        trying, pursuit = trials(problem.function, self.inner, time_left), self.pursuit
        if pursuit is None:
            compared = trying.pairs and counted(problem.over) is not None
            pursuit = _STEPS_BESIDE_PAIRS if compared else _STEPS
        general = Search(problem.function, problem.over, trying, pursuit=pursuit, width=self.width)
        search = (small_search(problem, general) if self.inner == "auto" else None) or general
        return AllSupports(search, problem, self.proof if self.inner == "auto" else 0, whole=prove)

    def fits(self, problem: Minimize, start: Array, search: AllSupports) -> Iterator[tuple[Array, float]]:
        """Fits from a point of the set, each better than the one before, and their values."""
        x = minimise_on(problem.function, support(start), start, self.inner, search.trying.time_left)
        value = problem.function.value(x)
        yield x, value
        while (better := search.improved(x, value)) is not None:
            x, value = better
            yield x, value
