"""Names to classes: plugins are found and loaded one by one, broken ones kept apart."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from optiframe import hookspec
from optiframe.errors import BrokenPlugin, InvalidInput, OptiframeError, UnknownName, nearest

if TYPE_CHECKING:
    from optiframe.described import Described

T = TypeVar("T")

GROUP = "optiframe"
_RESERVED = {"name", "problem", "solver", "seed", "budget", "start", "progress", "trace"}
BY_CODE = "registered by code"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*")

# kind -> hook, and the base class every class of that kind must have
KINDS = {
    "problem": ("optiframe_problems", "optiframe.problems:Problem"),
    "solver": ("optiframe_solvers", "optiframe.solvers:Solver"),
    "data set": ("optiframe_datasets", "optiframe.datasets:DataSet"),
    "objective": ("optiframe_objectives", "optiframe.objectives:Objective"),
    "constraint set": ("optiframe_constraint_sets", "optiframe.constraints:ConstraintSet"),
}


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
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspec)
        self._entries: dict[tuple[str, str], Entry] = {}
        self._classes: dict[tuple[str, str], type[Any]] = {}
        wanted = os.environ.get("OPTIFRAME_PLUGINS")
        chosen = None if wanted is None else {normalise(w) for w in wanted.split(",") if w.strip()}
        for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
            plugin = self._found(point)
            self.plugins.append(plugin)
            names = {normalise(plugin.name), normalise(plugin.distribution)}
            if chosen is not None and plugin.distribution != GROUP and not names & chosen:
                plugin.state = "switched off"
                continue
            self._load(plugin, point)
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
            module = point.load()
            _check_hooks(module)
            self._manager.register(module, name=f"{plugin.distribution}:{plugin.name}")
            others = [p for p in self._manager.get_plugins() if p is not module]
            for kind, (hook, _) in KINDS.items():
                caller = self._manager.subset_hook_caller(hook, others)
                for described in caller():
                    plugin.entries.extend(self._entry(kind, item, plugin) for item in described)
        except Exception as error:  # a plugin is someone else's code: whatever it raises is its state
            plugin.state = "broken"
            plugin.error = f"{type(error).__name__}: {error}"
            plugin.entries.clear()

    @staticmethod
    def _entry(kind: str, item: Any, plugin: Plugin) -> Entry:
        if not isinstance(item, hookspec.Description):
            raise BrokenPlugin(f"the {kind} hook must return Descriptions, got {type(item).__name__}")
        _check_name(kind, item.name)
        return Entry(kind, item.name, item.path, item.summary, plugin.distribution)

    def _add(self, entry: Entry) -> None:
        key = (entry.kind, entry.name)
        other = self._entries.get(key)
        if other is not None:
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
            broken = [p.name for p in self.plugins if p.state == "broken"]
            hint = f" (broken plugins: {', '.join(broken)}; see optiframe doctor)" if broken else ""
            raise UnknownName(f"no {kind} named {name!r}{nearest(normalise(name), known)}{hint}")
        if found.clash:
            raise BrokenPlugin(
                f"the {kind} name {found.name!r} is claimed by {' and by '.join(found.clash)}; "
                "uninstall one, or choose with OPTIFRAME_PLUGINS"
            )
        return found

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
                cls = _import(entry.path)
            except OptiframeError:
                raise
            except Exception as error:  # someone else's module: say whose and what
                raise BrokenPlugin(
                    f"{kind} {entry.name!r} of {entry.distribution} does not load: "
                    f"{type(error).__name__}: {error}"
                ) from error
            check_class(kind, cls, entry.name)
            self._classes[key] = cls
        return self._classes[key]

    def register(self, cls: type[T]) -> type[T]:
        """Add a class under its own `name`; see `optiframe.register`."""
        kind = _kind_of(cls)
        name = str(getattr(cls, "name", ""))
        _check_name(kind, name)
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


def registry() -> Registry:
    """The registry of this process."""
    global _registry
    if _registry is None:
        _registry = Registry()
    return _registry


def reset() -> None:
    """Forget everything, names registered by code included; the next use looks again."""
    global _registry
    _registry = None
    _owner.cache_clear()
    _version.cache_clear()


def register(cls: type[T]) -> type[T]:
    """Make a problem, solver, data set, objective or constraint set known by its `name`.

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


def build(kind: str, chosen: str | Mapping[str, Any]) -> Any:
    """An object from a name, or from a table with the key `name` and the parameters.

    Raises
    ------
    UnknownName, InvalidInput, BrokenPlugin
    """
    table = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
    name = table.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(e.name for e in registry().entries(kind))
        text = f"is missing: which {kind}? (known: {known})"
        raise InvalidInput(f"name {text}", [(("name",), text)])
    try:
        cls = registry().get(kind, name)
    except UnknownName as error:
        raise InvalidInputName(str(error)) from None
    return cls.load(**table)


class InvalidInputName(UnknownName, InvalidInput):
    """An unknown name given as an input, so that a file and line can be added to it."""

    def __init__(self, message: str) -> None:
        InvalidInput.__init__(self, message, [(("name",), message)])


def versions(cls: type[Any]) -> dict[str, str]:
    """Versions of the core, of NumPy, of the distribution a class comes from and of its `packages`."""
    found = {package: _version(package) for package in (GROUP, "numpy", *getattr(cls, "packages", ()))}
    distribution = registry().distribution(cls)
    if distribution is None or distribution == BY_CODE:
        distribution = _owner(cls.__module__.partition(".")[0])
    if distribution is not None:
        found[normalise(distribution)] = _version(distribution)
    return found


@cache
def _owner(package: str) -> str | None:
    """The distribution a top-level package comes from; remembered, since it takes a tenth of a second."""
    return next(iter(metadata.packages_distributions().get(package, [])), None)


def normalise(name: str) -> str:
    """Lower case, hyphens for underscores, no outer blanks."""
    return name.strip().lower().replace("_", "-")


def check_class(kind: str, cls: type[Any], name: str) -> None:
    """Raise `BrokenPlugin` unless `cls` keeps what its kind promises."""
    base = _import(KINDS[kind][1])
    path = f"{getattr(cls, '__module__', '?')}:{getattr(cls, '__qualname__', cls)}"

    def broken(what: str) -> BrokenPlugin:
        return BrokenPlugin(f"{kind} {name!r} ({path}) {what}")

    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise broken(f"is not a subclass of optiframe.{base.__name__}")
    if cls.name != name:
        raise broken(f"calls itself {cls.name!r}; the registered name and the class's must agree")
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise broken(f"lacks {', '.join(missing)}")
    if not cls.summary():
        raise broken("has no docstring; its first line is the summary people see in lists")
    if kind == "data set" and not cls.problem:
        raise broken("must set `problem` to the name of the problem it is for")
    if kind == "solver":
        taken = sorted(_RESERVED & set(cls.model_fields))
        if taken:
            raise broken(f"cannot have a parameter {taken[0]!r}: that is a keyword of optiframe.solve")
        try:
            inspect.signature(cls.iterates).bind(None, None, None)
        except TypeError:
            raise broken("must define iterates(self, problem, run)") from None
        solves = getattr(cls, "solves", None)
        if not (isinstance(solves, type) and issubclass(solves, _import(KINDS["problem"][1]))):
            raise broken("must set `solves` to a Problem class")


def _check_hooks(module: Any) -> None:
    """Raise `BrokenPlugin` for functions that look like hooks and would never be called."""
    hooks = [hook for hook, _ in KINDS.values()]
    for name, thing in vars(module).items():
        if not name.startswith("optiframe_") or not callable(thing):
            continue
        if name not in hooks:
            raise BrokenPlugin(f"there is no hook {name}{nearest(name, hooks)}")
        if not hasattr(thing, f"{GROUP}_impl"):
            raise BrokenPlugin(f"{name} lacks @hookimpl (from optiframe.hookspec import hookimpl)")


def _kind_of(cls: type[Any]) -> str:
    for kind, (_, base) in KINDS.items():
        if isinstance(cls, type) and issubclass(cls, _import(base)):
            return kind
    raise BrokenPlugin(
        f"{cls!r} is none of what can be registered: a subclass of Problem, Solver, DataSet, "
        "Objective or ConstraintSet"
    )


def _check_name(kind: str, name: str) -> None:
    if not name:
        raise BrokenPlugin(
            f'this {kind} has no name; write name = "family.method" in the class, without a type'
        )
    if not _NAME.fullmatch(name):
        raise BrokenPlugin(
            f"{name!r} is not a valid {kind} name: lower-case letters and digits, parts joined by "
            "hyphens, families by dots"
        )


def _import(path: str) -> type[Any]:
    module, _, name = path.partition(":")
    thing: Any = import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    cls: type[Described] = thing
    return cls


@cache
def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
