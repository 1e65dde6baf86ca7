"""What the tables of a cell set, by names for columns: ``solver.step``, ``problem.dataset.noise``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from optiframe.comparison.records import Cell

Parameter = bool | int | float | str

_TITLES = frozenset({"name", "title"})  # these have columns of their own
_LONG = 200  # characters of a list beyond which it is data and no parameter: every row would hold it


def parameters_of(cell: Cell) -> dict[str, Parameter]:
    """Parameters of a cell as its file gives them, sweeps resolved: neither defaults nor what is the seed's.

    Lists are JSON text, and long ones left out. Of an object made in Python nothing is known but its title.
    """
    found: dict[str, Parameter] = {}
    for kind, choice in (("problem", cell.problem), ("solver", cell.solver)):
        own = {key: value for key, value in (choice.table or {}).items() if key not in _TITLES}
        found |= dict(_leaves(own, kind))
    return found


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Parameter]]:
    if isinstance(value, Mapping):
        if "from" not in value:
            for key, inner in value.items():
                yield from _leaves(inner, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        text = json.dumps(value, default=str)
        if len(text) <= _LONG:
            yield name, text
    elif isinstance(value, bool | int | float | str):
        yield name, value
