"""Repeating a stored comparison, and what came out differently."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from optiframe.comparison.cells import Plan
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.table_facts import names_in
from optiframe.comparison.planner import plan_again
from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.store.rows import identity_of
from optiframe.comparison.store.schema import FILE
from optiframe.comparison.store.store import Store
from optiframe.errors import InvalidInput

_Place = tuple[str, str, int]
_ABSENT = "not recorded"
_INSTALLED = ("versions", "plugins")  # of the environment: packages, by name


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was.

    `about` is "installed", "versions", "environment", "status", "objective", "metric", "content" or
    "missing"; `where` names the cell, or the package; `before` and `now` are shown as they are.
    """

    about: str
    where: str
    before: str
    now: str

    @property
    def text(self) -> str:
        """In words."""
        if self.about == "installed":
            if self.before == _ABSENT:
                return f"{self.where} {self.now} is installed now and was not then"
            if self.now == _ABSENT:
                return f"{self.where} {self.before} was installed then and is not now"
            return f"{self.where} is {self.now} now and was {self.before}"
        return f"{self.where}: {self.about} was {self.before}, is {self.now}"


@dataclass(frozen=True)
class Rerun:
    """A repeated comparison: what differs, and the time now over the time then (median over cells)."""

    records: Records
    folder: Path
    differences: tuple[Difference, ...]
    time_ratio: float
    cells: int


def rerun(
    folder: str | Path,
    output: str | Path | None = None,
    *,
    trust: bool = False,
    tolerance: float = 1e-6,
    show: bool = True,
) -> Rerun:
    """Run a stored comparison again, with its stored configuration and seeds, and say what differs.

    Parameters
    ----------
    folder
        Where the comparison is stored; it is read and not written to.
    output
        Where the new one goes; default: the folder's name with ``-rerun``, or with ``-rerun-2`` and so
        on when that holds a repetition already. One that was begun there and broke off goes on.
    trust
        Whether to import the modules and contact the addresses that the stored comparison names: both
        run somebody's code as you.
    tolerance
        Objectives and metrics differ when they are further apart than this times the larger of 1
        and their size.
    show
        A live table on a terminal, lines elsewhere.

    Raises
    ------
    InvalidInput
        When nothing is stored there, when it was made from Python objects, which are not kept, when it
        names modules or addresses and `trust` is not given, and when `output` holds a comparison
        already, whose cells would not run again.
    """
    source = Path(folder)
    with Store(source, create=False) as store:
        plan, before = store.plan(), store.records()
    if not trust:
        _refuse_strangers(source, plan)
    if output is not None and Path(output).resolve() == source.resolve():
        raise InvalidInput(f"the repeated comparison needs a folder of its own, not {source}")
    plan = plan_again(plan)
    target = _free(source, plan) if output is None else Path(output)
    if not _can_take(target, plan):
        raise InvalidInput(
            f"{target} holds a comparison already, and what is finished there would not run again; "
            "choose another folder with --output, or leave it out for a new one"
        )
    records = run_plan(plan, target, show=show)
    return Rerun(
        records,
        target,
        tuple(differences(before, records, tolerance)),
        _time_ratio(before, records),
        len(records.rows),
    )


def _refuse_strangers(source: Path, plan: Plan) -> None:
    """Raise `InvalidInput` with the code and the machines that the stored comparison would use."""
    tables = [choice.table for cell in plan.cells for choice in (cell.problem, cell.solver)]
    # A solver may have its workers on a cluster of its own: `backend = {name = "dask", address = ...}`.
    addresses = [plan.executor.address, *(text for text in names_in(tables) if "://" in text)]
    # In quotes: control characters of a stranger's text must not reach the terminal.
    named = [f"  module to import: {module!r}" for module in plan.modules]
    named += [f"  address to contact: {address!r}" for address in dict.fromkeys(addresses) if address]
    if named:
        raise InvalidInput(
            f"the comparison stored in {source} names code or machines that would be used:\n"
            + "\n".join(named)
            + "\nthat runs their code as you; if you know them, run again with --trust (trust=True in Python)"
        )


def _free(source: Path, plan: Plan) -> Path:
    """The first folder beside the source that is free for a repetition, or has one that broke off."""
    for number in count(1):
        name = f"{source.absolute().name}-rerun{f'-{number}' if number > 1 else ''}"
        target = source.with_name(name) if source.name else source.absolute().with_name(name)
        if _can_take(target, plan):
            return target
    raise AssertionError("numbers do not end")


def _can_take(folder: Path, plan: Plan) -> bool:
    """Whether every cell would run there: nothing is stored, or only runs of this plan that broke off."""
    file = folder / FILE
    if not file.exists() or file.stat().st_size == 0:  # empty: its process ended before it had begun
        return True
    with Store(folder, create=False) as store:
        runs = store.runs()
    ours = identity_of(plan)
    return all(name == ours and not ended for name, ended in runs)


def differences(before: Records, now: Records, tolerance: float = 1e-6) -> Iterator[Difference]:
    """What differs between two runs of one comparison; each package's version once."""
    yield from _environments(before.environment, now.environment)
    then, seen = _by_place(before), set()
    for place, row in _by_place(now).items():
        where = f"{row.solver} on {row.problem}, seed {row.seed}"
        old = then[place].outcome if place in then else None
        new = row.outcome
        if old is None or new is None:
            yield Difference("missing", where, _there(old), _there(new))
            continue
        for package in sorted({*old.versions, *new.versions}):
            pair = (package, old.versions.get(package, "not there"), new.versions.get(package, "not there"))
            if pair[1] != pair[2] and pair not in seen:
                seen.add(pair)
                yield Difference("versions", package, pair[1], pair[2])
        if old.status != new.status:
            yield Difference("status", where, _status(old), _status(new))
            continue
        if old.solved != new.solved:
            yield Difference("content", where, old.solved[:12], new.solved[:12])
        yield from _numbers("objective", where, old.objective, new.objective, tolerance)
        for name in sorted({*old.metrics, *new.metrics}):
            values = (old.metrics.get(name, math.nan), new.metrics.get(name, math.nan))
            yield from _numbers("metric", f"{where}, {name}", *values, tolerance)


def _environments(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    then, here = dict(_flat(before)), dict(_flat(now))
    for key in sorted({*then, *here}):
        if then.get(key) != here.get(key):
            group, _, package = key.partition(" ")
            what = ("installed", package) if group in _INSTALLED and package else ("environment", key)
            yield Difference(*what, _short(then.get(key)), _short(here.get(key)))


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value, with the keys that lead to it: one package of many is what changes."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key} ")
        else:
            yield f"{above}{key}", value


def _numbers(about: str, where: str, old: float, new: float, tolerance: float) -> Iterator[Difference]:
    same = old == new or (math.isnan(old) and math.isnan(new))
    if not same and not abs(old - new) <= tolerance * max(1.0, abs(old), abs(new)):
        yield Difference(about, where, f"{old:.10g}", f"{new:.10g}")


def _by_place(records: Records) -> dict[_Place, Row]:
    return {(row.problem, row.solver, row.seed): row for row in records.rows}


def _there(outcome: Outcome | None) -> str:
    return "not run" if outcome is None else _status(outcome)


def _status(outcome: Outcome) -> str:
    return f"{outcome.status} ({outcome.message})" if outcome.message else str(outcome.status)


def _short(value: Any) -> str:
    text = _ABSENT if value is None else str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _time_ratio(before: Records, now: Records) -> float:
    then = _by_place(before)
    ratios = []
    for place, row in _by_place(now).items():
        old = then[place].outcome if place in then else None
        new = row.outcome
        if old is not None and new is not None and old.answered and new.answered and old.time > 0:
            ratios.append(new.time / old.time)
    return median(ratios) if ratios else math.nan
