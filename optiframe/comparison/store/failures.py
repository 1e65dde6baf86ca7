"""What SQLite raises, as sentences about the file of a comparison."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optiframe.errors import InvalidInput, OptiframeError

# Another process holds the write lock for one commit; this long means that something is stuck.
BUSY_SECONDS = 30.0


class StoreFailed(OptiframeError):
    """The stored comparison cannot be read or written now; what it holds is as it was."""


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a sentence about this file."""
    try:
        yield
    except sqlite3.DataError as error:  # of one value, and not of the file
        raise ValueError(f"a value is too large for the store ({error})") from None
    except sqlite3.Error as error:
        text, code = str(error), getattr(error, "sqlite_errorcode", None) or 0
        primary = code & 0xFF  # the low byte is the kind, the rest details
        if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise damaged(path, text) from None
        reason = {
            sqlite3.SQLITE_FULL: "the disk is full; free some space",
            sqlite3.SQLITE_IOERR: "reading or writing failed; is the disk full or gone?",
            sqlite3.SQLITE_READONLY: "it cannot be written to; change its permissions or choose another "
            "folder with --output",
            sqlite3.SQLITE_CANTOPEN: "it cannot be opened or made; check the folder's permissions or choose "
            "another with --output",
            sqlite3.SQLITE_BUSY: f"another process has held it for {BUSY_SECONDS:g} s",
            sqlite3.SQLITE_LOCKED: "another process holds it",
        }.get(primary, "it could not be used")
        raise StoreFailed(f"{path}: {reason} ({text}). What was stored is kept.") from None


def damaged(path: Path, why: str) -> InvalidInput:
    """The error for a file that is no store, or not any more."""
    return InvalidInput(
        f"{path} is damaged or is not a database ({why}); it is left as it is: "
        "move it away to start afresh, or choose another folder"
    )
