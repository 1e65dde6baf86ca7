"""Fields of types that a TOML file does not have: tuples, sets, enumerations, dataclasses."""

from __future__ import annotations

import dataclasses
import enum
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from optiframe.errors import InvalidInput
from optiframe.files.plain import plain
from optiframe.records.fields import FilePath
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry.field_help import default_of, kind_of
from optiframe.testing.toml import to_toml


class Rule(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


@dataclasses.dataclass(frozen=True)
class Line:
    length: float = 1.0
    halvings: int = 3


class Varied(Record):
    """Fields of types that TOML does not have."""

    name = "varied"

    pair: tuple[int, float] = (1, 2.0)
    several: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset({"b", "a"})
    rule: Rule = Rule.FAST
    line: Line = Line()


def test_types_that_files_lack_are_taken_as_they_are_written_there() -> None:
    text = 'pair = [2, 3.5]\nseveral = ["x"]\nkinds = ["c"]\nrule = "slow"\nline = {halvings = 5}'
    told = Varied(
        pair=(2, 3.5), several=("x",), kinds=frozenset({"c"}), rule=Rule.SLOW, line=Line(halvings=5)
    )
    assert Varied(**tomllib.loads(text)) == told
    assert Varied(**tomllib.loads(to_toml(told))) == told


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"pair": ["2", 3.5]}, "pair.0: must be a whole number, got '2'"),
        ({"pair": "ab"}, "pair: must be a list, got 'ab'"),
        ({"kinds": "ab"}, "kinds: must be a list, got 'ab'"),
        ({"rule": "slwo"}, "rule: must be one of 'fast' or 'slow', got 'slwo'; did you mean 'slow'?"),
        ({"line": {"length": "1"}}, "line.length: must be a number, got '1'"),
        ({"line": 3}, "line: must be a table, got 3"),
    ],
)
def test_what_such_types_hold_stays_strict(values: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(expected)):
        Varied(**values)


def test_members_of_an_enumeration_have_fingerprints() -> None:
    assert fingerprint(Rule.FAST) == fingerprint(Rule("fast")) != fingerprint(Rule.SLOW)


def test_such_types_are_described_as_they_are_written() -> None:
    said = {key: f"{kind_of(field)}, {default_of(field)}" for key, field in Varied.model_fields.items()}
    assert said == {
        "pair": "list of whole number, number, default (1, 2.0)",
        "several": "list of text, default ()",
        "kinds": "list of text, default ['a', 'b']",
        "rule": "one of 'fast', 'slow', default 'fast'",
        "line": "table with length, halvings, default {'length': 1.0, 'halvings': 3}",
    }


def test_a_result_file_has_the_values_of_such_types() -> None:
    assert plain({"rule": Rule.SLOW, "kinds": frozenset({"b", "a"})}) == {"rule": "slow", "kinds": ["a", "b"]}


class Noted(Record):
    """A record with a file."""

    name = "noted"

    notes: FilePath


def test_a_path_is_written_as_text_and_one_that_takes_none_says_which_type_does(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("2.5", encoding="utf-8")
    noted = Noted(notes=tmp_path / "notes.txt")
    assert Noted(**tomllib.loads(to_toml(noted))) == noted

    class Kept(Record):
        """A record with a folder."""

        name = "kept"

        folder: Path = Path()

    words = "folder: must be a Path, got 'results'; a field of type optiframe.FilePath takes text"
    with pytest.raises(InvalidInput, match=re.escape(words)):
        Kept(folder="results")


def test_a_file_is_content_wherever_it_lies(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text("2.5", encoding="utf-8")
    first, second = (Noted(notes=tmp_path / folder / "notes.txt") for folder in ("one", "other"))
    assert first == second
    (tmp_path / "other" / "notes.txt").write_text("3.5", encoding="utf-8")
    assert Noted(notes=tmp_path / "other" / "notes.txt") != first
    assert fingerprint(tmp_path / "none.txt") != fingerprint(tmp_path / "gone.txt")
