"""Crowd-label aggregation by rank-one completion: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_rankone.acquisition import next_labels as next_labels
    from optiframe_rankone.bootstrap import bootstrap_errors as bootstrap_errors
    from optiframe_rankone.facade import LabelAggregator as LabelAggregator
    from optiframe_rankone.fewer_labels import accuracy_by_labels as accuracy_by_labels
    from optiframe_rankone.graph_plot import plot_worker_graph as plot_worker_graph
    from optiframe_rankone.groups import worker_groups as worker_groups
    from optiframe_rankone.metrics import committee_potential as committee_potential
    from optiframe_rankone.metrics import error_bounds as error_bounds
    from optiframe_rankone.plots import plot_accuracy as plot_accuracy
    from optiframe_rankone.plots import plot_skills as plot_skills
    from optiframe_rankone.preparation import prepare as prepare
    from optiframe_rankone.signless import finite_task_bound as finite_task_bound
    from optiframe_rankone.signless import skill_bound as skill_bound
    from optiframe_rankone.signless import smallest_eigenvalue as smallest_eigenvalue
    from optiframe_rankone.uncertainty import shared_tasks as shared_tasks
    from optiframe_rankone.uncertainty import skill_intervals as skill_intervals
    from optiframe_rankone.uncertainty import standard_errors as standard_errors

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "acquisition": ("next_labels",),
        "bootstrap": ("bootstrap_errors",),
        "facade": ("LabelAggregator",),
        "fewer_labels": ("accuracy_by_labels",),
        "graph_plot": ("plot_worker_graph",),
        "groups": ("worker_groups",),
        "metrics": ("committee_potential", "error_bounds"),
        "plots": ("plot_accuracy", "plot_skills"),
        "preparation": ("prepare",),
        "signless": ("finite_task_bound", "skill_bound", "smallest_eigenvalue"),
        "uncertainty": ("shared_tasks", "skill_intervals", "standard_errors"),
    },
)

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
            "label-aggregation-by-correlations",
            _HERE + "known_correlations:KnownCorrelations",
            "Find the true labels of tasks when correlations of workers are given, not counted",
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
            "labels.dawid-skene",
            _HERE + "dawid_skene:DawidSkene",
            "EM for full confusion matrices, from the majority vote",
        ),
        Description(
            "labels.opt-ds",
            _HERE + "opt_ds:OptDawidSkene",
            "Confusion matrices from moments of three groups of workers, then EM",
        ),
        Description(
            "labels.kos",
            _HERE + "kos:KargerOhShah",
            "Message passing between tasks and workers (Karger, Oh, Shah)",
        ),
        Description(
            "labels.ratio",
            _HERE + "ratio:EigenvectorRatio",
            "Skills as the ratio of two leading eigenvectors (ER), then a linear vote",
        ),
        Description(
            "labels.iwmv",
            _HERE + "iwmv:IterativeWeightedMajority",
            "Iterative weighted majority voting",
        ),
        Description(
            "labels.m3v",
            _HERE + "m3v:MaxMarginMajority",
            "Max-margin majority voting: the vote whose winners win by most",
        ),
        Description(
            "labels.oracle",
            _HERE + "oracle:Oracle",
            "The vote with the true skills, where they are known",
        ),
        Description(
            "rankone.pgd",
            _HERE + "pgd:ProjectedGradient",
            "Plug-in gradient descent on the correlations between workers",
        ),
        Description(
            "rankone.coordinate",
            _HERE + "coordinate:CoordinateDescent",
            "Coordinate descent: one worker after the other, in closed form",
        ),
        Description(
            "rankone.exponentiated",
            _HERE + "exponentiated:ExponentiatedGradient",
            "Exponentiated gradient on absolute correlations, signs read afterwards",
        ),
        Description(
            "rankone.relaxation",
            _HERE + "relaxation:TraceRelaxation",
            "Semidefinite relaxation by CVXPY, for up to 100 rows",
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
            _HERE + "single_coin:SingleCoin",
            "Labels drawn from the single-coin model, with known truth and skills",
        ),
        Description(
            "synthetic.noisy-star",
            _HERE + "known_correlations:NoisyStar",
            "A star of workers with noise of one size on every correlation",
        ),
        Description(
            "labels.sparsified",
            _HERE + "sparsified:Sparsified",
            "Labels of another set, thinned until no worker shares tasks with many others",
        ),
        Description(
            "rank-one.ring",
            _HERE + "completion_sets:Ring",
            "Products of random skills along a ring (Figures 4 and 5)",
        ),
        Description(
            "rank-one.grid",
            _HERE + "completion_sets:Grid",
            "Products of random skills along a square grid with one extra edge (Figures 4 and 5)",
        ),
        Description(
            "rank-one.erdos-renyi",
            _HERE + "completion_sets:ErdosRenyi",
            "Products of random skills along a random graph (Figures 4 and 5)",
        ),
    ]
