"""Wrong inputs of assignments and networks: errors that say what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optiframe
from optiframe import InvalidInput

ROWS = {"worker": ["b", "a", "a"], "task": [7, 7, 3], "quality": [0.6, 0.9, 0.7]}
SERIES = {  # two series of three and two points, rows out of order
    "series": ["b", "a", "a", "b", "a"],
    "time": [1, 2, 0, 0, 1],
    "x": [5.0, 4.0, 1.0, 9.0, 2.0],
    "y": [0.0, 2.0, 3.0, 1.0, 7.0],
}
LONG = {"time": [0, 0, 1, 1], "gene": ["x", "y", "x", "y"], "value": [1.0, 2.0, 3.0, 4.0]}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"quality": {**ROWS, "quality": [0.6, 1.0, 0.7]}}, r"row 1: the quality is 1; it must be above 0"),
    ({"quality": {**ROWS, "quality": [0.6, None, 0.7]}}, r"row 1: quality is empty"),
    ({"quality": {**ROWS, "worker": ["a", "a", "a"]}}, r"row 1: worker a and task 7 are there already"),
    ({"quality": {"worker": [1], "task": [2]}}, r"no column 'quality'"),
    ({"quality": [[0.6, 0.0]]}, r"entry \[0, 1\] \(worker, task\): the quality is 0"),
    ({"quality": [0.6, 0.7]}, r"a matrix with a row for each worker"),
    ({"quality": ROWS, "per_worker": -1}, r"per_worker: must be a whole number of at least 0, a ratio"),
    ({"quality": {**ROWS, "quality": [79, 80, 81]}}, r"the quality is 79; .* \(divide percentages by 100\)"),
    ({"quality": ROWS, "per_worker": 1.5}, r"per_worker: must be a whole number of at least 0, a ratio"),
    ({"quality": ROWS, "per_worker": [1]}, r"per_worker: there are 1 caps for 2 workers"),
    ({"quality": ROWS, "per_worker": {"a": 1}}, r"per_worker: worker 'b' has no cap"),
    ({"quality": ROWS, "per_worker": {"a": 1, "b": 1, "c": 1}}, r"per_worker: there is no worker 'c'"),
    ({"quality": ROWS, "per_worker": {"a": 0.5}}, r"per_worker: the cap of 'a' is 0.5; give a whole number"),
    ({"quality": ROWS, "per_task": [1, True]}, r"per_task: cap number 1 is True"),
    ({"quality": ROWS, "total": "all"}, r"total: must be a whole number"),
    ({"quality": ROWS, "per_worker": 10**22}, r"per_worker: a cap may be at most 4611686018427387904; leave"),
    ({"quality": ROWS, "per_task": [1, 10**400]}, r"per_task: a cap may be at most 4611686018427387904"),
    ({"quality": ROWS, "per_worker": {"a": 1, "b": 10**22}}, r"per_worker: a cap may be at most"),
    ({"quality": ROWS, "total": 10**22}, r"total: a cap may be at most 4611686018427387904"),
    ({"quality": ROWS, "prior": 1.0}, r"prior: the prior is 1.0; it must be a number above 0 and below 1"),
    ({"quality": ROWS, "prior": [0.5]}, r"prior: there are 1 priors for 2 tasks"),
    ({"quality": ROWS, "prior": {3: 0.5}}, r"prior: task 7 has no prior"),
    ({"quality": ROWS, "columns": {"labeler": "x"}}, r"unknown column 'labeler'"),
    ({"expression": {**SERIES, "y": [0.0, 2.0, "?", 1.0, 7.0]}}, r"row 2: the y is \?"),
    ({"expression": {**SERIES, "time": [1, 2, 0, 0, 2]}}, r"time 2 occurs twice in one series \(row 1 and"),
    (
        {"expression": {"Experiment": [1, 1, 2, 2], "time": [0, 1, 0, 1], "x": [1, 2, 3, 4]}},
        r'time 0 occurs twice .* if \'Experiment\' says .*columns = \{ series = "Experiment" \}',
    ),
    ({"expression": {**SERIES, "series": ["c", "a", "a", "b", "a"]}}, r"row 3: a series of one point"),
    ({"expression": {"time": [0, 1], "x": [1.0, 2.0]}}, r"has 1 gene column\(s\); give at least two"),
    ({"expression": {"x": [1.0, 2.0], "y": [1.0, 2.0]}}, r"no column 'time' .*'x', 'y'.* without an order"),
    (
        {"expression": {"t": [0, 1], "x": [1.0, 2.0], "y": [1.0, 2.0]}, "columns": {"time": "hour"}},
        r"no column 'hour', which `columns` maps the time to .*if 't' is the time, map it",
    ),
    ({"expression": {"Time": [0, 1], "x": [1, 2], "y": [1, 2]}}, r'columns = \{ time = "Time" \}'),
    ({"expression": {"id": ["x", "y"], "0": [1, 2], "5": [1, 2]}}, r'each row is a gene .*gene = "id" \}'),
    ({"expression": {"": ["x", "y"], "0": [1, 2], "5": [1, 2]}}, r"each row .*the first column 'gene'$"),
    ({"expression": {"0": ["x", "y"], "5": [1, 2], "9": [1, 2]}}, r"write 'gene' before the first heading$"),
    ({"expression": {"gene": ["x", "y"], "t0": [1, 2], "t5": [1, 2]}}, r"the heading 't0' is no time"),
    (
        {"expression": {**SERIES, "strain": ["wt"] * 5}},
        r"strain holds no numbers, and every column .*leave it",
    ),
    (
        {"expression": {"time": [0, 1], "Gene": ["x", "x"], "level": [1.0, 2.0]}},
        r'columns = \{ gene = "Gene", value = ".." \}',
    ),
    ({"expression": SERIES, "truth": {"TF": ["x"], "gene": ["y"]}}, r"no column 'source'.*did you mean 'TF'"),
    ({"expression": {**LONG, "gene": ["x", "y", "x", "x"]}}, r"row 3: gene x has a value at this time"),
    ({"expression": {**LONG, "time": [0, 0, 1, 2]}}, r"gene y has no value at the time and series of row 2"),
    ({"expression": {**SERIES, "y": [0.0, 2.0, 1e308, 1.0, -1e308]}}, r"gene y has a value of size 1.00e308"),
    ({"expression": {**LONG, "value": [1.0, -1e200, 3.0, 4.0]}}, r"gene y has a value of size 1.00e200"),
    ({"expression": SERIES, "in_degree": {"x": 1}}, r"in_degree: gene 'y' has no cap"),
    ({"expression": SERIES, "out_degree": -2}, r"out_degree: must be a whole number of at least 0"),
    (
        {"expression": SERIES, "truth": {"source": ["x"], "target": ["z"]}},
        r"row 0: there are no time series of z;",
    ),
    (
        {"expression": SERIES, "truth": {"source": ["X", "x", "y"], "target": ["y", "y", "z"]}},
        r"row 0, row 2: there are no time series of X, z; .*did you mean 'x'",
    ),
    (
        {"expression": SERIES, "truth": {"x": ["y"], "y": ["x"], "1": [1]}},
        r"the first line, x, y, 1, is an edge; write a header above it: source, target, edge",
    ),
    (
        {"expression": SERIES, "truth": {"source": ["x"], "target": ["y"], "edge": ["+"]}},
        r"row 0: edge is \+; it must be 1, or 0",
    ),
    (
        {"expression": SERIES, "truth": {"source": ["x"], "target": ["y"], "edge": [2]}},
        r"row 0: edge is 2; it must be 1, or 0",
    ),
    (
        {
            "expression": SERIES,
            "truth": {"source": ["x", "y", "x"], "target": ["y", "x", "y"], "edge": [1, 0, 0]},
        },
        r"row 0, row 2: edge is both 0 and 1 for x and y",
    ),
    ({"expression": SERIES, "truth": np.ones((3, 3), dtype=bool)}, r"has shape \(3, 3\); with 2 genes"),
    ({"expression": {**SERIES, "series": ["b", None, "a", "b", None]}}, r"row 1, row 4: series is empty"),
    ({"expression": 3}, r"a int is not a table"),
]


@pytest.mark.parametrize(("inputs", "message"), BAD)
def test_bad_input_is_named(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        optiframe.problem("task-assignment" if "quality" in inputs else "network-identification", **inputs)


def test_a_line_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "levels.csv"
    file.write_text("worker,task,quality\nann,1,0.7\nbob,1,high\n")
    with pytest.raises(InvalidInput, match=r"levels\.csv line 3: the quality is high"):
        optiframe.problem("task-assignment", quality=str(file))
    file.write_text("time,x,y\n0,1,2\n1,oops,3\n")
    with pytest.raises(InvalidInput, match=r"levels\.csv line 3: the x is oops"):
        optiframe.problem("network-identification", expression=str(file))
