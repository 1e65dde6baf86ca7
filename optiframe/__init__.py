"""optiframe: optimization methods as interchangeable parts.

Three jobs: solve a problem with a solver chosen by name, compare solvers on shared
problems, add a solver of your own. Names here are imported on use, so that
``import optiframe`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe.comparison.comparison import Comparison as Comparison
    from optiframe.comparison.comparison import compare as compare
    from optiframe.errors import BrokenPlugin as BrokenPlugin
    from optiframe.errors import InvalidInput as InvalidInput
    from optiframe.errors import MissingPackage as MissingPackage
    from optiframe.errors import OptiframeError as OptiframeError
    from optiframe.errors import UnknownName as UnknownName
    from optiframe.errors import Unsuited as Unsuited
    from optiframe.findings import Finding as Finding
    from optiframe.hookspec import Description as Description
    from optiframe.hookspec import hookimpl as hookimpl
    from optiframe.problems.collection import Collection as Collection
    from optiframe.problems.datasets import DataFile as DataFile
    from optiframe.problems.datasets import DataSet as DataSet
    from optiframe.problems.minimize import Composite as Composite
    from optiframe.problems.minimize import Minimize as Minimize
    from optiframe.problems.objectives.from_function import from_function as from_function
    from optiframe.problems.objectives.objective import FiniteSum as FiniteSum
    from optiframe.problems.objectives.objective import Objective as Objective
    from optiframe.problems.objectives.objective import Quadratic as Quadratic
    from optiframe.problems.objectives.residuals import from_residuals as from_residuals
    from optiframe.problems.problem import Formulation as Formulation
    from optiframe.problems.problem import Problem as Problem
    from optiframe.problems.projection import Projection as Projection
    from optiframe.problems.regularizers.regularizer import Regularizer as Regularizer
    from optiframe.problems.sets.constraint_set import ConstraintSet as ConstraintSet
    from optiframe.problems.sets.constraint_set import CvxpyProgram as CvxpyProgram
    from optiframe.problems.sets.constraint_set import LinearForm as LinearForm
    from optiframe.problems.sets.constraint_set import ScipyConstraints as ScipyConstraints
    from optiframe.records.fields import FilePath as FilePath
    from optiframe.records.fields import resolve as resolve
    from optiframe.registry.by_name import ByName as ByName
    from optiframe.registry.by_name import Part as Part
    from optiframe.registry.by_name import part as part
    from optiframe.registry.registry import register as register
    from optiframe.solving.budget import Budget as Budget
    from optiframe.solving.callbacks import iterates_from_callback as iterates_from_callback
    from optiframe.solving.chain import why_unsuited as why_unsuited
    from optiframe.solving.construct import constraint_set as constraint_set
    from optiframe.solving.construct import dataset as dataset
    from optiframe.solving.construct import objective as objective
    from optiframe.solving.construct import problem as problem
    from optiframe.solving.construct import solver as solver
    from optiframe.solving.result import Result as Result
    from optiframe.solving.result import Status as Status
    from optiframe.solving.result import Trace as Trace
    from optiframe.solving.solve import NotConverged as NotConverged
    from optiframe.solving.solve import solve as solve
    from optiframe.solving.solver import Iterate as Iterate
    from optiframe.solving.solver import Iterates as Iterates
    from optiframe.solving.solver import Run as Run
    from optiframe.solving.solver import Solver as Solver
    from optiframe.tables.field import TableOf as TableOf
    from optiframe.tables.read import Table as Table
    from optiframe.tables.read import read_table as read_table

_get, __dir__, __all__ = exports(__name__)  # a list, made there


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        from optiframe.errors import DISTRIBUTION

        return version(DISTRIBUTION)
    return _get(name)
