"""One problem or solver of a plan as a choice: its table checked, and its content as a hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Checksums, Choice
from optiframe.comparison.plan import content_key
from optiframe.comparison.plan.compare_file import is_known
from optiframe.comparison.plan.inputs import check_inputs
from optiframe.comparison.plan.requests import BuiltHere
from optiframe.comparison.plan.sources import package_source
from optiframe.comparison.plan.sweep import fill, seeded
from optiframe.comparison.plan.table_facts import is_plain, names_in
from optiframe.errors import DISTRIBUTION, InvalidInput, OptiframeError, UnknownName
from optiframe.files.toml_source import below
from optiframe.problems.datasets import DataSet
from optiframe.records.fields import paths_relative_to
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry import registry
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import BY_CODE, InvalidInputName, build, unnamed_problem
from optiframe.registry.versions import version, versions_of
from optiframe.solving.solver import Solver


class Contents:
    """Makes choices of tables and of objects.

    Parameters
    ----------
    folder
        Where relative paths begin.
    modules
        What a child imports first; classes registered there need not travel.
    seed
        A seed to try tables with that follow it.
    may_build
        Asked before the code of a problem, data set or solver runs, with the kind and the table; where it
        says no, the table is taken as it is, and the cell's process finds out.
    """

    def __init__(
        self,
        folder: Path,
        modules: tuple[str, ...],
        seed: int,
        may_build: Callable[[str, Mapping[str, Any]], bool] = lambda kind, table: True,
    ) -> None:
        self.folder, self.modules, self.seed, self.may_build = folder, modules, seed, may_build
        # Each is asked once for a plan, and again for the next: files change meanwhile.
        self._checksum = cache(content_key.checksum)
        self._data_set_checksums = cache(content_key.data_set_checksums)
        source = cache(package_source)
        self._source_of = cache(partial(content_key.source_of, source=source))
        self._origin = cache(partial(_origin, source=source))

    def choice(self, kind: str, given: Any, title: str, where: str) -> Choice:
        """The choice of a table, or of an object made in Python.

        Raises
        ------
        InvalidInput
            For all that is wrong with a table and shows without loading a problem.
        """
        if isinstance(given, Mapping):
            made = self._problem if kind == "problem" else self._solver
            with paths_relative_to(self.folder):
                return made(given, title, where)
        said, origins = self._object(given)
        content = fingerprint([kind, said, origins])
        versions = versions_of(given) if kind == "solver" else {}
        checksums = Checksums(code=content_key.code_files(origins))
        return Choice(title, str(given.name), None, content, versions, where, given, checksums)

    def _problem(self, table: Mapping[str, Any], title: str, where: str) -> Choice:
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
            raise InvalidInput("the name must be text", [(("name",), f"must be text, got {name!r:.60}")])
        follows, sound = seeded(table), self.may_build("problem", table)
        origins = {} if name is None else self._origin("problem", name)
        of_dataset: dict[str, str] = {}
        if dataset is not None:
            with below("dataset"):
                data = _dataset(fill(dataset, self.seed)) if sound else None
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
            if sound:
                check_inputs(table, name, self.folder)
            files = self._files(table)
            content = fingerprint({"table": table, "files": files, "dataset": of_dataset, "origins": origins})
            checksums = Checksums(files, of_dataset, content_key.code_files(origins))
            return Choice(title, name, dict(table), content, {}, where, checksums=checksums)
        # One that follows the seed is built again for each cell, from the files as they are then.
        files = self._files(table) if follows else {}
        made = BuiltHere(dict(table), self.folder.absolute(), Checksums(files, of_dataset))
        try:
            built = made.build(self.seed)
        except OptiframeError:
            raise
        except Exception as error:  # someone else's code: the cell gives the row, with the traceback
            content = fingerprint({"table": repr(table), "error": repr(error)})
            return Choice(title, name, None, content, {}, where, made)
        said, origins = self._object(built)
        content = fingerprint([follows, said, origins])
        checksums = Checksums(code=content_key.code_files(origins))
        return Choice(title, built.name, None, content, {}, where, made if follows else built, checksums)

    def _solver(self, table: Mapping[str, Any], title: str, where: str) -> Choice:
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
            if self.may_build("solver", table):
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
            checksums = Checksums(code=content_key.code_files(origins))
            return Choice(title, name, None, content, versions, where, built, checksums)
        files = self._files({key: value for key, value in table.items() if key != "name"})
        origins = self._named_inside(table) | origins
        content = fingerprint(["solver", said, files, origins])
        checksums = Checksums(files, code=content_key.code_files(origins))
        return Choice(title, name, dict(table), content, versions, where, checksums=checksums)

    def _files(self, table: Mapping[str, Any]) -> dict[str, str]:
        """Checksum by text, for every text in a table that names a file."""
        named = {text: content_key.named_file(text, self.folder) for text in names_in(table)}
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
        imported = {Path(m).stem if m.endswith(".py") else m for m in self.modules}
        return any(
            entry.distribution == BY_CODE and entry.path.partition(":")[0] not in imported
            for name in names_in(table)
            for entry in registry.registry().find(name)
        )


def _dataset(given: Any) -> DataSet | None:
    """The data set with its parameters checked; None where it cannot be made here: the child reports why."""
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


def _origin(kind: str, name: str, source: Callable[[str], str]) -> dict[str, str]:
    """Where a name comes from; InvalidInput at its key for an unknown one."""
    try:
        return content_key.origin(registry.registry().entry(kind, name), source)
    except UnknownName as error:
        text = str(error)
        if kind == "problem" and is_known("data set", name):
            text = f'{name!r} is a data set; write dataset = "{name}"'
        raise InvalidInputName(text) from None
    except Exception as error:  # BrokenPlugin, or a class that does not import: the child says so
        return {"broken": type(error).__name__}
