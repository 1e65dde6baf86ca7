"""LIBSVM text: one row a line, `label index:value index:value ...`, zeros left out."""

from __future__ import annotations

import bz2
import gzip
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import Array, resolve


def read_libsvm(path: str | Path) -> tuple[Any, Array]:
    """The sparse matrix (rows x largest index, CSR) and the labels of a LIBSVM text file.

    Reads through scikit-learn (extra "data"); files ending in .gz or .bz2 are unpacked on
    the way. Indices count from 1 unless an index 0 occurs.

    Raises
    ------
    InvalidInput
        When there is no such file or it is not LIBSVM text, naming the first bad line.
    """
    file = resolve(path)
    if not file.is_file():
        raise InvalidInput(f"no file {file}")
    datasets = require("sklearn.datasets", "data")
    try:
        with _open(file) as stream:
            matrix, labels = datasets.load_svmlight_file(stream)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{file}{_first_bad_line(file)}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{file} cannot be read ({error})") from None
    if not len(labels):
        raise InvalidInput(f"{file} has no rows")
    return matrix, labels


def _open(file: Path) -> Any:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        return gzip.open(file, "rb")
    return bz2.open(file, "rb") if suffix == ".bz2" else file.open("rb")


def _first_bad_line(file: Path) -> str:
    with _open(file) as stream:
        for number, line in enumerate(stream, 1):
            words = line.partition(b"#")[0].split()
            try:
                numbers = [float(word) for word in words[:1]]
                pairs = [word.split(b":") for word in words[1:]]
                numbers += [float(value) for index, value in pairs if index != b"qid"]
                indices = [int(index) for index, _ in pairs if index != b"qid"]
            except ValueError:
                shown = line.decode(errors="replace").strip()[:40]
                return f" line {number}: not LIBSVM text, `label index:value ...`: {shown!r}"
            if any(a >= b for a, b in pairwise(indices)):
                return f" line {number}: the indices must rise from left to right"
            if any(not 0 <= index < 2**31 for index in indices):
                return f" line {number}: an index is negative or too large"
    return " is not LIBSVM text"
