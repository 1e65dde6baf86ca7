"""A cell as what a child process is sent: tables with the seed filled in, objects as bytes."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from optiframe.comparison.cells import Cell, Checksums, Choice, Pickled, Plan, Request
from optiframe.comparison.plan.content_key import classes_and_functions
from optiframe.comparison.plan.sweep import fill, seeded
from optiframe.comparison.plan.unchanged import unchanged
from optiframe.errors import InvalidInput, require
from optiframe.problems.problem import Problem
from optiframe.records.fields import paths_relative_to
from optiframe.records.record import Record
from optiframe.registry import registry
from optiframe.solving import construct

# Bytes from which an array travels beside the pickle: a copy of less costs below a millisecond.
_LARGE = 2**20


@dataclass(frozen=True)
class BuiltHere:
    """A problem that only this process can build, from a table, once for each seed."""

    table: Mapping[str, Any]
    folder: Path
    checksums: Checksums

    def build(self, seed: int) -> Problem[Any]:
        """The problem of one seed. Raises whatever building it raises, and `DataChanged`."""
        table = fill(self.table, seed)
        with unchanged(self.checksums, self.folder, table), paths_relative_to(self.folder):
            return construct.problem(**table)


def draws(problem: Choice) -> bool:
    """Whether the problem's data follow the seed of the cell."""
    return seeded(problem.thing.table if isinstance(problem.thing, BuiltHere) else problem.table)


def request_of(plan: Plan, cell: Cell) -> Request:
    """What a child process needs to run the cell.

    Raises
    ------
    InvalidInput
        For an object that cannot be sent to another process, naming it, and for one that a
        store has read, which no longer knows it.
    """
    choices = (("problem", cell.problem), ("solver", cell.solver))
    return Request(
        key=cell.key,
        problem=None if cell.problem.table is None else fill(cell.problem.table, cell.seed),
        solver=cell.solver.table,
        seed=cell.seed,
        budget=plan.budget.model_dump(),
        limits=plan.limits,
        measure=plan.measure,
        # Apart from one another: who judges an answer is sent the problem and never the solver.
        objects={
            kind: _pickled(_thing(choice, cell.seed)) for kind, choice in choices if choice.table is None
        },
        modules=plan.modules,
        path=tuple(str(Path(entry).absolute()) for entry in sys.path),  # "" is this process's folder
        folder=str(plan.folder.absolute()),
        where=cell.problem.where,
        checksums=Checksums(
            {**cell.problem.checksums.files, **cell.solver.checksums.files}, cell.problem.checksums.dataset
        ),
        blocked=registry.blocked(),
    )


def _thing(choice: Choice, seed: int) -> Any:
    if choice.thing is None:
        raise InvalidInput(
            f"{choice.title} was made in Python and is not kept; give it again in the program that made it"
        )
    return choice.thing.build(seed) if isinstance(choice.thing, BuiltHere) else choice.thing


def _pickled(thing: Any) -> Pickled:
    """The object, and beside it its large arrays, which are not copied."""
    cloudpickle = require("cloudpickle", "compare")
    buffers: list[pickle.PickleBuffer] = []

    def keep_in(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().nbytes < _LARGE:
            return True
        buffers.append(buffer)
        return False

    with _by_value(cloudpickle, thing):
        try:
            data: bytes = cloudpickle.dumps(thing, protocol=5, buffer_callback=keep_in)
        except Exception as error:  # pickling runs the objects' own code, which raises what it likes
            raise InvalidInput(
                f"{getattr(thing, 'name', thing)} cannot be sent to another process "
                f"({type(error).__name__}: {error}); keep open files, locks and the like out of it"
            ) from error
    return Pickled(data, tuple(buffers))


@contextmanager
def _by_value(cloudpickle: Any, thing: Any) -> Iterator[None]:
    """Have classes whose module the child could not import travel whole, for the time of the block."""
    modules = {
        cls.__module__: sys.modules[cls.__module__]
        for cls in (classes_and_functions(thing) if isinstance(thing, Record) else ())
        if isinstance(cls, type)
        and cls.__module__ in sys.modules
        and not _importable(sys.modules[cls.__module__])
    }
    known = cloudpickle.list_registry_pickle_by_value()
    added = [module for name, module in modules.items() if name not in known]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


def _importable(module: ModuleType) -> bool:
    """Whether another process with this one's path finds the same file under the module's name."""
    if module.__name__ == "__main__":
        return True  # by value in any case
    try:
        top = find_spec(module.__name__.partition(".")[0])
    except (ImportError, ValueError):
        return False
    if top is None:
        return False
    if "." in module.__name__:
        return bool(top.submodule_search_locations) and _found_below(module, top.submodule_search_locations)
    return top.origin == getattr(module, "__file__", None)


def _found_below(module: ModuleType, folders: Any) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and any(Path(file).is_relative_to(folder) for folder in folders)
