"""Plugins: found by their entry points and loaded one by one, broken ones kept apart."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import resolve_name
from typing import Any

import pluggy

from optiframe import hookspec
from optiframe.errors import DISTRIBUTION
from optiframe.registry.contracts import (
    GROUP,
    check_contract,
    check_hooks,
    check_kind,
    check_name,
    moved,
    normalise,
)


@dataclass(frozen=True)
class Entry:
    """A registered name. `clash` lists the distributions that claim it when more than one does."""

    kind: str
    name: str
    path: str
    summary: str
    distribution: str
    clash: tuple[str, ...] = ()

    @property
    def claims(self) -> str:
        """Why a name with a clash cannot be used, in words."""
        if len(set(self.clash)) == 1:
            return f"given to two classes by {self.clash[0]}"
        return f"claimed by {' and by '.join(self.clash)}"


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
    renamed: dict[str, str] = field(default_factory=dict)
    """Names the plugin no longer has -> what to use in their place."""


def load_plugins(before: Callable[[str], None]) -> tuple[list[Plugin], list[str]]:
    """All plugins, and what `OPTIFRAME_PLUGINS` names that is none.

    Each entry point is loaded and asked by itself inside a guard, since one that raises must not hide
    the others. `OPTIFRAME_PLUGINS`, a comma-separated list of entry-point or distribution names, limits
    which load; the core's own always do. `before` is called with each module before it is imported; where it
    raises, the plugin is broken.
    """
    wanted = os.environ.get("OPTIFRAME_PLUGINS")
    chosen = None if wanted is None else {normalise(w) for w in wanted.split(",") if w.strip()}
    known: set[str] = set()
    plugins = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        dist = point.dist
        name, version = (normalise(dist.name), dist.version) if dist else ("unknown", "")
        plugin = Plugin(point.name, point.value, distribution=name, version=version)
        plugins.append(plugin)
        names = {normalise(plugin.name), plugin.distribution}
        known |= names
        if chosen is not None and plugin.distribution != DISTRIBUTION and not names & chosen:
            plugin.state = "switched off"
        else:
            _load(plugin, point, before)
    return plugins, sorted((chosen or set()) - known)


def _load(plugin: Plugin, point: metadata.EntryPoint, before: Callable[[str], None]) -> None:
    try:
        before(point.module)
        module = point.load()
        check_contract(module)
        check_hooks(module)
        manager = pluggy.PluginManager(GROUP)
        manager.add_hookspecs(hookspec)
        manager.register(module)
        package = sys.modules[point.module].__package__
        for described in manager.hook.optiframe_plugin():
            plugin.entries += [_entry(item, package, plugin.distribution) for item in described]
        plugin.renamed |= getattr(module, "OPTIFRAME_RENAMED", {})
    except (Exception, SystemExit) as error:  # whatever someone else's code raises is its state
        plugin.state = "broken"
        plugin.error = f"{type(error).__name__}: {error}{moved(error)}"
        plugin.entries.clear()


def _entry(item: Any, package: str | None, distribution: str) -> Entry:
    check_kind(item)
    check_name(item.kind, item.name)
    return Entry(item.kind, item.name, resolve_name(item.path, package), item.summary, distribution)
