"""Writing a file whole or not at all, its name, and tables as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from optiframe.comparison.store.export import no_formula
from optiframe.errors import InvalidInput


def write_bytes(path: Path, content: bytes) -> Path:
    """Write under another name and rename, so that an interrupted run leaves no half of a file.

    Raises
    ------
    InvalidInput
        When the file cannot be written, with the reason.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}; choose another place") from None
    finally:
        if part.is_file():
            part.unlink()
    return path


def stem(title: str) -> str:
    """A title as part of a file's name: small letters, digits and hyphens, at most 60 of them."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV: empty for what is not known, and no text that a spreadsheet would run."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([no_formula(column) for column in columns])
    for row in rows:
        writer.writerow(["" if isinstance(v, float) and math.isnan(v) else no_formula(v) for v in row])
    return buffer.getvalue()


def told_apart(folders: Sequence[Path]) -> list[str]:
    """A short name for each folder: the last parts of its path, as many as tell them all apart.

    Raises
    ------
    InvalidInput
        When a folder is named twice.
    """
    for length in range(1, max((len(folder.parts) for folder in folders), default=1) + 1):
        names = ["/".join(folder.parts[-length:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    twice = next(folder for folder in folders if list(folders).count(folder) > 1)
    raise InvalidInput(f"{twice} is named twice; name each comparison once")
