"""The command line that repeats a stored comparison."""

from __future__ import annotations

import shlex
from pathlib import Path

from optiframe.comparison.store.store import Store


def rerun_line(folder: str | Path) -> str:
    """`optiframe rerun FOLDER`; empty where that cannot be: what was made in Python is not kept.

    An absolute path says where somebody's home is, so it is given from the current folder, or by its
    last part.

    Raises
    ------
    InvalidInput
        When the folder holds no comparison, or one that cannot be read.
    """
    with Store(folder, create=False) as store:
        cells = store.plan().cells
    if any(choice.table is None for cell in cells for choice in (cell.problem, cell.solver)):
        return ""
    shown = Path(folder)
    if shown.is_absolute():
        here = Path.cwd()
        inside = shown.is_relative_to(here) and shown != here
        shown = shown.relative_to(here) if inside else Path(shown.name)
    return f"optiframe rerun {shlex.quote(str(shown))}"
