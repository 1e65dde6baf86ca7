"""The base of everything that is chosen by name: its fields are its parameters.

One declaration gives validation, the keys of a TOML table, the text of
`optiframe describe` and the content hash.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from types import UnionType
from typing import Any, ClassVar, Self, Union, cast, get_args, get_origin

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from optiframe.errors import InvalidInput, module_of, nearest
from optiframe.records.fingerprint import fingerprint

_NOT_IN_FILES = ("tuple", "set", "frozenset", "enum", "dataclass")


def _take_what_files_hold(schema: Any, handler: GetCoreSchemaHandler) -> None:
    """Let fields of types that TOML lacks take what stands for them there; their items stay strict."""
    if isinstance(schema, dict):
        if schema.get("type") == "definition-ref":
            real = handler.resolve_ref_schema(cast(CoreSchema, schema))
            if real["type"] in _NOT_IN_FILES and "strict" not in real:
                _take_what_files_hold(real, handler)
            return
        if schema.get("type") in _NOT_IN_FILES:
            schema.setdefault("strict", False)
        for key, part in schema.items():
            if key not in ("default", "metadata"):
                _take_what_files_hold(part, handler)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _take_what_files_hold(part, handler)


class Record(BaseModel):
    """A frozen, validated record with a name.

    Subclasses give `name` (and `reference`, the paper and equation; `requires`, the distributions that do
    the work) and declare fields. A requirement reads ``"cvxpy"``, or ``"scikit-learn:sklearn.linear_model"``
    where the module to import has another name. Versions of what is required are recorded with a result.
    Types are strict: text is not a number, unknown keys are refused, numbers are finite. What a file has no
    type for is written as the nearest one it has: tuples and sets as lists, dataclasses as tables, members of
    an enumeration by their values.

    Raises
    ------
    InvalidInput
        On construction, naming every field that is wrong, the allowed range and, for an
        unknown field, the nearest valid one.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        validate_default=False,
    )

    name: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    former_names: ClassVar[tuple[tuple[str, str], ...]] = ()  # of fields, each with the name of today
    # Fields that came when stores were in use: without a value they leave the fingerprint as it was.
    hashed_where_given: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]]  # two names until 0.1; declared so that the registry can say the new one
    packages: ClassVar[tuple[str, ...]]

    @classmethod
    def try_requires(cls) -> None:
        """Import the modules of what is required; `optiframe doctor` calls it, in a process of its own.

        Where a library may import and yet break on use, override it with a tiny run of the part
        in question. Whatever it raises is shown as it is.
        """
        for requirement in cls.requires:
            import_module(module_of(requirement))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _take_what_files_hold(schema, handler)
        return schema

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            problems = explain(error, type(self))
            lines = "; ".join(f"{'.'.join(path)}: {text}" if path else text for path, text in problems)
            title = type(self).name or type(self).__name__
            raise InvalidInput(f"{title}: {lines}", problems) from None

    @classmethod
    def load(cls, **inputs: Any) -> Self:
        """Build from the keys of a table or from keyword arguments; the same as the constructor."""
        return cls(**inputs)

    @classmethod
    def hint_for_unknown_key(cls, key: str, value: Any) -> str:
        """Where a key that is no field of this class belongs, in words; empty when nothing is known."""
        new = dict(cls.former_names).get(key, "")
        return f"`{key}` is now called `{new}`" if new in cls.model_fields else ""

    @classmethod
    def summary(cls) -> str:
        """First line of the class's own docstring."""
        return (cls.__dict__.get("__doc__") or "").strip().partition("\n")[0].strip()

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self)

    def fingerprint(self) -> str:
        """Content hash: equal content gives equal text, in any process."""
        return self._fingerprint

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)) or type(self) is not type(other):
            return NotImplemented
        return self is other or self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields replaced; the new values are validated and nothing cached is kept."""
        fields = type(self).model_fields
        values = {fields[key].alias or key: getattr(self, key) for key in self.model_fields_set}
        unchanged = copy.deepcopy(values) if deep else values
        changed = {fields[k].alias or k if k in fields else k: v for k, v in (update or {}).items()}
        return type(self)(**(unchanged | changed))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{type(self).name or type(self).__name__} does not change: its fields are its parameters; "
            f"keep {name!r} in a local variable, or make it a field"
        )

    def __getstate__(self) -> dict[Any, Any]:
        # Cached properties (factorizations, graphs) live in __dict__ too; they are rebuilt, not pickled.
        state = super().__getstate__()
        fields = type(self).model_fields
        state["__dict__"] = {k: v for k, v in state["__dict__"].items() if k in fields}
        return state

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        # NumPy forgets on the way that an array was read-only; in another process, too, it is.
        _lock(self.__dict__.values())

    def __copy__(self) -> Self:
        return self  # it does not change

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for key in type(self).model_fields:
            value = getattr(self, key)
            if (isinstance(value, np.ndarray) and value.ndim) or sp.issparse(value):
                yield key, _Shape(value)
            else:
                yield key, value


def _lock(values: Iterable[Any]) -> None:
    """Make arrays read-only, those inside sparse matrices and dataclasses too."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        elif sp.issparse(value):
            _lock(getattr(value, part, None) for part in ("data", "indices", "indptr"))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            _lock(vars(value).values() if hasattr(value, "__dict__") else ())


class _Shape:
    """Stands for an array in a repr: its shape says more than its first numbers."""

    def __init__(self, array: Any) -> None:
        kind = "array" if isinstance(array, np.ndarray) else "sparse"
        self.text = f"<{kind} {' x '.join(map(str, array.shape))}>"

    def __repr__(self) -> str:
        return self.text


_WORDS = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "missing": "is missing",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dataclass_type": "must be a table",
}


def explain(error: ValidationError, model: type[BaseModel]) -> list[tuple[tuple[str, ...], str]]:
    """Pydantic's findings as (path of keys, sentence) pairs."""
    found: list[tuple[tuple[str, ...], str]] = []
    choices: dict[str, list[Any]] = {}  # findings on a field that takes one of several types
    for item in error.errors(include_url=False):
        context: dict[str, Any] = item.get("ctx", {})
        cause = context.get("error")
        path = tuple(str(part) for part in item["loc"])
        if isinstance(cause, InvalidInput):
            found.extend((path + inner, text) for inner, text in cause.problems)
        elif path and _has_choices(model, path[0]) and len(path) > 1:
            choices.setdefault(path[0], []).append(item)
        else:
            found.append((path, _sentence(item["type"], context, item, model)))
    for key, items in choices.items():
        # Pydantic reports every type that did not fit; only those of the kind given are of use.
        fitting = [item for item in items if _is_text(item["type"]) == isinstance(item["input"], str)]
        texts = [_sentence(item["type"], item.get("ctx", {}), item, model) for item in fitting or items]
        found.append(((key,), ", or ".join(dict.fromkeys(texts))))
    return found


def _has_choices(model: type[BaseModel], key: str) -> bool:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    annotation = fields[key].annotation if key in fields else None
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return get_origin(annotation) in (Union, UnionType) and len(kinds) > 1


def _is_text(kind: str) -> bool:
    return kind in ("literal_error", "enum") or kind.startswith("string")


def _sentence(kind: str, context: dict[str, Any], item: Any, model: type[BaseModel]) -> str:
    given = item.get("input")
    if kind == "extra_forbidden":
        return unknown_key(model, str(item["loc"][-1]), given)
    if kind in ("literal_error", "enum"):
        hint = nearest(given, _choices(context)) if isinstance(given, str) else ""
        return f"must be one of {context['expected']}, got {_short(given)}{hint}"
    if kind == "missing":
        return _WORDS[kind]
    if kind in _WORDS:
        limits = {k: f"{v:g}" if isinstance(v, float) else v for k, v in context.items()}
        return f"{_WORDS[kind].format(**limits)}, got {_short(given)}"
    if kind == "is_instance_of":
        hint = "; a field of type optiframe.FilePath takes text" if context["class"] == "Path" else ""
        return f"must be a {context['class']}, got {_short(given)}{hint}"
    message = str(item["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def unknown_key(model: type[BaseModel], key: str, value: Any) -> str:
    """The sentence on a key that is no field: where it belongs, or else the nearest field."""
    known = [field.alias or name for name, field in model.model_fields.items()]
    hint = model.hint_for_unknown_key(key, value) if issubclass(model, Record) else ""
    close = "" if hint else nearest(key, known)
    return f"unknown key{close} (valid keys: {', '.join(known) or 'none'}){hint and '; '}{hint}"


def _choices(context: dict[str, Any]) -> list[str]:
    return str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
