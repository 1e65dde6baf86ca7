"""Versions of the distributions that do the work, for results and for the keys of comparisons."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from optiframe.errors import DISTRIBUTION, distribution_of
from optiframe.records.record import Record
from optiframe.registry.contracts import normalise
from optiframe.registry.registry import BY_CODE, registry


def versions_of(record: Record) -> dict[str, str]:
    """Versions of the core, of NumPy, of a record's distribution, of what it requires, and of its parts'."""
    found: dict[str, str] = {}
    for key in type(record).model_fields:
        value = getattr(record, key)
        if isinstance(value, Record):
            found |= versions_of(value)
    cls = type(record)
    for name in (DISTRIBUTION, "numpy", *map(distribution_of, cls.requires)):
        found[name] = version(name)
    distribution = registry().distribution(cls)
    if distribution is None or distribution == BY_CODE:
        distribution = _owner(cls.__module__.partition(".")[0])
    if distribution is not None:
        found[normalise(distribution)] = version(distribution)
    return found


@cache
def version(distribution: str) -> str:
    """The version of a distribution; "unknown" where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


@cache
def _owner(package: str) -> str | None:
    """The distribution a top-level package comes from: it names the package, or has installed files of it.

    As `importlib.metadata.packages_distributions`, which takes half a second, for one package.
    """
    if _is_loose(package):
        return None
    files = re.compile(rf'^"?{re.escape(package)}(/.*)?\.py,', re.MULTILINE)
    for each in metadata.distributions():
        declared = (each.read_text("top_level.txt") or "").split()
        record = "" if declared else each.read_text("RECORD") or ""
        if package in declared or (package in record and files.search(record)):
            return str(each.metadata["Name"])
    return None


def _is_loose(module: str) -> bool:
    """Whether a module is a script, a notebook, or a file in a folder where no distribution is installed."""
    if module == "__main__":  # no distribution installs it, and in a notebook or a cell it has no file
        return True
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if file is None or hasattr(found, "__path__"):
        return False
    return next(Path(file).parent.glob("*.dist-info"), None) is None


def forget() -> None:
    """Look again, since distributions may have come or gone."""
    version.cache_clear()
    _owner.cache_clear()
