"""What the tables of a cell set, by names for columns: ``solver.step``, ``problem.dataset.noise``."""

from __future__ import annotations

import json

from optiframe.comparison.cells import Cell
from optiframe.comparison.plan.table_facts import leaves

Parameter = bool | int | float | str

_TITLES = frozenset({"name", "title"})  # these have columns of their own
_LONG = 200  # characters of a list beyond which it is data and no parameter: every row would hold it


def parameters_of(cell: Cell) -> dict[str, Parameter]:
    """Parameters of a cell as its file gives them, sweeps resolved: neither defaults nor what is the seed's.

    Lists are JSON text, and long ones left out. Of an object made in Python nothing is known but its title.
    """
    found: dict[str, Parameter] = {}
    for kind, choice in (("problem", cell.problem), ("solver", cell.solver)):
        for keys, value in leaves(choice.table or {}):
            text = json.dumps(value, default=str) if isinstance(value, list | tuple) else value
            if keys[0] not in _TITLES and (text is value or len(text) <= _LONG):
                found[".".join((kind, *keys))] = text
    return found
