"""Projection onto a three-view set as a minimum-cost flow, by OR-tools."""

from __future__ import annotations

import sys

import numpy as np
from optiframe_tvcs.program.support_program import SupportProgram, why_not
from optiframe_tvcs.projection.selection import Selection

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_peers.libraries import absent, library

_MODULE = "ortools.graph.python.min_cost_flow"
_COST_BITS = 61  # costs are multiplied by the number of nodes + 1 inside, in signed 64-bit integers


class FlowProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set by OR-tools' SimpleMinCostFlow (cost scaling).

    Source to row groups to column groups to sink, one arc of capacity 1 an element and one
    arc back, so that flow runs only where it pays. Costs are the quantised squares, with fewer
    bits where nodes times costs would not fit in 64: the exact projection judges the support.

    OR-tools and the package highspy, which CVXPY loads, cannot be loaded into one process:
    each finds the other's copy of HiGHS. In a comparison every solver has its own process.
    """

    name = "ortools.projection"
    requires = (f"ortools:{_MODULE}",)
    reference = "Goldberg 1997, An efficient implementation of a scaling minimum-cost flow algorithm"
    solves = Projection
    one_shot = True
    residual_meaning = "what the support loses, relative to its worth"

    def unsuited(self, problem: Projection) -> str | None:
        if "highspy" in sys.modules and _MODULE not in sys.modules:
            return (
                "the package highspy is loaded in this process (CVXPY loads it), and OR-tools cannot be "
                "loaded beside it; run this solver in a process of its own, as a comparison does"
            )
        return absent(self) or why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        flows = library(_MODULE)
        program = SupportProgram.of(problem)
        rows, columns = program.rows, program.columns
        elements = np.flatnonzero(program.whole)
        source, sink = 0, 1
        first_row, first_column = 2, 2 + len(rows)
        nodes = first_column + len(columns)
        # Elements outside a view's groups leave from the source, or go to the sink, themselves.
        tail = np.where(rows.labels >= 0, first_row + rows.labels, source)[elements]
        head = np.where(columns.labels >= 0, first_column + columns.labels, sink)[elements]
        spare = max(0, 50 + nodes.bit_length() - _COST_BITS)
        cost = -np.rint(program.whole[elements] / 2.0**spare).astype(np.int64)

        flow = flows.SimpleMinCostFlow()
        arcs = flow.add_arcs_with_capacity_and_unit_cost(tail, head, np.ones_like(tail), cost)
        into = np.arange(first_row, first_column)
        out = np.arange(first_column, nodes)
        p = len(program.whole)
        caps = (np.minimum(rows.caps, p), np.minimum(columns.caps, p))
        flow.add_arcs_with_capacity_and_unit_cost(np.full(len(into), source), into, caps[0], 0 * into)
        flow.add_arcs_with_capacity_and_unit_cost(out, np.full(len(out), sink), caps[1], 0 * out)
        flow.add_arc_with_capacity_and_unit_cost(sink, source, program.over.limit, 0)
        status = flow.solve()
        if status != flow.OPTIMAL:
            return Status.STALLED, f"OR-tools ended with {status.name}"
        support = np.zeros(p, dtype=np.bool_)
        support[elements[flow.flows(arcs) > 0]] = True
        return (yield from program.last(support))
