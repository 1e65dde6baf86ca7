"""Objects from names and tables, as files and keywords give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optiframe.errors import InvalidInput, UnknownName, nearest
from optiframe.registry.registry import registry


def build(kind: str, chosen: str | Mapping[str, Any]) -> Any:
    """An object from a name, or from a table with the key `name` and the parameters.

    Raises
    ------
    UnknownName, InvalidInput, BrokenPlugin
    """
    if not isinstance(chosen, str | Mapping):
        raise InvalidInput(f"a {kind} is chosen by its name or by a table with a name, got {chosen!r:.60}")
    table = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
    name = table.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(e.name for e in registry().entries(kind))
        raise unnamed(table, f"is missing: which {kind}? (known: {known})")
    try:
        cls = registry().get(kind, name)
    except UnknownName as error:
        raise InvalidInputName(str(error)) from None
    return cls.load(**table)


def unnamed(table: Mapping[str, Any], text: str, keys: Sequence[str] = ("name",)) -> InvalidInput:
    """The error for a table with none of these keys: at the one that looks misspelt, or else `text`."""
    for key in table:
        hint = nearest(str(key), keys).removeprefix("; ")
        if hint and key not in keys:
            text = f"{hint} This table has no {' and no '.join(f'`{each}`' for each in keys)}"
            return InvalidInput(f"{key}: {text}", [((key,), text)])
    return InvalidInput(f"name {text}", [(("name",), text)])


def unnamed_problem(table: Mapping[str, Any]) -> InvalidInput:
    """The error for a problem's table with neither a name nor a data set."""
    more = '; for an `objective`, write name = "minimize"' if "objective" in table else ""
    return unnamed(table, f"is missing; or give a `dataset`{more}", ("name", "dataset"))


class InvalidInputName(UnknownName, InvalidInput):
    """An unknown name given as an input, so that a file and line can be added to it."""

    def __init__(self, message: str) -> None:
        InvalidInput.__init__(self, message, [(("name",), message)])
