"""Importing a user's own file, so that what it registers has a name."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from optiframe.errors import InvalidInput, OptiframeError


def bring(module: str) -> None:
    """Import a Python file (by path) or a module (by its dotted name).

    Raises
    ------
    InvalidInput
        With whatever the user's code raised.
    """
    path = Path(module)
    try:
        if path.suffix == ".py":
            sys.path.insert(0, str(path.parent))
            import_module(path.stem)
        else:
            import_module(module)
    except OptiframeError:
        raise
    except Exception as error:  # the user's own code: what it raised, and where it came from
        raise InvalidInput(f"--import {module}: {type(error).__name__}: {error}") from error
