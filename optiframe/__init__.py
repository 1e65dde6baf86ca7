"""optiframe: optimization methods as interchangeable parts.

Three jobs: solve a problem with a solver chosen by name, compare solvers on shared
problems, add a solver of your own. Names here are imported on use, so that
``import optiframe`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optiframe.api import constraint_set, dataset, objective, problem, solver
    from optiframe.callbacks import iterates_from_callback
    from optiframe.chain import why_unsuited
    from optiframe.constraints import ConstraintSet, CvxpyProgram, ScipyConstraints
    from optiframe.datasets import DataFile, DataSet
    from optiframe.errors import (
        BrokenPlugin,
        InvalidInput,
        MissingPackage,
        OptiframeError,
        UnknownName,
        Unsuited,
    )
    from optiframe.hookspec import Description, hookimpl
    from optiframe.loop import NotConverged, solve
    from optiframe.objectives import FiniteSum, Objective, from_function
    from optiframe.problems import Finding, Formulation, Minimize, Problem, Projection
    from optiframe.registry import register
    from optiframe.results import Result, Status, Trace
    from optiframe.solvers import Budget, Iterate, Iterates, Run, Solver

_HOME = {
    "api": ("constraint_set", "dataset", "objective", "problem", "solver"),
    "callbacks": ("iterates_from_callback",),
    "chain": ("why_unsuited",),
    "constraints": ("ConstraintSet", "CvxpyProgram", "ScipyConstraints"),
    "datasets": ("DataFile", "DataSet"),
    "errors": (
        "BrokenPlugin",
        "InvalidInput",
        "MissingPackage",
        "OptiframeError",
        "UnknownName",
        "Unsuited",
    ),
    "hookspec": ("Description", "hookimpl"),
    "loop": ("NotConverged", "solve"),
    "objectives": ("FiniteSum", "Objective", "from_function"),
    "problems": ("Finding", "Formulation", "Minimize", "Problem", "Projection"),
    "registry": ("register",),
    "results": ("Result", "Status", "Trace"),
    "solvers": ("Budget", "Iterate", "Iterates", "Run", "Solver"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE)  # noqa: PLE0605  # the names are in _HOME, each once


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("optiframe")
    if name not in _MODULE:
        raise AttributeError(f"module 'optiframe' has no attribute {name!r}")
    value = getattr(import_module(f"optiframe.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
