"""From a fractional best answer of the support program to a support that is as good."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_tvcs.program.support_program import SupportProgram

_SHARE = 1e-6  # shares this near to 0 or 1 count as whole
_LOAD = 1e-3  # loads of a group, sums of many shares, this near to a whole number count as whole

_SOURCE, _SINK = 0, 1


@dataclass
class _Arc:
    """An arc with its flow and worth; `element` is -1 for the load of a group or of the whole vector."""

    tail: int
    head: int
    flow: float
    worth: float = 0.0
    element: int = -1


def to_vertex(program: SupportProgram, x: Array) -> NDArray[np.bool_]:
    """A support worth as much as the shares `x`, where these are within about 1e-6 of a best answer.

    Shares are a flow from a source by rows and columns to a sink and back. Where arcs carry
    fractions, each of their nodes has at least two such arcs, so they hold a cycle; shifting
    flow around it, in the direction that loses nothing, makes one arc whole and leaves all bounds
    kept, since these are whole numbers. With less accurate shares the support may not be feasible.
    At most as many shifts as fractional arcs, each along a
    cycle of at most as many arcs as there are groups; a loop in Python.
    """
    whole = program.whole
    shares = np.where(whole > 0, np.clip(x, 0.0, 1.0), 0.0)
    near = np.abs(shares - np.rint(shares)) <= _SHARE
    shares[near] = np.rint(shares[near])
    arcs = _fractional_arcs(program, shares)
    touching: dict[int, set[int]] = {}
    for number, arc in enumerate(arcs):
        touching.setdefault(arc.tail, set()).add(number)
        touching.setdefault(arc.head, set()).add(number)

    def drop(number: int) -> None:
        touching[arcs[number].tail].discard(number)
        touching[arcs[number].head].discard(number)

    left = set(range(len(arcs)))
    while left:
        cycle, stub = _cycle(arcs, touching, arcs[next(iter(left))].tail)
        if stub is not None:  # tolerances hide the partner of this arc: take the nearest whole number
            arcs[stub].flow = float(round(arcs[stub].flow))
            drop(stub)
            left.discard(stub)
            continue
        if sum(sign * arcs[number].worth for number, sign in cycle) < 0:
            cycle = [(number, -sign) for number, sign in cycle]
        shift = min(_room(arcs[number].flow, sign) for number, sign in cycle)
        for number, sign in cycle:
            arcs[number].flow += sign * shift
            if _is_whole(arcs[number]):
                drop(number)
                left.discard(number)
    for arc in arcs:
        if arc.element >= 0:
            shares[arc.element] = arc.flow
    return shares > 0.5


def _fractional_arcs(program: SupportProgram, shares: Array) -> list[_Arc]:
    """The arcs whose flow is not a whole number."""
    rows, columns = program.rows, program.columns
    first_row, first_column = 2, 2 + len(rows)
    arcs: list[_Arc] = []
    for element in np.flatnonzero((shares > 0) & (shares < 1)).tolist():
        row, column = int(rows.labels[element]), int(columns.labels[element])
        tail = first_row + row if row >= 0 else _SOURCE
        head = first_column + column if column >= 0 else _SINK
        arcs.append(_Arc(tail, head, float(shares[element]), float(program.whole[element]), element))
    loads = [
        (_SOURCE, first_row, rows.labels, len(rows), True),
        (first_column, _SINK, columns.labels, len(columns), False),
    ]
    for tail, head, labels, groups, into in loads:
        held = labels >= 0
        load = np.bincount(labels[held], weights=shares[held], minlength=groups)
        for group in np.flatnonzero(np.abs(load - np.rint(load)) > _LOAD).tolist():
            ends = (tail, head + group) if into else (tail + group, head)
            arcs.append(_Arc(*ends, float(load[group])))
    total = float(shares.sum())
    if abs(total - round(total)) > _LOAD:
        arcs.append(_Arc(_SINK, _SOURCE, total))
    return arcs


def _cycle(
    arcs: list[_Arc], touching: dict[int, set[int]], start: int
) -> tuple[list[tuple[int, int]], int | None]:
    """A cycle as (arc, +1 along or -1 against it), or an arc at whose end the walk is stuck."""
    node, came = start, -1
    seen = {node: 0}
    walk: list[tuple[int, int]] = []
    while True:
        arc = next((number for number in touching[node] if number != came), None)
        if arc is None:
            return [], came if came >= 0 else next(iter(touching[node]))
        forward = arcs[arc].tail == node
        walk.append((arc, 1 if forward else -1))
        node, came = arcs[arc].head if forward else arcs[arc].tail, arc
        if node in seen:
            return walk[seen[node] :], None
        seen[node] = len(walk)


def _is_whole(arc: _Arc) -> bool:
    return abs(arc.flow - round(arc.flow)) <= (_SHARE if arc.element >= 0 else _LOAD)


def _room(flow: float, sign: int) -> float:
    """How far a fractional flow is from the next whole number in this direction."""
    return math.ceil(flow) - flow if sign > 0 else flow - math.floor(flow)
