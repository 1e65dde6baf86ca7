"""Parameters that change nothing as the others are: said aloud, by one rule for all solvers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

Unused = tuple[str, str]
"""The name of a parameter, and why it changes nothing as the others are."""


def warnings_of(given: BaseModel, unused: Iterable[Unused]) -> Iterator[str]:
    """A sentence for each unused parameter that is set away from its default."""
    for name, why in unused:
        if getattr(given, name) != type(given).model_fields[name].default:
            yield f"`{name}` is set and changes nothing: {why}"
