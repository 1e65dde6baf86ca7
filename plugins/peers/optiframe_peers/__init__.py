"""Well-known libraries as solvers: the names this plugin brings.

The classes are imported on use, and each imports its library when it is run; this module imports
neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [
        *_crowd(),
        *_ranking(),
        *_genes(),
        *_regression(),
        *_programs(),
        Description("part", "filter.byzfl", ".filters.byzfl:ByzFl", "An aggregator of ByzFL, by name"),
    ]


def _genes() -> list[Description]:
    """Gene networks, for `network-identification`."""
    return [
        Description(
            "solver", "genes.pearson", ".genes.pearson:Pearson", "Edges by the size of a correlation"
        ),
        Description(
            "solver", "genes.clr", ".genes.clr:ContextLikelihood", "CLR: information against its background"
        ),
        Description(
            "solver", "genes.aracne", ".genes.aracne:Aracne", "ARACNE: no edge that another way explains"
        ),
        Description(
            "solver", "genes.mrnet", ".genes.mrnet:Mrnet", "MRNET: relevant sources without redundancy"
        ),
        Description(
            "solver", "genes.genie3", ".genes.genie3:Genie3", "GENIE3: how much trees learn from a source"
        ),
        Description(
            "solver", "genes.tigress", ".genes.tigress:Tigress", "TIGRESS: stability selection by LARS"
        ),
    ]


def _crowd() -> list[Description]:
    """Crowd labels, for `label-aggregation`."""
    return [
        Description("solver", "crowdkit.majority", ".crowd.majority:Majority", "Majority vote by crowd-kit"),
        Description(
            "solver", "crowdkit.wawa", ".crowd.wawa:Wawa", "Vote weighted by agreement with the majority"
        ),
        Description(
            "solver",
            "crowdkit.dawid-skene",
            ".crowd.dawid_skene:DawidSkene",
            "EM for confusion matrices by crowd-kit",
        ),
        Description(
            "solver",
            "crowdkit.one-coin",
            ".crowd.dawid_skene:OneCoin",
            "EM for one accuracy a worker by crowd-kit",
        ),
        Description(
            "solver", "crowdkit.glad", ".crowd.glad:Glad", "GLAD: abilities times difficulties, by crowd-kit"
        ),
        Description("solver", "crowdkit.kos", ".crowd.kos:Kos", "Message passing by crowd-kit, two classes"),
        Description(
            "solver", "crowdkit.mmsr", ".crowd.mmsr:Mmsr", "M-MSR by crowd-kit, its vote or a signed one"
        ),
    ]


def _ranking() -> list[Description]:
    """Paired comparisons, for `pairwise-ranking`."""
    return [
        Description(
            "solver",
            "evalica.bradley-terry",
            ".ranking.evalica_likelihood:BradleyTerry",
            "Bradley-Terry by evalica",
        ),
        Description(
            "solver",
            "evalica.newman",
            ".ranking.evalica_likelihood:Newman",
            "Bradley-Terry with likely ties, by evalica",
        ),
        Description(
            "solver",
            "evalica.elo",
            ".ranking.evalica_elo:Elo",
            "Elo ratings by evalica, in the order of the rows",
        ),
        Description(
            "solver", "evalica.counting", ".ranking.evalica_shares:Counting", "Number of wins, by evalica"
        ),
        Description(
            "solver",
            "evalica.average-win-rate",
            ".ranking.evalica_shares:AverageWinRate",
            "Mean share of wins against each opponent, by evalica",
        ),
        Description(
            "solver",
            "evalica.eigen",
            ".ranking.evalica_shares:Eigen",
            "Leading eigenvector of wins, by evalica",
        ),
        Description(
            "solver", "evalica.pagerank", ".ranking.evalica_shares:PageRank", "PageRank of wins, by evalica"
        ),
        Description(
            "solver", "choix.ilsr", ".ranking.choix_spectral:Ilsr", "Bradley-Terry by spectral steps of choix"
        ),
        Description(
            "solver",
            "choix.rank-centrality",
            ".ranking.choix_spectral:RankCentrality",
            "Rank centrality by choix",
        ),
        Description(
            "solver", "choix.opt", ".ranking.choix_likelihood:Opt", "Bradley-Terry by choix through SciPy"
        ),
        Description(
            "solver",
            "choix.mm",
            ".ranking.choix_likelihood:Mm",
            "Bradley-Terry by choix's minorization-maximization",
        ),
        Description(
            "solver",
            "crowdkit.bradley-terry",
            ".ranking.crowdkit_models:BradleyTerry",
            "Bradley-Terry by crowd-kit's minorization-maximization",
        ),
        Description(
            "solver",
            "crowdkit.noisy-bradley-terry",
            ".ranking.crowdkit_models:NoisyBradleyTerry",
            "Bradley-Terry with skills and leanings of workers, by crowd-kit",
        ),
    ]


def _regression() -> list[Description]:
    """Regression and classification: `pairwise-ranking`, and the logistic loss."""
    return [
        Description(
            "solver",
            "sklearn.lasso-path",
            ".regression.sklearn_lasso:SklearnLassoPath",
            "Huber-LASSO by scikit-learn's lasso_path on the cycle space",
        ),
        Description(
            "solver",
            "celer.lasso-path",
            ".regression.celer_lasso:CelerLassoPath",
            "Huber-LASSO by celer's path on the cycle space",
        ),
        Description(
            "solver",
            "skglm.lasso",
            ".regression.skglm_lasso:SkglmLasso",
            "Huber-LASSO by skglm, outliers as variables",
        ),
        Description(
            "solver",
            "sklearn.huber",
            ".regression.sklearn_huber:SklearnHuber",
            "Scores and scale by HuberRegressor",
        ),
        Description(
            "solver",
            "xgboost.linear",
            ".regression.xgboost_linear:XgboostLinear",
            "XGB_Linear: least-squares scores by XGBoost's gblinear",
        ),
        Description(
            "solver", "pc-lasso", ".regression.pc_lasso:PcLasso", "The principal-components Lasso for scores"
        ),
        Description(
            "solver",
            "sklearn.logistic",
            ".regression.sklearn_logistic:SklearnLogistic",
            "LogisticRegression by each of scikit-learn's solvers",
        ),
    ]


def _programs() -> list[Description]:
    """Linear programs and flows."""
    return [
        Description(
            "solver",
            "highspy.projection",
            ".projection.highs:HighsProjection",
            "Projection onto a three-view set by HiGHS, through highspy",
        ),
        Description(
            "solver",
            "ortools.projection",
            ".projection.ortools_flow:FlowProjection",
            "Projection onto a three-view set as a minimum-cost flow, by OR-tools",
        ),
        Description(
            "solver",
            "ortools.assignment",
            ".projection.ortools_assignment:FlowAssignment",
            "The assignment with the greatest sum of qualities, by OR-tools' flow",
        ),
    ]
