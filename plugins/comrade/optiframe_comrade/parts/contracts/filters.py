"""The contract of filters, as plain functions: one for each thing they must keep."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe.testing import NotApplicable, Subject
from optiframe_comrade.parts.kinds import Rule, Selecting
from optiframe_comrade.parts.metric import metric_of

_WORKERS, _WIDTH = 21, 5
_TRIMS = (0, 1, 4)  # multi-Krum needs 2 trim + 3 vectors, Bulyan 4 trim + 3
_UNITS = (1e-3, 3.0, 1e6)
_FAR = (1e6, 1e140)  # radii of the honest vectors; a square of the latter is still finite
_ROUNDING = 1e-9  # of a share of workers


def _rows(subject: Subject, count: int = _WORKERS) -> Array:
    """Vectors of workers that are honest, around a common one."""
    width = _WIDTH if subject.shape is None else math.prod(subject.shape)
    return 2.0 + np.random.default_rng(subject.seed).standard_normal((count, width))


def _rules(subject: Subject) -> Iterator[Rule]:
    """The filter, and the filter within a metric where it asks for one."""
    yield subject.part
    if subject.part.in_metric:
        width = _rows(subject).shape[1]
        block = np.eye(width)[:, : min(2, width)]
        metric = metric_of(np.linspace(0.5, 2.0, width), block, block * [3.0, 0.5][: block.shape[1]])
        yield subject.part.within(metric, False)
        yield subject.part.within(metric, True)


def check_an_aggregate_is_one_vector(subject: Subject) -> None:
    """Of m vectors of d finite numbers comes one, the same each time; the vectors stay as they were."""
    rows = _rows(subject)
    for rule in _rules(subject):
        for trim in _TRIMS:
            before = rows.copy()
            answer = np.asarray(rule.aggregate(rows, trim))
            subject.unchanged("aggregate", rows, before)
            if answer.shape != rows.shape[1:] or answer.dtype != np.float64:
                subject.fail(
                    f"aggregate gives the shape {answer.shape} and type {answer.dtype} for {rows.shape[0]} "
                    f"vectors of {rows.shape[1]} numbers; it must be ({rows.shape[1]},) and float64"
                )
            if not np.isfinite(answer).all():
                subject.fail("aggregate gives a number that is not finite for finite vectors")
            if not np.array_equal(answer, rule.aggregate(rows.copy(), trim)):
                subject.fail("aggregate gives two answers for the same vectors")


def check_the_order_of_workers_changes_nothing(subject: Subject) -> None:
    """Vectors in another order give the same answer."""
    rows = _rows(subject)
    order = np.random.default_rng(subject.seed).permutation(len(rows))
    for rule in _rules(subject):
        for trim in _TRIMS:
            one, other = rule.aggregate(rows, trim), rule.aggregate(rows[order], trim)
            if subject.differs(one, other):
                subject.fail(
                    f"with trim {trim} the same vectors in another order give another answer, off by "
                    f"{number(np.abs(one - other).max())}"
                )


def check_equal_vectors_give_that_vector(subject: Subject) -> None:
    """Where all workers send one vector, it is the answer."""
    vector = _rows(subject)[0]
    for rule in _rules(subject):
        for trim in _TRIMS:
            answer = rule.aggregate(np.tile(vector, (_WORKERS, 1)), trim)
            if subject.differs(answer, vector, float(np.abs(vector).max())):
                subject.fail(
                    f"with trim {trim}, where all workers send one vector, the answer is off by "
                    f"{number(np.abs(answer - vector).max())}"
                )


def check_kept_rows_are_there(subject: Subject) -> None:
    """The rows said to be kept are numbers of rows, rising, each once, and at least one."""
    rows = _rows(subject)
    for rule in _rules(subject):
        for trim in _TRIMS:
            kept = rule.kept(rows, trim)
            if kept is None:
                raise NotApplicable("it does not choose among the vectors")
            found = np.asarray(kept)
            if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
                subject.fail(f"kept gives {kept!r:.60}; it must be the numbers of at least one row")
            if found[0] < 0 or found[-1] >= len(rows) or (np.diff(found) <= 0).any():
                subject.fail(
                    f"kept gives {found.tolist()} of {len(rows)} rows; they must be rising, each once, from "
                    f"0 to {len(rows) - 1}"
                )


def check_a_selection_is_averaged(subject: Subject) -> None:
    """A filter that selects gives the mean of the rows it keeps."""
    if not isinstance(subject.part, Selecting):
        raise NotApplicable("it is no filter that selects (`Selecting`)")
    rows = _rows(subject)
    for trim in _TRIMS:
        answer = subject.part.aggregate(rows, trim)
        if subject.differs(answer, rows[subject.part.kept(rows, trim)].mean(axis=0)):
            subject.fail(f"with trim {trim} the answer is not the mean of the rows it says it keeps")


def check_with_nobody_left_out_it_is_the_mean(subject: Subject) -> None:
    """A filter that says it trims (`trims = True`) is the plain mean with a trim of 0."""
    if not subject.part.trims:
        raise NotApplicable("it does not say that it is the mean with a trim of 0 (`trims = True`)")
    rows = _rows(subject)
    for rule in _rules(subject):
        off = np.abs(rule.aggregate(rows, 0) - rows.mean(axis=0))
        if subject.differs(off, 0.0):
            subject.fail(
                f"with a trim of 0 the answer is off the mean by {number(off.max())}; set trims = False"
            )


def check_the_unit_changes_nothing_else(subject: Subject) -> None:
    """Vectors in another unit give the same answer in that unit."""
    if not subject.part.scales:
        raise NotApplicable("it says that its answer hangs on the unit (`scales = False`)")
    rows = _rows(subject)
    for rule in _rules(subject):
        for trim in _TRIMS:
            for unit in _UNITS:
                one, other = rule.aggregate(rows, trim), rule.aggregate(unit * rows, trim) / unit
                if subject.differs(one, other):
                    subject.fail(
                        f"vectors {unit:g} times as long give an answer that is not {unit:g} times as long, "
                        f"but off by {number(np.abs(one - other).max())} before that; if this is meant, set "
                        "scales = False"
                    )


def check_far_lies_do_not_carry_it_away(subject: Subject) -> None:
    """Fewer liars than the share it says it withstands, far off, leave the answer among the honest vectors.

    They agree on one place, or lie in all directions. The answer may be as far from the honest mean as the
    geometric median, 2 (m - f)/(m - 2 f) radii of the honest vectors, times sqrt(d) for medians by
    coordinate.
    """
    limit = subject.part.fails_from
    if limit is None:
        raise NotApplicable("it does not say what share of liars it withstands (`fails_from`)")
    lies = min(math.ceil((limit - _ROUNDING) * _WORKERS) - 1, (_WORKERS - 1) // 2)
    if lies < 1:
        raise NotApplicable(f"it says that it may fail with {percent(limit)} of liars (`fails_from`)")
    honest = _rows(subject, _WORKERS - lies)
    middle = honest.mean(axis=0)
    radius = float(np.linalg.norm(honest - middle, axis=1).max())
    room = 2 * len(honest) / (_WORKERS - 2 * lies) * math.sqrt(len(middle)) * radius
    ways = np.random.default_rng(subject.seed + 1).standard_normal((lies, len(middle)))
    for rule in _rules(subject):
        for far in _FAR:
            for what, way in (("at one place", np.tile(ways[0], (lies, 1))), ("in all directions", ways)):
                wrong = middle + far * radius * way / np.linalg.norm(way, axis=1)[:, np.newaxis]
                off = float(np.linalg.norm(rule.aggregate(np.vstack([wrong, honest]), lies) - middle))
                if not off <= room:
                    subject.fail(
                        f"{lies} of {_WORKERS} vectors that lie {far:g} radii off, {what}, carry the answer "
                        f"{number(off / radius)} radii from the honest mean; it says that it withstands less "
                        f"than {percent(limit)} (`fails_from`)"
                    )


FILTER_CHECKS = (
    check_an_aggregate_is_one_vector,
    check_the_order_of_workers_changes_nothing,
    check_equal_vectors_give_that_vector,
    check_kept_rows_are_there,
    check_a_selection_is_averaged,
    check_with_nobody_left_out_it_is_the_mean,
    check_the_unit_changes_nothing_else,
    check_far_lies_do_not_carry_it_away,
)
