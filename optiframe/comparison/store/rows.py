"""Outcomes and plans as rows of the store, and back: plain values, no pickle."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from optiframe.comparison.cells import Cell, Choice, ExecutorChoice, Limits, Measure, Plan
from optiframe.comparison.records import HISTORY, Direction, Outcome
from optiframe.errors import InvalidInput, OptiframeError
from optiframe.files.plain import plain
from optiframe.printable import printable
from optiframe.solving.budget import Budget
from optiframe.solving.result import Status

NUMBERS = (
    "objective",
    "violation",
    "time",
    "setup",
    "evaluation_time",
    "loading",
    "warmup",
    "cpu",
    "wall",
    "memory",
)
_DOCUMENTS = ("metrics", "findings", "times", "evaluations", "better", "versions", "environment")
_TEXTS = ("message", "solved", "stderr")
# The column keeps the name that earlier versions gave it, so that their stores need no conversion.
_COLUMNS = {name: "judging" if name == "evaluation_time" else name for name in NUMBERS}
CELL_COLUMNS = ("status", "iterations", *_COLUMNS.values(), *_DOCUMENTS, *_TEXTS, "columns")
# These have columns of their own in the table of points; the solver's own scalars are in `info`.
POINT_COLUMNS = ("iteration", "time", "objective", "violation", "residual")
# JSON has no word for these; in a document that is read back they are text that no name has.
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(value: Any) -> str:
    """A document; numbers that are not finite become {"number": "inf"}, so that any reader can parse it."""
    return json.dumps(
        plain(value, lambda number: {"number": str(number)}), allow_nan=False, ensure_ascii=True
    )


def from_json(text: str) -> Any:
    """What `to_json` wrote."""
    return json.loads(text, object_hook=_number)


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Raise `InvalidInput` where a part of a store is not what this version writes, whoever made it."""
    try:
        yield
    except OptiframeError:
        raise
    except KeyError as error:
        said = f"{error} is missing"
    except (ValidationError, TypeError, AttributeError):
        said = "a value is of another type"
    except ValueError as error:
        said = str(error)
    except RecursionError:
        said = "it is nested too deeply"
    else:
        return
    raise InvalidInput(f"the store holds {what} that cannot be understood ({said})")


def _number(found: dict[str, Any]) -> Any:
    word = found.get("number")
    return _WORDS[word] if len(found) == 1 and isinstance(word, str) and word in _WORDS else found


def text(value: str) -> str:
    """Text that any file can hold: half characters, as from a file name that is no text, become '?'."""
    return value.encode("utf-8", "replace").decode("utf-8")


def cell_values(outcome: Outcome) -> dict[str, Any]:
    """What the table of cells holds of an outcome, by column; the traceback and the trace go elsewhere."""
    values: dict[str, Any] = {"status": str(outcome.status), "iterations": int(outcome.iterations)}
    values |= {column: float(getattr(outcome, name)) for name, column in _COLUMNS.items()}
    values |= {name: to_json(getattr(outcome, name)) for name in _DOCUMENTS}
    values |= {name: text(getattr(outcome, name)) for name in _TEXTS}
    return values | {"columns": to_json(list(outcome.trace))}


def point_values(trace: Mapping[str, list[float]]) -> list[tuple[Any, ...]]:
    """A row for each point: its number, the common columns, and the others as a document or nothing."""
    others = [name for name in trace if name not in POINT_COLUMNS]
    length = max(map(len, trace.values()), default=0)
    absent = [None] * length
    common = zip(*(trace.get(name, absent) for name in POINT_COLUMNS), strict=True)
    infos: Iterable[str | None] = absent
    if others:
        columns = zip(*(trace[name] for name in others), strict=True)
        infos = [to_json(dict(zip(others, point, strict=True))) for point in columns]
    return [(number, *values, info) for number, (values, info) in enumerate(zip(common, infos, strict=True))]


def outcome_from(row: Mapping[str, Any], points: Iterable[Mapping[str, Any]], traceback: str) -> Outcome:
    """The outcome a row of cells and its points hold.

    Raises
    ------
    InvalidInput
        When a value is not what this version writes.
    """
    with understood("a cell"):
        documents = {name: from_json(row[name]) for name in _DOCUMENTS}
        documents["findings"] = tuple(documents["findings"])
        documents["times"] = tuple(documents["times"])
        trace: dict[str, list[float]] = {name: [] for name in from_json(row["columns"])}
        for point in points:
            info = from_json(point["info"]) if point["info"] else {}
            for name, column in trace.items():
                value = point[name] if name in POINT_COLUMNS else info.get(name)
                column.append(math.nan if value is None else value)
        fields: dict[str, Any] = {
            "status": Status(row["status"]),
            "iterations": int(row["iterations"]),
            "trace": trace,
            "traceback": traceback,
            "provisional": not row["finished"],
        }
        numbers = {name: row[column] for name, column in _COLUMNS.items()}
        fields |= {name: math.nan if value is None else float(value) for name, value in numbers.items()}
        fields |= {name: str(row[name]) for name in _TEXTS}
        found: Outcome = checked(Outcome).validate_python({**fields, **documents})
        return found.printable()  # whoever wrote the store


def history_from(text: str) -> dict[str, list[float]]:
    """A stored history.

    Raises
    ------
    InvalidInput
        When it is not what this version writes.
    """
    with understood("a history"):
        return {name: [float(value) for value in from_json(text)[name]] for name in HISTORY}


def spec_of(cell: Cell) -> str:
    """A cell of a plan as a document; an object made in Python is only named."""

    def choice(chosen: Choice) -> dict[str, Any]:
        named = ("title", "name", "table", "content", "versions", "where")
        return {name: getattr(chosen, name) for name in named}

    return to_json({"problem": choice(cell.problem), "solver": choice(cell.solver)})


def cell_from(key: str, seed: str, spec: str) -> Cell:
    """The cell that `spec_of` described.

    Raises
    ------
    InvalidInput
        When it is not what this version writes.
    """
    with understood("an entry"):
        parts = from_json(spec)
        shown = ("title", "name", "where")  # a parameter keeps its value, whatever that is
        for part in parts.values():
            part |= {name: printable(part[name]) for name in shown}
        problem, solver = (checked(Choice).validate_python(parts[kind]) for kind in ("problem", "solver"))
        return Cell(key, problem, solver, int(seed))


def settings_of(plan: Plan) -> str:
    """All of a plan besides its cells and its text."""
    return to_json(
        {
            "budget": plan.budget.model_dump(),
            "limits": asdict(plan.limits),
            "measure": asdict(plan.measure),
            "executor": asdict(plan.executor),
            "order_seed": plan.order_seed,
            "gaps": list(plan.gaps),
            "better": plan.better,
            "folder": str(plan.folder),
            "modules": list(plan.modules),
        }
    )


def identity_of(plan: Plan) -> str:
    """Hash of all that a store keeps of a plan."""
    parts = [settings_of(plan), plan.text, *map(spec_of, plan.cells), *(cell.key for cell in plan.cells)]
    return hashlib.sha256(to_json(parts).encode()).hexdigest()


def plan_from(settings: str, config: str, output: Path, cells: list[Cell], positions: list[int]) -> Plan:
    """The plan a store holds; `Choice.thing` of objects made in Python is None.

    Raises
    ------
    InvalidInput
        When the settings are not what this version writes.
    """
    with understood("settings"):
        said = from_json(settings)
        return Plan(
            cells=tuple(cells),
            budget=Budget(**said["budget"]),
            limits=checked(Limits).validate_python(said["limits"]),
            measure=checked(Measure).validate_python(said["measure"]),
            executor=checked(ExecutorChoice).validate_python(said["executor"]),
            order_seed=int(said["order_seed"]),
            gaps=checked(tuple[float, ...]).validate_python(said["gaps"]),
            better=checked(dict[str, Direction]).validate_python(said["better"]),
            text=config,
            folder=Path(said["folder"]),
            modules=checked(tuple[str, ...]).validate_python(said["modules"]),
            output=output,
            positions=tuple(positions),
        )


@cache
def checked(kind: Any) -> TypeAdapter[Any]:
    """What reads a value of this type from plain data, and raises a `ValueError` where it is none."""
    return TypeAdapter(kind)
