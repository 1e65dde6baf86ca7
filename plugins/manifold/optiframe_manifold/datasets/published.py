"""Published comparison sets that say who chose: each worker is a user with a ranking of their own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from optiframe.problems.datasets import DataFile, DataSet
from optiframe.tables.read import read_table


class WorkersAsUsers(DataSet):
    """A published comparison set, tidied into `pairwise/<folder>/comparisons.csv`.

    The table has the columns `worker, left, right, label` (the winner's id; 0: a tie).
    """

    problem = "collaborative-ranking"
    folder: ClassVar[str]
    source: ClassVar[str]

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        return ((DataFile(f"pairwise/{cls.folder}/comparisons.csv", cls.source),),)

    def inputs(self) -> dict[str, Any]:
        """The comparisons; no truth is known."""
        path = next(iter(self.files().values()))
        columns = dict(read_table(path, ("worker", "left", "right", "label"), title=path.name).columns)
        columns["user"] = columns.pop("worker")
        return {"comparisons": columns}


class HumanAge(WorkersAsUsers):
    """Who looks older, by worker: 14,011 comparisons of 30 faces by 94 workers, 1,233 ties.

    149 comparisons a worker: enough for a second taste to predict held-out comparisons better.
    """

    name = "collaborative.human-age"
    reference = "Xu et al., ACM Multimedia 2018"
    folder = "human_age"
    source = 'github.com/qianqianxu010/qqxu_yyao, "code/figure 6/agedata.mat" (to be tidied by hand)'


class WorldCollege(WorkersAsUsers):
    """Where people would rather study: 8,823 comparisons of 261 universities by 340 workers.

    26 comparisons a worker, for 35 of them a single one: little to tell tastes apart by.
    """

    name = "collaborative.world-college"
    reference = "allourideas.org; Xu et al., ICML 2016"
    folder = "world_college"
    source = 'github.com/qianqianxu010/ICML2016, "code/universitydata.mat" (to be tidied by hand)'
    names_source: ClassVar[str] = (
        'github.com/yuany-pku/split-lbi, "examples/university/UniName.mat" (to be tidied by hand)'
    )

    names: bool = Field(True, description="names of the universities as ids; false: numbers 1 to 261")

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        return ((*super().alternatives()[0], DataFile("pairwise/world_college/items.csv", cls.names_source)),)

    def inputs(self) -> dict[str, Any]:
        """The comparisons, with names where asked for; no truth is known."""
        found = super().inputs()
        if self.names:
            path = list(self.files().values())[1]
            items = read_table(path, ("id", "name"), title=path.name)
            name = dict(zip(items["id"].tolist(), items["name"].tolist(), strict=True))
            name[0] = ""  # a tie, which these data do not have
            for key in ("left", "right", "label"):
                columns = found["comparisons"]
                columns[key] = np.array([name[item] for item in columns[key].tolist()], dtype=object)
        return found
