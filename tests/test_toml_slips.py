"""Slips in TOML files get the parser's words and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from optiframe.errors import InvalidInput
from optiframe.files.toml_source import TomlSource


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("name = selection", r'text needs quotes, as in name = "selection"'),
        ("name = “selection”", "quotes must be straight ones"),
        ('items = "C:\\Users\\anna\\items.xlsx"', r"in a path write / for \\, or put it in single quotes"),
        ("[problem]", "it is there twice: write all of it in one place"),
        ("brand = { Mill & Co = 1 }", 'a name with blanks or signs in quotes: "Mill & Co" = 1'),
        ("at_most = { Schüler = 1 }", 'a name with letters other than a to z needs quotes: "Schüler"'),
        ('"groß" = { "ü" = 1, Ältere = 1 }', 'a name with letters other than a to z needs quotes: "Ältere"'),
        ("Übung = 1", 'needs quotes: "Übung"'),
        ("[problem.at_most.Schüler]", 'needs quotes: "Schüler"'),
        ("name = Übung", "text needs quotes"),
        ("total: 6 # für alle", "write name = value"),
        ("standard = True", "write true or false in small letters"),
        ("step = 0,5", "decimals are written with a point"),
        ("views = [", r"Invalid value \(at end of document\)$"),
    ],
)
def test_what_to_do_about_a_slip_is_named(tmp_path: Path, line: str, advice: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f"[problem]\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=rf"a\.toml: not valid TOML: .*{advice}"):
        TomlSource.read(file)
