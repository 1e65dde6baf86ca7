"""A TOML file to validated objects, with the line of whatever is wrong.

Tables: ``[problem]`` (a name and its inputs, or a data set), ``[solver]`` (a name and its
parameters), ``[budget]``, ``[output]``, and the key ``seed``. Nothing in a file is ever
executed. Relative paths start at the file's folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt, field_validator

from optiframe import api, registry
from optiframe.described import Described
from optiframe.errors import InvalidInput, nearest
from optiframe.problems import Problem
from optiframe.solvers import Budget, Solver
from optiframe.values import paths_relative_to

_TABLES = ("problem", "solver", "budget", "output")
_KEYS = (*_TABLES, "seed")
Keys = tuple[str, ...]


class Output(Described):
    """Where `optiframe solve` writes, and under which name the answer goes."""

    name = "output"

    folder: str | None = Field(default=None, description="output folder; default: results/<name of the file>")
    answer: str = Field(default="answer.csv", description="file name of the answer: .csv or .parquet")

    @field_validator("answer")
    @classmethod
    def _a_table_file(cls, value: str) -> str:
        if Path(value).name != value or Path(value).suffix.lower() not in (".csv", ".parquet"):
            raise InvalidInput(f"must be a file name ending in .csv or .parquet, got {value!r}")
        return value


class _Seed(Described):
    """The top-level key `seed`, validated like any other field."""

    seed: NonNegativeInt = 0


@dataclass(frozen=True)
class Document:
    """A parsed file with the overrides applied; objects are built, and checked, on demand.

    Parameters
    ----------
    path
        The file, for messages and relative paths; None when everything came by overrides.
    text
        Its content, to look lines up in.
    table
        The parsed content after the overrides.
    overridden
        Key paths that came from overrides rather than from the file.
    """

    path: Path | None
    text: str
    table: Mapping[str, Any]
    overridden: frozenset[Keys]

    @cached_property
    def problem(self) -> Problem[Any]:
        """The problem of ``[problem]``."""
        table = dict(self._section("problem"))
        name, dataset = table.pop("name", None), table.pop("dataset", None)
        with self._located("problem"):
            if name is None and dataset is None:
                raise InvalidInput(
                    "give a `name`, or a `dataset` that says what it is for",
                    [(("name",), "is missing; or give a `dataset`")],
                )
            data = None
            if dataset is not None:
                with _below("dataset"):
                    data = registry.build("data set", dataset)
            return api.problem(name, dataset=data, **table)

    @cached_property
    def solver(self) -> Solver[Any, Any, Any]:
        """The solver of ``[solver]``."""
        section = self.table.get("solver")
        named = section if isinstance(section, str) else self._section("solver")
        with self._located("solver"):
            built: Solver[Any, Any, Any] = registry.build("solver", named)
            return built

    @cached_property
    def budget(self) -> Budget:
        """The limits of ``[budget]``."""
        section = self._section("budget", needed=False)
        with self._located("budget"):
            return Budget(**section)

    @cached_property
    def output(self) -> Output:
        """The destination of ``[output]``."""
        section = self._section("output", needed=False)
        with self._located("output"):
            return Output(**section)

    @cached_property
    def seed(self) -> int:
        """The seed; 0 when none is given."""
        with self._located():
            return _Seed(**({"seed": self.table["seed"]} if "seed" in self.table else {})).seed

    def _section(self, key: str, needed: bool = True) -> Mapping[str, Any]:
        section = self.table.get(key)
        if section is None:
            if needed:
                raise self._error([((key,), f"is missing; add a table [{key}] with a name")])
            return {}
        if not isinstance(section, Mapping):
            raise self._error([((key,), f"must be a table, [{key}], got {section!r}")])
        return section

    @contextmanager
    def _located(self, *section: str) -> Iterator[None]:
        """Add file and line to whatever is found wrong inside."""
        folder = Path() if self.path is None else self.path.parent
        try:
            with paths_relative_to(folder):
                yield
        except InvalidInput as error:
            raise self._error([((*section, *keys), text) for keys, text in error.problems]) from None

    def _error(self, problems: Iterable[tuple[Keys, str]]) -> InvalidInput:
        located = [
            (keys, f"{self._where(keys)}{'.'.join(keys)}{': ' if keys else ''}{text}")
            for keys, text in problems
        ]
        return InvalidInput("\n".join(text for _, text in located), located)

    def _where(self, keys: Keys) -> str:
        if any(keys[: len(given)] == given for given in self.overridden):
            return "--set "
        if self.path is None:
            return ""
        line = line_of(self.text, keys)
        return f"{self.path.name}: " if line is None else f"{self.path.name} line {line}: "

    def check_keys(self) -> None:
        """Raise `InvalidInput` for keys at the top level that mean nothing."""
        unknown = [key for key in self.table if key not in _KEYS]
        if unknown:
            raise self._error(
                ((key,), f"unknown key{nearest(key, _KEYS)} (valid: {', '.join(_KEYS)})") for key in unknown
            )


def read(path: str | Path | None, overrides: Iterable[str] = ()) -> Document:
    """Read a file and apply ``key.path=value`` overrides, whose values are TOML or plain text.

    Raises
    ------
    InvalidInput
        For an unreadable file, wrong TOML (with the line), or unknown top-level keys.
    """
    file = None if path is None else Path(path)
    text = "" if file is None else _text(file)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: not valid TOML: {error}") from None
    overridden = set()
    for override in overrides:
        overridden.add(_override(table, override))
    document = Document(file, text, table, frozenset(overridden))
    document.check_keys()
    return document


def line_of(text: str, keys: Keys) -> int | None:
    """The line where the value of `keys` begins, or its nearest enclosing table; None if neither is there."""
    best: tuple[int, int] | None = None  # how many of the keys were found, and the line
    table: Keys = ()
    counts: dict[Keys, int] = {}
    for line, statement in _statements(text):
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if statement.lstrip().startswith("["):
            table = _path(parsed)
            if statement.lstrip().startswith("[["):  # an element of an array of tables
                counts[table] = counts.get(table, -1) + 1
                table = (*table, str(counts[table]))
            depth = _common(table, keys)
        else:
            depth = len(table) + _depth(parsed, keys[len(table) :]) if keys[: len(table)] == table else 0
        if depth > (best[0] if best else 0):
            best = (depth, line)
    return best[1] if best else None


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


def _common(table: Keys, keys: Keys) -> int:
    return len(table) if keys[: len(table)] == table else 0


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


@contextmanager
def _below(key: str) -> Iterator[None]:
    """Put a key in front of the paths of whatever is found wrong inside."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(str(error), [((key, *keys), text) for keys, text in error.problems]) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InvalidInput(f"no file {path}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None


def _override(table: dict[str, Any], override: str) -> Keys:
    path, equals, value = override.partition("=")
    keys = tuple(key.strip() for key in path.split("."))
    if not equals or not all(keys):
        raise InvalidInput(f"--set {override}: write key.path=value, such as solver.step=0.1")
    for key in keys[:-1]:
        inner = table.setdefault(key, {})
        if isinstance(inner, str):  # a name alone (dataset = "x") may be refined by giving its parameters
            inner = table[key] = {"name": inner}
        if not isinstance(inner, dict):
            raise InvalidInput(f"--set {override}: {key} is not a table but {inner!r:.60}")
        table = inner
    try:
        table[keys[-1]] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        table[keys[-1]] = value.strip()
    return keys
