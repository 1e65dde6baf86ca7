"""Importing a user's own file, so that what it registers has a name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from optiframe.errors import BrokenPlugin, InvalidInput, OptiframeError, nearest
from optiframe.registry.contracts import moved

_imported: set[str] = set()


def import_user_module(module: str) -> None:
    """Import a Python file (by path) or a module (by its dotted name).

    Raises
    ------
    InvalidInput
        When there is no such file, or with whatever the user's code raised.
    BrokenPlugin
        When a class it registers does not keep the contract of its kind.
    """
    path = Path(module)
    try:
        if path.suffix == ".py":
            sys.path.insert(0, str(path.parent.absolute()))
            import_module(path.stem)
        else:
            import_module(module)
        allow_functions_of(module)
    except BrokenPlugin as error:
        raise BrokenPlugin(f"--import {module}: {error}") from error
    except OptiframeError:
        raise
    except ModuleNotFoundError as error:
        if path.suffix == ".py" and error.name == path.stem and not path.is_file():
            raise InvalidInput(f"--import {module}: no file {path}") from None
        raise _failed(module, error) from error
    except Exception as error:  # the user's own code: what it raised, and where it came from
        raise _failed(module, error) from error


def absolute(modules: Iterable[str]) -> list[str]:
    """The same files by their whole paths: a child process finds no other ones."""
    return [str(Path(module).absolute()) if module.endswith(".py") else module for module in modules]


def imported_function(text: str) -> Callable[..., Any]:
    """The function ``module:name`` of a module that `import_user_module` was given, by file or by name.

    Raises
    ------
    InvalidInput
        When the text reads otherwise, the module was not imported so, or has no such function.
    """
    module, colon, name = text.partition(":")
    if not (colon and name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise InvalidInput(f"write a function as module:name, such as mymodule:f, and not {text!r:.60}")
    if module not in _imported:
        raise InvalidInput(
            f"{text}: a file runs no code by itself, and the module {module!r} was not imported; name it on "
            f"the command line: optiframe --import {module}.py ..."
        )
    found = getattr(import_module(module), name, None)
    if not callable(found):
        near = nearest(name, [key for key, value in vars(import_module(module)).items() if callable(value)])
        raise InvalidInput(f"the module {module!r} has no function {name!r}{near}")
    return cast("Callable[..., Any]", found)


def allow_functions_of(module: str) -> None:
    """Let files name functions of this module (a path or a dotted name), which somebody asked to import."""
    _imported.add(Path(module).stem if module.endswith(".py") else module)


def _failed(module: str, error: Exception) -> InvalidInput:
    return InvalidInput(f"--import {module}: {type(error).__name__}: {error}{moved(error)}")
