"""Well-known libraries as solvers: the names this plugin brings.

The classes are imported on use, and each imports its library when it is run; this module imports
neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl

_HERE = "optiframe_peers."


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [*_crowd(), *_ranking(), *_genes(), *_regression(), *_programs()]


def _genes() -> list[Description]:
    """Gene networks, for `network-identification`."""
    here = _HERE + "genes."
    return [
        Description("genes.pearson", here + "pearson:Pearson", "Edges by the size of a correlation"),
        Description("genes.clr", here + "clr:ContextLikelihood", "CLR: information against its background"),
        Description("genes.aracne", here + "aracne:Aracne", "ARACNE: no edge that another way explains"),
        Description("genes.mrnet", here + "mrnet:Mrnet", "MRNET: relevant sources without redundancy"),
        Description("genes.genie3", here + "genie3:Genie3", "GENIE3: how much trees learn from a source"),
        Description("genes.tigress", here + "tigress:Tigress", "TIGRESS: stability selection by LARS"),
    ]


def _crowd() -> list[Description]:
    """Crowd labels, for `label-aggregation`."""
    here = _HERE + "crowd."
    return [
        Description("crowdkit.majority", here + "majority:Majority", "Majority vote by crowd-kit"),
        Description("crowdkit.wawa", here + "wawa:Wawa", "Vote weighted by agreement with the majority"),
        Description(
            "crowdkit.dawid-skene", here + "dawid_skene:DawidSkene", "EM for confusion matrices by crowd-kit"
        ),
        Description(
            "crowdkit.one-coin", here + "dawid_skene:OneCoin", "EM for one accuracy a worker by crowd-kit"
        ),
        Description("crowdkit.glad", here + "glad:Glad", "GLAD: abilities times difficulties, by crowd-kit"),
        Description("crowdkit.kos", here + "kos:Kos", "Message passing by crowd-kit, two classes"),
        Description("crowdkit.mmsr", here + "mmsr:Mmsr", "M-MSR by crowd-kit, its vote or a signed one"),
    ]


def _ranking() -> list[Description]:
    """Paired comparisons, for `pairwise-ranking`."""
    here = _HERE + "ranking."
    return [
        Description(
            "evalica.bradley-terry", here + "evalica_likelihood:BradleyTerry", "Bradley-Terry by evalica"
        ),
        Description(
            "evalica.newman", here + "evalica_likelihood:Newman", "Bradley-Terry with likely ties, by evalica"
        ),
        Description(
            "evalica.elo", here + "evalica_elo:Elo", "Elo ratings by evalica, in the order of the rows"
        ),
        Description("evalica.counting", here + "evalica_shares:Counting", "Number of wins, by evalica"),
        Description(
            "evalica.average-win-rate",
            here + "evalica_shares:AverageWinRate",
            "Mean share of wins against each opponent, by evalica",
        ),
        Description(
            "evalica.eigen", here + "evalica_shares:Eigen", "Leading eigenvector of wins, by evalica"
        ),
        Description("evalica.pagerank", here + "evalica_shares:PageRank", "PageRank of wins, by evalica"),
        Description("choix.ilsr", here + "choix_spectral:Ilsr", "Bradley-Terry by spectral steps of choix"),
        Description(
            "choix.rank-centrality", here + "choix_spectral:RankCentrality", "Rank centrality by choix"
        ),
        Description("choix.opt", here + "choix_likelihood:Opt", "Bradley-Terry by choix through SciPy"),
        Description(
            "choix.mm", here + "choix_likelihood:Mm", "Bradley-Terry by choix's minorization-maximization"
        ),
        Description(
            "crowdkit.bradley-terry",
            here + "crowdkit_models:BradleyTerry",
            "Bradley-Terry by crowd-kit's minorization-maximization",
        ),
        Description(
            "crowdkit.noisy-bradley-terry",
            here + "crowdkit_models:NoisyBradleyTerry",
            "Bradley-Terry with skills and leanings of workers, by crowd-kit",
        ),
    ]


def _regression() -> list[Description]:
    """Regression and classification: `pairwise-ranking`, and the logistic loss."""
    here = _HERE + "regression."
    return [
        Description(
            "sklearn.lasso-path",
            here + "sklearn_lasso:SklearnLassoPath",
            "Huber-LASSO by scikit-learn's lasso_path on the cycle space",
        ),
        Description(
            "celer.lasso-path",
            here + "celer_lasso:CelerLassoPath",
            "Huber-LASSO by celer's path on the cycle space",
        ),
        Description(
            "skglm.lasso", here + "skglm_lasso:SkglmLasso", "Huber-LASSO by skglm, outliers as variables"
        ),
        Description(
            "sklearn.huber", here + "sklearn_huber:SklearnHuber", "Scores and scale by HuberRegressor"
        ),
        Description(
            "xgboost.linear",
            here + "xgboost_linear:XgboostLinear",
            "XGB_Linear: least-squares scores by XGBoost's gblinear",
        ),
        Description("pc-lasso", here + "pc_lasso:PcLasso", "The principal-components Lasso for scores"),
        Description(
            "sklearn.logistic",
            here + "sklearn_logistic:SklearnLogistic",
            "LogisticRegression by each of scikit-learn's solvers",
        ),
    ]


def _programs() -> list[Description]:
    """Linear programs and flows."""
    return [
        Description(
            "highspy.projection",
            _HERE + "projection.highs:HighsProjection",
            "Projection onto a three-view set by HiGHS, through highspy",
        ),
        Description(
            "ortools.assignment",
            _HERE + "projection.ortools_assignment:FlowAssignment",
            "The assignment with the greatest sum of qualities, by OR-tools' flow",
        ),
    ]


@hookimpl
def optiframe_parts() -> list[Description]:
    return [Description("filter.byzfl", _HERE + "filters.byzfl:ByzFl", "An aggregator of ByzFL, by name")]
