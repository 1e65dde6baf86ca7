"""Expression time series and known networks: reading and checking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed, locked
from optiframe.tables.matrix import is_matrix, read_matrix
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe_tvcs.networks.data import Transitions

_LARGEST = 1e150  # the sum of squares of any number of them that fits into memory is finite
COLUMNS = ("series", "time", "gene", "value", "source", "target", "edge")


def read_expression(value: Any, info: ValidationInfo) -> Transitions | None:
    """Time series from a wide table (series, time, a column for each gene) or a long one.

    A long table has the columns series, time, gene, value. `series` may be left out when there
    is one. Rows come in any order. One series may also have a row for each gene: the genes in the first
    column, gene, and the times as headings.

    Raises
    ------
    InvalidInput
        For what `read_table` finds; for a value that is no number, a time that occurs twice in a
        series, a missing gene at some time and a series of one point, naming the rows; and for
        fewer than two genes.
    """
    if isinstance(value, Transitions):
        return value
    columns = info.data.get("columns")
    if columns is None:  # wrong and reported; reading on would only add noise
        return None
    names = headings(value)
    mapped = {ours: columns.get(ours, ours) for ours in COLUMNS}
    ours = {mapped[name]: name for name in ("gene", "time", "value")}
    gene, level, sides = mapped["gene"], mapped["value"], (mapped["gene"], mapped["time"])
    if names[:1] == [gene] and is_matrix(names, sides, level):
        matrix, every = read_matrix(value, sides, level, title="expression")
        for name, ids in every.items():
            known = set(matrix[name].tolist())
            without = [one for one in ids.tolist() if one not in known]
            if without:
                raise InvalidInput(
                    f"{matrix.title}: {name} {listed(without)}: all cells are empty; leave it out"
                )
        table = replace(matrix, parts={ours[name]: part for name, part in matrix.parts.items()})
        series, time, genes, levels = _long(table)
    elif gene in names and level in names:
        table = read_table(value, ("time", "gene", "value"), ("series",), title="expression", rename=columns)
        series, time, genes, levels = _long(table)
    else:
        wide = [name for name in names if name not in (mapped["series"], mapped["time"])]
        # A gene may be called as one of our own columns: keys of the genes are kept apart from those.
        rename = {key: columns[key] for key in ("series", "time") if key in columns}
        table = read_table(value, ("time", *wide), ("series",), title="expression", rename=rename)
        series, time = _series(table), numbers(table, "time")
        genes = np.array(wide, dtype=object)
        levels = np.stack([numbers(table, name) for name in wide]) if wide else np.empty((0, len(table)))
    if len(genes) < 2:
        raise InvalidInput(
            f"{table.title} has {len(genes)} gene column(s); give at least two beside series and time, or "
            "the columns series, time, gene, value"
        )
    return _transitions(series, time, genes, levels, table)


def _series(table: Table) -> NDArray[Any]:
    if "series" not in table:
        return np.zeros(len(table))
    empty = np.flatnonzero(missing(table["series"]))
    if len(empty):
        raise InvalidInput(
            f"{table.title} {table.places(empty)}: series is empty; drop the row or give a value, or leave "
            "out the column where there is one series"
        )
    return table.encoded("series", f"{table.title} series")[0]


def _long(table: Table) -> tuple[NDArray[Any], Array, Ids, Array]:
    """Series, time and levels (genes, points) of a long table."""
    code, genes = table.encoded("gene", f"{table.title} genes")
    points = np.stack([_series(table), numbers(table, "time")])
    distinct, point = np.unique(points, axis=1, return_inverse=True)
    cell = point.reshape(-1).astype(np.int64) * len(genes) + code
    first = np.unique(cell, return_index=True)[1]
    if len(first) < len(cell):
        again = np.setdiff1d(np.arange(len(cell)), first)
        row = int(again[0])
        raise InvalidInput(
            f"{table.title} {table.places(again)}: gene {genes[code[row]]} has a value at this time of this "
            "series already; keep one"
        )
    levels = np.full((distinct.shape[1], len(genes)), np.nan)
    levels.reshape(-1)[cell] = numbers(table, "value")
    gap = np.argwhere(np.isnan(levels))
    if len(gap):
        at, gene = gap[0]
        row = int(np.flatnonzero(point.reshape(-1) == at)[0])
        raise InvalidInput(
            f"{table.title}: gene {genes[gene]} has no value at the time and series of {table.place(row)}; "
            "give every gene a value at every time"
        )
    return distinct[0], distinct[1], genes, levels.T


def _transitions(series: NDArray[Any], time: Array, genes: Ids, levels: Array, table: Table) -> Transitions:
    order = np.lexsort((time, series))
    series, time, levels = series[order], time[order], levels[:, order]
    same = series[1:] == series[:-1]
    twice = np.flatnonzero(same & (time[1:] == time[:-1]))
    if len(twice):
        raise InvalidInput(
            f"{table.title}: time {time[twice[0]]:g} occurs twice in one series ("
            f"{table.place(int(order[twice[0]]))} and {table.place(int(order[twice[0] + 1]))}); number the "
            "series in a column series"
        )
    starts = np.flatnonzero(np.append(True, ~same))
    alone = starts[np.diff(np.append(starts, len(series))) == 1]
    if len(alone):
        raise InvalidInput(
            f"{table.title} {table.place(int(order[alone[0]]))}: a series of one point; it needs two at least"
        )
    before = np.flatnonzero(same)
    steps = time[before + 1] - time[before]
    even = bool(np.allclose(steps, steps[0], atol=0.0))  # whatever the unit of time
    largest = np.abs(levels).max(axis=1)
    if largest.max() > _LARGEST:
        gene = int(largest.argmax())
        raise InvalidInput(
            f"{table.title}: gene {genes[gene]} has a value of size {number(largest[gene])}, whose square is "
            f"beyond any number; divide all values by a common factor (at most {_LARGEST:g} is possible)"
        )
    states, changes = levels[:, before], levels[:, before + 1] - levels[:, before]
    return Transitions(
        locked(np.ascontiguousarray(states)),
        locked(np.ascontiguousarray(changes)),
        locked(np.ascontiguousarray(genes)),
        even,
        table.backend,
    )


def read_truth(value: Any, info: ValidationInfo) -> NDArray[np.bool_] | None:
    """A known network as a matrix, true where the gene of the column acts on that of the row.

    Columns `source`, `target` and, optionally, `edge`: 1, or 0 for a pair that is none; or that matrix.
    Edges from a gene to itself are left out.

    Raises
    ------
    InvalidInput
        For what `read_table` finds, for a gene that has no time series, an `edge` that is
        neither 0 nor 1 and one that is both, naming the rows; for a matrix of another shape.
    """
    columns, expression = info.data.get("columns"), info.data.get("expression")
    if value is None or columns is None or expression is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return _of_matrix(value, len(expression.genes))
    table = read_table(value, ("source", "target"), ("edge",), title="truth", rename=columns)
    place = {gene: code for code, gene in enumerate(expression.genes.tolist())}
    if not any(gene in place for gene in table["source"].tolist()):  # numbers in a file, text in a header
        place = {str(gene): code for gene, code in place.items()}
        source, target = ([str(gene) for gene in table[key].tolist()] for key in ("source", "target"))
    else:
        source, target = table["source"].tolist(), table["target"].tolist()
    for row, pair in enumerate(zip(source, target, strict=True)):
        for gene in pair:
            if gene not in place:
                raise InvalidInput(
                    f"{table.title} {table.place(row)}: there is no gene {gene!r} in the time series"
                    f"{nearest(str(gene), map(str, place))}"
                )
    edge = numbers(table, "edge") if "edge" in table else np.ones(len(table))
    wrong = np.flatnonzero((edge != 0) & (edge != 1))
    if len(wrong):
        raise InvalidInput(f"{table.title} {table.places(wrong)}: edge must be 0 or 1")
    acts, none = np.zeros((2, len(place), len(place)), dtype=bool)
    rows, cols = np.array([[place[gene] for gene in genes] for genes in (target, source)])
    acts[rows[edge == 1], cols[edge == 1]] = True
    none[rows[edge == 0], cols[edge == 0]] = True
    torn = np.flatnonzero(acts[rows, cols] & none[rows, cols])
    if len(torn):
        raise InvalidInput(
            f"{table.title} {table.places(torn)}: edge is both 0 and 1 for {source[torn[0]]!r} and "
            f"{target[torn[0]]!r}; keep one"
        )
    np.fill_diagonal(acts, False)
    return locked(acts)


def _of_matrix(acts: NDArray[np.bool_], genes: int) -> NDArray[np.bool_]:
    if acts.shape != (genes, genes):
        raise InvalidInput(f"has shape {acts.shape}; with {genes} genes a matrix is ({genes}, {genes})")
    return locked(acts & ~np.eye(genes, dtype=bool))
