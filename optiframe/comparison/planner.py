"""Plans made in a child process: what crashes or hangs there costs its own cells only.

The child imports the modules, makes and checks what the tables say, and gives the plan back as data, so that
no code of others runs in the process that compares. Before each step the child says what comes. If it dies or
hangs, that module is blocked, or that table is taken unchecked, and another child makes the plan; the cells
that need it say what is wrong.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Cell, Choice, Plan
from optiframe.comparison.plan import first_import
from optiframe.comparison.plan.first_import import import_classes, possible_names
from optiframe.comparison.plan.plan import Care, read_plan, renewed
from optiframe.comparison.processes.watched import Say, WatchedChild, private_channel
from optiframe.comparison.store.rows import from_json, plan_from, settings_of, to_json
from optiframe.errors import InvalidInput, OptiframeError
from optiframe.registry import registry
from optiframe.registry.user_modules import import_user_module

_START = 60.0  # seconds for the child's own imports
_DATA = 3600.0  # seconds for a problem: its data set may have to be downloaded


def plan_of_file(path: str, overrides: Iterable[str], modules: Iterable[str]) -> Plan:
    """As `read_plan`, in a child."""
    order = {"path": path, "overrides": list(overrides), "modules": list(modules)}
    return _planned(order) or read_plan(path, order["overrides"], order["modules"])


def plan_again(plan: Plan) -> Plan:
    """As `renewed`, in a child."""
    return _planned({"plan": _said(plan)}) or renewed(plan)


def _planned(order: Mapping[str, Any]) -> Plan | None:
    """The plan; None for one with objects that only this process can make."""
    registry.unblock()  # what was wrong before may have been fixed
    unmade: list[str] = []
    while True:
        task = {**order, "blocked": registry.blocked(), "unmade": unmade}
        child = WatchedChild(__name__, task)
        step: Mapping[str, Any] = {}
        seconds = _START
        try:
            while (said := child.next(seconds)) is not None:
                if "error" in said:
                    raise InvalidInput(str(said["error"]))
                if "plan" in said:
                    return None if said["plan"] is None else _heard(said["plan"])
                if said.get("module") or said.get("table"):
                    step, seconds = said, _DATA if said.get("kind") == "problem" else first_import.SECONDS
            why = child.why_gone(seconds)
        finally:
            child.kill()
        module, table = step.get("module"), step.get("table")
        if isinstance(module, str) and module not in registry.blocked():
            registry.block({module: why})
        elif isinstance(table, str) and table not in unmade:
            unmade.append(table)
        else:
            raise OptiframeError(f"the plan cannot be made: {why}")


def main() -> None:
    """The child."""
    say = private_channel()
    task = json.load(sys.stdin)
    registry.block(task["blocked"])
    registry.use(registry.Registry(loading=lambda module: say(module=module)))
    steps = _Steps(say, task["unmade"])
    care = Care(steps.import_modules, steps.may_build)
    try:
        if "plan" in task:
            plan = renewed(_heard(task["plan"]), care=care)
        else:
            plan = read_plan(task["path"], task["overrides"], task["modules"], care=care)
    except OptiframeError as error:
        say(error=str(error))
    except Exception as error:
        traceback.print_exc()
        say(error=f"the plan cannot be made: {type(error).__name__}: {error}")
    else:
        made = any(choice.table is None for cell in plan.cells for choice in (cell.problem, cell.solver))
        say(plan=None if made else _said(plan))
    os._exit(0)  # what libraries do at exit is not asked


class _Steps:
    """What the child does, each step said before it is taken."""

    def __init__(self, say: Say, unmade: Sequence[str]) -> None:
        self._say, self._unmade = say, set(unmade)

    def import_modules(self, modules: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
        """Import the modules that are not blocked, and the classes with these names."""
        kept = tuple(module for module in modules if module not in registry.blocked())
        for module in kept:
            self._say(module=module)
            import_user_module(module)
        import_classes(registry.registry(), possible_names(names), lambda module: self._say(module=module))
        return kept

    def may_build(self, kind: str, table: Mapping[str, Any]) -> bool:
        """Say that a table comes, unless making it has ended a child before."""
        key = json.dumps([kind, table], sort_keys=True, default=str)
        self._say(table=key, kind=kind)
        return key not in self._unmade


def _said(plan: Plan) -> dict[str, Any]:
    """A plan as JSON values, each problem and solver once."""
    choices = {id(choice): choice for cell in plan.cells for choice in (cell.problem, cell.solver)}
    place = {key: number for number, key in enumerate(choices)}
    return {
        "settings": settings_of(plan),
        "text": plan.text,
        "output": None if plan.output is None else str(plan.output),
        "choices": to_json([asdict(replace(choice, thing=None)) for choice in choices.values()]),
        "cells": [
            [cell.key, place[id(cell.problem)], place[id(cell.solver)], cell.seed] for cell in plan.cells
        ],
        "positions": list(plan.positions),
    }


def _heard(said: Mapping[str, Any]) -> Plan:
    """The plan that `_said` was given; checked, since foreign code has run where it comes from."""
    from pydantic import TypeAdapter, ValidationError

    try:
        choices = TypeAdapter(list[Choice]).validate_python(from_json(said["choices"]))
        cells = [
            Cell(key, choices[problem], choices[solver], seed) for key, problem, solver, seed in said["cells"]
        ]
        output = Path(said["output"] or "")
        plan = plan_from(said["settings"], said["text"], output, cells, said["positions"])
        return replace(plan, output=output if said["output"] else None)
    except (ValidationError, ValueError, TypeError, KeyError, IndexError) as error:
        raise OptiframeError(f"the plan cannot be made: its process gave none ({error})") from None


if __name__ == "__main__":
    main()
