"""Amounts of memory and time, and lists of names, as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from optiframe.errors import InvalidInput

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MARKS = re.compile(r"(?<=[_/,-])|(?<=\.)(?=[a-z])")  # after these a word too long for its line is broken
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")


def bytes_of(amount: int | str) -> int:
    """Bytes in an amount such as ``"2 GB"`` (decimal), ``"512 MiB"`` (binary) or a plain number.

    Raises
    ------
    InvalidInput
        For text that is no amount, and for an amount below one byte.
    """
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        unit = _UNITS.get(match[2].upper()) if match else None
        if match is None or unit is None:
            raise InvalidInput(f'must be bytes, or text such as "2 GB" or "512 MiB", got {amount!r}')
        amount = int(float(match[1]) * unit)
    if amount < 1:
        raise InvalidInput(f"must be at least one byte, got {amount}")
    return amount


def in_words(amount: int) -> str:
    """Bytes with the decimal unit that fits: ``2 GB``."""
    for unit in ("TB", "GB", "MB", "kB"):
        if amount >= _UNITS[unit.upper()]:
            return f"{amount / _UNITS[unit.upper()]:.4g} {unit}"
    return f"{amount} B"


def duration(seconds: float) -> str:
    """A span in words as rough as it is known: "8 s", "3 min 20 s", "2 h 5 min"."""
    whole = max(0, math.ceil(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def joined(names: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def quoted(name: str) -> str:
    """A name as it stands in a sentence: in quotation marks if it has a comma of its own."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}" if "," in name else name


def wrapped(name: str, letters: int) -> list[str]:
    """Lines of at most so many letters, broken between words; a longer word after its marks (`rankone.`)."""
    lines = [""]
    for word in name.split():
        pieces = [word] if len(word) <= letters else _MARKS.split(word)
        for number, piece in enumerate(pieces):
            space = " " if lines[-1] and not number else ""
            if lines[-1] and len(lines[-1]) + len(space) + len(piece) > letters:
                lines.append("")
                space = ""
            lines[-1] += space + piece
            while len(lines[-1]) > letters:  # no mark in it: nothing else can be done
                lines[-1:] = [lines[-1][:letters], lines[-1][letters:]]
    return lines
