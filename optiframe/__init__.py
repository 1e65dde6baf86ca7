"""optiframe: optimization methods as interchangeable parts.

Three jobs: solve a problem with a solver chosen by name, compare solvers on shared
problems, add a solver of your own. Names here are imported on use, so that
``import optiframe`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe.api import constraint_set as constraint_set
    from optiframe.api import dataset as dataset
    from optiframe.api import objective as objective
    from optiframe.api import problem as problem
    from optiframe.api import solver as solver
    from optiframe.callbacks import iterates_from_callback as iterates_from_callback
    from optiframe.chain import why_unsuited as why_unsuited
    from optiframe.comparison.comparison import Comparison as Comparison
    from optiframe.comparison.comparison import compare as compare
    from optiframe.constraints import ConstraintSet as ConstraintSet
    from optiframe.constraints import CvxpyProgram as CvxpyProgram
    from optiframe.constraints import ScipyConstraints as ScipyConstraints
    from optiframe.datasets import DataFile as DataFile
    from optiframe.datasets import DataSet as DataSet
    from optiframe.errors import BrokenPlugin as BrokenPlugin
    from optiframe.errors import InvalidInput as InvalidInput
    from optiframe.errors import MissingPackage as MissingPackage
    from optiframe.errors import OptiframeError as OptiframeError
    from optiframe.errors import UnknownName as UnknownName
    from optiframe.errors import Unsuited as Unsuited
    from optiframe.hookspec import Description as Description
    from optiframe.hookspec import hookimpl as hookimpl
    from optiframe.loop import NotConverged as NotConverged
    from optiframe.loop import solve as solve
    from optiframe.objectives import FiniteSum as FiniteSum
    from optiframe.objectives import Objective as Objective
    from optiframe.objectives import from_function as from_function
    from optiframe.parts import ByName as ByName
    from optiframe.parts import Part as Part
    from optiframe.parts import part as part
    from optiframe.problems import Finding as Finding
    from optiframe.problems import Formulation as Formulation
    from optiframe.problems import Minimize as Minimize
    from optiframe.problems import Problem as Problem
    from optiframe.problems import Projection as Projection
    from optiframe.registry import register as register
    from optiframe.results import Result as Result
    from optiframe.results import Status as Status
    from optiframe.results import Trace as Trace
    from optiframe.solvers import Budget as Budget
    from optiframe.solvers import Iterate as Iterate
    from optiframe.solvers import Iterates as Iterates
    from optiframe.solvers import Run as Run
    from optiframe.solvers import Solver as Solver

_HOME = {
    "api": ("constraint_set", "dataset", "objective", "problem", "solver"),
    "callbacks": ("iterates_from_callback",),
    "chain": ("why_unsuited",),
    "comparison.comparison": ("Comparison", "compare"),
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
    "parts": ("ByName", "Part", "part"),
    "problems": ("Finding", "Formulation", "Minimize", "Problem", "Projection"),
    "registry": ("register",),
    "results": ("Result", "Status", "Trace"),
    "solvers": ("Budget", "Iterate", "Iterates", "Run", "Solver"),
}
_get, __dir__, __all__ = exports(__name__, _HOME)  # a list, made there


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        from optiframe.errors import DISTRIBUTION

        return version(DISTRIBUTION)
    return _get(name)
