"""The tables of a pairwise-ranking problem, checked and turned into codes.

Comparisons have the columns `left, right` and `label` (who won) or `margin` (by how much), and
optionally `worker` and `weight`. Ids are anything hashable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked
from optiframe.tables.pairs import empty_labels, read_preferences, spelled_twice
from optiframe.tables.read import Table, encode, headings, missing
from optiframe.tables.unused_columns import likely, unused_columns
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.read.covariates import read_covariates, read_names, refuse_constant
from optiframe_hodgerank.read.formats import Format, open_table

# Scores of six items, some pairs of them weighing so many times more than the others, were off by 2e-7
# at 1e10, by 3e-4 at 1e13 and by .3 at 1e16; at 1e20 factorizations failed.
WIDEST = 1e10
# Squares must stay numbers above 0: those of margins, and, with their weights, the sums of them.
_LARGEST_MARGIN = 1e140
_LARGEST_SUM = 1e304
READING = ("columns", "covariates", "position", "format", "outcomes")
"""Fields of the problem that say how a table of comparisons is to be read."""
COLUMNS = ("worker", "left", "right", "label", "margin", "weight", "item", "score")


def read_covariate_names(value: Any) -> tuple[str, ...]:
    """Names of columns of the comparisons that are covariates, as by `read_names`."""
    return read_names(value, COLUMNS)


def read_comparisons(value: Any, info: ValidationInfo) -> Comparisons | None:
    """Comparisons from a data frame, a mapping of columns, or a CSV or Parquet file.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for an item compared with itself, a label that is
        neither item nor a tie, a margin that is not finite or beyond 1e140, or a weight that is not positive,
        naming the rows; for a covariate that is not a finite number or never changes; when label and
        margin are both given, when labels are true or false,
        when all margins are below 1e-140, when weights times squared margins are beyond what can be
        added up, and when weights differ beyond what scores survive.
    """
    if isinstance(value, Comparisons):
        return value
    if not info.data.keys() >= set(READING):  # one is wrong and reported; reading on would only add noise
        return None
    found = comparisons_of_table(value, **{name: info.data[name] for name in READING})
    refuse_constant(found)
    return found


def comparisons_of_table(
    value: Any,
    *,
    columns: Mapping[str, str],
    covariates: Sequence[str] = (),
    position: bool = False,
    format: Format | None = None,
    outcomes: Mapping[str, str] | None = None,
) -> Comparisons:
    """As `read_comparisons`, for a batch of them too: a covariate that is the same in every row is taken."""
    table, stands, recognized = open_table(value, columns, covariates, format)
    if "label" not in table.columns and "margin" not in table.columns:
        raise InvalidInput(
            f"{table.title} has no column 'label' (who won: the id of left or right) and no 'margin' (by how "
            f"much left is preferred); other names can be mapped with `columns`{_mapping(headings(value))}"
        )
    if "label" in table.columns and "margin" in table.columns:
        raise InvalidInput(
            f"{table.title} has both a label and a margin; keep one, or leave the other out: "
            "format = 'votes' reads the label, and format = 'margin' the margin"
        )
    graded = "margin" in table.columns
    pairs, margin, weight = read_preferences(table, {**stands, **(outcomes or {})})
    _check_size(table, margin, weight)
    if weight is not None and weight.size and weight.max() / WIDEST > weight.min():
        heaviest, lightest = int(weight.argmax()), int(weight.argmin())
        raise InvalidInput(
            f"{table.title}: {table.place(heaviest)} weighs {weight[heaviest]:g} and {table.place(lightest)} "
            f"weighs {weight[lightest]:g}; weights more than {WIDEST:g} times apart let the scores drown in "
            "rounding: leave the lightest comparisons out, or give the heaviest a smaller weight"
        )
    values = read_covariates(table, covariates, position)
    worker, worker_ids = _workers(table)
    return Comparisons(
        locked(pairs.first),
        locked(pairs.second),
        locked(margin),
        None if weight is None else locked(weight),
        None if worker is None else locked(worker),
        locked(pairs.item_ids),
        locked(worker_ids),
        graded,
        table.backend,
        table.lines,
        (
            *recognized,
            *spelled_twice(table.title, "item", pairs.item_ids),
            *spelled_twice(table.title, "worker", worker_ids),
            *unused_columns(
                table.title,
                table.unused,
                [name for name in ("worker", "weight") if name not in table and name not in columns],
                columns.values(),
            ),
            *empty_labels(table, margin),
            *_without_worker(table, worker),
            *_one_worker(worker, worker_ids),
        ),
        values,
    )


def _mapping(heads: Sequence[str]) -> str:
    """How to map the column that looks like the winner's, in words; empty where none does."""
    found = likely("label", heads)
    return "" if found is None else f', such as columns = {{ label = "{found}" }}'


def _without_worker(table: Table, worker: NDArray[np.int64] | None) -> tuple[Finding, ...]:
    """A note on comparisons of which no worker is known beside others, or in a column for it; or nothing."""
    if "worker" not in table:
        return ()
    if worker is None:
        text = "the column worker is empty, so nothing is reported about workers"
        return (Finding("note", text, identifier="ranking.empty-worker-column"),)
    rows = np.flatnonzero(worker < 0)
    if not len(rows):
        return ()
    many = "comparison" if len(rows) == 1 else "comparisons"
    which = f"{len(rows)} {many} without a worker ({table.places(rows)})"
    how = "it counts" if len(rows) == 1 else "they count"
    text = f"{which}: {how} in the ranking, and for none of the workers"
    return (Finding("note", text, identifier="ranking.comparisons-without-worker"),)


def _one_worker(worker: NDArray[np.int64] | None, worker_ids: Ids) -> tuple[Finding, ...]:
    """A warning where all comparisons are by one worker; or nothing."""
    if worker is None or len(worker_ids) > 1 or (worker < 0).any():
        return ()
    text = (
        f"all votes are by worker {worker_ids[0]}: no other votes check them, and intervals say nothing "
        "about how others would vote; for a ranking that holds for others, ask several people"
    )
    return (Finding("warning", text, (worker_ids[0],), identifier="ranking.one-worker"),)


def _workers(table: Table) -> tuple[NDArray[np.int64] | None, Ids]:
    """Codes of the workers, -1 where there is none; None when no row has one."""
    if "worker" not in table.columns:
        return None, np.empty(0, dtype=object)
    known = np.flatnonzero(~missing(table["worker"]))
    if not len(known):
        return None, np.empty(0, dtype=object)
    code, ids = encode(table["worker"][known], f"{table.title} workers")
    if len(known) == len(table):
        return code, ids
    worker = np.full(len(table), -1, dtype=np.int64)
    worker[known] = code
    return worker, ids


def _check_size(table: Table, margin: Array, weight: Array | None) -> None:
    """Refuse margins whose squares, weighted and summed, would be infinite, or all of them 0."""
    if not margin.size:
        return
    worst = int(np.abs(margin).argmax())
    size = abs(float(margin[worst]))
    if size > _LARGEST_MARGIN:
        raise InvalidInput(
            f"{table.title} {table.place(worst)}: the margin is {margin[worst]:g}; squares of margins beyond "
            f"{_LARGEST_MARGIN:g} are too large to add up: give margins in a larger unit"
        )
    if 0 < size < 1 / _LARGEST_MARGIN:
        raise InvalidInput(
            f"{table.title} {table.place(worst)}: the margin is {margin[worst]:g}, and no other is larger; "
            f"squares of margins below {1 / _LARGEST_MARGIN:g} vanish: give margins in a smaller unit"
        )
    if weight is None:
        return
    heaviest = int(weight.argmax())
    most = float(weight[heaviest])
    told = f"{table.title} {table.place(heaviest)}: the weight is {most:g}, with margins up to {size:g}; "
    if most > _LARGEST_SUM / len(weight) / max(size, 1.0) ** 2:
        raise InvalidInput(
            f"{told}weights times squared margins are too large to add up: divide all weights by one number"
        )
    if most * min(size or 1.0, 1.0) ** 2 < 1 / _LARGEST_SUM:
        raise InvalidInput(
            f"{told}weights, or weights times squared margins, vanish: multiply all weights by one number"
        )
