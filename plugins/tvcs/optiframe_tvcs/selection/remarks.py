"""What to know before a choice is trusted: of its proof, its bounds, and the table it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from optiframe.findings import Finding
from optiframe.tables.ids import listed, spelled_alike
from optiframe.tables.number_columns import commas_mean
from optiframe_tvcs.selection.answer import Choice
from optiframe_tvcs.selection.changes import floats
from optiframe_tvcs.selection.data import NO_LIMIT, Counted, ItemTable
from optiframe_tvcs.selection.doubts import nearly_alike, thousands, total_groups, totals


def remarks(choice: Choice, at_most: Mapping[str, Counted]) -> Iterator[Finding]:
    """Findings on a choice, given the upper bounds by view."""
    yield from _of_the_proof(choice)
    yield from _of_the_bounds(choice, at_most)
    yield from of_the_table(choice.items)
    yield from _of_negative_values(choice)
    yield from _ties(choice)


def of_the_table(items: ItemTable) -> Iterator[Finding]:
    """Findings on the table alone: names that may be one, and values that may not be what was meant."""
    yield from _of_the_names(items)
    yield from _of_the_values(items)


def _of_the_proof(choice: Choice) -> Iterator[Finding]:
    if choice.proof is not None and not choice.proof.best:
        yield _warning(
            "not-proved", "this choice is not proved best; give it more time (program_time of tvcs.select)"
        )


def _ties(choice: Choice) -> Iterator[Finding]:
    if choice.proof is not None and choice.proof.changes is not None:
        tied = choice.items.ids[~choice.chosen & (floats(choice.proof.changes.margins) == 0)].tolist()
        if tied:
            exactly = "exactly the same" if choice.items.worths.exact else "the same to 12 digits"
            text = f"another choice is worth {exactly}, with one of these: {listed(tied)}"
            yield _note("tie", text, tied)


def _of_the_bounds(choice: Choice, at_most: Mapping[str, Counted]) -> Iterator[Finding]:
    if not (choice.counts.limits.any() or choice.counts.demands.any()):
        yield _note("no-bounds", "no bound asks for anything, so every item of positive value is chosen")
    for view in choice.items.views:
        bounds = at_most.get(view.name)
        if bounds is not None and (free := view.groups[bounds == NO_LIMIT].tolist()):
            text = f"{view.name} {listed(free)}: no upper bound is given, so there is none"
            yield _note("group-without-bound", text, free)


def _of_the_names(items: ItemTable) -> Iterator[Finding]:
    for what, ids in (("item", items.ids), *((view.name, view.groups) for view in items.views)):
        for alike in spelled_alike(ids):
            shown = " and ".join(repr(one) for one in alike)
            text = f"{what} {shown} count as different; if they are one, spell them alike"
            yield _warning("spelled-twice", text, alike)
    for view in items.views:
        for one, other in nearly_alike(view.groups):
            text = (
                f"{view.name} {one!r} and {other!r} differ by one letter; if they are one, spell them alike"
            )
            yield _note("nearly-alike", text, [one, other])


def _of_the_values(items: ItemTable) -> Iterator[Finding]:
    for text in items.table.notes:
        yield _note("file", text)
    for one in totals(items.ids, items.values):
        text = (
            f"item {one} looks like a total of other rows, with as much {items.value_name} as they have "
            "together; if it is one, delete the row"
        )
        yield _warning("total-row", text, [one])
    for view in items.views:
        for one in total_groups(view, items.values):
            text = (
                f"{view.name} {one} looks like a total, with as much {items.value_name} as every other "
                f"{view.name} together; if it is one, delete it from the table"
            )
            yield _warning("total-row", text, [one])
    shown = thousands(items.table[items.value_name])
    if shown:
        text = (
            f"{items.value_name} {shown} was read as {float(shown):g}; if the point separates thousands, "
            "write numbers without it"
        )
        yield _warning("thousands", text)
    cells = items.table[items.value_name].tolist()
    meaning = commas_mean(cells)
    if meaning:
        at = next(at for at, cell in enumerate(cells) if isinstance(cell, str) and "," in cell)
        read = f"{cells[at]} as {float(items.values[at])}"
        text = f"commas in {items.value_name} were read as {meaning}: {read}"
        yield _note("decimal-comma", text)
    if not (items.values > 0).any():
        text = (
            f"no item has a {items.value_name} above 0, so items are chosen only where a lower bound or "
            "`fixed` asks for them; where smaller is better, change the signs"
        )
        yield _warning("nothing-above-zero", text)


def _of_negative_values(choice: Choice) -> Iterator[Finding]:
    items = choice.items
    negative = items.ids[choice.chosen & (items.values < 0)].tolist()
    if negative:
        text = (
            f"{len(negative)} chosen item{'s have' if len(negative) > 1 else ' has'} a negative value, "
            f"because a lower bound or `fixed` asks for it: {listed(negative)}"
        )
        yield _warning("negative-value", text, negative)


def _finding(level: Literal["note", "warning"], kind: str, text: str, about: list[Any] | None) -> Finding:
    return Finding(level, text, tuple(about or ()), identifier=f"selection.{kind}")


def _note(kind: str, text: str, about: list[Any] | None = None) -> Finding:
    return _finding("note", kind, text, about)


def _warning(kind: str, text: str, about: list[Any] | None = None) -> Finding:
    return _finding("warning", kind, text, about)
