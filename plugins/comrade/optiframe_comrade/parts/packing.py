"""Bits and bytes of compressed updates: integers of a few bits each, packed without gaps.

Sizes follow from the number of entries alone, so a reader knows how many bytes to expect
before it touches them.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array

Integers = NDArray[np.int64]

_BLOCK = 1 << 14  # entries unpacked at a time, so that the bits stay in the cache


class MalformedPayload(InvalidInput):
    """Bytes that no honest sender could have sent."""


def bytes_of_bits(bits: int) -> int:
    """Bytes that hold so many bits."""
    return (bits + 7) // 8


def width(most: int) -> int:
    """Bits that hold the whole numbers 0 to `most`; none are needed where 0 is the only one."""
    return int(most).bit_length()


def packed_size(count: int, bits: int) -> int:
    """Bytes of `count` packed integers."""
    return bytes_of_bits(count * bits)


def pack(values: Integers, bits: int) -> bytes:
    """`values`, each in `bits` bits, lowest bit first; the last byte is filled up with zeros."""
    if bits in (8, 16, 32):
        return np.ascontiguousarray(values).astype(f"<u{bits // 8}").tobytes()
    parts = []
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        each = (block[:, np.newaxis] >> np.arange(bits)) & 1
        parts.append(np.packbits(each.astype(np.uint8), bitorder="little").tobytes())
    return b"".join(parts)  # a block of 16,384 entries is a whole number of bytes


def unpack(payload: bytes, count: int, bits: int) -> Integers:
    """The inverse of `pack`.

    Raises
    ------
    MalformedPayload
        When the length is not that of `count` integers, or the filling bits are not zero.
    """
    expected = packed_size(count, bits)
    if len(payload) != expected:
        raise MalformedPayload(f"{count} entries of {bits} bits take {expected} bytes, got {len(payload)}")
    if bits == 0:
        return np.zeros(count, dtype=np.int64)
    if bits in (8, 16, 32):
        return np.frombuffer(payload, dtype=f"<u{bits // 8}").astype(np.int64)
    spare = 8 * expected - count * bits
    if spare and payload[-1] >> (8 - spare):
        raise MalformedPayload("the bits that fill the last byte must be zero")
    values = np.empty(count, dtype=np.int64)
    powers = 1 << np.arange(bits, dtype=np.int64)
    raw = np.frombuffer(payload, dtype=np.uint8)
    for start in range(0, count, _BLOCK):
        many = min(_BLOCK, count - start)
        first = start * bits // 8
        part = np.unpackbits(raw[first : first + bytes_of_bits(many * bits)], bitorder="little")
        values[start : start + many] = part[: many * bits].reshape(many, bits).astype(np.int64) @ powers
    return values


def pack_scale(value: float) -> bytes:
    """One finite non-negative number in 8 bytes, little-endian."""
    return struct.pack("<d", value)


def unpack_scale(payload: bytes) -> float:
    """The number in the first 8 bytes.

    Raises
    ------
    MalformedPayload
        When it is missing, negative, infinite or nan.
    """
    if len(payload) < 8:
        raise MalformedPayload(f"the scale takes 8 bytes, got {len(payload)}")
    value: float = struct.unpack("<d", payload[:8])[0]
    if not 0.0 <= value < np.inf:
        raise MalformedPayload(f"the scale is {value}; it must be finite and not negative")
    return value


def pack_numbers(values: Array) -> bytes:
    """float64 entries, little-endian."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def unpack_numbers(payload: bytes, count: int) -> Array:
    """The inverse of `pack_numbers`.

    Raises
    ------
    MalformedPayload
        When the length is wrong or an entry is not finite.
    """
    if len(payload) != 8 * count:
        raise MalformedPayload(f"{count} entries take {8 * count} bytes, got {len(payload)}")
    values = np.frombuffer(payload, dtype="<f8").astype(np.float64)
    if not np.isfinite(values).all():
        raise MalformedPayload("an entry is not finite")
    return values


def places_size(count: int, among: int) -> int:
    """Bytes of `count` places among 0..`among`-1: a bit for every place, or indices, whichever is less.

    None, where all places are taken.
    """
    return 0 if count == among else min(bytes_of_bits(among), packed_size(count, width(among - 1)))


def pack_places(places: Integers, among: int) -> bytes:
    """Rising places: a bit for each of `among`, or indices of the least width; the shorter."""
    if len(places) == among:
        return b""
    if _as_bits(len(places), among):
        bits = np.zeros(among, dtype=np.uint8)
        bits[places] = 1
        return np.packbits(bits, bitorder="little").tobytes()
    return pack(places, width(among - 1))


def unpack_places(payload: bytes, count: int, among: int) -> Integers:
    """The inverse of `pack_places`.

    Raises
    ------
    MalformedPayload
        When the length is wrong, or the places are not `count` rising ones below `among`.
    """
    if count == among and not payload:
        return np.arange(among, dtype=np.int64)
    if _as_bits(count, among):
        places = np.flatnonzero(unpack(payload, among, 1)).astype(np.int64)
        if len(places) != count:
            raise MalformedPayload(f"{len(places)} places are marked; {count} were to be")
        return places
    places = unpack(payload, count, width(among - 1))
    if count and (places[-1] >= among or (np.diff(places) <= 0).any()):
        raise MalformedPayload(f"places must rise and lie below {among}")
    return places


def _as_bits(count: int, among: int) -> bool:
    return bytes_of_bits(among) <= packed_size(count, width(among - 1))
