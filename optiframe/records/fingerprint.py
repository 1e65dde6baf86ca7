"""A content hash of problems: same content, same hash, in any process."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import struct
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import CodeType
from typing import Any, Protocol
from uuid import UUID

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel

from optiframe.errors import InvalidInput

# Types whose repr is their whole content, the same in any process.
_TEXTUAL = (complex, date, time, timedelta, Decimal, Fraction, UUID, Enum, np.datetime64, np.timedelta64)


class _Hash(Protocol):
    def update(self, data: Any, /) -> None: ...


def fingerprint(value: Any) -> str:
    """Hex digest (64 characters) of `value`'s content.

    Arrays count by type, shape and bytes, the path of a file by what the file holds. A record counts by its
    package, its class and the name the class is registered under; the module it lies in may change. A
    function counts as ``module:name``, so that the hash is the same in another process. A function without
    an importable name (a lambda, a closure, what a notebook defines) counts by its code as well, a partial by
    its arguments, a callable object or bound method by its owner's attributes.

    Raises
    ------
    InvalidInput
        If something inside `value` has no content that could be hashed.
    """
    digest = hashlib.sha256()
    try:
        _feed(digest, value)
    except RecursionError:
        raise InvalidInput(f"a {type(value).__name__} that contains itself has no content to hash") from None
    return digest.hexdigest()


def _content(record: BaseModel) -> list[str]:
    """Names of the fields that count; some do where they have a value only (`Record.hashed_where_given`)."""
    later = getattr(type(record), "hashed_where_given", ())
    return [key for key in type(record).model_fields if key not in later or getattr(record, key) is not None]


def _feed(digest: _Hash, value: Any) -> None:
    def mark(kind: str) -> None:
        digest.update(kind.encode() + b"\0")

    value = _plain(value)
    if value is None or isinstance(value, bool | int | str):
        mark(f"{type(value).__name__}:{value!r}")
    elif isinstance(value, float):
        mark("float")
        digest.update(struct.pack("<d", value + 0.0))  # -0.0 equals 0.0
    elif isinstance(value, _TEXTUAL):
        mark(f"{type(value).__name__}:{value!r}")
    elif isinstance(value, bytes):
        mark(f"bytes:{len(value)}")
        digest.update(value)
    elif isinstance(value, np.ndarray):
        mark(f"array:{value.dtype.str}:{value.shape}")
        _feed_array(digest, value)
    elif sp.issparse(value):
        rows = sp.csr_array(value)
        rows.sum_duplicates()
        mark(f"sparse:{rows.shape}")
        for part in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
            _feed(digest, part)
    elif isinstance(value, BaseModel):
        mark(f"model:{_class(type(value))}")
        for key in _content(value):
            mark(key)
            _feed(digest, getattr(value, key))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        mark(f"record:{_class(type(value))}")
        for field in dataclasses.fields(value):
            if field.compare:  # what does not count for equality is not content
                mark(field.name)
                _feed(digest, getattr(value, field.name))
    elif isinstance(value, Mapping):
        mark(f"mapping:{len(value)}")
        for key in sorted(value, key=repr):
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, list | tuple):
        mark(f"sequence:{len(value)}")
        for item in value:
            _feed(digest, item)
    elif isinstance(value, set | frozenset):
        mark(f"set:{len(value)}")
        for each in sorted(map(fingerprint, value)):
            mark(each)
    elif isinstance(value, functools.partial):
        mark("partial")
        _feed(digest, [value.func, value.args, value.keywords])
    elif callable(value):
        mark(f"function:{_path(value)}")
        _feed_function(digest, value)
    else:
        raise InvalidInput(
            f"a {type(value).__name__} has no content to hash; "
            "use numbers, text, arrays, mappings, dataclasses or functions"
        )


def _plain(value: Any) -> Any:
    """NumPy's number as Python's, and a path by what the file holds."""
    if isinstance(value, np.integer | np.bool_ | np.floating):
        return value.item()  # the same number, whoever made it
    if not isinstance(value, Path):
        return value
    if not value.is_file():
        return ("path", str(value))
    with value.open("rb") as file:
        return ("file", hashlib.file_digest(file, "sha256").hexdigest())


def _feed_array(digest: _Hash, array: Any) -> None:
    if array.dtype == object:
        for item in array.ravel().tolist():
            _feed(digest, item)
    else:
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)  # no copy


def _feed_function(digest: _Hash, function: Any) -> None:
    """What tells functions of one path apart."""
    owner = function.__self__ if inspect.ismethod(function) else function
    if not hasattr(owner, "__qualname__"):  # a callable object, or the owner of a bound method
        if not isinstance(owner, BaseModel) and not hasattr(owner, "__dict__"):
            raise InvalidInput(f"a {type(owner).__name__} with __slots__ has no content to hash")
        _feed(digest, owner if isinstance(owner, BaseModel) else vars(owner))
    code = getattr(function, "__code__", None)
    if ("<" in _path(function) or _path(function).startswith("__main__:")) and code is not None:
        _feed_code(digest, code)
        _feed(digest, [getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)])
        for cell in getattr(function, "__closure__", None) or ():
            if cell.cell_contents is not function:  # a recursive function holds itself
                _feed(digest, cell.cell_contents)


def _feed_code(digest: _Hash, code: CodeType) -> None:
    digest.update(code.co_code + repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a function or comprehension inside
            _feed_code(digest, constant)
        elif constant is Ellipsis:
            digest.update(b"...")
        else:
            _feed(digest, constant)


def _class(cls: type[Any]) -> str:
    name = getattr(cls, "name", "")
    return f"{cls.__module__.partition('.')[0]}:{cls.__qualname__}:{name if isinstance(name, str) else ''}"


def _path(thing: Any) -> str:
    owner = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{owner.__module__}:{owner.__qualname__}"
