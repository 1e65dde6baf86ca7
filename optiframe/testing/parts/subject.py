"""What a check of a part looks at: an objective, a set, a problem, or whatever else is no solver."""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry.by_name import Part
from optiframe.testing.cases import NotApplicable
from optiframe.testing.toml import parameters, to_toml

_SHAPES = ((6,), (3, 3), (4, 2), (5,), (4,), (3,), (2,), (1,))
_SIZES = (0.1, 1.0, 1.0, 10.0)  # of random points: near the origin, and far out


@dataclass(frozen=True)
class Subject:
    """A part, the shape of the points it is tried on, and the seed of those points.

    Parameters
    ----------
    part
        What to check.
    shape
        Shape of a point; None: the objective's own, or the first that the part takes.
    seed
        Fixes the random points.
    tolerance
        Error allowed, relative to the numbers compared.
    """

    part: Any
    shape: tuple[int, ...] | None = None
    seed: int = 0
    tolerance: float = 1e-7

    @property
    def title(self) -> str:
        """The part in words."""
        return str(self.part.name or type(self.part).__name__)

    def fail(self, text: str) -> NoReturn:
        """Raise the failure of a check, in words."""
        raise AssertionError(f"{self.title}: {text}")

    def points(self) -> Iterator[Array]:
        """Random points, the same in every check."""
        if getattr(self.part, "point_type", np.ndarray) is not np.ndarray:
            raise NotApplicable(
                f"its points are of type {self.part.point_type.__name__}; this check tries arrays"
            )
        shape, rng = self.point_shape, np.random.default_rng(self.seed)
        for size in _SIZES:
            yield size * rng.standard_normal(shape)

    @property
    def point_shape(self) -> tuple[int, ...]:
        """The shape of the points that the part is tried on."""
        if self.shape is not None:
            return self.shape
        own = getattr(self.part, "shape", None)
        if own is not None:
            return tuple(own)
        for shape in _SHAPES:
            try:
                self.part.check_shape(shape)
            except InvalidInput:
                continue
            return shape
        raise NotApplicable("it takes none of the shapes tried; give the shape of a point")

    @property
    def tried_on(self) -> str:
        """What it is tried on, in words."""
        if isinstance(self.part, Part) and self.part.contract:
            return f"examples that the {self.part.family} checks make"
        if not hasattr(self.part, "offers"):
            return "what it says of itself"
        try:
            return f"points of shape {self.point_shape}"
        except NotApplicable as reason:
            return str(reason)

    def differs(self, one: Any, other: Any, scale: float = 1.0) -> bool:
        """Whether two numbers or arrays differ by more than rounding."""
        return not bool(
            np.max(np.abs(np.asarray(one) - other), initial=0.0) <= self.tolerance * max(1.0, scale)
        )

    def unchanged(self, what: str, point: Array, before: Array) -> None:
        """Fail where an operation has written to its argument."""
        if not np.array_equal(point, before):
            self.fail(f"{what} changes its argument; work on a copy")


def check_fields_survive_a_toml_file(subject: Subject) -> None:
    """Fields written to TOML and read again give an equal part."""
    part: Record = subject.part
    try:
        text = to_toml(part)
    except InvalidInput as error:
        raise NotApplicable(f"its fields have no form in TOML: {error}") from None
    try:
        again = type(part).load(**tomllib.loads(text))
    except InvalidInput as error:
        subject.fail(f"its own fields, read from a TOML file, are refused: {error}")
    if again != part:
        subject.fail(f"its fields change on the way through a TOML file: {part!r} became {again!r}")


def check_unknown_fields_are_refused(subject: Subject) -> None:
    """A field that it does not have raises `InvalidInput`."""
    try:
        type(subject.part).load(**parameters(subject.part), no_such_field=1)
    except InvalidInput:
        return
    subject.fail("an unknown field (no_such_field = 1) is accepted; a typing error would go unnoticed")


def check_a_pickled_copy_is_equal(subject: Subject) -> None:
    """It can be sent to another process, and is the same there."""
    try:
        again = pickle.loads(pickle.dumps(subject.part))
    except Exception as error:  # whatever its fields raise
        subject.fail(f"it cannot be pickled ({type(error).__name__}: {error})")
    if again != subject.part or fingerprint(again) != fingerprint(subject.part):
        subject.fail("a pickled copy is not equal to the original")


RECORD_CHECKS = (
    check_fields_survive_a_toml_file,
    check_unknown_fields_are_refused,
    check_a_pickled_copy_is_equal,
)
