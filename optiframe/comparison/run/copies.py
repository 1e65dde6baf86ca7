"""Copies of a problem for solves that must not profit from one another."""

from __future__ import annotations

import pickle
from typing import Any

from optiframe.errors import require


class Copies:
    """Fresh copies of a problem, so that every solve pays for its own setup.

    Pickled in memory, which drops what is cached; the data itself, which does not change, is
    shared, so that a copy of a large problem costs neither time nor memory.
    """

    def __init__(self, problem: Any, dynamic: bool) -> None:
        self._buffers: list[Any] = []
        dumps: Any = pickle.dumps
        if dynamic:  # made in Python: its class may have no importable name
            dumps = require("cloudpickle", "compare").dumps
        self._content = dumps(problem, protocol=5, buffer_callback=self._buffers.append)

    def fresh(self) -> Any:
        """Another copy."""
        return pickle.loads(self._content, buffers=self._buffers)
