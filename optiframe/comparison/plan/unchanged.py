"""Whether what a cell loads is still what its key was made of."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Checksums, Choice
from optiframe.comparison.plan.content_key import UNREADABLE, checksum, data_set_checksums
from optiframe.errors import InvalidInput
from optiframe.records.fields import paths_relative_to
from optiframe.registry.registry import build


class DataChanged(InvalidInput):
    """A file is not what it was when the comparison was planned: the outcome would belong to no cell."""


@contextmanager
def unchanged(checksums: Checksums, folder: Path, table: Mapping[str, Any] | None) -> Iterator[None]:
    """Within this block files and the data set are read that have these checksums.

    They are looked at before the block and after it, also when it raises: half of a file that is just
    being written may be no data at all.

    Parameters
    ----------
    checksums
        The checksums in the key of the cell.
    folder
        Where relative paths begin.
    table
        The problem's, which may name a data set.

    Raises
    ------
    DataChanged
        Naming the file.
    """
    _check(checksums, folder, table)
    try:
        yield
    finally:
        _check(checksums, folder, table)


class UneditedCode:
    """Holds the files behind a cell's code against its key, before the cell is sent and when it has ended.

    A file is read again only if the system says that it was written to: cells are many and files, too.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[int, ...]] = {}

    def check(self, *choices: Choice) -> None:
        """Raise `DataChanged`, naming the file, if one is not what the keys of these were made of."""
        for choice in choices:
            for path, known in choice.checksums.code.items():
                stamp = _stamp(path)
                if stamp is None or self._seen.get((path, known)) != stamp:
                    now = checksum(Path(path))
                    if now != known:
                        raise _changed(path, gone=now.startswith(UNREADABLE))
                    if stamp is not None:
                        self._seen[path, known] = stamp


def _stamp(path: str) -> tuple[int, ...] | None:
    """What differs after every change of a file; the time of change (ctime) cannot be set by a program."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _check(checksums: Checksums, folder: Path, table: Mapping[str, Any] | None) -> None:
    for text, known in checksums.files.items():
        now = checksum(folder / Path(text).expanduser())
        if now != known:
            raise _changed(text, gone=now.startswith(UNREADABLE))
    if not checksums.dataset or table is None:
        return
    given = table["dataset"]
    with paths_relative_to(folder):
        data = build("data set", given) if isinstance(given, str | Mapping) else given
        found = data_set_checksums(data)
    had, has = "" not in checksums.dataset, "" not in found
    # With another seed a data set may be of other files: those in both must agree.
    names = [name for name, known in checksums.dataset.items() if found.get(name, known) != known]
    if had != has or names:
        raise _changed(", ".join((f"data set {data.name}", *filter(None, names))), gone=had and not has)


def _changed(what: str, gone: bool) -> DataChanged:
    if gone:
        return DataChanged(
            f"{what}: the file cannot be read, and could be when the comparison began; "
            "put it back and run the command again"
        )
    return DataChanged(f"{what}: the file changed while the comparison ran; run the command again")
