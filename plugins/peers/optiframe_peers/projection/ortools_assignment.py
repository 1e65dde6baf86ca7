"""Assignments by OR-tools' minimum-cost flow."""

from __future__ import annotations

import numpy as np
from optiframe_tvcs.assignment.answer import Assignment
from optiframe_tvcs.assignment.problem import TaskAssignment
from optiframe_tvcs.projection.judged import relative_gap
from optiframe_tvcs.projection.selection import Selection

from optiframe.problems.projection import Projection
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_peers.projection.ortools_flow import FlowProjection


class FlowAssignment(Solver[TaskAssignment, Assignment, Selection]):
    """The assignment with the greatest sum of qualities within the caps, as a flow by OR-tools.

    What `tvcs.assignment-by-quality` finds. The program is that of a projection, of the roots of the
    qualities, which `ortools.projection` solves and proves; a process that has loaded highspy cannot load it.
    """

    name = "ortools.assignment"
    reference = "Yang et al., Sec. 5.2 (Q-based linear programming); Goldberg 1997"
    solves = TaskAssignment
    requires = ("ortools:ortools.graph.python.min_cost_flow",)
    one_shot = True
    residual_meaning = "gap between prices and assignment, relative to the sum of qualities"

    def unsuited(self, problem: TaskAssignment) -> str | None:
        return FlowProjection().unsuited(self._program(problem))

    def iterates(self, problem: TaskAssignment, run: Run) -> Iterates:
        found = run.solve(FlowProjection(), self._program(problem))
        if found.solution is None:
            return found.status, found.message
        chosen = found.detail.support.reshape(found.solution.shape)
        yield Iterate(chosen, relative_gap(found.detail.certificate), detail=found.detail)

    def finish(self, problem: TaskAssignment, iterate: Iterate) -> Assignment:
        return problem.assignment(iterate.x)

    def _program(self, problem: TaskAssignment) -> Projection:
        table = problem.quality
        return Projection(np.sqrt(np.where(table.known, table.quality, 0.0)), problem.over)
