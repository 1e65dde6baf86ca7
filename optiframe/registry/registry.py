"""Names to classes, and to objects of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar

from optiframe.errors import BrokenPlugin, InvalidInput, OptiframeError, UnknownName, nearest
from optiframe.registry.contracts import check_class, check_name, import_class, kind_of, moved, normalise
from optiframe.registry.plugins import Entry, Plugin, load_plugins

T = TypeVar("T")

BY_CODE = "registered by code"


class Registry:
    """All names of this process; built on first use.

    Parameters
    ----------
    loading
        Told each plugin's module before it is imported.
    """

    def __init__(self, loading: Callable[[str], None] | None = None) -> None:
        self.plugins: list[Plugin] = []
        self.unknown_choices: list[str] = []
        self._loading = loading
        self._entries: dict[tuple[str, str], Entry] = {}
        self._classes: dict[tuple[str, str], type[Any]] = {}

    def load(self) -> None:
        """Find and load every plugin."""
        self.plugins, self.unknown_choices = load_plugins(self._before)
        for plugin in self.plugins:
            for entry in plugin.entries:
                self._add(entry)

    def _before(self, module: str) -> None:
        if self._loading is not None:
            self._loading(module)
        if module in _blocked:
            raise BrokenPlugin(_blocked[module])

    def _add(self, entry: Entry) -> None:
        key = (entry.kind, entry.name)
        other = self._entries.get(key)
        if (
            other is not None and other.path != entry.path
        ):  # the same class registered by its own module is none
            claims = (*(other.clash or (other.distribution,)), entry.distribution)
            entry = Entry(entry.kind, entry.name, "", entry.summary, entry.distribution, claims)
        self._entries[key] = entry

    @property
    def _all(self) -> list[Entry]:
        return list(self._entries.values())  # at once: another thread may be registering

    def entries(self, kind: str) -> list[Entry]:
        """All names of a kind, sorted; clashing ones included, with `clash` set."""
        return sorted((e for e in self._all if e.kind == kind), key=lambda e: e.name)

    def find(self, name: str) -> list[Entry]:
        """Entries of any kind with this name."""
        return [e for e in self._all if e.name == normalise(name)]

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
            known = [e.name for e in self._all if e.kind == kind]
            lost = self.lost()
            broken = [p.name for p in self.plugins if p.state == "broken" and p.module not in dict(lost)]
            hint = f" (broken plugins: {', '.join(broken)}; see optiframe doctor)" if broken else ""
            hint += "".join(f"; it may be in {module}, whose import failed: {why}" for module, why in lost)
            close = nearest(normalise(name), known)
            renamed = {old: new for plugin in self.plugins for old, new in plugin.renamed.items()}
            if (now := renamed.get(normalise(name))) is not None:
                kinds = {e.kind for e in self._all if e.name in now.replace(",", " ").split()}
                if kind in kinds or not kinds:  # the old name was not of every kind
                    close = f"; use {now} instead"
            if kind == "part" and not close:
                close = "; one of your own comes by a plugin, optiframe.register or --import FILE"
            raise UnknownName(f"no {kind} named {name!r}{close}{hint}")
        if found.clash:
            several = len(set(found.clash)) > 1
            remedy = "uninstall one, or choose with OPTIFRAME_PLUGINS" if several else "rename one"
            raise BrokenPlugin(f"the {kind} name {found.name!r} is {found.claims}; {remedy}")
        return found

    def lost(self) -> list[tuple[str, str]]:
        """Blocked modules, with the reason, that are not of a known name, so that they may have others."""
        known = {entry.path.partition(":")[0] for entry in self._all}
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
        return next((e.distribution for e in self._all if e.path == path), None)


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
    """Make this the registry of this process, and load it; one whose loading is stopped is forgotten."""
    global _registry
    with _lock:
        before, _registry = _registry, chosen
        try:
            chosen.load()
        except BaseException:  # Ctrl-C, say
            _registry = before
            raise
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


def build(kind: str, chosen: str | Mapping[str, Any]) -> Any:
    """An object from a name, or from a table with the key `name` and the parameters.

    Raises
    ------
    UnknownName, InvalidInput, BrokenPlugin
    """
    if not isinstance(chosen, str | Mapping):
        raise InvalidInput(f"a {kind} is chosen by its name or by a table with a name, got {chosen!r:.60}")
    table = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
    name = table.pop("name", None)
    if not isinstance(name, str):
        known = ", ".join(e.name for e in registry().entries(kind))
        raise unnamed(table, f"is missing: which {kind}? (known: {known})")
    try:
        cls = registry().get(kind, name)
    except UnknownName as error:
        raise InvalidInputName(str(error)) from None
    with loading(name):
        return cls.load(**table)  # the constructor, unless the class reads its inputs first


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Within this block, what somebody's class raises while it reads its inputs becomes one sentence."""
    try:
        yield
    except (OptiframeError, MemoryError):
        raise
    except Exception as error:  # the code of a plugin
        from optiframe.raised import innermost

        kind = type(error).__name__
        what = f"{kind}: {error}" if str(error) else kind
        text = f"{name} raised {what} at {innermost(error)} while it read its inputs"
        raise InvalidInput(text, [((), text)]) from error


def unnamed(table: Mapping[str, Any], text: str, keys: Sequence[str] = ("name",)) -> InvalidInput:
    """The error for a table with none of these keys: at the one that looks misspelt, or else `text`."""
    for key in table:
        hint = nearest(str(key), keys).removeprefix("; ")
        if hint and key not in keys:
            text = f"{hint} This table has no {' and no '.join(f'`{each}`' for each in keys)}"
            return InvalidInput(f"{key}: {text}", [((key,), text)])
    return InvalidInput(f"name {text}", [(("name",), text)])


def unnamed_problem(table: Mapping[str, Any]) -> InvalidInput:
    """The error for a problem's table with neither a name nor a data set."""
    more = '; for an `objective`, write name = "minimize"' if "objective" in table else ""
    return unnamed(table, f"is missing; or give a `dataset`{more}", ("name", "dataset"))


class InvalidInputName(UnknownName, InvalidInput):
    """An unknown name given as an input, so that a file and line can be added to it."""

    def __init__(self, message: str) -> None:
        InvalidInput.__init__(self, message, [(("name",), message)])
