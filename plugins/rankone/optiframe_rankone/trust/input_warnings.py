"""Ids and classes that are probably not meant: infinite numbers, 1 beside "1", Cat beside cat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, nearest
from optiframe.problems.problem import Finding
from optiframe.tables.read import Coded, Table
from optiframe_rankone.ids import Codes, Ids, listed

if TYPE_CHECKING:
    from optiframe_rankone.problem import LabelAggregation

_FEW = 3
_IN_SO_MANY = 10_000
"""A class is rare up to 3 labels, or one label in 10,000: how often one person mistypes a word."""
_TIMES = 20
"""Every other class must have so many times the labels of a rare one: where there are many small
classes, a small one is nothing strange."""


def refuse_infinite(
    table: Table, name: str, codes: Codes, ids: Ids, rows: NDArray[np.intp] | None = None
) -> None:
    """Raise `InvalidInput` where an id of a column is an infinite number, naming its row.

    ``codes`` are those of the given rows; of all of them by default.
    """
    if ids.dtype.kind not in "fO":
        return
    endless = [isinstance(value, float) and abs(value) == np.inf for value in ids.tolist()]
    if any(endless):
        at = int(np.flatnonzero(np.asarray(endless)[codes])[0])
        raise InvalidInput(
            f"{table.title} {table.place(at if rows is None else int(rows[at]))}: {name} is "
            f"{ids[codes[at]]}; an infinite number is no id: drop the row or give it one"
        )


def look_alike(table: Table, name: str, ids: Ids) -> tuple[str, ...]:
    """Text that occurs in a column beside another id that prints the same, such as "1" and 1 or 1.0."""
    if isinstance(table.parts[name], Coded) or ids.dtype != object:
        return ()
    texts = {value for value in ids.tolist() if isinstance(value, str)}
    others = {_printed(value) for value in ids.tolist() if not isinstance(value, str)}
    return tuple(sorted(texts & others))


def classes(problem: LabelAggregation) -> Iterator[Finding]:
    """Classes that may be slips: written in several ways, or hardly ever given; true ones never given.

    A class too many changes every answer, since chances to be wrong are shared between the classes.
    """
    count = np.bincount(problem.label_codes, minlength=len(problem.classes))
    alike = _written_differently(problem.classes)
    if alike:
        yield _in_several_ways(problem.classes, count, alike)
    yield from _rare(problem, count, [code for codes in alike for code in codes])
    yield from _only_true(problem)


def _written_differently(ids: Ids) -> list[list[int]]:
    """Codes of classes that differ only in capitals or blanks, those of one word together."""
    if ids.dtype.kind not in "OU":
        return []
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for code, label in enumerate(ids.tolist()):
        if isinstance(label, str):
            forms["".join(label.casefold().split())].append(code)
    return [codes for codes in forms.values() if len(codes) > 1]


def _in_several_ways(ids: Ids, count: NDArray[np.int64], alike: list[list[int]]) -> Finding:
    said = [" and ".join(f"{ids[code]!r} ({count[code]})" for code in codes) for codes in alike]
    return Finding(
        "warning",
        "classes that differ only in capitals or blanks are taken for different ones; write each in one way "
        f"(labels in brackets): {listed(said)}",
        tuple(ids[code] for codes in alike for code in codes),
    )


def _rare(problem: LabelAggregation, count: NDArray[np.int64], said: list[int]) -> Iterator[Finding]:
    """Classes given hardly ever, beside others that are all given often; and never by two for one task.

    Not those of which something else was `said`.
    """
    labels, codes, ids = problem.labels, problem.label_codes, problem.classes
    rare = (count > 0) & (count <= max(_FEW, len(labels) // _IN_SO_MANY))
    common = count[~rare & (count > 0)]
    if not rare.any() or not len(common) or common.min() < _TIMES * count[rare].max():
        return
    rows = np.flatnonzero(rare[codes])
    task, code = labels.task[rows].astype(np.int64), codes[rows].astype(np.int64)
    place, times = np.unique(task * len(ids) + code, return_counts=True)
    rare[place[times > 1] % len(ids)] = False  # two workers saw it in one task: no slip
    rare[said] = False
    for one in np.flatnonzero(rare).tolist():
        here = rows[code == one]
        who = labels.worker_ids[np.unique(labels.worker[here])]
        where = labels.task_ids[np.unique(labels.task[here])]
        often = "only once" if count[one] == 1 else f"only {count[one]} times"
        others = [label for label in ids[count > count[one]].tolist() if isinstance(label, str)]
        meant = nearest(ids[one], others) if isinstance(ids[one], str) else ""
        yield Finding(
            "warning",
            f"the class {ids[one]!r} was given {often} in {len(labels)} labels (by {listed(who)}, for "
            f"{listed(where)}); if it is a slip, mend it: a class too many changes every answer{meant}",
            (ids[one],),
        )


def _only_true(problem: LabelAggregation) -> Iterator[Finding]:
    """True labels that are no class, and so missed by every answer."""
    known, ids, first = problem.truth_codes, problem.true_classes, len(problem.classes)
    missed = np.flatnonzero(known >= first)
    if not len(missed):
        return
    said = []
    for code in range(first, len(ids)):
        tasks = problem.labels.task_ids[known == code]
        said.append(f"{ids[code]} ({listed(tasks)})")
    number = f"{len(said)} true label{'' if len(said) == 1 else 's'}"
    yield Finding(
        "warning",
        f"{number} that no worker ever gave: {listed(said)}; no answer can be right there, which the metrics "
        "count as wrong",
        tuple(problem.labels.task_ids[missed].tolist()),
    )


def _printed(value: object) -> str:
    """As `str`, but 1.0 as 1, which is the same id."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
