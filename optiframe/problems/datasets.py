"""Named data sets: looked up in the user's folders, then the cache, then downloaded.

`OPTIFRAME_DATA` lists the user's folders (separated like `PATH`), `OPTIFRAME_CACHE` moves
the cache from ``~/.cache/optiframe``, and ``OPTIFRAME_OFFLINE=1`` forbids downloading.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from optiframe.errors import InvalidInput, MissingPackage, remedy, require
from optiframe.records.record import Record
from optiframe.tables.read import read_table

_TIMEOUT = 30  # seconds without a byte before a download is given up


@dataclass(frozen=True)
class DataFile:
    """A file of a data set: where it lies in a data folder and where it comes from.

    Parameters
    ----------
    path
        Where it lies in a data folder, parts joined by ``/``: ``crowd/rte/labels.csv``.
    source
        In words, where it comes from; shown when it is missing.
    url, sha256
        Where to download it and the checksum of what is published there; only a file with
        both is downloaded.

    Notes
    -----
    A checksum is only given for a file as its source publishes it, so a copy that differs
    is damaged wherever it lies: it is reported and not used. A file without one, such as a
    table tidied by hand, is trusted.
    """

    path: str
    source: str
    url: str | None = None
    sha256: str | None = None

    @property
    def downloadable(self) -> bool:
        """Whether it can be fetched and what arrives can be checked."""
        return self.url is not None and self.sha256 is not None


class MissingData(InvalidInput):
    """A file of a data set is in none of the places looked at and could not be downloaded."""


class SkippedFile(UserWarning):
    """A file was found that is not what its source publishes, and another copy was used."""


class DataSet(Record):
    """Data by name: `problem` says which problem it is for, `inputs()` gives that problem's inputs.

    Lifetime: built once from its parameters (a generator has some, a file has none); the
    data is only read or made when `inputs` is called. A data set kept in files overrides
    `alternatives` and reads what `files()` finds; a generator leaves it as it is.
    """

    problem: ClassVar[str] = ""

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        """Groups of files, each of them enough, the preferred group first; none for a generator."""
        return ()

    @abstractmethod
    def inputs(self) -> dict[str, Any]:
        """The keyword inputs of the problem this data is for."""

    @classmethod
    def where(cls) -> str:
        """Where the data is, in words; downloads nothing."""
        groups = cls.alternatives()
        if not groups:
            return "generated"
        for group in groups:
            paths = [path for file in group if (path := _locate(file, [])) is not None]
            if len(paths) == len(group):
                return str(paths[0].parent)
        sources = " or ".join(dict.fromkeys(file.source for group in groups for file in group))
        fetched = any(all(file.downloadable for file in group) for group in groups)
        return f"not here; from {sources}{' (downloaded on first use)' if fetched else ''}"

    @classmethod
    def files(cls) -> dict[str, Path]:
        """The first group of `alternatives` that is here, else that can be had: look-up path -> file.

        Raises
        ------
        MissingData
            Naming the files, the folders looked at, where the files come from, and what to do.
        """
        groups = cls.alternatives()
        damaged: list[str] = []
        for group in groups:
            found = {file.path: path for file in group if (path := _locate(file, damaged)) is not None}
            if len(found) == len(group):
                _warn(damaged)
                return found
        for group in groups:
            if all(file.downloadable for file in group):
                return {file.path: find(file) for file in group}
        raise _missing([file for group in groups for file in group], damaged, "")

    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file used, by look-up path; empty for a generator, whose fields say it all.

        Raises
        ------
        MissingData
            As `files`, which it calls.
        """
        return {name: _sha256(path) for name, path in self.files().items()} if self.alternatives() else {}


class ComparisonSet(DataSet):
    """Published comparisons, tidied into `pairwise/<folder>/<table>.csv`.

    The table has the columns `worker`, `left`, `right` and `label` (the winner's id; 0: a tie).
    """

    folder: ClassVar[str]
    table: ClassVar[str] = "comparisons"
    source: ClassVar[str]
    workers: ClassVar[bool] = True  # whether the source publishes who compared

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        return ((DataFile(f"pairwise/{cls.folder}/{cls.table}.csv", cls.source),),)

    def columns(self, more: tuple[str, ...] = ()) -> dict[str, Any]:
        """The table's columns, and those named in `more`."""
        path = next(iter(self.files().values()))
        names = ("worker", "left", "right", "label") if self.workers else ("left", "right", "label")
        return dict(read_table(path, (*names, *more), title=path.name).columns)


class NamedComparisonSet(ComparisonSet):
    """Published comparisons of items whose names are in `pairwise/<folder>/items.csv`."""

    names_source: ClassVar[str]

    names: bool = Field(default=True, description="names of the items as ids; false: their numbers")

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        names = DataFile(f"pairwise/{cls.folder}/items.csv", cls.names_source)
        return ((*super().alternatives()[0], names),)

    def columns(self, more: tuple[str, ...] = ()) -> dict[str, Any]:
        """The table's columns, with names where they are asked for."""
        found = super().columns(more)
        if self.names:
            path = list(self.files().values())[1]
            items = read_table(path, ("id", "name"), title=path.name)
            name = dict(zip(items["id"].tolist(), items["name"].tolist(), strict=True))
            name[0] = ""  # a tie
            for key in ("left", "right", "label"):
                found[key] = np.array([name[item] for item in found[key].tolist()], dtype=object)
        return found


def find(file: DataFile) -> Path:
    """The file's place on this machine: a folder of the user's, the cache, or downloaded into it.

    Raises
    ------
    MissingData
        Naming the file, the folders looked at, where it comes from, what went wrong with
        a download, and what to do. No part of a failed download is left.
    """
    damaged: list[str] = []
    path = _locate(file, damaged)
    if path is None:
        path = _download(file, damaged)
    _warn(damaged)
    return path


def data_folders() -> list[Path]:
    """The folders of `OPTIFRAME_DATA`, in order."""
    listed = os.environ.get("OPTIFRAME_DATA", "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in listed if folder.strip()]


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get("OPTIFRAME_CACHE") or "~/.cache/optiframe").expanduser()


def _locate(file: DataFile, damaged: list[str]) -> Path | None:
    """The first usable copy already here; sentences on copies that are not go to `damaged`."""
    for folder in (*data_folders(), cache_folder()):
        path = folder / file.path
        try:
            if not path.is_file():
                continue
            if file.sha256 is None or _sha256(path) == file.sha256:
                return path
            damaged.append(
                f"{path} is not used: its checksum differs from the published file's; delete or replace it"
            )
        except OSError as error:
            damaged.append(f"{path} is not used: it cannot be read ({error.strerror})")
    return None


def _download(file: DataFile, damaged: list[str]) -> Path:
    if file.url is None or file.sha256 is None:
        raise _missing([file], damaged, "")
    if os.environ.get("OPTIFRAME_OFFLINE", "") not in ("", "0"):
        raise _missing([file], damaged, "OPTIFRAME_OFFLINE forbids it")
    try:
        pooch = require("pooch", "download")
    except MissingPackage:
        raise _missing([file], damaged, f"this needs pooch; run: {remedy(['pooch'], extra='data')}") from None
    target = cache_folder() / file.path
    try:
        # pooch writes to a temporary name beside the target and renames after the check.
        found = pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=pooch.HTTPDownloader(timeout=_TIMEOUT),
        )
    except (OSError, ValueError) as error:  # requests' errors are OSErrors, a wrong checksum a ValueError
        failed = _what_failed(error)
        if (answer := getattr(error, "response", None)) is not None:
            answer.close()  # pooch leaves the connection of a refused request open
        raise _missing([file], damaged, f"{file.url}: {failed}") from None
    return Path(found)


def _what_failed(error: Exception) -> str:
    """A failed download in words; told apart by name, since requests may not be imported here."""
    kinds = {cls.__name__ for cls in type(error).__mro__}
    answer = getattr(error, "response", None)
    if "HTTPError" in kinds and answer is not None:
        return f"the server answered {answer.status_code} {answer.reason}"
    if "Timeout" in kinds:
        return f"the server sent nothing for {_TIMEOUT} seconds"
    if "ConnectionError" in kinds:
        return "no connection to the server; be online, or check the proxy settings"
    if "RequestException" in kinds:
        return f"the transfer broke off ({type(error).__name__})"
    if isinstance(error, OSError):
        where = cache_folder()
        return (
            f"{where} cannot be written ({error.strerror or error}); set OPTIFRAME_CACHE to a folder that can"
        )
    return "what arrived has another checksum than the published file and was thrown away"


def _missing(files: Iterable[DataFile], damaged: Iterable[str], failed: str) -> MissingData:
    """The error for files that are nowhere: what, where looked, why not fetched, what to do."""
    files = list(files)
    looked = " and ".join(str(folder) for folder in (*data_folders(), cache_folder()))
    names = ", ".join(file.path for file in files)
    sources = " or ".join(dict.fromkeys(file.source for file in files))
    several = len(files) > 1
    sentences = [
        f"{names}: not all found in {looked}" if several else f"{names}: not found in {looked}",
        *dict.fromkeys(damaged),
        f"put {'them' if several else 'it'} under a folder named in OPTIFRAME_DATA",  # early: tables cut it
        f"{'they come' if several else 'it comes'} from {sources}",
        *([f"not downloaded: {failed}"] if failed else []),
    ]
    return MissingData("; ".join(sentences))


def _warn(damaged: Iterable[str]) -> None:
    for sentence in dict.fromkeys(damaged):
        warnings.warn(sentence, SkippedFile, stacklevel=3)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
