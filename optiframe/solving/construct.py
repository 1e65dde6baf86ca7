"""Objects by name, from Python: the same doors a configuration file uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optiframe.errors import BrokenPlugin, InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.registry import registry
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import build, loading

if TYPE_CHECKING:
    from optiframe.problems.objectives.objective import Objective
    from optiframe.problems.problem import Problem
    from optiframe.problems.sets.constraint_set import ConstraintSet
    from optiframe.solving.solver import Solver


def problem(name: str | None = None, *, dataset: Any = None, **inputs: Any) -> Problem[Any]:
    """Build a problem by name from inputs, from a named data set, or from both.

    Parameters
    ----------
    name
        A problem's name; may be left out when a data set says what it is for.
    dataset
        A data set's name, or a mapping with `name` and its parameters.
    **inputs
        The problem's own inputs; they win over what the data set brings.

    Raises
    ------
    UnknownName, InvalidInput
    """
    brought: Mapping[str, Any] = {}
    if dataset is not None:
        data = build("data set", dataset) if isinstance(dataset, str | Mapping) else dataset
        if not isinstance(data, DataSet):
            raise InvalidInput(
                f"dataset must be a name, a table with a name, or a data set, got {dataset!r:.60}"
            )
        name = name or data.problem
        if normalise(name) != data.problem:
            raise InvalidInput(f"data set {data.name!r} is for {data.problem!r} problems, not for {name!r}")
        with loading(data.name):
            brought = data.inputs()
        if not isinstance(brought, Mapping):
            raise BrokenPlugin(
                f"data set {data.name!r}: inputs() must give the problem's inputs by name, "
                f"got a {type(brought).__name__}"
            )
    if name is None:
        known = ", ".join(e.name for e in registry.registry().entries("problem"))
        raise InvalidInput(f"which problem? give a name ({known}) or a data set")
    built: Problem[Any] = build("problem", {**brought, **inputs, "name": name})
    return built


def solver(name: str, **parameters: Any) -> Solver[Any, Any, Any]:
    """Build a solver by name. Raises `UnknownName` or `InvalidInput`."""
    built: Solver[Any, Any, Any] = build("solver", {**parameters, "name": name})
    return built


def objective(name: str, **parameters: Any) -> Objective:
    """Build an objective by name. Raises `UnknownName` or `InvalidInput`."""
    built: Objective = build("objective", {**parameters, "name": name})
    return built


def constraint_set(name: str, **parameters: Any) -> ConstraintSet:
    """Build a constraint set by name. Raises `UnknownName` or `InvalidInput`."""
    built: ConstraintSet = build("constraint set", {**parameters, "name": name})
    return built


def dataset(name: str, **parameters: Any) -> DataSet:
    """Build a data set by name; `inputs()` of it reads the data. Raises `UnknownName` or `InvalidInput`."""
    built: DataSet = build("data set", {**parameters, "name": name})
    return built
