"""The contract of compressors, as plain functions: one for each thing they must keep."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.testing import NotApplicable, Subject

_SIZES = (1, 5, 64)
_LENGTHS = (1e-6, 1.0, 1e6)
_DRAWS = 300  # of a mean over a compressor's own randomness
_ERRORS = 5.0  # standard errors that such a mean may be off
_RARE = 10 / _DRAWS  # part of the loss allowed: what lowers it may be so rare that no draw shows it


def _vectors(subject: Subject, lengths: tuple[float, ...] = _LENGTHS) -> Iterator[Array]:
    """Vectors that are hard for one compressor or another: even, one spike, steeply falling, Gaussian."""
    rng = np.random.default_rng(subject.seed)
    for size in _SIZES if subject.shape is None else (math.prod(subject.shape),):
        even = rng.choice([-1.0, 1.0], size)
        spike, falling = np.eye(size)[size // 2], even / np.arange(1, size + 1)
        for vector in (even, spike, falling, rng.standard_normal(size)):
            yield from (length * vector for length in lengths)


def _there_and_back(subject: Subject, vector: Array, rng: np.random.Generator) -> Array:
    return np.asarray(subject.part.decode(subject.part.encode(vector, rng), len(vector)))


def check_bytes_decode_to_a_vector_of_that_size(subject: Subject) -> None:
    """What is encoded comes back as so many finite numbers; the vector stays as it was."""
    for vector in _vectors(subject):
        before = vector.copy()
        back = _there_and_back(subject, vector, np.random.default_rng(subject.seed))
        subject.unchanged("encode", vector, before)
        if back.shape != vector.shape or back.dtype != np.float64:
            subject.fail(
                f"{len(vector)} numbers come back with the shape {back.shape} and type {back.dtype}; they "
                f"must be ({len(vector)},) and float64"
            )
        if not np.isfinite(back).all():
            subject.fail("finite numbers come back as a vector with one that is not finite")


def check_no_message_is_longer_than_it_says(subject: Subject) -> None:
    """Encoding gives bytes, at most `most_bytes` of them."""
    for vector in _vectors(subject):
        payload = subject.part.encode(vector, np.random.default_rng(subject.seed))
        if not isinstance(payload, bytes):
            subject.fail(f"encode gives a {type(payload).__name__}; it must be bytes")
        most = subject.part.most_bytes(len(vector))
        if len(payload) > most:
            subject.fail(
                f"encode gives {len(payload)} bytes for {len(vector)} numbers, and most_bytes says {most}"
            )


def check_the_same_stream_gives_the_same_bytes(subject: Subject) -> None:
    """It draws its random numbers from the stream that it is given, and from nowhere else."""
    for vector in _vectors(subject):
        one, other = (subject.part.encode(vector, np.random.default_rng(subject.seed)) for _ in range(2))
        if one != other:
            subject.fail("encode gives other bytes for the same vector and stream; draw from `rng` only")


def check_zero_comes_back_as_zero(subject: Subject) -> None:
    """The zero vector loses nothing: by Definition 2 it may not."""
    for size in {len(vector) for vector in _vectors(subject)}:
        back = _there_and_back(subject, np.zeros(size), np.random.default_rng(subject.seed))
        if back.any():
            subject.fail(f"{size} zeros come back with an entry of {number(np.abs(back).max())}")


def check_it_loses_no_more_than_its_rho_allows(subject: Subject) -> None:
    """The mean of |Q(x) - x|^2 is at most (1 - rho) |x|^2, up to the error of a mean over some draws."""
    rng = np.random.default_rng(subject.seed)
    for vector in _vectors(subject, (1.0,)):
        rho = subject.part.rho(len(vector))
        if rho is None:
            raise NotApplicable("it states no rho")
        length = float(vector @ vector)
        off = [_there_and_back(subject, vector, rng) - vector for _ in range(_DRAWS)]
        lost = np.array([each @ each for each in off]) / length
        mean, error = float(lost.mean()), float(lost.std()) / math.sqrt(_DRAWS)
        if not mean <= (1 + _RARE) * (1 - rho) + _ERRORS * error + 1e-9:
            subject.fail(
                f"it states rho = {number(rho)} for {len(vector)} numbers, so that it may lose "
                f"{number(1 - rho)} of |x|^2 in the mean, and it loses {number(mean)} (of {_DRAWS} draws)"
            )


def check_other_bytes_are_refused_or_decode_to_a_vector(subject: Subject) -> None:
    """Bytes of a liar raise `ValueError` or decode to a vector of the size: nothing else comes out."""
    rng = np.random.default_rng(subject.seed)
    for size in {len(vector) for vector in _vectors(subject)}:
        most = subject.part.most_bytes(size)
        true = subject.part.encode(np.ones(size), rng)
        for lie in (b"", true[:-1], true[1:], b"\xff" * most, bytes(most), rng.bytes(most)):
            try:
                back = subject.part.decode(lie, size)
            except ValueError:
                continue
            except Exception as error:
                subject.fail(
                    f"decode raises {type(error).__name__} ({error!s:.60}) for {len(lie)} made-up "
                    "bytes; it must be a ValueError"
                )
            if not isinstance(back, np.ndarray) or back.shape != (size,):
                subject.fail(
                    f"decode gives {np.shape(back)} for {len(lie)} made-up bytes; it must raise a "
                    f"ValueError or give a vector of {size} numbers"
                )


COMPRESSOR_CHECKS = (
    check_bytes_decode_to_a_vector_of_that_size,
    check_no_message_is_longer_than_it_says,
    check_the_same_stream_gives_the_same_bytes,
    check_zero_comes_back_as_zero,
    check_it_loses_no_more_than_its_rho_allows,
    check_other_bytes_are_refused_or_decode_to_a_vector,
)
