"""Named data sets: looked up in the user's folders, then the cache, then downloaded."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from optiframe.described import Described


class DataSet(Described):
    """Data by name: `problem` says which problem it is for, `inputs()` gives that problem's inputs.

    Lifetime: built once from its parameters (a generator has some, a file has none); the
    data is only read or made when `inputs` is called.
    """

    problem: ClassVar[str] = ""

    @abstractmethod
    def inputs(self) -> dict[str, Any]:
        """The keyword inputs of the problem this data is for."""
