"""Tables with values that vary: ``{sweep = [...]}`` makes a grid, ``{from = "seed"}`` follows the seed.

A sweep may stand wherever a value may, at any depth, also inside another sweep. Only the
explicit form is a sweep; a plain list is a parameter that happens to be a list.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.files.toml_lines import Keys

Chosen = tuple[tuple[Keys, Any], ...]
"""What was chosen for each sweep, by its place."""

SWEEP = "sweep"
# Nearer to "sweep" than this is a slip of the pen: "sweeep" and "swep" are, "steep" is a word.
_SLIP = 0.85
_OTHER_VOWEL = 0.75  # and so is "sweap": as far from it as "steep", but it begins alike
MOST = 100_000
"""Combinations of one table, and cells of one plan, at most: more is a slip, and never ends."""


@dataclass(frozen=True)
class Variant:
    """One combination: the table with every sweep resolved, and what was chosen for each sweep."""

    table: dict[str, Any]
    chosen: Chosen


def expand(table: Mapping[str, Any]) -> list[Variant]:
    """Every combination of the sweeps of a table, the last sweep varying fastest.

    Raises
    ------
    InvalidInput
        For a sweep that is empty, misspelt or shares its table with other keys, and for more
        than 100,000 combinations.
    """
    count = _count(table, ())
    if count > MOST:
        raise InvalidInput(f"the sweeps make {count:,} combinations; at most {MOST:,} are run together")
    return [Variant(value, chosen) for value, chosen in _expand(dict(table), (), entry=True)]


def _expand(value: Any, keys: Keys, entry: bool = False) -> Iterator[tuple[Any, Chosen]]:
    if isinstance(value, Mapping):
        values = None if entry else _sweep(value, keys)
        if values is not None:
            for one in values:
                for inner, chosen in _expand(one, keys):
                    yield inner, ((keys, _plain(one)), *chosen)
            return
        for parts in product(*(list(_expand(inner, (*keys, str(key)))) for key, inner in value.items())):
            table = {key: part for key, (part, _) in zip(value, parts, strict=True)}
            yield table, tuple(each for _, chosen in parts for each in chosen)
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in value):
        for parts in product(*(list(_expand(inner, (*keys, str(i)))) for i, inner in enumerate(value))):
            yield [part for part, _ in parts], tuple(each for _, chosen in parts for each in chosen)
    else:
        yield _plain(value), ()


def _count(value: Any, keys: Keys, entry: bool = True) -> int:
    """How many combinations there are, counted without making them."""
    if isinstance(value, Mapping):
        values = None if entry else _sweep(value, keys)
        if values is not None:
            return sum(_count(each, keys, entry=False) for each in values)
        return int(np.prod([_count(v, (*keys, str(k)), entry=False) for k, v in value.items()], dtype=object))
    if isinstance(value, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in value):
        inner = [_count(each, (*keys, str(i)), entry=False) for i, each in enumerate(value)]
        return int(np.prod(inner, dtype=object))
    return 1


def _sweep(table: Mapping[str, Any], keys: Keys) -> list[Any] | None:
    """The values of a sweep; None for any other table."""
    if SWEEP not in table or "name" in table:  # what has a name is an object, and `sweep` its parameter
        for key, value in table.items():
            word = str(key).lower()
            near = difflib.SequenceMatcher(None, word, SWEEP).ratio()
            slip = near > _SLIP or (near > _OTHER_VOWEL and word.startswith(SWEEP[:2]))
            if key != SWEEP and len(table) == 1 and isinstance(value, list | tuple) and slip:
                raise InvalidInput(f"write sweep, not {key}", [((*keys, str(key)), "write `sweep` for this")])
        return None
    others = [key for key in table if key != SWEEP]
    if others:
        text = f"a sweep stands alone in its table; take out {', '.join(map(str, others))}"
        raise InvalidInput(text, [(keys, text)])
    values = table[SWEEP]
    if isinstance(values, np.ndarray | range | tuple):
        values = list(values)
    if not isinstance(values, list):
        text = f"a sweep needs a list of values, got {values!r:.60}"
    elif not values:
        text = "a sweep over an empty list leaves nothing to run; give at least one value"
    else:
        return values
    raise InvalidInput(text, [(keys, text)])


def _plain(value: Any) -> Any:
    """Python's own number for one of NumPy's."""
    return value.item() if isinstance(value, np.generic) else value


def seeded(value: Any) -> bool:
    """Whether a value follows the seed somewhere inside.

    Raises
    ------
    InvalidInput
        For ``{from = ...}`` of anything but the seed.
    """
    return any(True for _ in _placeholders(value, ()))


def fill(value: Any, seed: int) -> Any:
    """`value` with the seed in place of every ``{from = "seed"}``."""
    if isinstance(value, Mapping):
        return seed if _is_placeholder(value) else {key: fill(inner, seed) for key, inner in value.items()}
    if isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        return [fill(each, seed) for each in value]
    return value


def _is_placeholder(value: Mapping[str, Any]) -> bool:
    return set(value) == {"from"} and isinstance(value["from"], str)


def _placeholders(value: Any, keys: Keys) -> Iterator[Keys]:
    if isinstance(value, Mapping):
        if _is_placeholder(value):
            if value["from"] != "seed":
                text = f'only {{from = "seed"}} is known, got {value["from"]!r}'
                raise InvalidInput(text, [(keys, text)])
            yield keys
        else:
            for key, inner in value.items():
                yield from _placeholders(inner, (*keys, str(key)))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            if isinstance(inner, Mapping | list):
                yield from _placeholders(inner, (*keys, str(number)))
