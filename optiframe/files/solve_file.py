"""A TOML file to validated objects, with the line of whatever is wrong.

Tables: ``[problem]`` (a name and its inputs, or a data set), ``[solver]`` (a name and its
parameters), ``[budget]``, ``[output]``, and the key ``seed``. Nothing in a file is ever
executed. Relative paths start at the file's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt, field_validator

from optiframe.errors import Complaints, InvalidInput, OptiframeError, nearest
from optiframe.files.toml_source import TomlSource, below
from optiframe.problems.problem import Problem
from optiframe.records.record import Record
from optiframe.registry import registry
from optiframe.registry.registry import build, unnamed, unnamed_problem
from optiframe.solving import construct
from optiframe.solving.budget import Budget
from optiframe.solving.recommend import those_that_take
from optiframe.solving.solver import Solver

_TABLES = ("problem", "solver", "budget", "output")


class Output(Record):
    """Where `optiframe solve` writes, and under which name the answer goes."""

    name = "output"

    folder: str | None = Field(default=None, description="output folder; default: results/<name of the file>")
    answer: str = Field(default="answer.csv", description="file name of the answer: .csv, .parquet or .xlsx")

    @field_validator("answer")
    @classmethod
    def _a_table_file(cls, value: str) -> str:
        if Path(value).name != value or Path(value).suffix.lower() not in (".csv", ".parquet", ".xlsx"):
            raise InvalidInput(f"must be a file name ending in .csv, .parquet or .xlsx, got {value!r}")
        return value


class _Seed(Record):
    """The top-level key `seed`, validated like any other field."""

    seed: NonNegativeInt = 0


@dataclass(frozen=True)
class SolveFile(TomlSource):
    """The file of one solve; its objects are built, and checked, on demand."""

    known = (*_TABLES, "seed")

    def check_keys(self) -> None:
        """Raise `InvalidInput` for a comparison's file, and for keys at the top level that mean nothing."""
        for key in ("solver", "problem"):
            if self.path is not None and isinstance(self.table.get(key), list):
                raise self.error([((key,), f"this is a comparison, with [[{key}]]; use optiframe compare")])
        super().check_keys()

    def hint_for_unknown_key(self, key: str) -> str:
        """As for any file; a parameter without its table, as in ``--set share=0.2``, gets that too."""
        parameters = self._parameters()
        exact = [path for path in parameters if path.partition(".")[2] == key]
        return nearest(key, exact) or super().hint_for_unknown_key(key) or nearest(key, parameters)

    def _parameters(self) -> list[str]:
        """What the named solver and problem take, as ``solver.step``; nothing of what is not there."""
        found = []
        for kind in ("solver", "problem"):
            section = self.table.get(kind)
            name = section.get("name") if isinstance(section, Mapping) else section
            if isinstance(name, str):
                with suppress(OptiframeError):
                    fields = registry.registry().get(kind, name).model_fields
                    found += [f"{kind}.{field}" for field in fields]
        return found

    def check(self) -> None:
        """Raise one `InvalidInput` for what is wrong in any table; the problem, which reads data, is last."""
        complaints = Complaints()
        for name in ("solver", "budget", "seed", "output", "problem"):
            with complaints:
                getattr(self, name)
        complaints.tell("\n")

    @cached_property
    def problem(self) -> Problem[Any]:
        """The problem of ``[problem]``."""
        table = dict(self.section("problem"))
        name, dataset = table.pop("name", None), table.pop("dataset", None)
        with self.located("problem"):
            if name is None and dataset is None:
                raise unnamed_problem(table)
            data = None
            if dataset is not None:
                with below("dataset"):
                    data = build("data set", dataset)
            return construct.problem(name, dataset=data, **table)

    @cached_property
    def solver(self) -> Solver[Any, Any, Any] | None:
        """The solver of ``[solver]``; None without that table: the problem recommends one."""
        section = self.table.get("solver")
        if section is None:
            return None
        named = section if isinstance(section, str) else self.section("solver")
        with self.located("solver"):
            if isinstance(named, Mapping) and named.get("name") is None:
                table = {key: value for key, value in named.items() if key != "name"}
                raise unnamed(table, f"is missing: which solver?{self._those_that_suit()}")
            built: Solver[Any, Any, Any] = build("solver", named)
            return built

    def _those_that_suit(self) -> str:
        """The solvers of the problem's own kind that take it, and how to see the others."""
        try:
            problem = self.problem
        except OptiframeError:  # it has its own errors, which come next
            return " `optiframe list solvers` shows them"
        suited = those_that_take(problem)
        where = f"optiframe list solvers --for {self.path}" if self.path else "optiframe list solvers"
        known = f" These take {problem.name}: {', '.join(suited)};" if suited else ""
        return f"{known} `{where}` says more"

    @cached_property
    def budget(self) -> Budget:
        """The limits of ``[budget]``."""
        section = self.section("budget", needed=False)
        with self.located("budget"):
            return Budget(**section)

    @cached_property
    def output(self) -> Output:
        """The destination of ``[output]``."""
        section = self.section("output", needed=False)
        with self.located("output"):
            return Output(**section)

    @cached_property
    def seed(self) -> int:
        """The seed; 0 when none is given."""
        with self.located():
            return _Seed(**({"seed": self.table["seed"]} if "seed" in self.table else {})).seed
