"""Expression time series and known networks: reading and checking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput, nearest
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.frames import with_index
from optiframe.tables.ids import Ids, listed, locked, positions
from optiframe.tables.matrix import is_matrix, read_matrix
from optiframe.tables.number_columns import as_number, numbers
from optiframe.tables.read import Table, headings, missing, read_table
from optiframe.tables.remarks import remarks_on
from optiframe.tables.unused_columns import is_row_number, likely
from optiframe_tvcs.networks.data import Transitions

_LARGEST = 1e150  # the sum of squares of any number of them that fits into memory is finite
COLUMNS = ("series", "time", "gene", "value", "source", "target", "edge")


def read_expression(value: Any, info: ValidationInfo) -> Transitions | None:
    """Time series from a wide table (series, time, a column for each gene) or a long one.

    A long table has the columns series, time, gene, value. `series` may be left out when there
    is one. Rows come in any order. One series may also have a row for each gene: the genes in the first
    column, gene, and the times as headings. Nameless columns, the row numbers of R and pandas, are left out.

    Raises
    ------
    InvalidInput
        For what `read_table` finds; for a table without times; for a value that is no number, a time that
        occurs twice in a series, a missing gene at some time and a series of one point, naming the rows;
        and for fewer than two genes.
    """
    if isinstance(value, Transitions):
        return value
    columns = info.data.get("columns")
    if columns is None:  # wrong and reported; reading on would only add noise
        return None
    mapped = {ours: columns.get(ours, ours) for ours in COLUMNS}
    value = with_index(value, [mapped[name] for name in ("series", "time", "gene")])
    names = headings(value)
    ours = {mapped[name]: name for name in ("gene", "time", "value")}
    gene, level, sides = mapped["gene"], mapped["value"], (mapped["gene"], mapped["time"])
    if names[:1] == [gene] and is_matrix(names, sides, level):
        matrix, every = read_matrix(value, sides, level, title="expression")
        wrong = [time for time in every[mapped["time"]].tolist() if not _is_number(time)]
        if wrong:
            raise InvalidInput(
                f"{matrix.title}: the heading {wrong[0]!r} is no time; head the columns with times in "
                "numbers alone, such as 0, 30, 60, and leave out columns that hold no levels"
            )
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
        if names and mapped["time"] not in names:
            raise InvalidInput(_without_times(names, mapped))
        wide = [name for name in wide if not is_row_number(name)]
        # A gene may be called as one of our own columns: keys of the genes are kept apart from those.
        rename = {key: columns[key] for key in ("series", "time") if key in columns}
        table = read_table(value, ("time", *wide), ("series",), title="expression", rename=rename)
        series, time = _series(table), numbers(table, "time")
        genes = np.array(wide, dtype=object)
        levels = _levels(table, wide)
    if len(genes) < 2:
        raise InvalidInput(
            f"{table.title} has {len(genes)} gene column(s); give at least two beside series and time, or "
            "the columns series, time, gene, value"
        )
    return _transitions(series, time, genes, levels, table)


def _without_times(names: Sequence[str], mapped: Mapping[str, str]) -> str:
    """What to do about a table that has no column of times."""
    time, gene = mapped["time"], mapped["gene"]
    mapping = "" if time == "time" else ", which `columns` maps the time to"
    text = f"there is no column {time!r}{mapping} (columns: {listed([*map(repr, names)])}); "
    meant = likely("time", names) or likely(time, names)
    if meant is not None:
        return f'{text}if {meant!r} is the time, map it: columns = {{ time = "{meant}" }}'
    first, *others = map(_is_number, names)
    if others and all(others):
        text += "if each row is a gene and each column a time, "
        if first:  # R's write.table heads the values alone
            return f"{text}write {gene!r} before the first heading"
        map_it = "" if is_row_number(names[0]) else f', or map it: columns = {{ gene = "{names[0]}" }}'
        return f"{text}call the first column {gene!r}{map_it}"
    return (
        f"{text}effects are found from levels that follow each other in time; samples without an order, such "
        "as knock-outs, say nothing here"
    )


def _levels(table: Table, genes: Sequence[str]) -> Array:
    """Levels of a wide table; shape (genes, points)."""
    levels = np.empty((len(genes), len(table)))
    for gene, row in zip(genes, levels, strict=True):
        try:
            row[:] = numbers(table, gene)
        except InvalidInput:
            if any(map(_is_number, table[gene].tolist())):
                raise
            raise InvalidInput(
                f"{table.title}: {gene} holds no numbers, and every column beside series and time is taken "
                "for a gene; leave it out, or, if each row is the level of one gene, map the names and the "
                f'levels: columns = {{ gene = "{gene}", value = ".." }}'
            ) from None
    return levels


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number, its decimals written with a point or a comma."""
    return bool(np.isfinite(as_number(cell.replace(",", ".") if isinstance(cell, str) else cell)))


def _series(table: Table) -> NDArray[np.int64]:
    """The number of each row's series."""
    if "series" not in table:
        return np.zeros(len(table), dtype=np.int64)
    empty = np.flatnonzero(missing(table["series"]))
    if len(empty):
        raise InvalidInput(
            f"{table.title} {table.places(empty)}: series is empty; drop the row or give a value, or leave "
            "out the column where there is one series"
        )
    return table.encoded("series", f"{table.title} series")[0].astype(np.int64)


def _long(table: Table) -> tuple[NDArray[Any], Array, Ids, Array]:
    """Series, time and levels (genes, points) of a long table."""
    code, genes = table.encoded("gene", f"{table.title} genes")
    times, at_time = np.unique(numbers(table, "time"), return_inverse=True)
    # One number for series and time: sorting pairs takes ten times as long.
    distinct, point = np.unique(_series(table) * len(times) + at_time, return_inverse=True)
    cell = point * len(genes) + code
    first = np.unique(cell, return_index=True)[1]
    if len(first) < len(cell):
        again = np.setdiff1d(np.arange(len(cell)), first)
        row = int(again[0])
        raise InvalidInput(
            f"{table.title} {table.places(again)}: gene {genes[code[row]]} has a value at this time of this "
            "series already; keep one"
        )
    levels = np.full((len(distinct), len(genes)), np.nan)
    levels.reshape(-1)[cell] = numbers(table, "value")
    gap = np.argwhere(np.isnan(levels))
    if len(gap):
        at, gene = gap[0]
        row = int(np.flatnonzero(point == at)[0])
        raise InvalidInput(
            f"{table.title}: gene {genes[gene]} has no value at the time and series of {table.place(row)}; "
            "give every gene a value at every time"
        )
    series, time = np.divmod(distinct, len(times))
    return series, times[time], genes, levels.T


def _transitions(series: NDArray[Any], time: Array, genes: Ids, levels: Array, table: Table) -> Transitions:
    order = np.lexsort((time, series))
    series, time, levels = series[order], time[order], levels[:, order]
    same = series[1:] == series[:-1]
    twice = np.flatnonzero(same & (time[1:] == time[:-1]))
    if len(twice):
        meant = None if "series" in table else likely("series", map(str, [*genes.tolist(), *table.unused]))
        what = (
            "number the series in a column series"
            if meant is None
            else f'if {meant!r} says which series it is, map it: columns = {{ series = "{meant}" }}'
        )
        raise InvalidInput(
            f"{table.title}: time {time[twice[0]]:g} occurs twice in one series ("
            f"{table.place(int(order[twice[0]]))} and {table.place(int(order[twice[0] + 1]))}); {what}"
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
        remarks_on(table, {"gene": genes}),
    )


def read_truth(value: Any, info: ValidationInfo) -> NDArray[np.bool_] | None:
    """A known network as a matrix, true where the gene of the column acts on that of the row.

    Columns `source`, `target` and, optionally, `edge`: 1, or 0 for a pair that is none; or that matrix.
    Edges from a gene to itself are left out.

    Raises
    ------
    InvalidInput
        For what `read_table` finds, for a gene that has no time series, an `edge` that is
        neither 0 nor 1 and one that is both, naming the rows; for edges without a header; for a matrix of
        another shape.
    """
    columns, expression = info.data.get("columns"), info.data.get("expression")
    if value is None or columns is None or expression is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return _of_matrix(value, len(expression.genes))
    _refuse_edge_as_header(value, columns, expression.genes)
    table = read_table(value, ("source", "target"), ("edge",), title="truth", rename=columns)
    source, target = table["source"], table["target"]
    cols, rows = (positions(expression.genes, ids) for ids in (source, target))
    unknown = np.flatnonzero((rows < 0) | (cols < 0))
    if len(unknown):
        ends = zip((source, target), (cols, rows), strict=True)
        names = list(dict.fromkeys(str(gene) for ids, at in ends for gene in ids[at < 0].tolist()))
        raise InvalidInput(
            f"{table.title} {table.places(unknown)}: there are no time series of {listed(names)}; spell "
            "genes as in the series, and drop rows of genes that were not measured"
            f"{nearest(names[0], map(str, expression.genes.tolist()))}"
        )
    edge = _edges(table)
    acts, none = np.zeros((2, len(expression.genes), len(expression.genes)), dtype=bool)
    acts[rows[edge == 1], cols[edge == 1]] = True
    none[rows[edge == 0], cols[edge == 0]] = True
    torn = np.flatnonzero(acts[rows, cols] & none[rows, cols])
    if len(torn):
        raise InvalidInput(
            f"{table.title} {table.places(torn)}: edge is both 0 and 1 for {source[torn[0]]} and "
            f"{target[torn[0]]}; keep one"
        )
    np.fill_diagonal(acts, False)
    return locked(acts)


def _refuse_edge_as_header(value: Any, columns: Mapping[str, str], genes: Ids) -> None:
    """Raise `InvalidInput` for a list of edges without a header, as those of DREAM are."""
    names, known = headings(value), set(map(str, genes.tolist()))
    ours = {columns.get(name, name) for name in ("source", "target")}
    if len(names) > 1 and known.issuperset(names[:2]) and ours.isdisjoint(names):
        header = "source, target, edge"[: None if len(names) > 2 else -6]
        raise InvalidInput(
            f"the first line, {', '.join(names)}, is an edge; write a header above it: {header}, separated "
            "as the lines below"
        )


def _edges(table: Table) -> Array:
    """1 for an edge and 0 for none, of each row."""
    if "edge" not in table:
        return np.ones(len(table))
    given = table["edge"]
    edge = given.astype(np.float64) if given.dtype == bool else np.array([*map(as_number, given.tolist())])
    wrong = np.flatnonzero((edge != 0) & (edge != 1))
    if len(wrong):
        raise InvalidInput(
            f"{table.title} {table.places(wrong)}: edge is {given[wrong[0]]}; it must be 1, or 0 for a pair "
            "that is no edge"
        )
    return edge


def _of_matrix(acts: NDArray[np.bool_], genes: int) -> NDArray[np.bool_]:
    if acts.shape != (genes, genes):
        raise InvalidInput(f"has shape {acts.shape}; with {genes} genes a matrix is ({genes}, {genes})")
    return locked(acts & ~np.eye(genes, dtype=bool))
