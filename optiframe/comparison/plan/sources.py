"""Hashes of code that no version stands for: classes of a user's own files, packages under work.

What counts is the whole package, or the file, and whatever either imports from beside it. The
imports are read from the text and not from what happens to be loaded, so that the same files
give the same hash in every process.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from optiframe.errors import InvalidInput
from optiframe.records.fingerprint import fingerprint
from optiframe.registry.contracts import GROUP

_LIBRARY = Path(os.__file__).parent  # Python's own
_COMPILED = tuple(EXTENSION_SUFFIXES)
_DIGITS = 64  # of a hash
_hashed: dict[str, dict[str, str]] = {}


def package_source(package: str) -> str:
    """Hash of an importable package's files; not remembered, since a notebook may live through an edit.

    Where its compiled modules lie apart from the Python files, as in an editable install, both count.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return ""
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    file = Path(spec.origin or "")
    base = file.parent if not places else file.parent.parent if spec.origin else places[0].parent
    compiled = [each for place in places for each in place.rglob("*") if each.name.endswith(_COMPILED)]
    return _with_imports(_module_files(package, base), base) + (_hash(compiled) if compiled else "")


def files_of(source: str) -> dict[str, str]:
    """The files that a hash of this module is of, with the checksum of each."""
    parts = (source[start : start + _DIGITS] for start in range(0, len(source), _DIGITS))
    return {path: checksum for part in parts for path, checksum in _hashed.get(part, {}).items()}


def code_of(thing: Any) -> str:
    """Hash of the code behind a class or function that no distribution is known for.

    Of one in a package it is all of the package; of one in a file the file; and with either what it
    imports from beside it. In a notebook, at the prompt or in the script that runs, it is the code of
    the thing itself and of all that it uses there, and what the script imports from beside it.
    """
    module = sys.modules.get(thing.__module__)
    file = Path(getattr(module, "__file__", None) or "")
    if module is None or file == Path() or module.__name__ == "__main__":
        beside = ""
        if file.is_file():
            used = (one for name in _imports(file) for one in _module_files(name, file.parent))
            beside = _with_imports((one for one in used if one != file), file.parent)
        return fingerprint([list(_used_code(thing, module)), beside])
    names = module.__name__.split(".")
    inside = file.parent if file.name == "__init__.py" else file
    base = inside.parents[min(len(names), len(inside.parents)) - 1]
    start = [] if _is_installed(file) else list(_module_files(names[0], base))
    return _with_imports(start, base) if file in start else _hash([file])  # or loaded in a way of its own


def _with_imports(start: Iterable[Path], base: Path) -> str:
    """Hash of files and of all that they import from a folder, directly or not."""
    waiting, found, modules = list(start), set[Path](), set[str]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            new = _imports(path) - modules  # a package's folder is walked once, not for each import of it
            modules |= new
            waiting.extend(file for name in new for file in _module_files(name, base))
    return _hash(found)


def _imports(path: Path) -> frozenset[str]:
    """First names of what a file imports; none of a file among installed packages."""
    return frozenset() if _is_installed(path) else _imported(_bytes(path))


def _is_installed(path: Path) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or path.is_relative_to(_LIBRARY)


def _module_files(name: str, base: Path) -> Iterator[Path]:
    """The files of a top-level module or package of a folder; none of the core's and of Python's own."""
    if name == GROUP or name in sys.stdlib_module_names:
        return
    if (file := base / f"{name}.py").is_file():
        yield file
    else:
        yield from _python_files(base / name)


def _python_files(place: Path) -> Iterator[Path]:
    """Python files below a folder, without caches, hidden folders and virtual environments."""
    for folder, inner, files in os.walk(place):
        inner[:] = [
            name
            for name in inner
            if not name.startswith((".", "__pycache__")) and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


@lru_cache(maxsize=1000)  # parsing takes longer than reading
def _imported(text: bytes) -> frozenset[str]:
    """First names of all that a file imports, wherever in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about someone's strings; they hear of it when it is imported
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):  # importing it says why
            nodes = []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return frozenset(name.partition(".")[0] for name in names)


def _used_code(thing: Any, module: ModuleType | None) -> Iterator[list[Any]]:
    """The methods or function of a thing, and of what it uses of its module, each with its name."""
    known = {} if module is None else vars(module)
    waiting, seen = [thing], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name, function in _functions(one):
            yield [name, function]  # of functions of __main__ a fingerprint counts the code
            for used in sorted(_names_in(function.__code__)):
                value = known.get(used)
                own = inspect.isfunction(value) or isinstance(value, type)
                if own and value.__module__ == thing.__module__:
                    waiting.append(value)
                elif used in known and not isinstance(value, ModuleType):
                    try:
                        yield [used, fingerprint(value)]
                    except InvalidInput:  # it has no content: an open file, a cache
                        continue


def _functions(thing: Any) -> list[tuple[str, Any]]:
    if not isinstance(thing, type):
        return [(thing.__qualname__, thing)] if inspect.isfunction(thing) else []
    return [
        (f"{base.__qualname__}.{name}", getattr(method, "__func__", method))
        for base in thing.__mro__
        if base.__module__ == thing.__module__
        for name, method in sorted(vars(base).items())
        if inspect.isfunction(getattr(method, "__func__", method))
    ]


def _names_in(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _hash(files: Iterable[Path]) -> str:
    """Hash of files with their names, seen from the folder that they have in common."""
    digest, ordered = hashlib.sha256(), sorted(files)
    common = os.path.commonpath([path.parent for path in ordered]) if ordered else ""
    checksums = {}
    for path in ordered:
        content = _bytes(path)
        name = path.relative_to(common).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode(errors="surrogateescape"))
        digest.update(content)
        if path.is_file():  # and no link that leads nowhere, such as an editor's lock
            checksums[str(path.absolute())] = hashlib.sha256(content).hexdigest()
    whole = digest.hexdigest()
    _hashed[whole] = checksums
    return whole


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        return f"unreadable: {error.strerror}".encode()
