"""A label set of the user's own, where a data set is asked for: a frame, columns, or files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from optiframe.errors import InvalidInput, nearest
from optiframe.problems.datasets import DataSet
from optiframe.tables.frames import to_frame
from optiframe_rankone.batches import as_rows
from optiframe_rankone.problem import LabelAggregation

_TABLES = ("labels", "truth", "gold", "skills", "columns", "duplicates")
_FILES = (".csv", ".parquet")


class OwnLabels(DataSet):
    """Labels that were given instead of named, read and checked as by `label-aggregation`.

    Files are read once, when they are given. Rows come back in the order of tasks and workers,
    in the kind of frame they were given in.
    """

    name = "own labels"
    problem = LabelAggregation.name

    given: LabelAggregation = Field(description="the labels, and what is known besides")

    @classmethod
    def of(cls, value: Any) -> OwnLabels:
        """From a table of labels or the path of one, or a mapping with these as `labels` and more tables.

        Raises
        ------
        InvalidInput
            For a key that is not a table of `label-aggregation`, and whatever that refuses.
        """
        tables = value if isinstance(value, Mapping) and "labels" in value else {"labels": value}
        for key in tables:
            if key not in _TABLES:
                raise InvalidInput(
                    f"{key}: is no part of a label set, which has {', '.join(_TABLES)}"
                    f"{nearest(str(key), _TABLES)}"
                )
        return cls(given=LabelAggregation(**tables))

    @staticmethod
    def meant(value: Any) -> bool:
        """Whether a value is labels or a file of labels, and not the name of a data set."""
        if isinstance(value, str):
            return Path(value).suffix.lower() in _FILES
        if isinstance(value, Mapping):
            if isinstance(value.get("name"), str):
                return False  # whatever else is there: the data set knows its parameters
            return "labels" in value or bool({"task", "worker", "label"} & set(value))
        return True

    def inputs(self) -> dict[str, Any]:
        labels, classes = self.given.labels, self.given.crowd.true_classes
        found: dict[str, Any] = {"labels": to_frame(as_rows(labels), labels.backend)}
        for key, codes in (("truth", self.given.truth_codes), ("gold", self.given.gold_codes)):
            if (codes >= 0).any():
                known = codes >= 0
                found[key] = {"task": labels.task_ids[known], "label": classes[codes[known]]}
        skills = self.given.true_skills
        if skills is not None:
            told = ~np.isnan(skills)
            found["skills"] = {"worker": labels.worker_ids[told], "skill": skills[told]}
        return found
