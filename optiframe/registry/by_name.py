"""Parts: pieces of a method that are chosen by name and that anybody may bring.

A method with an exchangeable piece (a filter, a compressor) declares a family: a base class
with `family` set and the operations the piece must have. Everybody's pieces of that family
are classes named ``family.piece``, registered like solvers. The method takes one as a field::

    filter: Annotated[Filter, ByName()] = Field(default=Norm(), description="who is left out")

and its user writes ``filter = "norm"``, or ``filter = {name = "norm", ...}`` with parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from optiframe.errors import InvalidInput
from optiframe.records.fields import Accepts
from optiframe.records.record import Record


class Part(Record):
    """A piece of a method; a frozen record whose fields are its parameters.

    A family is a subclass that sets `family` and says, as abstract methods, what a piece
    must offer. A piece is a subclass of that with `name`, which reads ``family.piece``.
    """

    family: ClassVar[str] = ""
    contract: ClassVar[Sequence[Callable[[Any], None]] | str] = ()
    """Checks of a family's own, which its base class gives; `optiframe check` tries them on each piece.

    Each is a function of an `optiframe.testing.Subject`, named ``check_...``. It raises `AssertionError`
    (by `Subject.fail`) where the piece breaks the rule, and `optiframe.testing.NotApplicable` where there is
    nothing to look at. The checks of every record come first. Checks that import the family themselves are
    named by their place, ``"module:NAME"``, and imported when they are tried.
    """

    def table(self) -> dict[str, Any]:
        """What a person writes for this piece: its name within the family, and its parameters."""
        return {"name": self.name.removeprefix(f"{self.family}."), **self.model_dump(by_alias=True)}


P = TypeVar("P", bound=Part)


def part(family: type[P], chosen: Any) -> P:
    """A piece of a family from its name, a table with its name and parameters, or the piece itself.

    The name may be given with the family (``filter.norm``) or without (``norm``).

    Raises
    ------
    InvalidInput
        When there is no piece of that name in the family, naming the nearest, or a parameter
        is wrong.
    """
    if isinstance(chosen, family):
        return chosen
    if isinstance(chosen, str | Mapping):
        from optiframe.registry.registry import build

        table = {"name": chosen} if isinstance(chosen, str) else dict(chosen)
        name, head = table.get("name"), f"{family.family}."
        if not isinstance(name, str) or not name.strip():
            known = ", ".join(names(family))
            text = f"is missing: which {family.family}? (known: {known})"
            raise InvalidInput(f"name {text}", [(("name",), text)])
        table["name"] = name if name.startswith(head) else head + name
        built = build("part", table)
        if isinstance(built, family):
            return built
        chosen = built
    raise InvalidInput(
        f"must be a {family.family}: its name, a table with its name, or an object "
        f"(a subclass of {family.__module__}.{family.__qualname__}), got {chosen!r:.60}"
    )


def names(family: type[Part]) -> list[str]:
    """The names of a family's registered pieces, without the family."""
    from optiframe.registry.registry import registry

    head = f"{family.family}."
    return [e.name.removeprefix(head) for e in registry().entries("part") if e.name.startswith(head)]


def _of_kind(base: type[Record], chosen: Any) -> Record:
    """A solver, constraint set, objective ... from its name, its table or itself."""
    from optiframe.registry.contracts import kind_of
    from optiframe.registry.registry import build

    base = cast(Any, base.__pydantic_generic_metadata__["origin"]) or base  # Solver, of Solver[...]
    kind = kind_of(base)
    built = build(kind, chosen) if isinstance(chosen, str | Mapping) else chosen
    if isinstance(built, base):
        return built
    raise InvalidInput(
        f"must be a {kind}: its name, a table with its name, or an object "
        f"(a subclass of {base.__module__}.{base.__qualname__}), got {chosen!r:.60}"
    )


@dataclass(frozen=True)
class ByName(Accepts):
    """Field metadata: ``Annotated[Family, ByName()]`` takes a piece of that family, its name or its table.

    In place of a family of parts it takes what else has names: ``Annotated[Solver, ByName()]`` is a solver
    inside another one, ``Annotated[ConstraintSet, ByName()]`` a set.
    """

    words: str = "a name, or a table with the name and its parameters"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choose = part if issubclass(source, Part) else _of_kind
        # By default pydantic would write the fields of the base only, and no name.
        written = Part.table if issubclass(source, Part) else _table
        return core_schema.no_info_plain_validator_function(
            lambda value: choose(source, value),
            serialization=core_schema.plain_serializer_function_ser_schema(written),
        )


def _table(chosen: Record) -> dict[str, Any]:
    return {"name": chosen.name, **chosen.model_dump(by_alias=True)}
