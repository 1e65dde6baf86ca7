"""Problems and solvers of a plan, one for each combination of what their tables sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from optiframe.comparison.plan.content_key import Checksums, object_source, origin, parts_of, solver_versions
from optiframe.comparison.plan.inputs import check_inputs
from optiframe.comparison.plan.requests import Made
from optiframe.comparison.plan.sweep import Chosen, expand, fill, seeded
from optiframe.comparison.plan.table_facts import called, is_plain, names_in
from optiframe.comparison.plan.titles import made_unique, told_apart, variant_titles
from optiframe.comparison.records import Choice, Sums
from optiframe.errors import InvalidInput, OptiframeError, UnknownName
from optiframe.files.toml_source import Document, Keys, below
from optiframe.problems.datasets import DataSet
from optiframe.problems.problem import Problem
from optiframe.records.fields import paths_relative_to
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry import registry
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import BY_CODE, InvalidInputName, unnamed_problem
from optiframe.registry.versions import versions_of
from optiframe.solving.solver import Solver


@dataclass(frozen=True)
class Entry:
    """One ``[[problem]]`` or ``[[solver]]``, or what stands for it in Python.

    `given` is a table, a name, or an object; `keys` is its place.
    """

    kind: str
    keys: Keys
    given: Any
    title: str | None = None


@dataclass
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
    """

    document: Document
    modules: tuple[str, ...]
    seed: int
    problems: list[tuple[Keys, str]] = field(default_factory=list)
    checksums: Checksums = field(default_factory=Checksums)
    _origins: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    _sources: dict[tuple[Any, ...], dict[str, str]] = field(default_factory=dict)

    def choices(self, entries: list[Entry]) -> list[Choice]:
        """All choices of these entries, each title and each content once."""
        found: list[Choice] = []
        whose: list[Entry] = []
        expanded: list[tuple[Entry, list[tuple[Any, Chosen]], str]] = []
        for entry in entries:
            with self._gathered(entry.keys):
                expanded.append((entry, *self._variants(entry)))
        untitled: dict[str, list[Mapping[str, Any]]] = {}
        for entry, _, base in expanded:
            if not _titled(entry) and isinstance(entry.given, Mapping):
                untitled.setdefault(base, []).append(entry.given)
        for entry, variants, base in expanded:
            apart: Chosen = ()
            if not _titled(entry) and isinstance(entry.given, Mapping):
                apart = told_apart(entry.given, untitled[base])
            titles = variant_titles(base, [(*apart, *chosen) for _, chosen in variants])
            where = f"{self.document.place(entry.keys)}{'.'.join(entry.keys)}"
            for (given, _), title in zip(variants, titles, strict=True):
                with self._gathered(entry.keys):
                    choice = self._choice(entry.kind, given, title, where)
                    found.append(choice)
                    whose.append(entry)
        self._refuse_doubles(found, whose)
        return _with_unique_titles(found, whose)

    def again(self, kind: str, choice: Choice) -> Choice:
        """A choice made anew from its table, under the same title."""
        if choice.table is None and choice.thing is None:
            text = "was made in Python and is not kept; repeat it with the program that made it"
            self.problems.append(((choice.title,), text))
            return choice
        if choice.table is None:
            return choice
        with self._gathered((kind, choice.title)), paths_relative_to(self.document.folder):
            made = self.problem if kind == "problem" else self.solver
            return made(choice.table, choice.title, choice.where)
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
            self.problems.extend(((*keys, *inner), text) for inner, text in error.problems)

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

    def _choice(self, kind: str, given: Any, title: str, where: str) -> Choice:
        if not isinstance(given, Mapping):
            content = fingerprint([kind, given.fingerprint(), self._source(given)])
            versions = versions_of(given) if kind == "solver" else {}
            return Choice(title, str(given.name), None, content, versions, where, given)
        made = self.problem if kind == "problem" else self.solver
        with paths_relative_to(self.document.folder):
            return made(given, title, where)

    def problem(self, table: Mapping[str, Any], title: str, where: str) -> Choice:
        """A problem by its table; it is not loaded here, unless only this process can.

        Raises
        ------
        InvalidInput
            For a name that is unknown, or a data set that is, or is for another problem.
        """
        name, dataset = table.get("name"), table.get("dataset")
        if name is None and dataset is None:
            raise unnamed_problem(table)
        follows = seeded(table)
        origins = {} if name is None else self._origin("problem", name)
        sums: dict[str, str] = {}
        if dataset is not None:
            with below("dataset"):
                data = self._dataset(fill(dataset, self.seed))
                if not isinstance(dataset, DataSet):
                    origins |= self._origin(
                        "data set", dataset if isinstance(dataset, str) else dataset["name"]
                    )
            if data is not None:
                if name is not None and normalise(name) != data.problem:
                    text = f"data set {data.name!r} is for {data.problem!r} problems, not for {name!r}"
                    raise InvalidInput(text, [(("name",), text)])
                name = data.problem
                sums = self.checksums.dataset(data)
                if _known("problem", name):
                    origins |= self._origin("problem", name)
        origins |= self._named_inside(table)
        name = normalise(name) if isinstance(name, str) else ""
        if is_plain(table) and not self._only_here(table):
            check_inputs(table, name, self.document.folder)
            files = self.checksums.files(table, self.document.folder)
            content = fingerprint({"table": table, "files": files, "dataset": sums, "origins": origins})
            return Choice(title, name, dict(table), content, {}, where, sums=Sums(files, sums))
        # One that follows the seed is built again for each cell, from the files as they are then.
        files = self.checksums.files(table, self.document.folder) if follows else {}
        made = Made(dict(table), self.document.folder.absolute(), Sums(files, sums))
        try:
            built = made.build(self.seed)
        except OptiframeError:
            raise
        except Exception as error:  # someone else's code: the cell gives the row, with the traceback
            content = fingerprint({"table": repr(table), "error": repr(error)})
            return Choice(title, name, None, content, {}, where, made)
        content = fingerprint([follows, built.fingerprint(), self._source(built)])
        return Choice(title, built.name, None, content, {}, where, made if follows else built)

    def _dataset(self, dataset: Any) -> DataSet | None:
        """The data set with its parameters checked; None where it cannot be had here: the child says why."""
        if isinstance(dataset, DataSet):
            return dataset
        try:
            data: DataSet = registry.build("data set", dataset)
        except InvalidInput:
            raise
        except Exception:  # BrokenPlugin, or what someone else's code raises
            return None
        return data

    def solver(self, table: Mapping[str, Any], title: str, where: str) -> Choice:
        """A solver by its table, its parameters checked.

        Raises
        ------
        InvalidInput
            For an unknown name or wrong parameters. A solver that does not load is kept: its
            cells will say why.
        """
        if seeded(table):
            text = "a solver gets the seed of its cell by itself; write a value here"
            raise InvalidInput(text)
        built: Solver[Any, Any, Any] | None = None
        try:
            built = registry.build("solver", table)
        except InvalidInputName:
            if not registry.registry().lost():  # else a module that crashes may have it: its cells say so
                raise
        except InvalidInput:
            raise
        except Exception:  # BrokenPlugin, MissingPackage, or what someone else's code raises
            built = None
        name = normalise(str(table["name"]))
        entry = next((e for e in registry.registry().entries("solver") if e.name == name), None)
        versions = solver_versions(entry, built)
        here = not is_plain(table) or self._only_here(table)
        if built is not None and here:
            content = fingerprint(["solver", built.fingerprint(), self._source(built)])
            return Choice(title, name, None, content, versions, where, built)
        said = dict(table) if built is None else built.fingerprint()
        files = self.checksums.files({k: v for k, v in table.items() if k != "name"}, self.document.folder)
        origins = self._named_inside(table) | ({} if built is None else self._source(built))
        content = fingerprint(["solver", said, files, origins])
        return Choice(title, name, dict(table), content, versions, where, sums=Sums(files))

    def _origin(self, kind: str, name: Any) -> dict[str, str]:
        """What `_origin` says, asked once for a plan."""
        if not isinstance(name, str):
            raise InvalidInput("a name is text", [(("name",), f"must be text, got {name!r:.60}")])
        if (kind, name) not in self._origins:
            self._origins[kind, name] = _origin(kind, name)
        return self._origins[kind, name]

    def _named_inside(self, table: Mapping[str, Any]) -> dict[str, str]:
        """Where everything named in a table comes from: an objective or a set does the work as well."""
        origins: dict[str, str] = {}
        for name in dict.fromkeys(names_in(table)):
            for entry in registry.registry().find(name):
                origins |= self._origin(entry.kind, entry.name)
        return origins

    def _source(self, thing: Record) -> dict[str, str]:
        """What `object_source` says, asked once for a plan of things made of the same."""
        made_of = parts_of(thing)
        if made_of not in self._sources:
            self._sources[made_of] = object_source(thing)
        return self._sources[made_of]

    def _only_here(self, table: Mapping[str, Any]) -> bool:
        """Whether it names something that was registered by code and that no child would find."""
        brought = {Path(m).stem if m.endswith(".py") else m for m in self.modules}
        return any(
            entry.distribution == BY_CODE and entry.path.partition(":")[0] not in brought
            for name in names_in(table)
            for entry in registry.registry().find(name)
        )

    def _refuse_doubles(self, found: list[Choice], whose: list[Entry]) -> None:
        first: dict[str, int] = {}
        for number, choice in enumerate(found):
            other = first.setdefault(choice.content, number)
            if other != number:
                where = ".".join(whose[other].keys)
                text = f"{choice.title} is the same {whose[number].kind} as {found[other].title} of {where}"
                self.problems.append((whose[number].keys, f"{text}; leave one of them out"))
        given: dict[str, Entry] = {}
        for entry in {entry.keys: entry for entry in whose}.values():
            title = entry.title or (entry.given.get("title") if isinstance(entry.given, Mapping) else None)
            other_entry = given.setdefault(title, entry) if title else entry
            if other_entry is not entry:
                text = f"{title!r} is the title of {'.'.join(other_entry.keys)} as well; each needs its own"
                self.problems.append(((*entry.keys, "title"), text))


def _titled(entry: Entry) -> bool:
    """Whether somebody chose its title."""
    return bool(entry.title or (isinstance(entry.given, Mapping) and entry.given.get("title")))


def _with_unique_titles(found: list[Choice], whose: list[Entry]) -> list[Choice]:
    fixed = [choice.title for choice, entry in zip(found, whose, strict=True) if _titled(entry)]
    others = [choice.title for choice, entry in zip(found, whose, strict=True) if not _titled(entry)]
    titles = {True: iter(made_unique(fixed)), False: iter(made_unique(others, taken=fixed))}
    return [
        replace(choice, title=next(titles[_titled(entry)]))
        for choice, entry in zip(found, whose, strict=True)
    ]


def by_name(kind: str, name: str) -> dict[str, str]:
    """The table that a name alone stands for: a solver, a data set, or a problem without inputs."""
    return {"dataset" if kind == "problem" and _known("data set", name) else "name": name}


def _known(kind: str, name: str) -> bool:
    return any(entry.kind == kind for entry in registry.registry().find(name))


def _origin(kind: str, name: str) -> dict[str, str]:
    """Where a name comes from; InvalidInput at its key for an unknown one."""
    try:
        return origin(registry.registry().entry(kind, name))
    except UnknownName as error:
        text = str(error)
        if kind == "problem" and _known("data set", name):
            text = f'{name!r} is a data set; write dataset = "{name}"'
        raise InvalidInputName(text) from None
    except Exception as error:  # BrokenPlugin, or a class that does not import: the child says so
        return {"broken": type(error).__name__}
