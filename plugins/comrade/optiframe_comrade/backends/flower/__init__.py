"""Workers on Flower: nodes on this machine for a trial, or elsewhere, behind nginx.

Nothing here imports Flower (extra "flower") until it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files


def app() -> str:
    """The folder of the Flower app, to give to ``flwr run``."""
    return str(files("optiframe_comrade.backends.flower") / "app")


@contextmanager
def flower() -> Iterator[None]:
    """Import Flower, and keep two deprecations quiet that only Flower can fix: they are in its dependencies.

    Raises
    ------
    MissingPackage
        When Flower is not installed.
    """
    from optiframe.errors import require

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'click.utils", DeprecationWarning)  # by typer 0.20, on import
        warnings.filterwarnings("ignore", "GitWildMatchPattern", DeprecationWarning)  # on bundling an app
        require("flwr", "flower")
        yield
