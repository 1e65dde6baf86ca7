"""Well-known libraries as solvers: the names this plugin brings.

The classes are imported on use, and each imports its library when it is run; this module imports
neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [Description(kind, *row) for kind, rows in _NAMES.items() for row in rows]


_NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {  # kind -> name, class, summary
    "solver": (
        # Crowd labels, for `label-aggregation`.
        ("crowdkit.majority", ".crowd.majority:Majority", "Majority vote by crowd-kit"),
        ("crowdkit.wawa", ".crowd.wawa:Wawa", "Vote weighted by agreement with the majority"),
        ("crowdkit.dawid-skene", ".crowd.dawid_skene:DawidSkene", "EM for confusion matrices by crowd-kit"),
        ("crowdkit.one-coin", ".crowd.dawid_skene:OneCoin", "EM for one accuracy a worker by crowd-kit"),
        ("crowdkit.glad", ".crowd.glad:Glad", "GLAD: abilities times difficulties, by crowd-kit"),
        ("crowdkit.kos", ".crowd.kos:Kos", "Message passing by crowd-kit, two classes"),
        ("crowdkit.mmsr", ".crowd.mmsr:Mmsr", "M-MSR by crowd-kit, its vote or a signed one"),
        # Paired comparisons, for `pairwise-ranking`.
        ("evalica.bradley-terry", ".ranking.evalica_likelihood:BradleyTerry", "Bradley-Terry by evalica"),
        (
            "evalica.newman",
            ".ranking.evalica_likelihood:Newman",
            "Bradley-Terry with likely ties, by evalica",
        ),
        ("evalica.elo", ".ranking.evalica_elo:Elo", "Elo ratings by evalica, in the order of the rows"),
        ("evalica.counting", ".ranking.evalica_shares:Counting", "Number of wins, by evalica"),
        (
            "evalica.average-win-rate",
            ".ranking.evalica_shares:AverageWinRate",
            "Mean share of wins against each opponent, by evalica",
        ),
        ("evalica.eigen", ".ranking.evalica_shares:Eigen", "Leading eigenvector of wins, by evalica"),
        ("evalica.pagerank", ".ranking.evalica_shares:PageRank", "PageRank of wins, by evalica"),
        ("choix.ilsr", ".ranking.choix_spectral:Ilsr", "Bradley-Terry by spectral steps of choix"),
        ("choix.rank-centrality", ".ranking.choix_spectral:RankCentrality", "Rank centrality by choix"),
        ("choix.opt", ".ranking.choix_likelihood:Opt", "Bradley-Terry by choix through SciPy"),
        ("choix.mm", ".ranking.choix_likelihood:Mm", "Bradley-Terry by choix's minorization-maximization"),
        (
            "crowdkit.bradley-terry",
            ".ranking.crowdkit_models:BradleyTerry",
            "Bradley-Terry by crowd-kit's minorization-maximization",
        ),
        (
            "crowdkit.noisy-bradley-terry",
            ".ranking.crowdkit_models:NoisyBradleyTerry",
            "Bradley-Terry with skills and leanings of workers, by crowd-kit",
        ),
        # Gene networks, for `network-identification`.
        ("genes.pearson", ".genes.pearson:Pearson", "Edges by the size of a correlation"),
        ("genes.clr", ".genes.clr:ContextLikelihood", "CLR: information against its background"),
        ("genes.aracne", ".genes.aracne:Aracne", "ARACNE: no edge that another way explains"),
        ("genes.mrnet", ".genes.mrnet:Mrnet", "MRNET: relevant sources without redundancy"),
        ("genes.genie3", ".genes.genie3:Genie3", "GENIE3: how much trees learn from a source"),
        ("genes.tigress", ".genes.tigress:Tigress", "TIGRESS: stability selection by LARS"),
        # Regression and classification: `pairwise-ranking`, and the logistic loss.
        (
            "sklearn.lasso-path",
            ".regression.sklearn_lasso:SklearnLassoPath",
            "Huber-LASSO by scikit-learn's lasso_path on the cycle space",
        ),
        (
            "celer.lasso-path",
            ".regression.celer_lasso:CelerLassoPath",
            "Huber-LASSO by celer's path on the cycle space",
        ),
        ("skglm.lasso", ".regression.skglm_lasso:SkglmLasso", "Huber-LASSO by skglm, outliers as variables"),
        ("sklearn.huber", ".regression.sklearn_huber:SklearnHuber", "Scores and scale by HuberRegressor"),
        (
            "xgboost.linear",
            ".regression.xgboost_linear:XgboostLinear",
            "XGB_Linear: least-squares scores by XGBoost's gblinear",
        ),
        ("pc-lasso", ".regression.pc_lasso:PcLasso", "The principal-components Lasso for scores"),
        (
            "sklearn.logistic",
            ".regression.sklearn_logistic:SklearnLogistic",
            "LogisticRegression by each of scikit-learn's solvers",
        ),
        # Linear programs and flows.
        (
            "highspy.projection",
            ".projection.highs:HighsProjection",
            "Projection onto a three-view set by HiGHS, through highspy",
        ),
        (
            "ortools.projection",
            ".projection.ortools_flow:FlowProjection",
            "Projection onto a three-view set as a minimum-cost flow, by OR-tools",
        ),
        (
            "ortools.assignment",
            ".projection.ortools_assignment:FlowAssignment",
            "The assignment with the greatest sum of qualities, by OR-tools' flow",
        ),
    ),
    "part": (("filter.byzfl", ".filters.byzfl:ByzFl", "An aggregator of ByzFL, by name"),),
}
