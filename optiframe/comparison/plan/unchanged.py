"""Whether what a cell loads is still what its key was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Checksums
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
