"""Collections: many data sets by one name, which the plan of a comparison takes apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from optiframe.errors import BrokenPlugin, InvalidInput, module_of
from optiframe.problems.datasets import DataSet


class Collection(DataSet):
    """Data sets by one name: its fields choose some, and a comparison has a problem for each.

    Lifetime: built when a comparison is planned, and asked for its `members` once. What is planned are
    these, so a member is a data set with a name of its own, and the plan depends on the collection no more.
    """

    @abstractmethod
    def members(self) -> Mapping[str, Mapping[str, Any]]:
        """A title for each member and the table that names it; from a list, without loading any."""

    def checked_members(self) -> Mapping[str, Mapping[str, Any]]:
        """The `members`, held to their form.

        Raises
        ------
        BrokenPlugin
            Where they are not tables by their titles.
        """
        members = self.members()
        if not isinstance(members, Mapping) or not all(
            isinstance(each, Mapping) for each in members.values()
        ):
            raise BrokenPlugin(
                f"{self.name}: members() must give a table for each title, such as "
                '{"small": {"name": "my.data", "rows": 10}}'
            )
        return members

    def inputs(self) -> dict[str, Any]:
        members = self.checked_members()
        title, table = next(iter(members.items()))
        text = ", ".join(
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
            for key, value in table.items()
        )
        raise InvalidInput(
            f"{self.name!r} is a collection of {len(members)} data sets for `optiframe compare`; "
            f"name one of them, such as {title}: dataset = {{{text}}}"
        )

    @classmethod
    def where(cls) -> str:
        return in_library(cls) or super().where()


def in_library(kind: type[DataSet]) -> str:
    """Where a data set is that a library holds: the library, and whether it is installed."""
    for requirement in kind.requires:
        there = find_spec(module_of(requirement)) is not None
        library = requirement.partition(":")[0]
        return f"in {library}" if there else f"not here; run: pip install {library}"
    return ""
