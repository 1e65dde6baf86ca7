"""The file a comparison is stored in: its tables, and opening it without harming it.

One SQLite file in the output folder, in write-ahead mode, so that a report can read while a
comparison writes. Commits are synchronous=FULL: write-ahead mode with NORMAL already survives
`kill -9` of the process, FULL also a power cut, and its one flush per finished cell costs
milliseconds beside the half second that starting the cell's process takes.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path

from optiframe.comparison.store.failures import BUSY_SECONDS, StoreFailed, damaged, speaking
from optiframe.errors import DISTRIBUTION, InvalidInput
from optiframe.printable import printable

FILE = "comparison.sqlite"
VERSION = 2  # form 1 had tables of claims beside these; it is read like form 2, and written once it is form 2
# Written into the file's header, which tells it from another program's database: "opti".
APPLICATION = int.from_bytes(b"opti", "big")
# Versions that wrote form 1 said every 10 s that they ran, and after this long counted as gone.
_SILENT_SECONDS = 60.0

# Numbers that are nan are NULL. Points have a column a name; `info` holds the solver's own scalars.
# Columns that SQLite must not convert (an iteration stays whole, a seed may have any size) say so.
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plans (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, config TEXT NOT NULL, settings TEXT NOT NULL
);
CREATE TABLE entries (
    plan TEXT NOT NULL, position INTEGER NOT NULL, turn INTEGER NOT NULL, key TEXT NOT NULL,
    problem TEXT NOT NULL, solver TEXT NOT NULL, seed TEXT NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (plan, position)
) WITHOUT ROWID;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, plan TEXT NOT NULL, environment TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT
);
CREATE TABLE cells (
    key TEXT PRIMARY KEY, run INTEGER NOT NULL, finished TEXT NOT NULL,
    status TEXT NOT NULL, message TEXT NOT NULL, objective REAL, violation REAL,
    metrics TEXT NOT NULL, findings TEXT NOT NULL, solved TEXT NOT NULL, iterations INTEGER NOT NULL,
    time REAL, times TEXT NOT NULL, setup REAL, judging REAL, loading REAL, warmup REAL,
    cpu REAL, wall REAL, memory REAL, evaluations TEXT NOT NULL, better TEXT NOT NULL,
    stderr TEXT NOT NULL, traceback TEXT NOT NULL, versions TEXT NOT NULL, environment TEXT NOT NULL,
    columns TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE points (
    key TEXT NOT NULL, number INTEGER NOT NULL,
    iteration, time REAL, objective REAL, violation REAL, residual REAL, info TEXT,
    PRIMARY KEY (key, number)
) WITHOUT ROWID;
CREATE TABLE best (
    solved TEXT PRIMARY KEY, objective REAL NOT NULL, key TEXT NOT NULL, found TEXT NOT NULL
);
"""


# Stores of form 2 that versions before it made are without; those versions never look at it.
_HISTORIES = (
    "CREATE TABLE IF NOT EXISTS histories (key TEXT PRIMARY KEY, history TEXT NOT NULL) WITHOUT ROWID"
)


def connect(folder: Path) -> sqlite3.Connection:
    """Open the store of a folder for writing; folder and file are made where there are none.

    Raises
    ------
    InvalidInput
        When the file is damaged, is not a comparison, or was written by a newer version;
        it is left as it is.
    StoreFailed
        When it cannot be written to, or an earlier version that stores form 1 is writing to it.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFailed(
            f"cannot make the output folder {folder}: {error.strerror}; choose another with --output"
        ) from None
    with speaking(path):
        if not path.exists():
            _create(path)
        connection = _open(path, "rw")
        try:
            _recognise(connection, path)
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            # Before anything runs: a file that cannot be written to must say so now.
            _upgrade(connection, path)
            connection.execute(_HISTORIES)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(folder: Path) -> sqlite3.Connection:
    """Open the store of a folder for reading; makes nothing and changes nothing.

    Raises
    ------
    InvalidInput, StoreFailed
        As `connect`; also when there is none.
    """
    path = folder / FILE
    if not path.is_file():
        raise InvalidInput(f"{folder} holds no comparison: it has no {FILE}; run optiframe compare first")
    with speaking(path):
        try:
            # Opened to write but told not to: the last to close a file opened read-only would leave the
            # helper files of write-ahead mode behind.
            connection = _open(path, "rw")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # On a medium that cannot be written to nobody else writes either.
            idle = not path.with_name(FILE + "-wal").exists()
            connection = _open(path, "ro", "&immutable=1" if idle else "")
        try:
            _recognise(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one that has taken its place; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _open(path: Path, mode: str, more: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{more}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead mode; SQLite does not wait by itself while another process does the same."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)  # far shorter than the start of the first cell
        else:
            return


def _recognise(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version. `InvalidInput` for what must be left alone."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if not tables and application in (0, APPLICATION):
        raise damaged(path, "it is empty, and a store never is")
    if application != APPLICATION or "meta" not in tables:
        raise InvalidInput(
            f"{path} is a database of another program; it is left as it is; choose another folder"
        )
    _refuse_code(connection, path)
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    version = int(meta["schema"]) if meta.get("schema", "").isdecimal() else 0
    if version > VERSION:
        raise InvalidInput(
            f"{path} was written by optiframe {meta.get('written by', '(unknown)')}, which stores "
            f"comparisons in form {version}; this version reads form {VERSION}: upgrade optiframe, "
            "or choose another folder"
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok" or version < 1:
        raise damaged(path, str(verdict) if verdict != "ok" else "it does not say its form")
    return version


def _refuse_code(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `InvalidInput` for a file that computes what it is asked for: reading it might never end."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, sql in found:
        made = f"{sql or ''}".upper()
        plain = kind == "table" and not made.startswith("CREATE VIRTUAL") and " GENERATED " not in made
        if not plain and not name.startswith("sqlite_autoindex_"):
            raise damaged(path, f"it has a {kind} {printable(name)!r}, and a store has plain tables only")


def _create(path: Path) -> None:
    """Make the file under another name and then give it its own: whatever kills us leaves no half a store."""
    unfinished = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with closing(_open(unfinished, "rwc")) as connection:
            _fill(connection)
        try:
            os.link(unfinished, path)  # unlike a rename, it does not replace what another process has made
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        for statement in filter(None, map(str.strip, _TABLES.split(";"))):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("schema", str(VERSION)), ("written by", metadata.version(DISTRIBUTION))],
        )


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Turn a store of form 1 into form 2, which the versions that wrote form 1 refuse to open.

    They would take provisional outcomes for finished ones, and would not see our locks.
    """
    with transaction(connection):
        (form,) = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if int(form) == VERSION:
            return
        writer = connection.execute(
            "SELECT machine, pid FROM owners WHERE beat >= ?", (time.time() - _SILENT_SECONDS,)
        ).fetchone()
        if writer is not None:
            raise StoreFailed(
                f"an earlier version of optiframe is writing to {path} (process {writer['pid']} on "
                f"{writer['machine']}), and this version cannot share it; run this again when it has ended "
                f"({_SILENT_SECONDS:g} s later if it was killed), or choose another folder with --output. "
                "What was stored is kept."
            )
        connection.execute("DROP TABLE claims")
        connection.execute("DROP TABLE owners")
        connection.executemany(
            "UPDATE meta SET value = ? WHERE name = ?",
            [(str(VERSION), "schema"), (metadata.version(DISTRIBUTION), "written by")],
        )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and the only writer while it lasts."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
