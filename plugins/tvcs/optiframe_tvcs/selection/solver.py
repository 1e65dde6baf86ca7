"""The best selection: by projection, as a flow with lower bounds, or by an integer program."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter
from typing import Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.selection.answer import Choice
from optiframe_tvcs.selection.changes import Changes, changes_by_exchanges, changes_by_solving
from optiframe_tvcs.selection.contradiction import contradiction
from optiframe_tvcs.selection.data import Counts, Mask
from optiframe_tvcs.selection.problem import ItemSelection
from optiframe_tvcs.selection.program import Outcome, solve_program
from optiframe_tvcs.selection.proof import Method, Proof
from optiframe_tvcs.selection.relaxation import best_choice, best_worth, relax
from optiframe_tvcs.selection.remarks import of_the_table
from optiframe_tvcs.selection.words import contradiction_in_words
from optiframe_tvcs.sets.three_view import ThreeView

_MORE_TIME = "give it more: program_time under [solver], and no shorter [budget] time"


class SelectItems(Solver[ItemSelection, Choice, Proof]):
    """The choice of greatest value within the bounds, with what proves it.

    Upper bounds on at most two views and in all are a three-view set, whose exact projection chooses.
    With lower bounds it is a flow: the matrix of the linear program is totally unimodular, so that HiGHS
    ends at a choice, which is then proved: no exchange of items within the bounds gains. More views need
    the integer program; HiGHS branches and bounds until it has proved the best, or its time is up.

    Values that are decimals of up to nine places count exactly as written, rounding errors such as that of
    0.33000000000000007 left out; others are rounded to 12 digits where lower bounds or more views are
    solved, and for what bounds are worth.

    Where no choice keeps the bounds, the message names the fewest that contradict each other.
    """

    name = "tvcs.select"
    reference = "Yang et al., Eq. 5; Ahuja, Magnanti, Orlin 1993, Sec. 6.7; Huangfu and Hall 2018 (HiGHS)"
    solves = ItemSelection
    one_shot = True
    residual_meaning = "how much more another choice may be worth, relative to this one's value"

    method: Literal["auto", "integer-program"] = Field(
        default="auto",
        description="auto: the exact way where there is one; integer-program: HiGHS in any case",
    )
    program_time: PositiveFloat = Field(
        default=60.0,
        description="seconds after which HiGHS gives what it has; a shorter time budget goes before it",
    )
    prices_time: NonNegativeFloat = Field(
        default=10.0, description="seconds for what bounds and items are worth, with more than two views"
    )

    def iterates(self, problem: ItemSelection, run: Run) -> Iterates:
        method: Method = "integer program"
        if self.method == "auto" and problem.is_flow:
            method = "flow" if problem.counts.demands.any() else "projection"
        found = _by_projection(problem) if method == "projection" else self._program(problem, method, run)
        changes = self._changes(problem, found, run)
        if method == "flow" and not found.infeasible and changes is None:
            method = "integer program"  # rounding led the linear program astray, or it had no time
            found = self._program(problem, method, run)
            changes = self._changes(problem, found, run)
        if found.infeasible:
            run.findings += of_the_table(problem.items)  # a slip there may be the reason
            return Status.INFEASIBLE, _why(problem)
        if found.chosen is None:
            return Status.TIME_LIMIT, f"HiGHS found no choice in its time; {_MORE_TIME}"
        worths, value = problem.worths, problem.choice(found.chosen).value
        best, bound = found.best, value
        if method != "projection":
            # Rounding moves each item's value by half a unit at most.
            rounding = 0.0 if worths.exact else 0.5 * len(worths.whole)
            above = found.bound - float(worths.whole[found.chosen].sum()) + rounding
            bound = value + above / worths.divisor
        gap = 0.0 if best else (bound - value) / max(abs(value), 1e-300)
        if 0 < gap <= run.budget.tolerance:
            gap = math.nan  # `converged` means proved
        yield Iterate(found.chosen, residual=gap, detail=Proof(method, bound, best, changes))
        return (
            None if best else (Status.TIME_LIMIT, f"HiGHS had no time to prove a choice best; {_MORE_TIME}")
        )

    def finish(self, problem: ItemSelection, iterate: Iterate) -> Choice:
        return problem.choice(iterate.x, iterate.detail)

    def _program(self, problem: ItemSelection, method: Method, run: Run) -> Outcome:
        counts, worths = problem.counts, problem.worths.whole
        least, most = problem.is_fixed, ~problem.is_forbidden
        seconds = min(self.program_time, run.time_left())
        if method == "flow":
            return solve_program(counts, worths, least, most, whole=False, seconds=seconds)
        return best_choice(counts, worths, least, most, seconds)

    def _changes(self, problem: ItemSelection, found: Outcome, run: Run) -> Changes | None:
        """What would change the choice; None where it is not proved best."""
        if found.chosen is None or not found.best:
            return None
        worths, counts, chosen = problem.worths, problem.counts, found.chosen
        fixed, forbidden = problem.is_fixed, problem.is_forbidden
        if problem.is_flow:
            exchanges = changes_by_exchanges(
                problem.items, counts, worths.whole, chosen, fixed=fixed, forbidden=forbidden
            )
            return None if exchanges is None else exchanges.divided(worths.divisor)

        seconds = 0.0 if run.stopping else min(self.prices_time, run.time_left())
        end = perf_counter() + seconds

        def again(changed: Counts, least: Mask, most: Mask) -> float | None:
            if run.stopping:
                return None
            return best_worth(changed, worths.whole, least, most, end - perf_counter())

        relaxed = relax(counts, worths.whole, chosen, least=fixed, most=~forbidden, seconds=0.1 * seconds)
        found_again = changes_by_solving(
            problem.items,
            counts,
            worths.whole,
            chosen,
            fixed=fixed,
            forbidden=forbidden,
            relaxed=relaxed,
            again=again,
            seconds=end - perf_counter(),
        )
        return replace(found_again, stopped=run.stopping).divided(worths.divisor)


def _by_projection(problem: ItemSelection) -> Outcome:
    """Upper bounds alone: the support of greatest worth of a three-view set; nothing is rounded."""
    items, counts, fixed = problem.items, problem.counts, problem.is_fixed
    left = np.minimum(counts.upper, counts.sizes) - counts.used(fixed)
    if (left < 0).any():
        return Outcome(None, math.inf, infeasible=True)
    values = problem.worths.whole if problem.worths.exact else items.values
    worths = np.where(fixed | problem.is_forbidden, -1.0, values)
    views, start = {}, 1
    for name, view in zip(("rows", "columns"), items.views, strict=False):
        end = start + len(view.groups)
        views[name] = {"labels": view.codes[:, 0], "bounds": left[start:end]}
        start = end
    chosen = ThreeView.load(total=int(left[0]), size=len(items), **views).select(worths).support | fixed
    return Outcome(chosen, math.inf, best=True)


def _why(problem: ItemSelection) -> str:
    """Which bounds contradict each other."""
    try:
        found = contradiction(
            problem.counts, problem.is_fixed, problem.is_forbidden, whole=not problem.is_flow
        )
    except TimeoutError:
        found = None
    if found is None:
        return "no choice keeps all bounds; HiGHS did not find in time which contradict each other"
    return contradiction_in_words(found, problem.items, problem.counts)
