"""Distributed Newton steps that withstand hostile workers: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_comrade.backends.backend import Backend as Backend
    from optiframe_comrade.backends.dask_rows import DaskRows as DaskRows
    from optiframe_comrade.local.per_sample import mean_of as mean_of
    from optiframe_comrade.messages import Broadcast as Broadcast
    from optiframe_comrade.messages import Fault as Fault
    from optiframe_comrade.messages import Reply as Reply
    from optiframe_comrade.parts.filters import FromCallable as FromCallable
    from optiframe_comrade.parts.kinds import Attack as Attack
    from optiframe_comrade.parts.kinds import Compressor as Compressor
    from optiframe_comrade.parts.kinds import Filter as Filter
    from optiframe_comrade.parts.kinds import Selecting as Selecting
    from optiframe_comrade.parts.kinds import Situation as Situation
    from optiframe_comrade.plots.progress_curves import curves as curves
    from optiframe_comrade.plots.progress_curves import least_objective as least_objective
    from optiframe_comrade.plots.runs import plot_attacks as plot_attacks
    from optiframe_comrade.plots.runs import plot_left_out as plot_left_out
    from optiframe_comrade.plots.runs import plot_progress as plot_progress
    from optiframe_comrade.protocol.ledger import Ledger as Ledger
    from optiframe_comrade.protocol.workers import Workers as Workers
    from optiframe_comrade.trust.theory import advice as advice

# No module may be called as what it exports: once imported, it would stand in its place.
# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    former={
        "suspicion": "that of the Ledger: result.detail.suspicion()",
        "Home": "Backend",
    },
)


@hookimpl
def optiframe_plugin() -> list[Description]:
    return [
        Description(
            "problem",
            "linear-classification",
            ".problem:LinearClassification",
            "Fit a linear classifier with an L2 term, with test rows to judge it by",
        ),
        Description(
            "solver",
            "newton.comrade",
            ".solvers.comrade:Comrade",
            "Averages the workers' own Newton updates without outliers: one round a step",
        ),
        Description(
            "solver",
            "newton.polished",
            ".solvers.polished:Polished",
            "COMRADE until its error floor, then steps with the averaged gradient",
        ),
        Description(
            "solver",
            "newton.giant",
            ".solvers.giant:Giant",
            "GIANT: Newton steps with the averaged gradient, two rounds a step",
        ),
        Description(
            "solver",
            "newton.robust-giant",
            ".solvers.giant:RobustGiant",
            "GIANT without the workers of greatest gradient",
        ),
        Description(
            "solver", "newton.exact", ".baselines.exact:Exact", "Newton's method on all data in one place"
        ),
        Description(
            "solver",
            "gradient.robust",
            ".solvers.robust_gradient:RobustGradient",
            "Gradient descent on a filtered average of the workers' gradients",
        ),
        Description(
            "data set",
            "libsvm.a9a",
            ".datasets.classification:A9a",
            "Census income: 32,561 x 123, sparse, with test rows",
        ),
        Description(
            "data set",
            "libsvm.w5a",
            ".datasets.classification:W5a",
            "Web pages: 9,888 x 300, sparse, with test rows",
        ),
        Description(
            "data set",
            "synthetic.covtype-shape",
            ".datasets.classification:CovtypeShape",
            "Generated, of covtype's shape: 581,012 x 54",
        ),
        Description(
            "data set",
            "synthetic.epsilon-shape",
            ".datasets.classification:EpsilonShape",
            "Generated, of epsilon's width: 40,000 x 2,000",
        ),
        Description("part", "attack.none", ".parts.kinds:Honest", "No attack: hostile workers in name only"),
        Description(
            "part", "compressor.none", ".parts.kinds:Nothing", "No compression: eight bytes a number"
        ),
        Description(
            "part",
            "backend.in-process",
            ".backends.backend:InProcessBackend",
            "Simulated workers in this process",
        ),
        Description(
            "part",
            "backend.flower",
            ".backends.flower.local_backend:FlowerBackend",
            "Flower nodes on this machine, as processes on loopback",
        ),
        Description(
            "part",
            "backend.dask",
            ".backends.dask_backend:DaskBackend",
            "Actors on a Dask cluster, of machines you own",
        ),
        *_filters(),
        *_attacks(),
        *_faults(),
        *_compressors(),
    ]


def _filters() -> list[Description]:
    return [
        Description(
            "part",
            "filter.hessian-metric",
            ".parts.hessian_metric:HessianMetric",
            "Averages updates that agree, by distances in the Hessian's metric",
        ),
        Description("part", "filter.mean", ".parts.filters:Mean", "The plain mean; leaves nobody out"),
        Description("part", "filter.norm", ".parts.filters:Norm", "Leaves out the vectors of greatest norm"),
        Description(
            "part",
            "filter.distance-to-median",
            ".parts.filters:DistanceToMedian",
            "Leaves out the vectors farthest from the coordinate-wise median",
        ),
        Description(
            "part",
            "filter.coordinate-median",
            ".parts.filters:CoordinateMedian",
            "The median of each coordinate",
        ),
        Description(
            "part",
            "filter.trimmed-mean",
            ".parts.filters:TrimmedMean",
            "The mean of each coordinate without its extreme values",
        ),
        Description(
            "part",
            "filter.geometric-median",
            ".parts.filters:GeometricMedian",
            "The point of least summed distance",
        ),
        Description(
            "part", "filter.krum", ".parts.filters:Krum", "The one vector nearest to its nearest others"
        ),
        Description(
            "part",
            "filter.multi-krum",
            ".parts.filters:MultiKrum",
            "The mean of the vectors nearest to their nearest others",
        ),
        Description(
            "part",
            "filter.meamed",
            ".parts.filters:Meamed",
            "The mean of each coordinate around its median",
        ),
        Description(
            "part",
            "filter.nnm",
            ".parts.filters:NearestNeighbourMixing",
            "Another filter on vectors mixed with their nearest ones",
        ),
    ]


def _attacks() -> list[Description]:
    return [
        Description("part", "attack.negative", ".parts.attacks:Negative", "Sends -c times the update"),
        Description(
            "part",
            "attack.flipped-labels",
            ".parts.attacks:FlippedLabels",
            "Learns from labels of the wrong sign",
        ),
        Description(
            "part",
            "attack.random-labels",
            ".parts.attacks:RandomLabels",
            "Learns from labels tossed by a coin",
        ),
        Description(
            "part",
            "attack.gaussian",
            ".parts.attacks:GaussianNoise",
            "Adds Gaussian noise of a given deviation",
        ),
        Description(
            "part",
            "attack.collusion",
            ".parts.attacks:Collusion",
            "All send one vector as long as norm trimming lets pass",
        ),
        Description(
            "part",
            "attack.alie",
            ".parts.attacks:ALittleIsEnough",
            "Hides within the spread of the honest vectors",
        ),
        Description(
            "part",
            "attack.inner-product",
            ".parts.attacks:InnerProduct",
            "Sends the honest mean, negative and short",
        ),
        Description("part", "attack.mimic", ".parts.attacks:Mimic", "All copy one honest worker"),
        Description(
            "part", "attack.steep", ".parts.steepest:Steep", "Goes as far uphill as the filter still keeps"
        ),
        Description(
            "part",
            "attack.steep-by-metric",
            ".parts.steepest:SteepByMetric",
            "Goes as far as the filter's metric leaves room for most harm",
        ),
        Description(
            "part", "attack.greedy", ".parts.steepest:Greedy", "Searches for the lies of most harm each round"
        ),
    ]


def _faults() -> list[Description]:
    return [
        Description("part", "attack.crash", ".parts.faults:Crash", "Dies and never replies again"),
        Description("part", "attack.hang", ".parts.faults:Hang", "Never answers"),
        Description("part", "attack.late", ".parts.faults:LateReply", "Answers when the round is over"),
        Description("part", "attack.replay", ".parts.faults:Replay", "Sends the answer to an old round"),
        Description("part", "attack.nan", ".parts.faults:NotANumber", "Sends nan in every place"),
        Description("part", "attack.infinity", ".parts.faults:Infinity", "Sends infinity in every place"),
        Description(
            "part", "attack.wrong-shape", ".parts.faults:WrongShape", "Sends a number, or byte, too few"
        ),
        Description(
            "part", "attack.wrong-dtype", ".parts.faults:WrongType", "Sends numbers of the wrong type"
        ),
        Description("part", "attack.huge", ".parts.faults:HugeMessage", "Sends a gigabyte"),
        Description("part", "attack.malformed", ".parts.faults:Malformed", "Sends bytes that mean nothing"),
    ]


def _compressors() -> list[Description]:
    return [
        Description(
            "part",
            "compressor.qsgd",
            ".parts.compressors:QSGD",
            "Stochastic rounding to levels of the largest entry; unbiased",
        ),
        Description(
            "part",
            "compressor.l1-qsgd",
            ".parts.compressors:L1QSGD",
            "Stochastic rounding to levels of the l1 norm",
        ),
        Description("part", "compressor.top-k", ".parts.compressors:TopK", "The k largest entries"),
        Description(
            "part", "compressor.rand-k", ".parts.compressors:RandK", "k entries drawn at random, not rescaled"
        ),
        Description(
            "part", "compressor.sign", ".parts.compressors:ScaledSign", "Signs times the mean absolute entry"
        ),
    ]
