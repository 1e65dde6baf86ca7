"""A request's problem and solver, built in the process that was asked for them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Limits, Request
from optiframe.comparison.processes.memory import refuse_more_than
from optiframe.errors import require
from optiframe.records.fields import paths_relative_to
from optiframe.registry import registry


def settle(request: Request) -> None:
    """Find modules where the parent does, import none that it has blocked, and keep to the memory."""
    sys.path.extend(folder for folder in request.path if folder not in sys.path)
    if request.limits.memory is not None:
        refuse_more_than(request.limits.memory)
    registry.block(request.blocked)


def unpickled(request: Request, kind: str) -> Any:
    """The object of this kind that was made in Python; None where a table says what it is."""
    if kind not in request.objects:
        return None
    require("cloudpickle", "compare")
    sent = request.objects[kind]
    return pickle.loads(sent.content, buffers=sent.buffers)  # from our parent's pipe


def problem_of(request: Request) -> Any:
    """The problem; raises whatever building it raises."""
    problem = unpickled(request, "problem")
    if problem is not None:
        return problem
    from optiframe.solving import construct

    with paths_relative_to(Path(request.folder)):
        return construct.problem(**(request.problem or {}))


def limit_threads(limits: Limits) -> None:
    """Of the libraries that are loaded by now."""
    require("threadpoolctl", "compare").threadpool_limits(limits.threads)
