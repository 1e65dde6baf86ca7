"""What may be wrong with a table that can be read, as findings."""

from __future__ import annotations

from collections.abc import Mapping

from optiframe.findings import Finding
from optiframe.tables.ids import Ids, spelled_alike
from optiframe.tables.read import Table
from optiframe.tables.unused_columns import unused_columns


def remarks_on(table: Table, ids: Mapping[str, Ids]) -> tuple[Finding, ...]:
    """Notes on how a table was read, columns that nothing reads, and ids that may be one.

    Parameters
    ----------
    table
        As it was read.
    ids
        By what they are of, such as "worker", all of them, each once.
    """
    found = [Finding("note", text, identifier="data.file") for text in table.notes]
    found += unused_columns(table.title, table.unused)
    for what, every in ids.items():
        for alike in spelled_alike(every):
            shown = " and ".join(repr(one) for one in alike)
            text = f"{what} {shown} count as different; if they are one, spell them alike"
            found.append(Finding("warning", text, tuple(alike), identifier="data.spelled-twice"))
    return tuple(found)
