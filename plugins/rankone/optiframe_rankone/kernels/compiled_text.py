"""Compiled loops over the letters of a column of text; see `optiframe_rankone.kernels.text`.

``start`` says where each text starts among the ``letters`` (bytes of UTF-8), one entry more than
texts: Arrow's own layout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe_rankone.kernels.compiling import compiled, inlined

_EIGHT, _TOP = np.uint64(8), np.uint64(1) << np.uint64(63)
_ONE, _WORD = np.uint64(1), np.uint64(64)
# 2^64 over the golden ratio: its multiples are far apart, which spreads keys that are near each other.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@inlined
def _word(letters: NDArray[np.uint8], begin: np.uint64, count: np.uint64) -> np.uint64:
    """Up to eight letters as one number, the first letter highest."""
    word = np.uint64(0)
    for k in range(begin, begin + count):
        word = (word << _EIGHT) | np.uint64(letters[k])
    return word


@inlined
def _key(letters: NDArray[np.uint8], begin: np.uint64, length: np.uint64) -> np.uint64:
    """A number for a text: of up to seven letters its own, else one that others may share."""
    if length < _EIGHT:
        return (length << np.uint64(56)) | _word(letters, begin, length)
    key = length
    for k in range(begin, begin + length):
        key = (key ^ np.uint64(letters[k])) * _SPREAD
        key ^= key >> np.uint64(32)
    return key | _TOP


@inlined
def _same(letters: NDArray[np.uint8], one: np.uint64, other: np.uint64, length: np.uint64) -> bool:
    k = np.uint64(0)
    while k < length and letters[one + k] == letters[other + k]:
        k += _ONE
    return bool(k == length)


@compiled
def text_codes(
    start: NDArray[np.int64],
    letters: NDArray[np.uint8],
    codes: NDArray[np.int32],
    first: NDArray[np.int32],
) -> int:
    """The code of each text, by first appearance, and where each first appears; how many there are.

    A table of keys, twice as large whenever it is half full: the key of a text says where to look,
    and the next places follow until the text is found or a place is free.
    """
    bits, known = np.uint64(10), 0
    keys, found = np.zeros(1 << 10, dtype=np.uint64), np.zeros(1 << 10, dtype=np.int32)  # codes plus 1
    for k in range(len(codes)):
        begin = np.uint64(start[k])
        length = np.uint64(start[k + 1]) - begin
        key = _key(letters, begin, length)
        last = np.uint64(len(keys) - 1)
        at = (key * _SPREAD) >> (_WORD - bits)
        while found[at]:
            if keys[at] == key:
                one = first[found[at] - 1]
                begun = np.uint64(start[one])
                if length < _EIGHT or (
                    np.uint64(start[one + 1]) - begun == length and _same(letters, begun, begin, length)
                ):
                    break
            at = (at + _ONE) & last
        if found[at]:
            codes[k] = found[at] - 1
            continue
        codes[k], first[known] = known, k
        known += 1
        keys[at], found[at] = key, known
        if 2 * known > len(keys):
            bits += _ONE
            before, codes_before = keys, found
            keys, found = (
                np.zeros(2 * len(before), dtype=np.uint64),
                np.zeros(2 * len(before), dtype=np.int32),
            )
            for j in range(len(before)):
                if codes_before[j]:
                    at = (before[j] * _SPREAD) >> (_WORD - bits)
                    while found[at]:
                        at = (at + _ONE) & np.uint64(len(keys) - 1)
                    keys[at], found[at] = before[j], codes_before[j]
    return known


@compiled
def sort_keys(
    start: NDArray[np.int64], letters: NDArray[np.uint8], rows: NDArray[np.int32], keys: NDArray[np.uint64]
) -> None:
    """Numbers in the order of the texts of `rows`, as far as the eight letters after what is common tell."""
    common = start[rows[0] + 1] - start[rows[0]]
    for row in rows:
        k, most = 0, min(common, start[row + 1] - start[row])
        while k < most and letters[start[row] + k] == letters[start[rows[0]] + k]:
            k += 1
        common = k
    for k in range(len(rows)):
        begin = np.uint64(start[rows[k]] + common)
        count = min(np.uint64(start[rows[k] + 1]) - begin, _EIGHT)
        word = _word(letters, begin, count)
        keys[k] = word << (_EIGHT * (_EIGHT - count)) if count else np.uint64(0)
