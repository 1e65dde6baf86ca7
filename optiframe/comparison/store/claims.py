"""Who runs which cell: claims, so that several processes can share one store.

A process claims a cell in a transaction just before it starts it. A claim ends with its cell,
or with its process: one of this machine is looked up by its number and birth, one of another
machine has to be heard of from time to time.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from optiframe.comparison.store.schema import connect_again, transaction
from optiframe.errors import require

BEAT_SECONDS = 10.0
# Six beats missed: a process that is only slow, or a disk that hangs for a while, is not taken for dead.
SILENT_SECONDS = 60.0

Claimed = Literal["claimed", "finished", "busy"]


@dataclass(frozen=True)
class Owner:
    """A process that claims cells; `id` tells two comparisons in one process apart."""

    id: str
    machine: str
    pid: int
    born: str

    @classmethod
    def this_process(cls) -> Owner:
        """An owner that no other comparison has."""
        pid = os.getpid()
        return cls(os.urandom(8).hex(), machine(), pid, birth(pid) or "")


def machine() -> str:
    """Where process numbers mean the same: the host, and on Linux its space of process numbers.

    Two containers may share a folder and a host name, and each has a process 17 of its own.
    """
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()} {space}".strip()


def birth(pid: int) -> str | None:
    """When a living process was started, as text to compare; None when there is none (or only its corpse)."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        # In ticks since the machine started, which no change of the clock moves.
        try:
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        state, ticks = after_name[0], after_name[19]
        return None if state in "ZX" else ticks
    psutil = require("psutil", "compare")
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return f"{process.create_time():.2f}"
    except psutil.Error:
        return None


def enter(connection: sqlite3.Connection, owner: Owner) -> None:
    """Make an owner known; forgets those that are gone, with their claims."""
    with transaction(connection):
        for row in connection.execute("SELECT * FROM owners").fetchall():
            if not _lives(row):
                _forget(connection, row["id"])
        connection.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?)",
            (owner.id, owner.machine, owner.pid, owner.born, time.time()),
        )


def leave(connection: sqlite3.Connection, owner: Owner) -> None:
    """Give back every claim of an owner."""
    with transaction(connection):
        _forget(connection, owner.id)


def claim(connection: sqlite3.Connection, owner: Owner, key: str, since: str, again: str | None) -> Claimed:
    """Claim a cell for an owner.

    Parameters
    ----------
    since
        The time to note.
    again
        For a finished cell that is to run again: when it was finished. One that was finished
        at another time has been run again by somebody else.
    """
    with transaction(connection):
        done = connection.execute("SELECT finished FROM cells WHERE key = ?", (key,)).fetchone()
        if done is not None and done["finished"] != again:
            return "finished"
        holder = connection.execute(
            "SELECT owners.*, claims.owner FROM claims LEFT JOIN owners ON owners.id = claims.owner "
            "WHERE claims.key = ?",
            (key,),
        ).fetchone()
        if holder is not None and holder["id"] is not None and _lives(holder):
            return "busy"
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, owner.id, since))
    return "claimed"


def release(connection: sqlite3.Connection, owner: Owner, key: str) -> None:
    """Give back one claim; inside a transaction."""
    connection.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner.id))


def _forget(connection: sqlite3.Connection, owner: str) -> None:
    connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))


def _lives(row: sqlite3.Row) -> bool:
    if row["machine"] == machine():
        return birth(row["pid"]) == str(row["born"])
    # Clocks of two machines may differ: one that is ahead counts as just heard of.
    return time.time() - float(row["beat"]) <= SILENT_SECONDS


class Heart(threading.Thread):
    """Says every few seconds that an owner lives, through a connection of its own."""

    def __init__(self, folder: Path, owner: Owner, every: float = BEAT_SECONDS) -> None:
        super().__init__(name="optiframe heartbeat", daemon=True)
        self._folder, self._owner, self._every = folder, owner, every
        self._end = threading.Event()

    def run(self) -> None:
        """Beat until told to stop."""
        while not self._end.wait(self._every):
            # A beat that cannot be written is missed; commits of cells report the reason. It looks at
            # nothing else, since the file may be large, and makes no file where ours is gone.
            with suppress(sqlite3.Error):
                connection = connect_again(self._folder)
                try:
                    connection.execute(
                        "UPDATE owners SET beat = ? WHERE id = ?", (time.time(), self._owner.id)
                    )
                finally:
                    connection.close()

    def stop(self) -> None:
        """End the beating."""
        self._end.set()
        self.join()
