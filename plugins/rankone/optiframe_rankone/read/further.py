"""Labels that come after a fit, read as a problem reads its own; known labels as a series or array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import narwhals as nw
import numpy as np
from pydantic import Field, PlainValidator

from optiframe.errors import InvalidInput
from optiframe.records.record import Record
from optiframe.tables.read import read_table
from optiframe_rankone.data import LabelTable, Policy, TruthTable
from optiframe_rankone.read.tables import read_columns, read_labels, read_truth


class FurtherLabels(Record):
    """Labels of one value or more, and what is known of their tasks; the fields are those of the problem."""

    name = "labels"

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[dict[str, str], PlainValidator(read_columns)] = Field(default_factory=dict)
    duplicates: Policy = "error"
    labels: Annotated[LabelTable, PlainValidator(read_labels)]
    truth: Annotated[TruthTable | None, PlainValidator(read_truth)] = None


def known_table(known: Any, frame: Any, columns: Mapping[str, str] | None, what: str) -> Any:
    """Known labels as a table of tasks and labels; what is a table, a path or None stays as it is.

    Parameters
    ----------
    known
        Also a pandas series whose index is the tasks; or an array, a list or a series without such an
        index, with one label for each row of the frame.
    frame
        The labels: a series with the index of its rows is one for each row.
    columns
        Our column name -> the user's.
    what
        "truth" or "gold".

    Raises
    ------
    InvalidInput
        When there is not one for each row.
    """
    names = dict(columns or {})
    task, label = names.get("task", "task"), names.get(what, names.get("label", "label"))
    series = nw.from_native(known, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        index = getattr(known, "index", None)
        of_rows = getattr(frame, "index", None)
        if index is not None and (of_rows is None or not index.equals(of_rows)):
            return {task: index.to_numpy(), label: series.to_list()}
        known = series.to_list()
    if not isinstance(known, list | tuple | np.ndarray):
        return known
    rows = read_table(frame, ("task",), title="labels", rename={"task": task} if "task" in names else {})
    if len(known) != len(rows):
        raise InvalidInput(
            f"{what}: {len(known)} labels for {len(rows)} rows; give one for each row, or a table of tasks "
            "and labels"
        )
    return {task: rows["task"], label: known}
