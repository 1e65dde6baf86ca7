"""The stored comparison: everything that is known is committed the moment it is known.

Only the main process of a comparison writes. A cell's outcome, its trace and the best objective
are one transaction, so that whatever kills the process leaves each cell either finished or
untouched. Its claim ends after that, and is looked at before.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from optiframe.comparison.cells import Cell, Plan
from optiframe.comparison.plan.parameters import parameters_of
from optiframe.comparison.plan.sweep import seeded
from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.store.claims import Claims
from optiframe.comparison.store.failures import StoreFailed, speaking
from optiframe.comparison.store.rows import (
    CELL_COLUMNS,
    cell_from,
    cell_values,
    checked,
    from_json,
    history_from,
    identity_of,
    outcome_from,
    plan_from,
    point_values,
    settings_of,
    spec_of,
    text,
    to_json,
    understood,
)
from optiframe.comparison.store.schema import (
    FILE,
    connect,
    connect_to_read,
    identity,
    transaction,
)
from optiframe.comparison.store.tracebacks import read_traceback, write_traceback
from optiframe.errors import InvalidInput
from optiframe.printable import all_printable, printable
from optiframe.solving.result import Status

# Ends that may be bad luck: a busy machine, too low a limit, a bug that has been fixed since.
FAILED = (Status.ERROR, Status.TIMEOUT, Status.CRASHED, Status.OUT_OF_MEMORY)


class Store:
    """One output folder's comparison; use it with `with`.

    Parameters
    ----------
    folder
        The output folder.
    create
        True opens for writing, and makes folder and file where there are none. False opens for
        reading and makes nothing.

    Raises
    ------
    InvalidInput
        When there is nothing to read, the file is damaged, or a newer version wrote it.
    StoreFailed
        When it cannot be read or written.
    """

    def __init__(self, folder: Path | str, *, create: bool = True) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        self._connection = connect(self.folder) if create else connect_to_read(self.folder)
        self._file = identity(self.path)
        self._claims = Claims(self.folder)
        self._run: int | None = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back all claims and close the file."""
        try:
            self._claims.give_back_all()
        finally:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._check_place()
        with speaking(self.path), transaction(self._connection):
            yield self._connection

    def _check_place(self) -> None:
        """Refuse to go on when the file was deleted: the system would keep what is written until we end."""
        if identity(self.path) != self._file:
            raise StoreFailed(
                f"{self.path} was deleted, moved or replaced while the comparison ran; what it held is gone "
                "from there; run the same command again to start over"
            )

    # ---- writing: runs, claims, outcomes

    def begin(self, plan: Plan, environment: Mapping[str, Any]) -> None:
        """Note that a run of this plan starts."""
        settings, specs = settings_of(plan), [spec_of(cell) for cell in plan.cells]
        name, positions = identity_of(plan), plan.positions or tuple(range(len(plan.cells)))
        if sorted(positions) != list(range(len(plan.cells))):
            raise InvalidInput("the plan's positions do not number its cells")
        with self._writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO plans VALUES (?, ?, ?, ?)",
                (name, text(self.folder.absolute().name), text(plan.text), settings),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (name, place, turn, cell.key, cell.problem.title, cell.solver.title, str(cell.seed), spec)
                    for turn, (place, cell, spec) in enumerate(zip(positions, plan.cells, specs, strict=True))
                ],
            )
            self._run = connection.execute(
                "INSERT INTO runs (plan, environment, started) VALUES (?, ?, ?)",
                (name, to_json(environment), now()),
            ).lastrowid

    def end(self) -> None:
        """Note that every cell of the run's plan is finished."""
        with self._writing() as connection:
            connection.execute("UPDATE runs SET ended = ? WHERE id = ?", (now(), self._run))

    def claim(self, key: str, again: str | None = None) -> Literal["claimed", "finished", "busy"]:
        """Claim a cell: "claimed", or why not: it is "finished", or "busy" in another comparison.

        `again` is the time, from `failed`, of the outcome that a further run is to replace; a cell that
        was finished at another time has been run again by somebody else.
        """
        self._check_place()
        if not self._claims.take(key):
            return "busy"
        done = self._finished_at(key)  # now that nobody else can finish it
        if done is None or done == again:
            return "claimed"
        self._claims.give_back(key)
        return "finished"

    def release(self, key: str) -> None:
        """Give back the claim of a cell that did not finish."""
        self._claims.give_back(key)

    def finish(self, key: str, outcome: Outcome, again: str | None = None) -> bool:
        """Commit a cell's outcome and trace; False when another process has finished it already.

        A provisional outcome is kept without a time of its end: it is shown, and the cell runs again.
        """
        self._check_place()  # before the traceback, whose folder it would make
        finished, values = "" if outcome.provisional else now(), cell_values(outcome)
        values["traceback"] = write_traceback(self.folder, key, outcome.traceback)
        columns = ("key", "run", "finished", *values)
        with self._writing() as connection:
            done = self._finished_at(key)
            if done is not None and (done != again or outcome.provisional):
                self._claims.give_back(key)
                return False
            connection.execute(
                f"INSERT OR REPLACE INTO cells ({', '.join(columns)}) "
                f"VALUES ({', '.join('?' * len(columns))})",
                (key, self._run, finished, *values.values()),
            )
            connection.execute("DELETE FROM points WHERE key = ?", (key,))
            connection.executemany(
                "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(key, *point) for point in point_values(outcome.trace)],
            )
            connection.execute("DELETE FROM histories WHERE key = ?", (key,))
            if outcome.history:
                connection.execute("INSERT INTO histories VALUES (?, ?)", (key, to_json(outcome.history)))
            if outcome.solved and math.isfinite(least := _least_known(outcome)):
                connection.execute(
                    "INSERT INTO best VALUES (?, ?, ?, ?) ON CONFLICT (solved) DO UPDATE SET "
                    "objective = excluded.objective, key = excluded.key, found = excluded.found "
                    "WHERE excluded.objective < best.objective",
                    (outcome.solved, least, key, finished),
                )
        self._claims.give_back(key)
        return True

    # ---- reading

    def _finished_at(self, key: str) -> str | None:
        rows = self._rows("SELECT finished FROM cells WHERE key = ?", key)
        return (rows[0]["finished"] or None) if rows else None

    def finished(self) -> dict[str, Status]:
        """Keys of all finished cells, with how they ended; a provisional outcome is no end."""
        rows = self._rows("SELECT key, status FROM cells WHERE finished != ''")
        return {row["key"]: Status(row["status"]) for row in rows}

    def failed(self) -> dict[str, str]:
        """Keys of finished cells that could not be run to an end, with when that was."""
        rows = self._rows("SELECT key, status, finished FROM cells WHERE finished != ''")
        return {row["key"]: row["finished"] for row in rows if row["status"] in FAILED}

    def runs(self) -> list[tuple[str, bool]]:
        """Of each run its plan, as `identity_of` gives it, and whether it came to its end; oldest first."""
        return [
            (row["plan"], row["ended"] is not None)
            for row in self._rows("SELECT plan, ended FROM runs ORDER BY id")
        ]

    def plan(self) -> Plan:
        """The plan of our run, or of the latest; objects made in Python are only named in it."""
        latest = self._latest()
        cells, positions = self._cells(latest["id"], "turn")
        return plan_from(latest["settings"], latest["config"], self.folder, cells, positions)

    def records(self) -> Records:
        """Our run's plan, or the latest's, with every outcome known, and the best objectives of all runs."""
        return self._records_of(self._plans()[-1])

    def history(self) -> list[Records]:
        """As `records`, of every plan the store has run, the one run last at the end.

        Another version of a solver makes another plan: the store keeps what the earlier one did.
        """
        return [self._records_of(plan) for plan in self._plans()]

    def _records_of(self, latest: sqlite3.Row) -> Records:
        cells, _ = self._cells(latest["id"], "position")
        outcomes = self._outcomes(latest["id"])
        rows = [
            Row(
                key=cell.key,
                problem=cell.problem.title,
                solver=cell.solver.title,
                problem_name=cell.problem.name,
                solver_name=cell.solver.name,
                seed=cell.seed,
                outcome=outcomes.get(cell.key),
                parameters=all_printable(parameters_of(cell)),
            )
            for cell in cells
        ]
        best = {r["solved"]: r["objective"] for r in self._rows("SELECT solved, objective FROM best")}
        with understood("a run"):
            settings = from_json(latest["settings"])
            said = {
                "rows": tuple(rows),
                "best": best,
                "gaps": settings["gaps"],
                "better": settings["better"],
                "config": printable(latest["config"]),
                "environment": all_printable(from_json(latest["environment"])),
                "title": printable(latest["title"]),
                "started": latest["began"],
                "ended": latest["done"] or "",
                "fixed": {cell.problem.title for cell in cells if not seeded(cell.problem.table)},
                "tolerance": settings["budget"].get("tolerance", Records.tolerance),
            }
            records: Records = checked(Records).validate_python(said)
        return records

    def _latest(self) -> sqlite3.Row:
        """The plan of our run, or of the latest, with what is known of its runs."""
        return self._plans()[-1]

    def _plans(self) -> list[sqlite3.Row]:
        """Every plan, by its last run, with what is known of its runs."""
        # A store that has begun a run is asked about that one, whatever others have begun since.
        found = self._rows(
            "SELECT plans.*, runs.environment, "
            "(SELECT min(started) FROM runs AS r WHERE r.plan = plans.id) AS began, "
            "(SELECT max(ended) FROM runs AS r WHERE r.plan = plans.id) AS done "
            "FROM runs JOIN plans ON plans.id = runs.plan WHERE runs.id = ? OR ? IS NULL AND "
            "runs.id = (SELECT max(id) FROM runs AS r WHERE r.plan = plans.id) ORDER BY runs.id",
            self._run,
            self._run,
        )
        if not found:
            raise InvalidInput(f"{self.path} holds no run yet; run optiframe compare first")
        return found

    def _cells(self, plan: str, order: Literal["turn", "position"]) -> tuple[list[Cell], list[int]]:
        """The cells of a plan and their positions, in the order of running or of the plan."""
        entries = self._rows(f"SELECT * FROM entries WHERE plan = ? ORDER BY {order}", plan)
        cells = [cell_from(entry["key"], entry["seed"], entry["spec"]) for entry in entries]
        return cells, [entry["position"] for entry in entries]

    def _outcomes(self, plan: str) -> dict[str, Outcome]:
        ours = "key IN (SELECT key FROM entries WHERE plan = ?)"
        points: dict[str, list[sqlite3.Row]] = {}
        for point in self._rows(f"SELECT * FROM points WHERE {ours} ORDER BY key, number", plan):
            points.setdefault(point["key"], []).append(point)
        columns = ", ".join(("key", "finished", "traceback", *CELL_COLUMNS))
        histories = self._histories(ours, plan)
        found = {}
        for row in self._rows(f"SELECT {columns} FROM cells WHERE {ours}", plan):
            traceback = read_traceback(self.folder, row["traceback"])
            outcome = outcome_from(row, points.get(row["key"], ()), traceback)  # type: ignore[arg-type]  # a Row is read by column name
            found[row["key"]] = replace(outcome, history=histories.get(row["key"], {}))
        return found

    def _histories(self, ours: str, plan: str) -> dict[str, dict[str, list[float]]]:
        """Histories by cell; none in a store of an earlier version that was never written to since."""
        if not self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'histories'"):
            return {}
        rows = self._rows(f"SELECT key, history FROM histories WHERE {ours}", plan)
        return {row["key"]: history_from(row["history"]) for row in rows}

    def _rows(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        with speaking(self.path):
            return self._connection.execute(statement, values).fetchall()


def load(folder: Path | str) -> Records:
    """The comparison an output folder holds; see `Store.records`."""
    with Store(folder, create=False) as store:
        return store.records()


def now() -> str:
    """The time in UTC, to the microsecond, in a form that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _least_known(outcome: Outcome) -> float:
    """The answer's objective, where it counts, or the known optimum, where that is lower; nan for neither."""
    claims = (outcome.objective if outcome.succeeded else math.nan, outcome.optimum)
    return min((least for least in claims if math.isfinite(least)), default=math.nan)
