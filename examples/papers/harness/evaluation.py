"""An item's lines with what they were made of, as JSON beside its results and beside its page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.claims import Line, Verdict, Whole, overall
from harness.items import Item
from harness.origin import Origin

_WORDS: dict[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot be checked": "cannot be checked",
    "cannot discriminate": "cannot discriminate",
    "no evidence": "are no evidence",
    "ran": "ran",
}
_ALONE = "agree without a control"


@dataclass(frozen=True)
class Evaluation:
    """What came out of an item.

    `runs` is their number, `failed` a sentence for each without an answer, `older` how many of the runs an
    earlier version of the code or file made, `figure` a file's name beside the page.
    """

    item: Item
    size: str
    lines: Sequence[Line]
    runs: int
    failed: Sequence[str]
    figure: str | None
    origin: Origin
    older: int = 0

    @property
    def verdict(self) -> Whole:
        """Of the whole item."""
        return overall(self.lines)

    @property
    def counted(self) -> str:
        """How many lines have which verdict, in words."""
        return counted(self.lines)

    def keep(self, file: Path) -> None:
        """Write it as JSON."""
        values = {key: value for key, value in vars(self).items() if key not in ("item", "lines", "origin")}
        values |= {"verdict": self.verdict, "origin": asdict(self.origin)}
        values |= {"lines": [asdict(line) for line in self.lines]}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def counted(lines: Sequence[Line]) -> str:
    """How many lines have which verdict, in words; those that agree without a control apart."""
    counts = Counter(
        _ALONE if line.verdict == "agrees" and not line.counts else _WORDS[line.verdict] for line in lines
    )
    return ", ".join(
        f"{counts[text]} {text}" for text in dict.fromkeys([*_WORDS.values(), _ALONE]) if counts[text]
    )


def kept(item: Item, file: Path) -> Evaluation | None:
    """What an earlier call kept of the item; None without one. Nothing is run for it."""
    if not file.exists():
        return None
    values = json.loads(file.read_text(encoding="utf-8"))
    del values["verdict"]
    made = {"lines": [Line(**line) for line in values["lines"]], "origin": Origin(**values["origin"])}
    return Evaluation(item, **(values | made))


def changes(before: Evaluation | None, now: Evaluation) -> list[str]:
    """What is different from an earlier evaluation of the same item, a sentence each."""
    if before is None:
        return ["new"]
    said = [] if before.verdict == now.verdict else [f"{before.verdict} before, {now.verdict} now"]
    old = {line.what: line for line in before.lines}
    for line in now.lines:
        was = old.pop(line.what, None)
        if was is None:
            said.append(f"new line: {line.what}: {line.verdict}")
        elif was.verdict != line.verdict:
            said.append(f"{line.what}: {was.verdict} before, {line.verdict} now")
        elif was.ours != line.ours:
            said.append(f"{line.what}: {was.ours} before, {line.ours} now")
    return said + [f"line left out: {what}" for what in old]
