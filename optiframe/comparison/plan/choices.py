"""Problems and solvers of a plan, one for each combination of what their tables sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from optiframe.comparison.plan import content_key
from optiframe.comparison.plan.compare_file import Entry, by_name, is_known
from optiframe.comparison.plan.inputs import check_inputs
from optiframe.comparison.plan.requests import BuiltHere
from optiframe.comparison.plan.sweep import Chosen, expand, fill, seeded
from optiframe.comparison.plan.table_facts import called, is_plain, names_in
from optiframe.comparison.plan.titles import distinguishing_values, made_unique, variant_titles
from optiframe.comparison.records import Checksums, Choice
from optiframe.errors import DISTRIBUTION, InvalidInput, OptiframeError, UnknownName
from optiframe.files.toml_lines import Keys
from optiframe.files.toml_source import TomlSource, below
from optiframe.problems.datasets import DataSet
from optiframe.problems.problem import Problem
from optiframe.records.fields import paths_relative_to
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry import registry
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import BY_CODE, InvalidInputName, build, unnamed_problem
from optiframe.registry.versions import version, versions_of
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
    """

    def __init__(self, document: TomlSource, modules: tuple[str, ...], seed: int) -> None:
        self.document, self.modules, self.seed = document, modules, seed
        self.problems: list[tuple[Keys, str]] = []
        # Each is asked once for a plan, and anew for the next: files change meanwhile.
        self._checksum = cache(content_key.checksum)
        self._data_set_checksums = cache(content_key.data_set_checksums)
        self._source_of = cache(content_key.source_of)
        self._origin = cache(_origin)

    def choices(self, entries: list[Entry]) -> list[Choice]:
        """All choices of these entries, each title and each content once."""
        expanded: list[tuple[Entry, list[tuple[Any, Chosen]], str]] = []
        for entry in entries:
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
                    found.append((entry, self._choice(entry.kind, given, title, where)))
        self._refuse_doubles(found)
        return _with_unique_titles(found)

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
            content = fingerprint([kind, *self._object(given)])
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
        if name is not None and not isinstance(name, str):
            raise InvalidInput("a name is text", [(("name",), f"must be text, got {name!r:.60}")])
        follows = seeded(table)
        origins = {} if name is None else self._origin("problem", name)
        of_dataset: dict[str, str] = {}
        if dataset is not None:
            with below("dataset"):
                data = _dataset(fill(dataset, self.seed))
                if not isinstance(dataset, DataSet):
                    origins |= self._origin(
                        "data set", dataset if isinstance(dataset, str) else dataset["name"]
                    )
            if data is not None:
                if name is not None and normalise(name) != data.problem:
                    text = f"data set {data.name!r} is for {data.problem!r} problems, not for {name!r}"
                    raise InvalidInput(text, [(("name",), text)])
                name = data.problem
                of_dataset = self._dataset_checksums(data)
                if is_known("problem", name):
                    origins |= self._origin("problem", name)
        origins |= self._named_inside(table)
        name = normalise(name) if isinstance(name, str) else ""
        if is_plain(table) and not self._only_here(table):
            check_inputs(table, name, self.document.folder)
            files = self._files(table)
            content = fingerprint({"table": table, "files": files, "dataset": of_dataset, "origins": origins})
            return Choice(
                title, name, dict(table), content, {}, where, checksums=Checksums(files, of_dataset)
            )
        # One that follows the seed is built again for each cell, from the files as they are then.
        files = self._files(table) if follows else {}
        made = BuiltHere(dict(table), self.document.folder.absolute(), Checksums(files, of_dataset))
        try:
            built = made.build(self.seed)
        except OptiframeError:
            raise
        except Exception as error:  # someone else's code: the cell gives the row, with the traceback
            content = fingerprint({"table": repr(table), "error": repr(error)})
            return Choice(title, name, None, content, {}, where, made)
        content = fingerprint([follows, *self._object(built)])
        return Choice(title, built.name, None, content, {}, where, made if follows else built)

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
            built = build("solver", table)
        except InvalidInputName:
            if not registry.registry().lost():  # else a module that crashes may have it: its cells say so
                raise
        except InvalidInput:
            raise
        except Exception:  # BrokenPlugin, MissingPackage, or what someone else's code raises
            built = None
        name = normalise(str(table["name"]))
        versions = _versions(name) if built is None else versions_of(built)
        said, origins = (dict(table), {}) if built is None else self._object(built)
        if built is not None and (not is_plain(table) or self._only_here(table)):
            content = fingerprint(["solver", said, origins])
            return Choice(title, name, None, content, versions, where, built)
        files = self._files({key: value for key, value in table.items() if key != "name"})
        origins = self._named_inside(table) | origins
        content = fingerprint(["solver", said, files, origins])
        return Choice(title, name, dict(table), content, versions, where, checksums=Checksums(files))

    def _files(self, table: Mapping[str, Any]) -> dict[str, str]:
        """Checksum by text, for every text in a table that names a file."""
        named = {text: content_key.named_file(text, self.document.folder) for text in names_in(table)}
        return {text: self._checksum(path) for text, path in named.items() if path is not None}

    def _dataset_checksums(self, data: DataSet) -> dict[str, str]:
        try:
            return self._data_set_checksums(data)
        except InvalidInput:  # it has no content to be known by
            return content_key.data_set_checksums(data)

    def _object(self, thing: Record) -> tuple[str, dict[str, str]]:
        """The content of an object, and the source of what it is made of."""
        return thing.fingerprint(), self._source_of(content_key.classes_and_functions(thing))

    def _named_inside(self, table: Mapping[str, Any]) -> dict[str, str]:
        """Where everything named in a table comes from: an objective or a set does the work as well."""
        origins: dict[str, str] = {}
        for name in dict.fromkeys(names_in(table)):
            for entry in registry.registry().find(name):
                origins |= self._origin(entry.kind, entry.name)
        return origins

    def _only_here(self, table: Mapping[str, Any]) -> bool:
        """Whether it names something that was registered by code and that no child would find."""
        brought = {Path(m).stem if m.endswith(".py") else m for m in self.modules}
        return any(
            entry.distribution == BY_CODE and entry.path.partition(":")[0] not in brought
            for name in names_in(table)
            for entry in registry.registry().find(name)
        )

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


def _with_unique_titles(found: list[tuple[Entry, Choice]]) -> list[Choice]:
    fixed = [choice.title for entry, choice in found if entry.chosen_title]
    others = [choice.title for entry, choice in found if not entry.chosen_title]
    titles = {True: iter(made_unique(fixed)), False: iter(made_unique(others, taken=fixed))}
    return [replace(choice, title=next(titles[bool(entry.chosen_title)])) for entry, choice in found]


def _dataset(given: Any) -> DataSet | None:
    """The data set with its parameters checked; None where it cannot be had here: the child says why."""
    try:
        return given if isinstance(given, DataSet) else build("data set", given)
    except InvalidInput:
        raise
    except Exception:  # BrokenPlugin, or what someone else's code raises
        return None


def _versions(name: str) -> dict[str, str]:
    """Versions of the core and of the distribution of a solver that does not load."""
    owners = [e.distribution for e in registry.registry().entries("solver") if e.name == name]
    return {owner: version(owner) for owner in (DISTRIBUTION, *owners) if owner != BY_CODE}


def _origin(kind: str, name: str) -> dict[str, str]:
    """Where a name comes from; InvalidInput at its key for an unknown one."""
    try:
        return content_key.origin(registry.registry().entry(kind, name))
    except UnknownName as error:
        text = str(error)
        if kind == "problem" and is_known("data set", name):
            text = f'{name!r} is a data set; write dataset = "{name}"'
        raise InvalidInputName(text) from None
    except Exception as error:  # BrokenPlugin, or a class that does not import: the child says so
        return {"broken": type(error).__name__}
