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
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from optiframe.errors import InvalidInput
from optiframe.records.fingerprint import fingerprint
from optiframe.registry.contracts import GROUP

_INSTALLED = ("site-packages", "dist-packages")
_imports: dict[str, frozenset[str]] = {}  # of a text, by its hash: parsing takes longer than reading


def package_source(package: str) -> str:
    """Hash of an importable package's files; not remembered, since a notebook may live through an edit."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    digest = hashlib.sha256()
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in _python_files(Path(folder)):
            _add(digest, path.relative_to(folder), _bytes(path))
    if spec and not spec.submodule_search_locations and spec.origin:
        digest.update(_bytes(Path(spec.origin)))
    return digest.hexdigest()


def code_of(thing: Any) -> str:
    """Hash of the code behind a class or function that no distribution is known for.

    Of one in a package it is all of the package; of one in a file the file; and with either what it
    imports from beside it. In a notebook, at the prompt or in the script that runs, it is the code of
    the thing itself and of all that it uses there, and what the script imports from beside it.
    """
    module = sys.modules.get(thing.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or module.__name__ == "__main__":
        beside = "" if file is None else _script_imports(Path(file))
        return fingerprint([list(_used_code(thing, module)), beside])
    path = Path(file)
    if _is_installed(path):
        return hashlib.sha256(_bytes(path)).hexdigest()
    names = module.__name__.split(".")
    inside = path.parent if path.name == "__init__.py" else path
    base = inside.parents[len(names) - 1] if len(inside.parents) >= len(names) else inside.parent
    start = list(_modules(names[0], base))
    if path not in start:  # loaded in some way of its own: the file is all we know
        return hashlib.sha256(_bytes(path)).hexdigest()
    return _followed(start, base)


def _script_imports(script: Path) -> str:
    base = script.parent
    if _is_installed(script):
        return ""
    start = [path for name in _imported(_bytes(script)) for path in _modules(name, base)]
    return _followed([path for path in start if path != script], base)


def _followed(start: Iterable[Path], base: Path) -> str:
    """Hash of files and of all that they import from a folder, directly or not."""
    waiting, found = list(start), dict[Path, bytes]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = _bytes(path)
            for name in _imported(found[path]):
                waiting.extend(_modules(name, base))
    digest = hashlib.sha256()
    for path in sorted(found):
        _add(digest, path.relative_to(base), found[path])
    return digest.hexdigest()


def _modules(name: str, base: Path) -> Iterator[Path]:
    """The files of a top-level module or package of a folder; none of the core's and of Python's own."""
    if name == GROUP or name in sys.stdlib_module_names:
        return
    if (file := base / f"{name}.py").is_file():
        yield file
    elif (folder := base / name).is_dir():
        yield from _python_files(folder)


def _python_files(folder: Path) -> list[Path]:
    """Python files below a folder, without caches, hidden folders and virtual environments."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith((".", "__pycache__")) and not Path(place, name, "pyvenv.cfg").exists()
        ]
        found += [Path(place, name) for name in files if name.endswith(".py")]
    return sorted(found)


def _imported(text: bytes) -> frozenset[str]:
    """First names of all that a file imports, wherever in it."""
    key = hashlib.sha256(text).hexdigest()
    if key not in _imports:
        names: set[str] = set()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about someone's strings; they hear of it when it is imported
            try:
                tree: ast.AST = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):  # importing it says why
                tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.partition(".")[0])
        _imports[key] = frozenset(names)
    return _imports[key]


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
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names


def _is_installed(path: Path) -> bool:
    return any(part in _INSTALLED for part in path.parts) or path.is_relative_to(Path(os.__file__).parent)


def _add(digest: Any, path: Path, content: bytes) -> None:
    digest.update(f"{path.as_posix()}\0{len(content)}\0".encode(errors="surrogateescape"))
    digest.update(content)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        return f"unreadable: {error.strerror}".encode()
