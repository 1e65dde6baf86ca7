"""Bits and bytes of compressed updates: integers of a few bits each, packed without gaps.

Sizes follow from the number of entries alone: a reader knows how many bytes to expect, and checks
that with `expect` before any other function here sees them.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array

Integers = NDArray[np.int64]


class MalformedPayload(InvalidInput):
    """Bytes that no honest sender could have sent."""


def expect(payload: bytes, size: int, what: str) -> None:
    """Refuse a payload of the wrong length before anything is made of it."""
    if len(payload) != size:
        raise MalformedPayload(f"{what} must have {size} bytes, got {len(payload)}")


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
    each = (values[:, np.newaxis] >> np.arange(bits)) & 1
    return np.packbits(each.astype(np.uint8), bitorder="little").tobytes()


def unpack(payload: bytes, count: int, bits: int) -> Integers:
    """The inverse of `pack`.

    Raises
    ------
    MalformedPayload
        When the bits that fill the last byte are not zero.
    """
    if bits in (8, 16, 32):
        return np.frombuffer(payload, dtype=f"<u{bits // 8}").astype(np.int64)
    each = np.unpackbits(np.frombuffer(payload, dtype=np.uint8), bitorder="little")
    if each[count * bits :].any():
        raise MalformedPayload("the bits that fill the last byte must be zero")
    return np.asarray(each[: count * bits].reshape(count, bits) @ (1 << np.arange(bits, dtype=np.int64)))


def pack_scale(value: float) -> bytes:
    """One finite non-negative number in 8 bytes, little-endian."""
    return struct.pack("<d", value)


def unpack_scale(payload: bytes) -> float:
    """The number in the first 8 bytes.

    Raises
    ------
    MalformedPayload
        When it is negative, infinite or nan.
    """
    value: float = struct.unpack("<d", payload[:8])[0]
    if not 0.0 <= value < np.inf:
        raise MalformedPayload(f"the scale is {value}; it must be finite and not negative")
    return value


def pack_numbers(values: Array) -> bytes:
    """float64 entries, little-endian."""
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def unpack_numbers(payload: bytes) -> Array:
    """The inverse of `pack_numbers`.

    Raises
    ------
    MalformedPayload
        When an entry is not finite.
    """
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
        When the places are not `count` rising ones below `among`.
    """
    if count == among:
        return np.arange(among, dtype=np.int64)
    if _as_bits(count, among):
        places = np.flatnonzero(unpack(payload, among, 1)).astype(np.int64)
        if len(places) != count:
            raise MalformedPayload(f"{len(places)} places are marked; {count} were to be")
        return places
    places = unpack(payload, count, width(among - 1))
    if count and (places[-1] >= among or (np.diff(places) <= 0).any()):
        raise MalformedPayload(f"the places of kept entries must be in increasing order and below {among}")
    return places


def _as_bits(count: int, among: int) -> bool:
    return bytes_of_bits(among) <= packed_size(count, width(among - 1))
