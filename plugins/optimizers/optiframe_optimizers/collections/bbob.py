"""COCO's testbed BBOB: 24 noiseless functions at six sizes, by number and instance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from optiframe import DataSet, Objective
from optiframe.errors import require
from optiframe.problems.collection import Collection, in_library
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array
from optiframe_optimizers.collections.choosing import Several

_LIBRARY = "coco-experiment:cocoex"
_SOURCE = "Hansen et al., COCO: a platform for comparing continuous optimizers (2021), testbed bbob"

Number = Annotated[int, Field(ge=1, le=24)]
Size = Literal[2, 3, 5, 10, 20, 40]
Instance = Annotated[int, Field(ge=1, le=1000)]


class BbobObjective(Objective):
    """The objective of a BBOB function: values only.

    Only its numbers are kept; the function is made by the library where it is used.
    """

    name = "bbob"
    reference = _SOURCE
    requires = (_LIBRARY,)

    function: Number = Field(default=1, description="number of the function, 1 (sphere) to 24")
    variables: Size = Field(default=2, description="number of variables: 2, 3, 5, 10, 20 or 40")
    instance: Instance = Field(default=1, description="which shift and rotation")

    @cached_property
    def _problem(self) -> tuple[Any, Any]:
        library = require("cocoex", "bbob", of="optiframework-optimizers")
        which = f"dimensions: {self.variables} function_indices: {self.function}"
        suite = library.Suite("bbob", f"instances: {self.instance}", which)
        return suite, suite.get_problem(0)  # whose suite must outlive it

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.variables,)

    def value(self, x: Array) -> float:
        return float(self._problem[1](np.asarray(x, dtype=np.float64)))

    @property
    def start(self) -> Array:
        """Where the library begins."""
        return np.array(self._problem[1].initial_solution, dtype=np.float64)


class BbobProblem(DataSet):
    """One function of BBOB, by number, size and instance, in the box from -5 to 5 that holds its optimum."""

    name = "bbob.problem"
    problem = "minimize"
    reference = _SOURCE
    requires = (_LIBRARY,)

    function: Number = Field(default=1, description="number of the function, 1 (sphere) to 24")
    variables: Size = Field(default=2, description="number of variables: 2, 3, 5, 10, 20 or 40")
    instance: Instance = Field(default=1, description="which shift and rotation")

    def inputs(self) -> dict[str, Any]:
        objective = BbobObjective(function=self.function, variables=self.variables, instance=self.instance)
        return {
            "objective": objective,
            "over": Box(lower=np.array(-5.0), upper=np.array(5.0)),
            "start": objective.start,
        }

    @classmethod
    def where(cls) -> str:
        return in_library(cls)


class Bbob(Collection):
    """Functions of COCO's testbed BBOB, by number, size and instance."""

    name = "bbob"
    problem = "minimize"
    reference = _SOURCE
    requires = (_LIBRARY,)

    functions: Annotated[tuple[Number, ...], Several] = Field(
        default=tuple(range(1, 25)), description="which functions, by their numbers 1 to 24; default: all"
    )
    variables: Annotated[tuple[Size, ...], Several] = Field(
        default=(2, 5, 10), description="numbers of variables"
    )
    instances: Annotated[tuple[Instance, ...], Several] = Field(
        default=(1,), description="which shifts and rotations"
    )

    def members(self) -> Mapping[str, Mapping[str, Any]]:
        chosen = product(self.functions, self.variables, self.instances)
        several = len(self.instances) > 1
        return {
            f"f{function} n={variables}{f' instance {instance}' if several else ''}": {
                "name": BbobProblem.name,
                "function": function,
                "variables": variables,
                "instance": instance,
            }
            for function, variables, instance in chosen
        }
