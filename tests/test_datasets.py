"""Where the files of a data set are looked for, and what a person reads when they are nowhere."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataFile, DataSet, MissingData, SkippedFile, cache_folder, find

if TYPE_CHECKING:
    from conftest import FolderServer

CONTENT = b"one\ntwo\nthree\n"
SHA = hashlib.sha256(CONTENT).hexdigest()
PATH = "toy/numbers.txt"


@pytest.fixture
def server(tmp_path: Path, serve: Callable[[Path], FolderServer]) -> FolderServer:
    """Has `numbers.txt`, and `cut-short.txt`, of which it promises more than it sends."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "numbers.txt").write_bytes(CONTENT)
    running = serve(tmp_path / "served")
    running.instead["cut-short.txt"] = (CONTENT[:5], len(CONTENT))
    return running


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Two data folders and a cache, all empty."""
    folders = {name: tmp_path / name for name in ("first", "second", "cache")}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setenv("OPTIFRAME_DATA", f"{folders['first']}{os.pathsep}{folders['second']}")
    monkeypatch.setenv("OPTIFRAME_CACHE", str(folders["cache"]))
    monkeypatch.delenv("OPTIFRAME_OFFLINE", raising=False)
    return folders


def put(folder: Path, content: bytes = CONTENT, path: str = PATH) -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]


def offered(server: FolderServer, name: str = "numbers.txt", sha256: str = SHA) -> DataFile:
    return DataFile(PATH, "example.org/numbers", server.url + name, sha256)


KNOWN_ELSEWHERE = DataFile(PATH, "the book of numbers, page 7")


def test_the_first_data_folder_wins(places: dict[str, Path]) -> None:
    for name in ("first", "second", "cache"):
        put(places[name], name.encode())
    assert find(KNOWN_ELSEWHERE).read_bytes() == b"first"


def test_a_later_data_folder_is_used_when_the_earlier_lacks_the_file(places: dict[str, Path]) -> None:
    put(places["second"], b"second")
    put(places["cache"], b"cache")
    assert find(KNOWN_ELSEWHERE).read_bytes() == b"second"


def test_the_cache_is_looked_at_after_the_data_folders(places: dict[str, Path]) -> None:
    expected = put(places["cache"])
    assert find(KNOWN_ELSEWHERE) == expected


def test_the_cache_is_in_the_home_folder_unless_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPTIFRAME_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "optiframe"


def test_empty_entries_of_the_folder_list_are_skipped(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # An empty entry must not come to mean the current folder.
    put(tmp_path, b"here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPTIFRAME_DATA", f"{os.pathsep} {os.pathsep}{places['second']}")
    put(places["second"], b"second")
    assert find(KNOWN_ELSEWHERE).read_bytes() == b"second"


def test_a_missing_file_is_named_with_the_folders_its_source_and_the_remedy(
    places: dict[str, Path],
) -> None:
    with pytest.raises(MissingData) as caught:
        find(KNOWN_ELSEWHERE)
    message = str(caught.value)
    for part in (PATH, *map(str, places.values()), "the book of numbers, page 7", "OPTIFRAME_DATA"):
        assert part in message
    assert isinstance(caught.value, InvalidInput)


def test_a_download_is_kept_in_the_cache_and_used_again_with_the_server_down(
    server: FolderServer, places: dict[str, Path]
) -> None:
    path = find(offered(server))
    assert path == places["cache"] / PATH
    assert path.read_bytes() == CONTENT
    assert files_under(places["cache"]) == [path]
    server.close()
    assert find(offered(server)) == path
    assert server.asked == ["numbers.txt"]


def test_a_changed_byte_in_a_download_is_reported_and_nothing_is_left(
    server: FolderServer, places: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "served" / "numbers.txt").write_bytes(CONTENT.replace(b"w", b"W"))
    with pytest.raises(MissingData, match="another checksum than the published file") as caught:
        find(offered(server))
    assert server.url in str(caught.value)
    assert caught.value.__suppress_context__  # no traceback of the library below
    assert files_under(places["cache"]) == []


def test_a_download_cut_short_is_reported_and_nothing_is_left(
    server: FolderServer, places: dict[str, Path]
) -> None:
    with pytest.raises(MissingData, match="the transfer broke off"):
        find(offered(server, "cut-short.txt"))
    assert files_under(places["cache"]) == []


def test_a_404_is_reported_with_the_address(server: FolderServer, places: dict[str, Path]) -> None:
    with pytest.raises(MissingData, match=r"gone.txt: the server answered 404") as caught:
        find(offered(server, "gone.txt"))
    assert caught.value.__suppress_context__
    assert files_under(places["cache"]) == []


def test_no_server_is_reported_as_no_connection(server: FolderServer, places: dict[str, Path]) -> None:
    server.close()
    with pytest.raises(MissingData, match="no connection to the server; be online") as caught:
        find(offered(server))
    assert caught.value.__suppress_context__
    assert files_under(places["cache"]) == []


def test_offline_forbids_downloading(server: FolderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIFRAME_OFFLINE", "1")
    with pytest.raises(MissingData, match="not downloaded: OPTIFRAME_OFFLINE forbids it"):
        find(offered(server))
    assert server.asked == []


def test_without_pooch_the_error_says_what_to_install(
    server: FolderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)  # Python's own way to make an import fail
    with pytest.raises(MissingData, match=r"pip install 'pooch>="):
        find(offered(server))
    assert server.asked == []


def test_a_cache_that_cannot_be_written_is_reported(
    server: FolderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file where the cache should be")
    monkeypatch.setenv("OPTIFRAME_CACHE", str(tmp_path / "taken"))
    with pytest.raises(MissingData, match=r"taken cannot be written .*set OPTIFRAME_CACHE"):
        find(offered(server))


def test_a_damaged_copy_in_a_data_folder_is_reported_and_the_next_one_used(
    server: FolderServer, places: dict[str, Path]
) -> None:
    damaged, good = put(places["first"], b"other"), put(places["second"])
    with pytest.warns(SkippedFile, match="checksum differs") as caught:
        assert find(offered(server)) == good
    assert str(damaged) in str(caught[0].message)
    assert server.asked == []


def test_a_damaged_copy_in_the_cache_is_reported_and_replaced(
    server: FolderServer, places: dict[str, Path]
) -> None:
    put(places["cache"], b"half a fi")
    with pytest.warns(SkippedFile, match="checksum differs"):
        path = find(offered(server))
    assert path.read_bytes() == CONTENT
    assert find(offered(server)) == path  # and is silent from now on


def test_a_damaged_copy_is_mentioned_when_there_is_no_other(
    server: FolderServer, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPTIFRAME_OFFLINE", "1")
    damaged = put(places["cache"], b"half a fi")
    with pytest.raises(MissingData, match="is not used: its checksum differs") as caught:
        find(offered(server))
    assert str(damaged) in str(caught.value)


class Toy(DataSet):
    """Numbers, as a table or as published."""

    name = "toy.numbers"
    problem = "toy"
    url: ClassVar[str | None] = None

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        tables = (DataFile("toy/a.csv", "by hand"), DataFile("toy/b.csv", "by hand"))
        return tables, (DataFile(PATH, "example.org/numbers", cls.url, SHA),)

    def inputs(self) -> dict[str, Any]:
        return {name: path.read_bytes() for name, path in self.files().items()}


class Made(DataSet):
    """Numbers made up."""

    name = "toy.made"
    problem = "toy"

    def inputs(self) -> dict[str, Any]:
        return {"numbers": [1, 2, 3]}


def test_the_preferred_group_of_files_is_used_when_whole(places: dict[str, Path]) -> None:
    put(places["first"])
    put(places["first"], b"a", "toy/a.csv")
    put(places["cache"], b"b", "toy/b.csv")  # a group may be spread over folders
    assert Toy().inputs() == {"toy/a.csv": b"a", "toy/b.csv": b"b"}


def test_an_incomplete_group_is_passed_over(places: dict[str, Path]) -> None:
    put(places["first"])
    put(places["first"], b"a", "toy/a.csv")
    assert Toy().inputs() == {PATH: CONTENT}


def test_a_group_that_can_be_had_is_downloaded_when_none_is_here(
    server: FolderServer, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Toy, "url", server.url + "numbers.txt")
    assert Toy().inputs() == {PATH: CONTENT}
    assert files_under(places["cache"]) == [places["cache"] / PATH]


def test_a_data_set_that_is_nowhere_names_every_file() -> None:
    with pytest.raises(MissingData, match=r"toy/a.csv, toy/b.csv, toy/numbers.txt: not all found") as caught:
        Toy().inputs()
    assert "by hand or example.org/numbers" in str(caught.value)


def test_where_says_the_folder_and_never_downloads(
    server: FolderServer, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Made.where() == "generated"
    assert Toy.where() == "not here; from by hand or example.org/numbers"
    monkeypatch.setattr(Toy, "url", server.url + "numbers.txt")
    assert Toy.where().endswith("(downloaded on first use)")
    put(places["second"])
    assert Toy.where() == str(places["second"] / "toy")
    assert server.asked == []


def test_checksums_are_of_the_files_used(places: dict[str, Path]) -> None:
    put(places["first"])
    assert Toy().checksums() == {PATH: SHA}
    assert Made().checksums() == {}
