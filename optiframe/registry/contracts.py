"""What is checked before a class gets a name: the same for plugins and for code."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from optiframe import hookspec
from optiframe.errors import BrokenPlugin, nearest

if TYPE_CHECKING:
    from optiframe.records.record import Record

GROUP = "optiframe"
# kind -> the base class every class of that kind must have
KINDS = {
    "problem": "optiframe.problems.problem:Problem",
    "solver": "optiframe.solving.solver:Solver",
    "data set": "optiframe.problems.datasets:DataSet",
    "objective": "optiframe.problems.objectives.objective:Objective",
    "constraint set": "optiframe.problems.sets.constraint_set:ConstraintSet",
    "part": "optiframe.registry.by_name:Part",
}

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*")
_RESERVED = {"name", "problem", "solver", "seed", "budget", "start", "progress", "trace"}


def normalise(name: str) -> str:
    """Lower case, hyphens for underscores, no outer blanks."""
    return name.strip().lower().replace("_", "-")


def check_class(kind: str, cls: type[Any], name: str) -> None:
    """Raise `BrokenPlugin` unless `cls` keeps what its kind promises."""
    base = import_class(KINDS[kind])
    path = f"{getattr(cls, '__module__', '?')}:{getattr(cls, '__qualname__', cls)}"

    def broken(what: str) -> BrokenPlugin:
        return BrokenPlugin(f"{kind} {name!r} ({path}) {what}")

    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise broken(f"is not a subclass of optiframe.{base.__name__}")
    if "name" in cls.model_fields:
        raise broken('declares `name` as a parameter; write name = "..." without a type')
    if cls.name != name:
        raise broken(f"calls itself {cls.name!r}; the registered name and the class's must agree")
    for old, new in (_RENAMED["any"] | _RENAMED.get(kind, {})).items():
        if hasattr(cls, old) and old not in cls.model_fields:
            how = 'write requires = ("distribution:module",)' if new == "requires" else "rename it"
            raise broken(f"defines `{old}`, which is called `{new}` now; {how}")
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise broken(f"lacks {', '.join(missing)}, which its base asks for")
    if not cls.summary():
        raise broken("has no docstring; its first line is the summary people see in lists")
    if kind == "constraint set":
        theirs = {
            each
            for each in ("project", "violation", "inside")
            if getattr(cls, each) is not getattr(base, each)
        }
        if "project" not in theirs and theirs != {"violation", "inside"}:
            raise broken("lacks project, or else violation and inside")
    if kind == "data set" and not cls.problem:
        raise broken("must set `problem` to the name of the problem it is for")
    if kind == "part" and not (cls.family and name.startswith(f"{cls.family}.")):
        raise broken(f"must be named family.piece, with `family` set by its base: here {cls.family!r}")
    for metric, way in getattr(cls, "better", {}).items() if kind == "problem" else ():
        if way not in ("lower", "higher"):
            raise broken(
                f'says in `better` that {metric!r} is better when {way!r}; write "lower" or "higher"'
            )
    if kind == "solver":
        taken = sorted(_RESERVED & set(cls.model_fields))
        if taken:
            raise broken(f"cannot have a parameter {taken[0]!r}: that is a keyword of optiframe.solve")
        try:
            inspect.signature(cls.iterates).bind(None, None, None)
        except TypeError:
            raise broken("must define iterates(self, problem, run)") from None
        solves = getattr(cls, "solves", None)
        if not (isinstance(solves, type) and issubclass(solves, import_class(KINDS["problem"]))):
            raise broken("must set `solves` to a Problem class")


# What subclasses override and was called otherwise before: an old name would be ignored without a word.
_RENAMED = {
    "any": {"needs": "requires", "packages": "requires", "try_needs": "try_requires"},
    "solver": {"residual": "residual_meaning", "instead_of": "hint_for_unknown_key"},
    "problem": {
        "chance": "baseline_metrics",
        "progress": "trace_metrics",
        "answer": "to_tables",
        "instead_of": "hint_for_unknown_key",
    },
}


def check_contract(module: Any) -> None:
    """Raise `BrokenPlugin` where a plugin relies on another version of the plugin contract."""
    wanted = getattr(module, "OPTIFRAME_CONTRACT", 1)
    if wanted != hookspec.CONTRACT:
        other = "optiframework" if isinstance(wanted, int) and wanted > hookspec.CONTRACT else "the plugin"
        raise BrokenPlugin(
            f"it keeps version {wanted!r} of the plugin contract, and this optiframe has version "
            f"{hookspec.CONTRACT}; upgrade {other}"
        )


def moved(error: BaseException) -> str:
    """What to do where an import failed because a module of the core has moved; empty for other errors."""
    name = getattr(error, "name", None) or ""
    if isinstance(error, ImportError) and (name == GROUP or name.startswith(f"{GROUP}.")):
        return "; modules of optiframe have moved: import what is public from optiframe itself"
    return ""


HOOK = "optiframe_plugin"
# Hooks before there was one for all kinds, and the kinds they were for.
_FORMER_HOOKS = {
    f"optiframe_{kind.replace('data set', 'dataset').replace(' ', '_')}s": kind for kind in KINDS
}


def check_hooks(module: Any) -> None:
    """Raise `BrokenPlugin` for functions that look like hooks and would never be called."""
    for name, thing in vars(module).items():
        if not name.startswith("optiframe_") or not callable(thing):
            continue
        if (kind := _FORMER_HOOKS.get(name)) is not None:
            raise BrokenPlugin(
                f"the hook {name} was removed: return its Descriptions from {HOOK}, the one hook for all "
                f'kinds, each as Description("{kind}", name, path, summary)'
            )
        if name != HOOK:
            raise BrokenPlugin(f"there is no hook {name}{nearest(name, [HOOK])}")
        if not hasattr(thing, f"{GROUP}_impl"):
            raise BrokenPlugin(f"{name} lacks @hookimpl (from optiframe.hookspec import hookimpl)")


def check_kind(item: Any) -> None:
    """Raise `BrokenPlugin` unless `item` is a description of a kind there is."""
    if not isinstance(item, hookspec.Description):
        raise BrokenPlugin(f"{HOOK} must return Descriptions, got {type(item).__name__}")
    if item.kind not in KINDS:
        close = nearest(str(item.kind), KINDS)
        raise BrokenPlugin(
            f"{item.name!r} is described as a {item.kind!r}, which is no kind{close} "
            f"(kinds: {', '.join(KINDS)})"
        )


def kind_of(cls: type[Any]) -> str:
    """The kind a class is registered as; `BrokenPlugin` when it is none."""
    for kind, base in KINDS.items():
        if isinstance(cls, type) and issubclass(cls, import_class(base)):
            return kind
    raise BrokenPlugin(
        f"{cls!r} cannot be registered: it must be a subclass of Problem, Solver, DataSet, Objective, "
        "ConstraintSet or Part"
    )


def check_name(kind: str, name: str) -> None:
    """Raise `BrokenPlugin` unless the name is well-formed."""
    if not name:
        raise BrokenPlugin(
            f'this {kind} has no name; write name = "family.method" in the class, without a type'
        )
    if not _NAME.fullmatch(name):
        raise BrokenPlugin(
            f"{name!r} is not a valid {kind} name: lower-case letters and digits, parts joined by "
            "hyphens, families by dots"
        )


def import_class(path: str) -> type[Any]:
    """The class at ``module:Class``."""
    cls: type[Record] = imported(path)
    return cls


def imported(path: str) -> Any:
    """What is at ``module:name``."""
    module, _, name = path.partition(":")
    thing: Any = import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing
