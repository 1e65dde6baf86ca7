"""What people get wrong in TOML files, from the parser's words and the line that it stopped at."""

from __future__ import annotations

import re
from tomllib import TOMLDecodeError

_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
_CURLY = re.compile("[“”„‟‘’‚‛«»]")  # noqa: RUF001  # quotes of word processors
_WINDOWS_PATH = re.compile(r'"[^"]*\\[^"]*"')
_CAPITAL = re.compile(r"\b(True|False|TRUE|FALSE)\b")
_KEY = ("Expected '='", "Expected ']'", "Invalid initial character", "Invalid statement")
_BEYOND_ASCII = re.compile(r"[\w-]*[^\W\x00-\x7f][\w-]*")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_COMMA = re.compile(r"=\s*-?\d+,\d")


def slip(text: str, error: TOMLDecodeError) -> str:
    """`; do this`, or an empty string where the slip is none of the usual ones."""
    said = str(error)
    place = _PLACE.search(said)
    lines = text.splitlines()
    line = lines[int(place[1]) - 1] if place is not None and int(place[1]) <= len(lines) else ""
    if _CURLY.search(line):
        return '; quotes must be straight ones, as in name = "selection"'
    if _WINDOWS_PATH.search(line):
        return r"; in a path write / for \, or put it in single quotes: 'C:\data\items.xlsx'"
    if re.match(r"Cannot (declare|overwrite)", said):
        return "; it is there twice: write all of it in one place"
    if _CAPITAL.search(line):
        return "; write true or false in small letters"
    if _COMMA.search(line):
        return "; decimals are written with a point"
    foreign = _BEYOND_ASCII.search(_QUOTED.sub("", line).partition("#")[0])
    if foreign and said.startswith(_KEY):
        return f'; a name with letters other than a to z needs quotes: "{foreign[0]}"'
    if said.startswith("Expected '='"):
        return '; write name = value, and a name with blanks or signs in quotes: "Mill & Co" = 1'
    if line and said.startswith("Invalid value"):
        return '; text needs quotes, as in name = "selection"'
    return ""
