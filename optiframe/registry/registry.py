"""Names to classes: plugins are found and loaded one by one, broken ones kept apart."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import resolve_name
from threading import RLock
from typing import Any, TypeVar

import pluggy

from optiframe import hookspec
from optiframe.errors import DISTRIBUTION, BrokenPlugin, InvalidInput, OptiframeError, UnknownName, nearest
from optiframe.registry.contracts import (
    GROUP,
    check_class,
    check_contract,
    check_hooks,
    check_kind,
    check_name,
    import_class,
    kind_of,
    moved,
    normalise,
)

T = TypeVar("T")

BY_CODE = "registered by code"


@dataclass(frozen=True)
class Entry:
    """A registered name. `clash` lists the distributions that claim it when more than one does."""

    kind: str
    name: str
    path: str
    summary: str
    distribution: str
    clash: tuple[str, ...] = ()


@dataclass
class Plugin:
    """An entry point as found: `state` is "loaded", "broken" or "switched off"."""

    name: str
    module: str
    distribution: str
    version: str
    state: str = "loaded"
    error: str = ""
    entries: list[Entry] = field(default_factory=list)


class Registry:
    """All names of this process; built on first use.

    Each entry point is loaded and asked by itself inside a guard, since one that raises
    must not hide the others. `OPTIFRAME_PLUGINS`, a comma-separated list of entry-point or
    distribution names, limits which load; the core's own always do.
    """

    def __init__(self) -> None:
        self.plugins: list[Plugin] = []
        self._entries: dict[tuple[str, str], Entry] = {}
        self._classes: dict[tuple[str, str], type[Any]] = {}
        self._renamed: dict[str, str] = {}
        self.unknown_choices: list[str] = []

    def load(self) -> None:
        """Find and load every plugin."""
        wanted = os.environ.get("OPTIFRAME_PLUGINS")
        chosen = None if wanted is None else {normalise(w) for w in wanted.split(",") if w.strip()}
        known: set[str] = set()
        for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
            plugin = self._found(point)
            self.plugins.append(plugin)
            names = {normalise(plugin.name), normalise(plugin.distribution)}
            known |= names
            if chosen is not None and plugin.distribution != DISTRIBUTION and not names & chosen:
                plugin.state = "switched off"
                continue
            self._load(plugin, point)
        self.unknown_choices = sorted((chosen or set()) - known)
        for plugin in self.plugins:
            for entry in plugin.entries:
                self._add(entry)

    @staticmethod
    def _found(point: metadata.EntryPoint) -> Plugin:
        dist = point.dist
        return Plugin(
            name=point.name,
            module=point.value,
            distribution=normalise(dist.name) if dist else "unknown",
            version=dist.version if dist else "",
        )

    def _load(self, plugin: Plugin, point: metadata.EntryPoint) -> None:
        try:
            if point.module in _blocked:
                raise BrokenPlugin(_blocked[point.module])
            module = point.load()
            check_contract(module)
            check_hooks(module)
            manager = pluggy.PluginManager(GROUP)
            manager.add_hookspecs(hookspec)
            manager.register(module)
            package = sys.modules[point.module].__package__
            self._renamed |= getattr(module, "OPTIFRAME_RENAMED", {})
            for described in manager.hook.optiframe_plugin():
                plugin.entries.extend(self._entry(item, package, plugin.distribution) for item in described)
        except (Exception, SystemExit) as error:  # whatever someone else's code raises is its state
            plugin.state = "broken"
            plugin.error = f"{type(error).__name__}: {error}{moved(error)}"
            plugin.entries.clear()

    @staticmethod
    def _entry(item: Any, package: str | None, distribution: str) -> Entry:
        check_kind(item)
        check_name(item.kind, item.name)
        return Entry(item.kind, item.name, resolve_name(item.path, package), item.summary, distribution)

    def _add(self, entry: Entry) -> None:
        key = (entry.kind, entry.name)
        other = self._entries.get(key)
        if (
            other is not None and other.path != entry.path
        ):  # the same class registered by its own module is none
            claims = (*(other.clash or (other.distribution,)), entry.distribution)
            entry = Entry(entry.kind, entry.name, "", entry.summary, entry.distribution, claims)
        self._entries[key] = entry

    def entries(self, kind: str) -> list[Entry]:
        """All names of a kind, sorted; clashing ones included, with `clash` set."""
        return sorted((e for (k, _), e in self._entries.items() if k == kind), key=lambda e: e.name)

    def find(self, name: str) -> list[Entry]:
        """Entries of any kind with this name."""
        return [e for (_, n), e in self._entries.items() if n == normalise(name)]

    def entry(self, kind: str, name: str) -> Entry:
        """The entry of a name.

        Raises
        ------
        UnknownName
            With the nearest names, and the broken plugins that might have had it.
        BrokenPlugin
            When two distributions claim the name.
        """
        found = self._entries.get((kind, normalise(name)))
        if found is None:
            known = [n for k, n in self._entries if k == kind]
            lost = self.lost()
            broken = [p.name for p in self.plugins if p.state == "broken" and p.module not in dict(lost)]
            hint = f" (broken plugins: {', '.join(broken)}; see optiframe doctor)" if broken else ""
            hint += "".join(f"; it may be in {module}, whose import failed: {why}" for module, why in lost)
            close = nearest(normalise(name), known)
            if (now := self._renamed.get(normalise(name))) is not None:
                close = f"; use {now} instead"
            if kind == "part" and not close:
                close = "; one of your own comes by a plugin, optiframe.register or --import FILE"
            raise UnknownName(f"no {kind} named {name!r}{close}{hint}")
        if found.clash:
            raise BrokenPlugin(
                f"the {kind} name {found.name!r} is claimed by {' and by '.join(found.clash)}; "
                "uninstall one, or choose with OPTIFRAME_PLUGINS"
            )
        return found

    def lost(self) -> list[tuple[str, str]]:
        """Blocked modules, with the reason, that are not of a known name, so that they may have others."""
        known = {entry.path.partition(":")[0] for entry in self._entries.values()}
        return [(module, why) for module, why in _blocked.items() if module not in known]

    def get(self, kind: str, name: str) -> type[Any]:
        """The class of a name, imported now.

        Raises
        ------
        UnknownName, BrokenPlugin
            See `entry`; also `BrokenPlugin` when the class cannot be imported or does not
            keep the contract of its kind.
        """
        entry = self.entry(kind, name)
        key = (kind, entry.name)
        if key not in self._classes:
            try:
                if (why := _blocked.get(entry.path.partition(":")[0])) is not None:
                    raise BrokenPlugin(f"{kind} {entry.name!r} of {entry.distribution} does not load: {why}")
                cls = import_class(entry.path)
            except OptiframeError:
                raise
            except (Exception, SystemExit) as error:  # someone else's module: say whose and what
                raise BrokenPlugin(
                    f"{kind} {entry.name!r} of {entry.distribution} does not load: "
                    f"{type(error).__name__}: {error}{moved(error)}"
                ) from error
            check_class(kind, cls, entry.name)
            self._classes[key] = cls
        return self._classes[key]

    def register(self, cls: type[T]) -> type[T]:
        """Add a class under its own `name`; see `optiframe.register`."""
        kind = kind_of(cls)
        name = str(getattr(cls, "name", ""))
        check_name(kind, name)
        check_class(kind, cls, name)
        path = f"{cls.__module__}:{cls.__qualname__}"
        key = (kind, name)
        other = self._entries.get(key)
        if other is not None and other.path == path and other.distribution != BY_CODE:
            self._classes[key] = cls  # its package has an entry point for it and registers it as well
            return cls
        if other is not None and other.path != path:
            raise InvalidInput(
                f"the {kind} name {name!r} is taken by {other.path or ' and '.join(other.clash)} "
                f"({other.distribution}); {path} needs another name"
            )
        self._entries[key] = Entry(kind, name, path, cls.summary(), BY_CODE)  # type: ignore[attr-defined]  # checked
        self._classes[key] = cls
        return cls

    def distribution(self, cls: type[Any]) -> str | None:
        """The distribution whose plugin registered this class, if any."""
        path = f"{cls.__module__}:{cls.__qualname__}"
        return next((e.distribution for e in self._entries.values() if e.path == path), None)


_registry: Registry | None = None
_blocked: dict[str, str] = {}
_lock = RLock()


def registry() -> Registry:
    """The registry of this process."""
    with _lock:  # re-entrant: a plugin may register a class while it is being loaded
        return use(Registry()) if _registry is None else _registry


def loaded() -> Registry | None:
    """The registry of this process, where it was used before."""
    return _registry


def use(chosen: Registry) -> Registry:
    """Make this the registry of this process, and load it."""
    global _registry
    with _lock:
        _registry = chosen
        chosen.load()
        return chosen


def block(reasons: Mapping[str, str]) -> None:
    """Never import these modules, since they crash or hang; in words, why."""
    _blocked.update(reasons)


def unblock() -> None:
    """Let all modules be imported again."""
    _blocked.clear()


def blocked() -> dict[str, str]:
    """The modules that `block` was given, with the reasons."""
    return dict(_blocked)


def reset() -> None:
    """Forget everything, names registered by code included; the next use looks again."""
    global _registry
    _registry = None
    unblock()


def register(cls: type[T]) -> type[T]:
    """Make a problem, solver, data set, objective, constraint set or part known by its `name`.

    For notebooks, scripts and tests; use as a decorator. A class of the same module and
    name replaces its earlier version, so that a notebook cell can be run again.

    Raises
    ------
    BrokenPlugin
        When the class does not keep the contract of its kind.
    InvalidInput
        When the name is taken, naming who has it.
    """
    return registry().register(cls)
