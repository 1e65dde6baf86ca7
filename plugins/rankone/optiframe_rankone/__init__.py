"""Crowd-label aggregation by rank-one completion: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_HERE = "optiframe_rankone."


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "label-aggregation",
            _HERE + "label_aggregation:LabelAggregation",
            "Find the true labels of tasks, and the skills of workers, from crowd labels",
        ),
        Description(
            "rank-one-completion",
            _HERE + "rank_one:RankOneCompletion",
            "Complete a symmetric matrix of rank one from some of its entries",
        ),
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description("labels.majority", _HERE + "majority:Majority", "Majority vote; every label counts one"),
        Description(
            "labels.one-coin-em",
            _HERE + "one_coin:OneCoinEM",
            "EM for the one-coin model: one accuracy a worker",
        ),
        Description(
            "rankone.pgd",
            _HERE + "pgd:ProjectedGradient",
            "Plug-in gradient descent on the correlations between workers",
        ),
    ]


@hookimpl
def optiframe_objectives() -> list[Description]:
    return [
        Description(
            "rank-one-least-squares",
            _HERE + "objective:RankOneLeastSquares",
            "Weighted squared distance of x x' to the known entries of a symmetric matrix",
        )
    ]


@hookimpl
def optiframe_datasets() -> list[Description]:
    module = _HERE + "datasets:"
    return [
        Description("labels.rte", module + "Rte", "Textual entailment: 800 tasks, 164 workers, 2 classes"),
        Description("labels.temp", module + "Temp", "Order of events: 462 tasks, 76 workers, 2 classes"),
        Description("labels.dogs", module + "Dogs", "Dog breeds: 807 tasks, 109 workers, 4 classes"),
        Description("labels.wsd", module + "Wsd", "Word senses: 177 tasks, 34 workers, 3 classes"),
        Description("labels.web", module + "Web", "Web search: 2,665 tasks, 177 workers, 5 classes"),
        Description(
            "synthetic.single-coin",
            module + "SingleCoin",
            "Labels drawn from the single-coin model, with known truth and skills",
        ),
    ]
