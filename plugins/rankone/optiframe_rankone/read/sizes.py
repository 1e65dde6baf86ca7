"""Labels that no memory would hold: refused with the size, before anything of that size is allocated."""

from __future__ import annotations

from optiframe.errors import InvalidInput
from optiframe.numbers import size
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.data import LabelTable

_GIB = 2**30
_SCORES = 2 * _GIB
"""Scores of tasks and classes up to this size are never refused: every method needs them several times."""
_EACH = 20  # labels a class; columns of ids or measurements have one or two, sets of many classes hundreds
_CELLS = 100_000_000
"""Entries of all confusion matrices up to which a method that has them is recommended: it takes 1.6 GB."""
_CONFUSION = 8 * _GIB  # of all workers' confusion matrices, of which EM holds two or three


def refuse_ids_as_labels(labels: LabelTable, classes: Ids) -> None:
    """Raise `InvalidInput` where scores of all tasks and classes are large and most classes are rare."""
    needed = 8 * len(labels.task_ids) * len(classes)
    if needed > _SCORES and len(labels) < _EACH * len(classes):
        raise InvalidInput(
            f"{len(labels)} labels have {len(classes)} different values, such as {listed(classes[:3])}; "
            f"scores of each for {len(labels.task_ids)} tasks would take {size(needed, space=' ')}. Such "
            "a column mostly holds ids or measurements: name another with `columns`, or form a few classes"
        )


def too_large_for_confusion(workers: int, classes: int) -> str | None:
    """Why a confusion matrix for each worker cannot be had; None where it can."""
    needed = 8 * workers * classes**2
    if needed <= _CONFUSION:
        return None
    return (
        f"confusion matrices of {workers} workers between {classes} classes would take "
        f"{size(needed, space=' ')}; labels.one-coin-em and rankone.pgd have one skill for each worker "
        "instead"
    )


def recommended(workers: int, classes: int) -> tuple[str, str]:
    """The solver to take for labels of this size, and why."""
    if workers * classes**2 > _CELLS:
        why = f"confusion matrices of {workers} workers and {classes} classes would take too much memory"
        return "labels.one-coin-em", why
    why = (
        "its mean error on five real label sets, which helped to choose it, is lower than that of "
        "labels.dawid-skene, rankone.pgd and the majority"
    )
    return "labels.crowd", why
