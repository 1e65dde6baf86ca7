"""Worths as whole numbers, with and without rounding, and the numbers that break ties."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

_BITS = 50  # of a rounded worth, and of a number that breaks ties
TIE_BITS = 84  # more than a sum of 2**31 of them has


def quantise(values: Array, squared: bool, unit: int | None = None) -> tuple[Array, int]:
    """Worths rounded to whole numbers up to 2**50 (still float64), and the place of their unit.

    A reduced worth adds four such numbers: 2**52, exact in float64. ``whole * 2**unit`` is within a unit of
    each worth. What is positive stays positive, so that whatever fits is kept; what is not becomes 0 and is
    never chosen.

    Parameters
    ----------
    values
        Finite, shape (p,): worths, or entries whose squares are (`squared`), of any size.
    unit
        The place of the unit; None: `unit_of` the values. In a finer one what is too large becomes 2**50.
    """
    sizes = np.abs(values) if squared else np.maximum(values, 0.0)
    if unit is None:
        unit = unit_of(values, squared)
    with np.errstate(over="ignore"):
        scaled = np.ldexp(sizes, -(unit + _BITS) // (2 if squared else 1))
        whole = np.rint((np.square(scaled) if squared else scaled) * 2.0**_BITS)
    np.minimum(whole, 2.0**_BITS, out=whole)
    np.maximum(whole, 1.0, out=whole, where=sizes > 0)
    return whole, unit


def unit_of(values: Array, squared: bool) -> int:
    """The place of the unit of which the largest worth has just below 2**50."""
    largest = np.max(np.abs(values) if squared else values, initial=0.0)
    exponent = math.frexp(float(largest))[1]
    return (2 * exponent if squared else exponent) - _BITS


def exact_worths(values: Array, squared: bool, unit: int | None = None) -> tuple[list[int], int]:
    """Worths as whole numbers of a common unit ``2**unit``; 0 for what is worth nothing.

    Parameters
    ----------
    values
        Finite; worths, or entries whose squares are (`squared`); shape (p,).
    unit
        One that divides all; None: the largest that plainly does.
    """
    mantissas, exponents = np.frexp(values)
    bits = np.ldexp(mantissas, 53).astype(np.int64)
    bits = np.abs(bits) if squared else np.maximum(bits, 0)
    places = (exponents.astype(np.int64) - 53) * (2 if squared else 1)
    if unit is None:
        unit = int(places[bits > 0].min(initial=np.iinfo(np.int64).max)) if bits.any() else 0
    found = zip(bits.tolist(), (places - unit).tolist(), strict=True)
    if squared:
        return [b * b << s if b else 0 for b, s in found], unit
    return [b << s if b else 0 for b, s in found], unit


def times_power(number: float, power: int) -> float:
    """``number * 2**power``; inf where that is beyond float64."""
    try:
        return math.ldexp(number, power)
    except OverflowError:
        return math.inf


def tie_breaks(elements: NDArray[np.int64], p: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What decides between supports of equal worth: of each of some elements two numbers below 2**50 or so.

    The first falls with the index, by steps that differ from element to element, so that hardly ever two
    supports have the same sum; should they, the second settles it.

    Parameters
    ----------
    elements
        Their indices.
    p
        How many elements there are in all.
    """
    step = _BITS - p.bit_length()
    noise = (_scrambled(elements) >> np.uint64(64 - step)).astype(np.int64)
    return ((p - elements) << step) + noise, (_scrambled(~elements) >> np.uint64(14)).astype(np.int64) + 1


def with_ties(worths: list[int], p: int) -> list[int]:
    """Worths, and behind them, too small to matter elsewhere, what breaks their ties; 0 stays 0."""
    first, second = (each.tolist() for each in tie_breaks(np.arange(p), p))
    return [
        (((q << TIE_BITS) + one) << TIE_BITS) + two if q else 0
        for q, one, two in zip(worths, first, second, strict=True)
    ]


def _scrambled(elements: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number from 0 to below 2**64 for each index (Steele, Lea, Flood 2014: SplitMix64)."""
    with np.errstate(over="ignore"):
        z = (elements.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
