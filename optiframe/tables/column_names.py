"""The mapping `columns` of a problem: its own column name -> the one in the user's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optiframe.errors import InvalidInput, nearest


def column_names(value: Any, known: Sequence[str]) -> dict[str, str]:
    """Our column name -> the user's, checked; for `rename` of `optiframe.tables.read.read_table`.

    Parameters
    ----------
    value
        What the user gave.
    known
        The columns that can be mapped.

    Raises
    ------
    InvalidInput
        When it is not a mapping of text to text, or maps a column there is not.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"must be a table of our column name to yours, got {value!r}")
    for ours, yours in value.items():
        if ours not in known:
            raise InvalidInput(
                f"unknown column {ours!r}{nearest(str(ours), known)} "
                f"(columns that can be mapped: {', '.join(known)})"
            )
        if not isinstance(yours, str):
            raise InvalidInput(f"the name of column {ours} must be text, got {yours!r}")
    return dict(value)
