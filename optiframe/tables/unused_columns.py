"""Columns of a table that nothing reads, and which of ours they may have been meant for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from optiframe.findings import Finding

_SHOWN = 5  # names in a note before "and N more"
_NEAR = 0.8  # of difflib: `weigth` is weight and `wgt`, which is .67, is among the words below

# What others call these columns, in lower case, without blanks and underscores, and without `id`.
_WORDS = {
    "worker": "annotator rater user judge labeler labeller assessor reviewer voter participant respondent "
    "subject turker coder contributor crowdworker performer",
    "user": "worker annotator rater judge voter participant respondent subject person customer reader",
    "task": "item example instance question object sample image document hit",
    "item": "task object alternative option product",
    "label": "winner choice chosen preferred preference answer response annotation judgment judgement vote "
    "rating outcome result",
    "left": "first a item1 itema itemleft option1 optiona lefthand",
    "right": "second b item2 itemb itemright option2 optionb righthand",
    "margin": "difference diff strength",
    "weight": "wgt wt weights count counts frequency freq multiplicity times",
    "skill": "ability reliability",
    "source": "regulator tf transcriptionfactor from",
    "target": "gene targetgene regulated to",
    "time": "timepoint minutes hours day t",
    "series": "replicate experiment trajectory",
}


def is_row_number(name: str) -> bool:
    """Whether a column is the row numbers that R and pandas write, by its name: none, or `Unnamed: 0`."""
    return not name.strip() or name == "Unnamed: 0"


def likely(ours: str, names: Iterable[str]) -> str | None:
    """The one of these names that our column may be called by: spelled nearly so, or another word for it."""
    words = {ours, *_WORDS.get(ours, "").split()}
    best, found = _NEAR, None
    for name in names:
        plain = re.sub(r"[\W_]+", "", name.lower())
        stem = re.sub(r"(ids?|names?)$", "", plain)
        if plain in words or stem in words or stem.removesuffix("s") in words:
            return name
        near = difflib.SequenceMatcher(None, ours, plain).ratio()
        if near >= best:
            best, found = near, name
    return found


def unused_columns(
    title: str, unused: Sequence[str], absent: Iterable[str] = (), elsewhere: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """A note naming the columns that nothing reads, and asking where one may be one of ours; or nothing.

    Parameters
    ----------
    title
        What the table is called.
    unused
        Its columns that were not read.
    absent
        Our columns that it may have and does not.
    elsewhere
        Names that another table of the problem has for its columns, as when both come from one file.
    """
    others = set(elsewhere)
    names = [name for name in unused if name not in others and not is_row_number(name)]
    if not names:
        return ()
    meant = {name: ours for ours in absent if (name := likely(ours, names)) is not None}
    names.sort(key=lambda name: name not in meant)  # else in the table's order
    shown = ", ".join(map(repr, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = f"{title}: nothing reads the column{'s' if len(names) > 1 else ''} {shown}{more}"
    for name, ours in meant.items():
        text += f'; is {name!r} the {ours}? then map it: columns = {{ {ours} = "{name}" }}'
    return (Finding("note", text, identifier="data.unused-columns"),)
