"""Published comparison sets that say who chose: each worker is a user with a ranking of their own."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from optiframe.problems.datasets import ComparisonSet, NamedComparisonSet


class WorkersAsUsers(ComparisonSet):
    """Published comparisons, each worker a user."""

    problem = "collaborative-ranking"

    def inputs(self) -> dict[str, Any]:
        """The comparisons; no truth is known."""
        columns = self.columns()
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


class WorldCollege(WorkersAsUsers, NamedComparisonSet):
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

    names: bool = Field(default=True, description="names of the universities as ids; false: numbers 1 to 261")
