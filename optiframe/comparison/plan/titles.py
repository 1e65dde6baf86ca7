"""Short, unique titles of problems and solvers: ``rankone.pgd (step=0.1)``, ``minimize #2``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optiframe.comparison.plan.table_facts import leaves
from optiframe.files.toml_lines import Keys

_LONG = 24  # characters of a value in a title, beyond which its place in the sweep says more
_MOST = 3  # parameters in a title, beyond which it is no name any more


def variant_titles(base: str, chosen: Sequence[Sequence[tuple[Keys, Any]]]) -> list[str]:
    """The titles of the combinations of one entry, given what each chose for its sweeps."""
    paths = list(dict.fromkeys(keys for choices in chosen for keys, _ in choices))
    names = _short_names(paths)
    values: dict[Keys, dict[Any, Any]] = {keys: {} for keys in paths}
    for choices in chosen:
        for keys, value in choices:
            values[keys].setdefault(_identity(value), value)
    texts = {keys: _texts(different) for keys, different in values.items()}
    titles = []
    for choices in chosen:
        words = [f"{names[keys]}={texts[keys][_identity(value)]}" for keys, value in choices]
        titles.append(f"{base} ({', '.join(words)})" if words else base)
    return titles


def distinguishing_values(
    table: Mapping[str, Any], all_of_a_name: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Keys, Any], ...]:
    """What tells an entry from the others of its name: its own keys whose values are not the same in all.

    A swept key says its value anyway, and is left out; so is everything where it would take more
    than `_MOST` keys to tell.
    """
    others = [dict(leaves(each)) for each in all_of_a_name]
    own = tuple(
        (keys, value)
        for keys, value in leaves(table)
        if not isinstance(value, list | tuple)
        and any(keys not in other or _identity(other[keys]) != _identity(value) for other in others)
    )
    return own if len(own) <= _MOST else ()


def made_unique(titles: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The same titles, ``#2`` and on behind those that were there before."""
    used, unique = set(taken), []
    for title in titles:
        name, number = title, 1
        while name in used:
            number += 1
            name = f"{title} #{number}"
        used.add(name)
        unique.append(name)
    return unique


def _short_names(paths: Sequence[Keys]) -> dict[Keys, str]:
    """The last key of each path, with as many keys before it as tell them apart."""
    names = {}
    for path in paths:
        for length in range(1, len(path) + 1):
            if sum(other[-length:] == path[-length:] for other in paths) == 1:
                break
        names[path] = ".".join(path[-length:])
    return names


def _texts(different: Mapping[Any, Any]) -> dict[Any, str]:
    """The values of a sweep in few characters, told apart from one another."""
    texts = {identity: _text(value) for identity, value in different.items()}
    counts = Counter(texts.values())
    short = {}
    for number, (identity, text) in enumerate(texts.items(), 1):
        if len(text) > _LONG:
            short[identity] = f"#{number}"
        else:
            short[identity] = text if counts[text] == 1 else f"{text} #{number}"
    return short


def _identity(value: Any) -> Any:
    """Equal for what is the same value of a sweep: a number or text by content, all else by itself."""
    return (type(value), value) if isinstance(value, bool | int | float | str) else id(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return str(value.get("name") or value.get("title") or dict(value))
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else repr(value)
