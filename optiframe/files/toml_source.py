"""A TOML file as it was written: its table, its overrides, and the line of whatever is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from optiframe.errors import InvalidInput, nearest
from optiframe.files.toml_lines import Keys, Lines
from optiframe.files.toml_slips import slip
from optiframe.records.fields import paths_relative_to

_TABLES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".xlsx", ".svm", ".libsvm")


class _NotText(InvalidInput):
    """A file that is no text."""


@dataclass(frozen=True)
class TomlSource:
    """A parsed file with the overrides applied.

    Parameters
    ----------
    path
        The file, for messages and relative paths; None when everything came by overrides
        or from Python.
    text
        Its content, to look lines up in.
    table
        The parsed content after the overrides.
    overridden
        Key paths that came from overrides rather than from the file.

    Notes
    -----
    A subclass gives `known`, the keys at the top level that mean something.
    """

    known: ClassVar[tuple[str, ...]] = ()

    path: Path | None
    text: str
    table: Mapping[str, Any]
    overridden: frozenset[Keys]

    @classmethod
    def read(cls, path: str | Path | None, overrides: Iterable[str] = ()) -> Self:
        """Read a file and apply ``key.path=value`` overrides, whose values are TOML or plain text.

        Raises
        ------
        InvalidInput
            For an unreadable file, wrong TOML (with the line), or unknown top-level keys.
        """
        file = None if path is None else Path(path)
        try:
            text = "" if file is None else _text(file)
            table = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, _NotText) as error:
            if file is not None and file.suffix.lower() in _TABLES:
                raise InvalidInput(
                    f"{file} looks like a table of data, and a TOML file says what to do with it: "
                    "give that one, and name the table in it (docs/howto/your-data.md shows how)"
                ) from None
            if isinstance(error, _NotText):
                raise
            raise InvalidInput(f"{file}: not valid TOML: {error}{slip(text, error)}") from None
        overridden = set()
        for override in overrides:
            overridden.add(_override(table, override))
        source = cls(file, text, table, frozenset(overridden))
        source.check_keys()
        return source

    @property
    def folder(self) -> Path:
        """Where relative paths begin."""
        return Path() if self.path is None else self.path.parent

    def section(self, key: str, needed: bool = True) -> Mapping[str, Any]:
        """The table of this name; empty when it is missing and not needed."""
        section = self.table.get(key)
        if section is None:
            if needed:
                raise self.error([((key,), f"is missing; add a table [{key}] with a name")])
            return {}
        if not isinstance(section, Mapping):
            raise self.error([((key,), f"must be a table, [{key}], got {section!r}")])
        return section

    @contextmanager
    def located(self, *section: str) -> Iterator[None]:
        """Add file and line to whatever is found wrong inside; relative paths begin at the file."""
        try:
            with paths_relative_to(self.folder):
                yield
        except InvalidInput as error:
            located = self.error([((*section, *keys), text) for keys, text in error.problems])
            raise located from error.__cause__

    def error(self, problems: Iterable[tuple[Keys, str]]) -> InvalidInput:
        """An error that says of each key path where it is."""
        located = [
            (keys, f"{self.place(keys)}{'.'.join(keys)}{': ' if keys else ''}{text}")
            for keys, text in problems
        ]
        return InvalidInput("\n".join(text for _, text in located), located)

    def place(self, keys: Keys) -> str:
        """Where a key path was given: ``run.toml line 4: `` or ``--set ``; empty without a file."""
        if any(keys[: len(given)] == given for given in self.overridden):
            return "--set "
        if self.path is None:
            return ""
        line = self._lines.of(keys)
        return f"{self.path.name}: " if line is None else f"{self.path.name} line {line}: "

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def check_keys(self) -> None:
        """Raise `InvalidInput` for keys at the top level that mean nothing."""
        unknown = [key for key in self.table if key not in self.known]
        if unknown:
            raise self.error(
                ((key,), f"unknown key{self.hint_for_unknown_key(key)} (valid: {', '.join(self.known)})")
                for key in unknown
            )

    def hint_for_unknown_key(self, key: str) -> str:
        """`; did you mean 'x'?` for a key at the top level that means nothing; often empty."""
        return nearest(key, self.known)


@contextmanager
def below(key: str) -> Iterator[None]:
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
        raise _NotText(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None


def _override(table: dict[str, Any], override: str) -> Keys:
    path, equals, value = override.partition("=")
    keys = tuple(key.strip() for key in path.split("."))
    if not equals or not all(keys):
        raise InvalidInput(f"--set {override}: write key.path=value, such as solver.step=0.1")
    inside: Any = table
    for key, following in zip(keys, (*keys[1:], ""), strict=True):
        at: Any = key
        if isinstance(inside, list):  # an element of an array of tables
            at = _element(inside, key, override)
        if not following:
            break
        inner = inside[at] if isinstance(inside, list) else inside.setdefault(at, {})
        if isinstance(inner, str):  # a name alone (dataset = "x") may be refined by giving its parameters
            inner = inside[at] = {"name": inner}
        tables = isinstance(inner, list) and all(isinstance(each, dict | str) for each in inner)
        if not isinstance(inner, dict) and not tables:
            raise InvalidInput(f"--set {override}: {key} is not a table but {inner!r:.60}")
        inside = inner
    try:
        inside[at] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        inside[at] = value.strip()
    return keys


def _element(tables: list[Any], key: str, override: str) -> int:
    if not key.isdecimal() or int(key) >= len(tables):
        raise InvalidInput(
            f"--set {override}: there are {len(tables)} of these; write a number from 0, not {key}"
        )
    return int(key)
