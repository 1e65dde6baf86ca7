"""Kernels in C++, and their references in Python where the extension could not be built.

A plugin with kernels has in its package `kernels` a module `reference`, which says in Python what each
kernel does, and after an installation with a C++ compiler the extension `_native`, which does the same
fast. A door between them is a line: ``vote = native(reference.vote)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

REMEDY = (
    "install a C++ compiler and Python's headers (Debian and Ubuntu: apt install g++ python3-dev; Fedora: "
    "dnf install gcc-c++ python3-devel; macOS: xcode-select --install), then install the plugin again"
)


class SlowKernelsWarning(UserWarning):
    """Plain Python runs in place of compiled kernels: same results, but 3 to 250 times slower."""


def native(reference: F) -> F:
    """The kernel in C++ of a function or class in `reference`, or that itself where there is no extension.

    The kernel has its name and parameters. The first reference used in a process raises a
    `SlowKernelsWarning`.

    Raises
    ------
    ImportError
        When the extension was built from older sources, which had no such kernel.
    """
    package = reference.__module__.rpartition(".")[0]
    extension = extension_of(package)
    if isinstance(extension, ModuleType):
        try:
            return getattr(extension, reference.__name__)  # type: ignore[no-any-return]  # tests compare them
        except AttributeError:
            plugin = package.partition(".")[0]
            folder = f"plugins/{plugin.removeprefix('optiframe_')}"
            raise ImportError(
                f"the compiled part of {plugin} is older than its sources (it has no {reference.__name__}); "
                f"install the plugin again: pip install --editable {folder}"
            ) from None
    _say(package.partition(".")[0], extension)
    return reference


@cache
def extension_of(package: str) -> ModuleType | str:
    """The extension of a package of kernels, or why there is none."""
    name = f"{package}._native"
    if find_spec(name) is None:
        return "was not built"
    try:
        return import_module(name)
    except ImportError as error:  # built for another Python, or a library of the compiler's is not there
        return f"does not load ({error})"


def kernels_of(plugin: str) -> ModuleType | str | None:
    """The extension of a plugin's module, or why there is none; None for a plugin without kernels."""
    package = f"{plugin}.kernels"
    try:
        has_kernels = find_spec(f"{package}.reference") is not None
    except ModuleNotFoundError:  # no such package
        return None
    return extension_of(package) if has_kernels else None


_said: list[str] = []


def _say(plugin: str, reason: str) -> None:
    """Warn once per process: the compiler is missing for every plugin."""
    if not _said:
        _said.append(plugin)
        warnings.warn(
            f"the compiled part of {plugin} {reason}, so plain Python runs in its place. Results are the "
            f"same, but take 3 to 250 times as long. To speed this up, {REMEDY}.",
            SlowKernelsWarning,
            stacklevel=3,
        )
