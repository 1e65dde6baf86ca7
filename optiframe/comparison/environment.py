"""The machine and the programs a comparison ran on, as its main process sees them."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from optiframe.errors import DISTRIBUTION, is_installed
from optiframe.registry.versions import version

# What computes or measures; versions of the solvers' own distributions are stored with each cell.
_PACKAGES = (DISTRIBUTION, "numpy", "scipy", "pydantic", "psutil", "threadpoolctl", "cloudpickle")


def environment() -> dict[str, Any]:
    """Interpreter, platform, processor, cores, memory and versions, as JSON values."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "host": platform.node(),
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "usable cores": usable_cores(),
        "memory": memory(),
        "versions": {name: version(name) for name in _PACKAGES if is_installed(name)},
        "plugins": _plugins(),
    }


def usable_cores() -> int:
    """Cores this process may use: a container or a batch system often grants fewer than there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model() -> str:
    """The processor's name as its maker writes it, or what the platform says."""
    with suppress(OSError):
        said = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*:\s*(.+)$", said, re.MULTILINE):
            return found[1].strip()
    return platform.processor() or platform.machine()


def memory() -> int | None:
    """Bytes of main memory; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _plugins() -> dict[str, str]:
    """Distributions with plugins, and their versions; found without importing them."""
    found = {}
    for point in metadata.entry_points(group="optiframe"):
        if point.dist is not None:
            found[point.dist.name] = point.dist.version
    return dict(sorted(found.items()))
