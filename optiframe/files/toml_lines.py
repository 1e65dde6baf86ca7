"""Where the keys of a TOML text stand in it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

Keys = tuple[str, ...]
"""The keys that lead to a value, the numbers of elements among them."""


class Lines:
    """Where everything stands in a text; read once, since there may be as many questions as lines."""

    def __init__(self, text: str) -> None:
        # By the table they stand in: for each key its place, its line and its value; for a header None.
        self._found: dict[Keys, list[tuple[int, int, Any]]] = {}
        table: Keys = ()
        counts: dict[Keys, int] = {}
        for place, (line, statement) in enumerate(_statements(text)):
            try:
                parsed = tomllib.loads(statement)
            except tomllib.TOMLDecodeError:
                continue
            if statement.lstrip().startswith("["):
                table = _in_elements(_path(parsed), counts)
                if statement.lstrip().startswith("[["):  # an element of an array of tables
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, str(counts[table]))
                self._found.setdefault(table, []).append((place, line, None))
            else:
                self._found.setdefault(table, []).append((place, line, parsed))

    def of(self, keys: Keys) -> int | None:
        """The line where the value of `keys` begins, or its nearest enclosing table; None without either."""
        best: tuple[int, int] | None = None  # how many of the keys were found, and the line
        tables = [keys[:depth] for depth in range(len(keys) + 1)]
        for _, line, depth in sorted(
            (place, line, len(table) + (0 if parsed is None else _depth(parsed, keys[len(table) :])))
            for table in tables
            for place, line, parsed in self._found.get(table, ())
        ):
            if depth > (best[0] if best else 0):
                best = (depth, line)
        return best[1] if best else self._within(keys)

    def _within(self, keys: Keys) -> int | None:
        """The first line of a table that stands only by tables inside it: [a] by [a.b]."""
        for depth in range(len(keys), 0, -1):
            lines = [
                found[0][1] for table, found in self._found.items() if table[:depth] == keys[:depth] and found
            ]
            if lines:
                return min(lines)
        return None


def _in_elements(header: Keys, counts: Mapping[Keys, int]) -> Keys:
    """A header's keys with the number of the latest element after every array of tables above it."""
    table: Keys = ()
    for key in header[:-1]:
        table = (*table, key)
        if table in counts:
            table = (*table, str(counts[table]))
    return (*table, *header[-1:])


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each statement: a header or a key with its whole value.

    One pass over the characters that only keeps what decides where a statement ends: inside
    a string (one-line or three-quoted), a comment, or brackets.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    start, depth, quote = 0, 0, ""
    for number, line in enumerate(lines):
        at = 0
        while at < len(line):
            rest = line[at:]
            if quote:
                if rest.startswith("\\") and quote[0] == '"':
                    at += 1
                elif rest.startswith(quote):
                    at += len(quote) - 1
                    quote = ""
            elif rest.startswith(('"""', "'''")):
                quote, at = rest[:3], at + 2
            elif rest[0] in "\"'":
                quote = rest[0]
            elif rest[0] == "#":
                break
            else:
                depth += (rest[0] in "[{") - (rest[0] in "]}")
            at += 1
        if len(quote) == 1:
            quote = ""  # a one-line string ends with its line, closed or not
        if depth <= 0 and not quote:
            statement = "\n".join(lines[start : number + 1])
            if statement.strip() and not statement.lstrip().startswith("#"):
                yield start + 1, statement
            start, depth = number + 1, 0


def _path(table: Any) -> Keys:
    """The keys that lead to the innermost table of a header."""
    keys: Keys = ()
    while table:
        key, table = next(iter(table.items()))
        keys = (*keys, key)
        table = table[0] if isinstance(table, list) else table
    return keys


def _depth(value: Any, keys: Keys) -> int:
    """How many of the keys lead into the value, one after the other."""
    for depth, key in enumerate(keys):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return depth
    return len(keys)
