"""An item's lines with what they were made of, and the file that keeps them beside its results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.claims import Line, Verdict, overall
from harness.items import Item

_FILE = "judged.json"
_WORDS: dict[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot discriminate": "cannot discriminate",
    "cannot be checked": "cannot be checked",
    "ran": "ran",
}
_ALONE = "agree without a control"


@dataclass(frozen=True)
class Evaluation:
    """What came out of an item.

    `runs` is their number, `failed` a sentence for each without an answer, `seconds` the processor time
    inside the solvers, `made` the day it was judged, `figure` a file's name beside the page, `older` how
    many of the runs an earlier version of the code or file made.
    """

    item: Item
    size: str
    lines: Sequence[Line]
    runs: int
    failed: Sequence[str]
    seconds: float
    made: str
    figure: str | None
    older: int = 0

    @property
    def verdict(self) -> Verdict:
        """Of the whole item."""
        return overall(self.lines)

    @property
    def counted(self) -> str:
        """How many lines have which verdict, in words."""
        return counted(self.lines)

    def keep(self, folder: Path) -> None:
        """Write it beside the item's results."""
        values = {key: value for key, value in vars(self).items() if key not in ("item", "lines")}
        values |= {"verdict": self.verdict, "lines": [asdict(line) for line in self.lines]}
        (folder / _FILE).write_text(json.dumps(values, indent=1), encoding="utf-8")


def counted(lines: Sequence[Line]) -> str:
    """How many lines have which verdict, in words; those that agree without a control apart."""
    counts = Counter(
        _ALONE if line.verdict == "agrees" and not line.counts else _WORDS[line.verdict] for line in lines
    )
    return ", ".join(
        f"{counts[text]} {text}" for text in dict.fromkeys([*_WORDS.values(), _ALONE]) if counts[text]
    )


def kept(item: Item, folder: Path) -> Evaluation | None:
    """What an earlier call kept of the item; None without one. Nothing is run for it."""
    file = folder / _FILE
    if not file.exists():
        return None
    values = json.loads(file.read_text(encoding="utf-8"))
    del values["verdict"]
    return Evaluation(item, **(values | {"lines": [Line(**line) for line in values["lines"]]}))
