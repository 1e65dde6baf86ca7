"""Findings: what speaks for or against believing an answer, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from optiframe.notebook import block, items


@dataclass(frozen=True)
class Finding:
    """One sentence on whether an answer can be believed.

    `level` is "note" (good to know), "warning" (part of the answer may be wrong) or
    "error" (do not use the answer); `about` names the workers, items or tasks meant.
    `identifier` says which kind of finding this is, as ``labels.reliably-wrong-worker``: the wording
    and the numbers may change, the identifier does not, so that programs can look for it.
    """

    level: Literal["note", "warning", "error"]
    text: str
    about: tuple[Any, ...] = ()
    identifier: str = ""

    def __repr__(self) -> str:
        return f"<{self.level}: {self.text}{f' ({self.identifier})' if self.identifier else ''}>"

    def _repr_html_(self) -> str:
        return block([items([(self.level, self.text)])])
