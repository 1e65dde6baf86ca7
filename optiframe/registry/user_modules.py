"""Importing a user's own file, so that what it registers has a name."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from optiframe.errors import BrokenPlugin, InvalidInput, OptiframeError
from optiframe.registry.contracts import moved


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
            sys.path.insert(0, str(path.parent))
            import_module(path.stem)
        else:
            import_module(module)
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


def _failed(module: str, error: Exception) -> InvalidInput:
    return InvalidInput(f"--import {module}: {type(error).__name__}: {error}{moved(error)}")
