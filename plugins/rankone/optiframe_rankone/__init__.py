"""Crowd-label aggregation by rank-one completion: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_rankone.completion.label_counts import LabelCounts as LabelCounts
    from optiframe_rankone.estimator import LabelAggregator as LabelAggregator
    from optiframe_rankone.metrics import committee_potential as committee_potential
    from optiframe_rankone.metrics import error_bounds as error_bounds
    from optiframe_rankone.plots.skills import plot_accuracy as plot_accuracy
    from optiframe_rankone.plots.skills import plot_skills as plot_skills
    from optiframe_rankone.plots.worker_graph import plot_worker_graph as plot_worker_graph
    from optiframe_rankone.tools.bootstrap import bootstrap_errors as bootstrap_errors
    from optiframe_rankone.tools.intervals import intervals as intervals
    from optiframe_rankone.tools.label_stream import LabelStream as LabelStream
    from optiframe_rankone.tools.learning_curve import accuracy_by_labels as accuracy_by_labels
    from optiframe_rankone.tools.next_labels import suggest as suggest
    from optiframe_rankone.tools.streaming import count_labels as count_labels
    from optiframe_rankone.tools.streaming import write_answers as write_answers
    from optiframe_rankone.trust.graph_spectrum import finite_task_bound as finite_task_bound
    from optiframe_rankone.trust.graph_spectrum import skill_bound as skill_bound
    from optiframe_rankone.trust.graph_spectrum import smallest_eigenvalue as smallest_eigenvalue
    from optiframe_rankone.trust.groups import worker_groups as worker_groups
    from optiframe_rankone.trust.intervals import shared_tasks as shared_tasks
    from optiframe_rankone.trust.intervals import standard_errors as standard_errors

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "next_labels": "suggest(problem, solution, n)",
        "skill_intervals": "intervals, which gives a table",
        "prepare": "nothing, kernels are compiled when the package is installed",
    },
)

# Only a table of the paper used them; its folder registers them.
OPTIFRAME_RENAMED = dict.fromkeys(
    ("synthetic.noisy-star", "label-aggregation-by-correlations"),
    "--import examples/papers/rankone/noisy_star.py, which registers it,",
)


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "problem": (
        (
            "label-aggregation",
            ".problem:LabelAggregation",
            "Find the true labels of tasks, and the skills of workers, from crowd labels",
        ),
        (
            "rank-one-completion",
            ".completion.problem:RankOneCompletion",
            "Complete a symmetric matrix of rank one from some of its entries",
        ),
    ),
    "solver": (
        (
            "labels.crowd",
            ".solvers.crowd:CrowdMean",
            "Mean of three EM fits whose workers borrow strength from the crowd",
        ),
        ("labels.majority", ".baselines.majority:Majority", "Majority vote; every label counts one"),
        (
            "labels.one-coin-em",
            ".baselines.one_coin:OneCoinEM",
            "EM for the one-coin model: one accuracy a worker",
        ),
        (
            "labels.dawid-skene",
            ".baselines.dawid_skene:DawidSkene",
            "EM for full confusion matrices, from the majority vote",
        ),
        (
            "labels.glad",
            ".baselines.glad:Glad",
            "EM for the ability of workers and the difficulty of tasks (GLAD)",
        ),
        (
            "labels.opt-ds",
            ".baselines.opt_ds:OptDawidSkene",
            "Confusion matrices from moments of three groups of workers, then EM",
        ),
        (
            "labels.ebcc",
            ".baselines.ebcc:EnhancedBayes",
            "Variational Bayes for confusion matrices of subtypes of the classes (EBCC)",
        ),
        (
            "labels.kos",
            ".baselines.kos:KargerOhShah",
            "Message passing between tasks and workers (Karger, Oh, Shah)",
        ),
        (
            "labels.ratio",
            ".baselines.eigen_ratio:EigenvectorRatio",
            "Skills as the ratio of two leading eigenvectors (ER), then a linear vote",
        ),
        ("labels.iwmv", ".baselines.iwmv:IterativeWeightedMajority", "Iterative weighted majority voting"),
        (
            "labels.m3v",
            ".baselines.m3v:MaxMarginMajority",
            "Max-margin majority voting: the vote whose winners win by most",
        ),
        ("labels.oracle", ".baselines.oracle:Oracle", "The vote with the true skills, where they are known"),
        (
            "rankone.pgd",
            ".solvers.pgd:ProjectedGradient",
            "Plug-in gradient descent on the correlations between workers",
        ),
        (
            "rankone.coordinate",
            ".solvers.coordinate:CoordinateDescent",
            "Coordinate descent: one worker after the other, in closed form",
        ),
        (
            "rankone.exponentiated",
            ".solvers.exponentiated:ExponentiatedGradient",
            "Exponentiated gradient on absolute correlations, signs read afterwards",
        ),
        (
            "rankone.relaxation",
            ".solvers.relaxation:TraceRelaxation",
            "Semidefinite relaxation by CVXPY, for up to 100 rows",
        ),
    ),
    "data set": (
        ("labels.rte", ".datasets.published:Rte", "Textual entailment: 800 tasks, 164 workers, 2 classes"),
        ("labels.temp", ".datasets.published:Temp", "Order of events: 462 tasks, 76 workers, 2 classes"),
        ("labels.dogs", ".datasets.published:Dogs", "Dog breeds: 807 tasks, 109 workers, 4 classes"),
        ("labels.wsd", ".datasets.published:Wsd", "Word senses: 177 tasks, 34 workers, 3 classes"),
        ("labels.web", ".datasets.published:Web", "Web search: 2,665 tasks, 177 workers, 5 classes"),
        (
            "synthetic.single-coin",
            ".datasets.single_coin:SingleCoin",
            "Labels drawn from the single-coin model, with known truth and skills",
        ),
        (
            "synthetic.hostile-crowd",
            ".datasets.hostile:HostileCrowd",
            "Labels of crowds that mislead: drive-by workers, clickers, copiers, colluders and others",
        ),
        (
            "labels.sparsified",
            ".datasets.sparsified:Sparsified",
            "Labels of another set, thinned until no worker shares tasks with many others",
        ),
        (
            "rank-one.ring",
            ".datasets.completion_sets:Ring",
            "Products of random skills along a ring (Figures 4 and 5)",
        ),
        (
            "rank-one.grid",
            ".datasets.completion_sets:Grid",
            "Products of random skills along a square grid with one extra edge (Figures 4 and 5)",
        ),
        (
            "rank-one.erdos-renyi",
            ".datasets.completion_sets:ErdosRenyi",
            "Products of random skills along a random graph (Figures 4 and 5)",
        ),
    ),
    "objective": (
        (
            "rank-one-least-squares",
            ".completion.objective:RankOneLeastSquares",
            "Weighted squared distance of x x' to the known entries of a symmetric matrix",
        ),
    ),
}
