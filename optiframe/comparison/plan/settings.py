"""What a comparison's file says beside its problems and solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveInt, model_validator

from optiframe.comparison.cells import ExecutorChoice, Limits, Measure, Plan
from optiframe.comparison.plan.sweep import MOST
from optiframe.comparison.records import Direction
from optiframe.comparison.units import bytes_of
from optiframe.errors import InvalidInput
from optiframe.records.fields import Accepts
from optiframe.records.record import Record

_LONGEST = 1e7  # seconds of a cell, four months: timers of the system do not take any number
_THREADS = 10_000


def _seeds(value: Any) -> tuple[int, ...]:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST:
            raise InvalidInput(f"must be at least 1 and at most {MOST:,}, or a list of seeds, got {value}")
        return tuple(range(value))
    if not isinstance(value, list | tuple | range):
        raise InvalidInput(f"must be a number of seeds or a list of them, got {value!r:.60}")
    if len(value) == 0:
        raise InvalidInput("is empty; give at least one seed")
    for seed in value:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InvalidInput(f"each seed must be a whole number from 0, got {seed!r:.60}")
    doubled = sorted({seed for seed in value if list(value).count(seed) > 1}) if len(value) <= MOST else []
    if doubled:
        raise InvalidInput(f"holds {', '.join(map(str, doubled))} twice; each seed once")
    return tuple(value)


def _repeat(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST):
        return value
    raise InvalidInput(f'must be a whole number from 1 to {MOST:,}, or "auto", got {value!r:.60}')


def _gaps(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InvalidInput(f"must be a list of relative gaps such as [1e-2, 1e-4], got {value!r:.60}")
    for gap in value:
        if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 < gap < np.inf:
            raise InvalidInput(f"each gap must be a number above 0, got {gap!r:.60}")
    return tuple(dict.fromkeys(float(gap) for gap in value))


def _memory(value: Any) -> int | None:
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return None if value is None else bytes_of(value)
    raise InvalidInput(f'must be bytes, or text such as "2 GB" or "512 MiB", got {value!r:.60}')


class Settings(Record):
    """The keys at the top level: seeds, how often and in which order, and what is looked at."""

    name = "comparison"

    seeds: Annotated[Any, PlainValidator(_seeds), Accepts("list of seeds, or how many: 3 means 0, 1, 2")] = (
        Field(default=(0,), description="one cell for each")
    )
    repeat: Annotated[Any, PlainValidator(_repeat), Accepts('whole number, or "auto"')] = Field(
        default=1, description="timed solves a cell; auto: until the median's interval is narrow"
    )
    warmup: bool = Field(default=True, description="a short solve first, timed apart")
    count: bool = Field(default=True, description="count evaluations of the objective")
    order_seed: NonNegativeInt = Field(default=Plan.order_seed, description="shuffles the cells")
    gaps: Annotated[Any, PlainValidator(_gaps), Accepts("list of numbers")] = Field(
        default=Plan.gaps, description="relative suboptimalities for time to target"
    )
    better: dict[str, Direction] = Field(
        default_factory=dict, description='of metrics whose problem does not say: "lower" or "higher"'
    )

    def measure(self) -> Measure:
        """How cells are measured."""
        return Measure(repeat=self.repeat, warmup=self.warmup, count=self.count)


class LimitsTable(Record):
    """``[limits]``: what no cell may exceed."""

    name = "limits"

    time: Annotated[float, Field(gt=0, le=_LONGEST)] = Field(
        default=Limits.time, description="most seconds a cell may take, start to end"
    )
    memory: Annotated[Any, PlainValidator(_memory), Accepts('bytes, or text such as "2 GB"')] = Field(
        default=Limits.memory, description="most memory of a cell and the processes it starts; none: no limit"
    )
    threads: Annotated[int, Field(ge=1, le=_THREADS)] = Field(
        default=Limits.threads, description="most threads of linear algebra and compiled loops in a cell"
    )

    def limits(self) -> Limits:
        """The limits as cells get them."""
        return Limits(time=float(self.time), memory=self.memory, threads=self.threads)


class ExecutorTable(Record):
    """``[executor]``: where cells run."""

    name = "executor"

    kind: Literal["local", "dask"] = Field(default="local", alias="name", description="where cells run")
    workers: PositiveInt | None = Field(
        default=None, description="cells run at once; none: as many as the cores have threads for"
    )
    address: str | None = Field(
        default=None, description="address of a running Dask scheduler, such as tcp://host:8786"
    )

    @model_validator(mode="after")
    def _address_is_of_dask(self) -> ExecutorTable:
        if self.address is not None and self.kind != "dask":
            text = 'only name = "dask" takes one'
            raise InvalidInput(f"address: {text}", [(("address",), text)])
        return self

    def executor(self) -> ExecutorChoice:
        """The choice as the engine gets it."""
        return ExecutorChoice(self.kind, self.workers, self.address)


class OutputTable(Record):
    """``[output]``: where the results are kept."""

    name = "output"

    folder: str | None = Field(
        default=None,
        description="seen from the current folder, as --output; default: results/<name of the file>",
    )

    def path(self, default: Path | None) -> Path | None:
        """The folder; a relative one begins where the command is run, and not at the file.

        So it is with ``optiframe solve``: inputs belong to the file, results to where one works.
        """
        return default if self.folder is None else Path(self.folder)


def as_table(given: Any, key: str) -> dict[str, Any]:
    """A mapping, a record (`Limits`, `Budget`, ...) or nothing, as a table to be validated."""
    if given is None:
        return {}
    if isinstance(given, Record):
        return given.model_dump(by_alias=True)
    if is_dataclass(given) and not isinstance(given, type):
        return {name: value for name, value in asdict(given).items() if value is not None}
    if isinstance(given, Mapping):
        return dict(given)
    raise InvalidInput(
        f"{key} must be a mapping or a record, got {given!r:.60}", [((key,), "must be a table")]
    )
