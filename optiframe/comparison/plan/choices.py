"""Problems and solvers of a plan, one for each combination of what their tables sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from optiframe.comparison.cells import Choice
from optiframe.comparison.plan.compare_file import SETTINGS, Entry, by_name
from optiframe.comparison.plan.contents import Contents
from optiframe.comparison.plan.sweep import Chosen, expand
from optiframe.comparison.plan.table_facts import called
from optiframe.comparison.plan.titles import distinguishing_values, made_unique, variant_titles
from optiframe.errors import InvalidInput, OptiframeError
from optiframe.files.toml_lines import Keys
from optiframe.files.toml_source import TomlSource
from optiframe.problems.collection import Collection
from optiframe.problems.datasets import DataSet
from optiframe.problems.problem import Problem
from optiframe.registry import registry
from optiframe.registry.registry import build
from optiframe.solving.solver import Solver


class Chooser:
    """Turns entries into choices, and gathers all that is wrong with them.

    Parameters
    ----------
    document
        Says where things are, and where relative paths begin.
    modules
        What a child imports first; classes registered there need not travel.
    seed
        A seed to try tables with that follow it.
    may_build
        As for `Contents`.
    """

    def __init__(
        self,
        document: TomlSource,
        modules: tuple[str, ...],
        seed: int,
        may_build: Callable[[str, Mapping[str, Any]], bool] = lambda kind, table: True,
    ) -> None:
        self.document, self._contents = document, Contents(document.folder, modules, seed, may_build)
        self.problems: list[tuple[Keys, str]] = []

    def choices(self, entries: list[Entry]) -> list[Choice]:
        """All choices of these entries, each title and each content once."""
        expanded: list[tuple[Entry, list[tuple[Any, Chosen]], str]] = []
        for entry in self._members(entries):
            with self._gathered(entry.keys):
                expanded.append((entry, *self._variants(entry)))
        untitled: dict[str, list[Mapping[str, Any]]] = {}
        for entry, _, base in expanded:
            if not entry.chosen_title and isinstance(entry.given, Mapping):
                untitled.setdefault(base, []).append(entry.given)
        found: list[tuple[Entry, Choice]] = []
        for entry, variants, base in expanded:
            apart: Chosen = ()
            if not entry.chosen_title and isinstance(entry.given, Mapping):
                apart = distinguishing_values(entry.given, untitled[base])
            titles = variant_titles(base, [(*apart, *chosen) for _, chosen in variants])
            where = f"{self.document.place(entry.keys)}{'.'.join(entry.keys)}"
            for (given, _), title in zip(variants, titles, strict=True):
                with self._gathered(entry.keys):
                    found.append((entry, self._contents.choice(entry.kind, given, title, where)))
        self._refuse_doubles(found)
        return _with_unique_titles(found)

    def again(self, kind: str, choice: Choice) -> Choice:
        """A choice made again from its table, under the same title."""
        if choice.table is None and choice.thing is None:
            text = "was made in Python and is not kept; repeat it with the program that made it"
            self.problems.append(((choice.title,), text))
        elif choice.table is not None:
            with self._gathered((kind, choice.title)):
                return self._contents.choice(kind, choice.table, choice.title, choice.where)
        return choice

    def raise_found(self) -> None:
        """Raise all that was found wrong, with its lines."""
        if self.problems:
            raise self.document.error(dict.fromkeys(self.problems))

    @contextmanager
    def _gathered(self, keys: Keys) -> Iterator[None]:
        try:
            yield
        except InvalidInput as error:
            self.problems.extend(
                ((*keys, *inner), text + _misplaced(inner, text)) for inner, text in error.problems
            )

    def _members(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries, with one for each member in place of a collection."""
        for entry in entries:
            given = entry.given
            if isinstance(given, str) and entry.kind == "problem":
                given = by_name(entry.kind, given)
            table = given if isinstance(given, Mapping) else {"dataset": given}
            with self._gathered(entry.keys):
                sound = entry.kind == "problem" and self._contents.may_build(entry.kind, table)
                collections = _collections(table.get("dataset")) if sound else []
                if not collections:
                    yield entry
                others = {key: value for key, value in table.items() if key not in ("dataset", "title")}
                for name, member in (item for one in collections for item in one.checked_members().items()):
                    title = f"{entry.chosen_title} {name}" if entry.chosen_title else name
                    yield Entry(entry.kind, entry.keys, {**others, "dataset": dict(member)}, title)

    def _variants(self, entry: Entry) -> tuple[list[tuple[Any, Chosen]], str]:
        """Every combination, an object or a table, with what it chose; and what all are called."""
        given = entry.given
        kinds: tuple[type, ...] = (Problem, DataSet) if entry.kind == "problem" else (Solver,)
        if isinstance(given, type) and issubclass(given, kinds):
            given = given()
        if isinstance(given, str):
            given = by_name(entry.kind, given)
        if isinstance(given, DataSet):
            given = {"dataset": given}
        if isinstance(given, kinds):
            return [(given, ())], entry.title or str(getattr(given, "name", "")) or type(given).__name__
        if not isinstance(given, Mapping):
            raise InvalidInput(f"must be a table, a name or a {entry.kind}, got {entry.given!r:.60}")
        table = dict(given)
        title = table.pop("title", None)
        if title is not None and not (isinstance(title, str) and title.strip()):
            raise InvalidInput("a title is text", [(("title",), f"must be text, got {title!r:.60}")])
        variants = [(variant.table, variant.chosen) for variant in expand(table)]
        return variants, entry.title or title or called(table, entry.kind)

    def _refuse_doubles(self, found: list[tuple[Entry, Choice]]) -> None:
        first: dict[str, tuple[Entry, Choice]] = {}
        titled: dict[str, Entry] = {}
        for entry, choice in found:
            other, same = first.setdefault(choice.content, (entry, choice))
            if same is not choice:
                text = f"{choice.title} is the same {entry.kind} as {same.title} of {'.'.join(other.keys)}"
                self.problems.append((entry.keys, f"{text}; leave one of them out"))
        for entry in {entry.keys: entry for entry, _ in found}.values():
            title = entry.chosen_title
            if title and (other := titled.setdefault(title, entry)) is not entry:
                text = f"{title!r} is the title of {'.'.join(other.keys)} as well; each needs its own"
                self.problems.append(((*entry.keys, "title"), text))


def _collections(given: Any) -> list[Collection]:
    """The collections that an entry's data set names, one for each combination of what it sweeps."""
    if isinstance(given, Collection):
        return [given]
    table = {"name": given} if isinstance(given, str) else given
    name = table.get("name") if isinstance(table, Mapping) else None
    with suppress(OptiframeError):  # said where data sets are built
        if isinstance(name, str) and issubclass(registry.registry().get("data set", name), Collection):
            return [build("data set", variant.table) for variant in expand(table)]
    return []


def _with_unique_titles(found: list[tuple[Entry, Choice]]) -> list[Choice]:
    fixed = [choice.title for entry, choice in found if entry.chosen_title]
    others = [choice.title for entry, choice in found if not entry.chosen_title]
    titles = {True: iter(made_unique(fixed)), False: iter(made_unique(others, taken=fixed))}
    return [replace(choice, title=next(titles[bool(entry.chosen_title)])) for entry, choice in found]


def _misplaced(keys: Keys, text: str) -> str:
    """Where a setting of the whole comparison belongs that stands below an entry's head."""
    if len(keys) != 1 or keys[0] not in SETTINGS or not text.startswith("unknown key"):
        return ""
    return f"; to set {keys[0]} for the comparison, write it above the first [[problem]] or [[solver]]"
