"""Importing plugins' and users' modules in a child first: if one crashes or hangs, the comparison goes on.

A child imports the plugins, the user's own modules and the classes that a comparison names, and says
what comes next. If it dies or hangs, that module is blocked (`registry.block`), in this process and in
those of the cells, and another child goes on with the rest.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from optiframe.comparison.processes.watched import WatchedChild, private_channel
from optiframe.registry import registry
from optiframe.registry.contracts import KINDS, normalise
from optiframe.registry.plugins import Entry
from optiframe.registry.user_modules import allow_functions_of, import_user_module

SECONDS = 60.0
"""How long one module may take: the slowest import seen, with a cold disk, took some 20 s."""
_START = 60.0  # seconds for the child's own imports, which this process has behind it
_NAME = re.compile(r"[\w.-]{1,100}")  # what might be a registered name; data in a table is mostly not
_survived: set[str] = set()


def import_survivors(modules: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Import the user's modules that a child survives, and find out which classes it does not.

    The child is only started for what this process has not imported yet.

    Parameters
    ----------
    modules
        Files or dotted names, as for `import_user_module`.
    names
        Text that may name problems, solvers, data sets and their parts.

    Returns
    -------
    tuple
        The modules that were imported. The others, and modules of plugins and classes, are blocked.

    Raises
    ------
    InvalidInput, BrokenPlugin
        As `import_user_module`, for a module that raises.
    """
    names = possible_names(names)
    registry.unblock()  # what was wrong before may have been fixed
    if os.name == "posix":  # elsewhere no comparison runs
        while not _survives(modules, names):
            pass
    kept = tuple(module for module in modules if module not in registry.blocked())
    for module in kept:
        if _is_here(module):
            allow_functions_of(module)
        else:
            import_user_module(module)
    return kept


def block_what_crashes(modules: Sequence[str], *, classes: bool) -> None:
    """Import all plugins, these modules and perhaps all classes in a child; block what kills it."""
    registry.unblock()
    if os.name == "posix":
        while not _survives(modules, None if classes else []):
            pass


def _survives(modules: Sequence[str], names: Sequence[str] | None) -> bool:
    """Try what was not tried yet; False when a module was blocked, and the rest is to be tried again."""
    loaded, blocked = registry.loaded(), registry.blocked()
    waiting = [module for module in modules if module not in blocked and not _is_here(module)]
    if loaded is not None and not waiting and names is not None and not _untried(loaded, names):
        return True
    task = {"modules": waiting, "names": names, "blocked": blocked}
    child = WatchedChild(__name__, task)
    at, seconds = None, _START
    try:
        while (said := child.next(seconds)) is not None:
            if said.get("module", at) is None:
                return True
            if at is not None:
                _survived.add(at)
            at, seconds = said.get("module", at), SECONDS
        if at is None:  # it does not even start: whatever is wrong, the cells will say it
            return True
        registry.block({at: child.why_gone(seconds)})
        return False
    finally:
        child.kill()


def _untried(names: registry.Registry, wanted: Sequence[str]) -> set[str]:
    """Modules of the classes with these names that neither this process nor a child has imported."""
    found = {_module(entry) for entry in _entries(names, set(wanted))}
    return found - {""} - _survived - registry.blocked().keys() - sys.modules.keys()


def _entries(names: registry.Registry, wanted: set[str] | None) -> list[Entry]:
    return [
        entry for kind in KINDS for entry in names.entries(kind) if wanted is None or entry.name in wanted
    ]


def _module(entry: Entry) -> str:
    return entry.path.partition(":")[0]


def _is_here(module: str) -> bool:
    """Whether this process has imported the module, or is the script that it names."""
    if not module.endswith(".py"):
        return module in sys.modules
    script = getattr(sys.modules["__main__"], "__file__", None)
    return Path(module).stem in sys.modules or (
        script is not None and Path(script).absolute() == Path(module)
    )


def main() -> None:
    """The child: imports all that its task names; what merely raises is for the parent to say."""
    say = private_channel()
    task = json.load(sys.stdin)
    registry.block(task["blocked"])
    names = registry.use(registry.Registry(loading=lambda module: say(module=module)))
    for module in task["modules"]:
        say(module=module)
        with suppress(Exception):
            import_user_module(module)
    import_classes(names, task["names"], lambda module: say(module=module))
    say(module=None)
    os._exit(0)  # what libraries do at exit is not asked


def import_classes(
    names: registry.Registry, wanted: Iterable[str] | None, before: Callable[[str], None]
) -> None:
    """Import the classes with these names, or all; `before` gets each module. What raises is left out."""
    waiting = _entries(names, None if wanted is None else set(wanted))
    for entry in waiting:  # which grows: a data set's problem is loaded with it
        if _module(entry):
            before(_module(entry))
            with suppress(Exception, SystemExit):
                cls = names.get(entry.kind, entry.name)
                if entry.kind == "data set" and wanted is not None:
                    waiting.append(names.entry("problem", cls.problem))


def possible_names(names: Iterable[str]) -> list[str]:
    """Of all text in tables, what might name a class."""
    return sorted({normalise(name) for name in names if _NAME.fullmatch(name)})
