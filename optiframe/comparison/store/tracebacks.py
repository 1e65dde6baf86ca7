"""Whole tracebacks in files of their own, beside the store: for people, and far too long for a table."""

from __future__ import annotations

import os
from pathlib import Path

from optiframe.comparison.store.failures import StoreFailed

TRACEBACKS = "tracebacks"


def write_traceback(folder: Path, key: str, content: str) -> str:
    """Write a traceback to a file of its own; its path within the folder, or nothing."""
    if not content:
        return ""
    target = folder / traceback_file(key)
    temporary = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        target.parent.mkdir(exist_ok=True)
        temporary.write_text(content, encoding="utf-8", errors="replace")
        os.replace(temporary, target)
    except OSError as error:
        raise StoreFailed(f"cannot write {target}: {error.strerror}. What was stored is kept.") from None
    return traceback_file(key)


def traceback_file(key: str) -> str:
    """Where a cell's traceback is, within the folder of its comparison."""
    # 16 hexadecimal digits of a hash do not meet by chance.
    return f"{TRACEBACKS}/{Path(key).name[:16]}.txt"


def read_traceback(folder: Path, path: str) -> str:
    """The text of a traceback; nothing when its file is gone."""
    if not path:
        return ""
    try:  # only ever within the folder, whatever a store from somewhere else says
        file = folder / TRACEBACKS / Path(path).name
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
