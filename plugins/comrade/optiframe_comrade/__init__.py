"""Distributed Newton steps that withstand hostile workers: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_comrade.backends.backend import Backend as Backend
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
    from optiframe_comrade.trust.left_out import suspicion as suspicion
    from optiframe_comrade.trust.theory import advice as advice

# No module may be called as what it exports: once imported, it would stand in its place.
# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "parts.filters": ("FromCallable",),
        "backends.backend": ("Backend",),
        "protocol.ledger": ("Ledger",),
        "trust.left_out": ("suspicion",),
        "messages": ("Broadcast", "Fault", "Reply"),
        "parts.kinds": ("Attack", "Compressor", "Filter", "Selecting", "Situation"),
        "local.per_sample": ("mean_of",),
        "plots.runs": ("plot_attacks", "plot_left_out", "plot_progress"),
        "plots.progress_curves": ("curves", "least_objective"),
        "trust.theory": ("advice",),
        "protocol.workers": ("Workers",),
    },
)

_HERE = "optiframe_comrade."


@hookimpl
def optiframe_problems() -> list[Description]:
    return [
        Description(
            "linear-classification",
            _HERE + "problem:LinearClassification",
            "Fit a linear classifier with an L2 term, with test rows to judge it by",
        )
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "newton.comrade",
            _HERE + "solvers.comrade:Comrade",
            "Averages the workers' own Newton updates without outliers: one round a step",
        ),
        Description(
            "newton.polished",
            _HERE + "solvers.polished:Polished",
            "COMRADE until its error floor, then steps with the averaged gradient",
        ),
        Description(
            "newton.giant",
            _HERE + "solvers.giant:Giant",
            "GIANT: Newton steps with the averaged gradient, two rounds a step",
        ),
        Description(
            "newton.robust-giant",
            _HERE + "solvers.giant:RobustGiant",
            "GIANT without the workers of greatest gradient",
        ),
        Description(
            "newton.exact", _HERE + "baselines.exact:Exact", "Newton's method on all data in one place"
        ),
        Description(
            "gradient.robust",
            _HERE + "solvers.robust_gradient:RobustGradient",
            "Gradient descent on a filtered average of the workers' gradients",
        ),
    ]


@hookimpl
def optiframe_datasets() -> list[Description]:
    here = _HERE + "datasets.classification:"
    return [
        Description("libsvm.a9a", here + "A9a", "Census income: 32,561 x 123, sparse, with test rows"),
        Description("libsvm.w5a", here + "W5a", "Web pages: 9,888 x 300, sparse, with test rows"),
        Description(
            "synthetic.covtype-shape", here + "CovtypeShape", "Generated, of covtype's shape: 581,012 x 54"
        ),
        Description(
            "synthetic.epsilon-shape", here + "EpsilonShape", "Generated, of epsilon's width: 40,000 x 2,000"
        ),
    ]


@hookimpl
def optiframe_parts() -> list[Description]:
    here = _HERE + "parts.kinds:"
    return [
        Description("attack.none", here + "Honest", "No attack: hostile workers in name only"),
        Description("compressor.none", here + "Nothing", "No compression: eight bytes a number"),
        Description(
            "backend.in-process",
            _HERE + "backends.backend:InProcessBackend",
            "Simulated workers in this process",
        ),
        Description(
            "backend.flower",
            _HERE + "backends.flower.local_backend:FlowerBackend",
            "Flower nodes on this machine, as processes on loopback",
        ),
        Description(
            "backend.dask",
            _HERE + "backends.dask_backend:DaskBackend",
            "Actors on a Dask cluster, of machines you own",
        ),
        *_filters(),
        *_attacks(),
        *_faults(),
        *_compressors(),
    ]


def _filters() -> list[Description]:
    here = _HERE + "parts.filters:"
    return [
        Description("filter.mean", here + "Mean", "The plain mean; leaves nobody out"),
        Description("filter.norm", here + "Norm", "Leaves out the vectors of greatest norm"),
        Description(
            "filter.distance-to-median",
            here + "DistanceToMedian",
            "Leaves out the vectors farthest from the coordinate-wise median",
        ),
        Description("filter.coordinate-median", here + "CoordinateMedian", "The median of each coordinate"),
        Description(
            "filter.trimmed-mean",
            here + "TrimmedMean",
            "The mean of each coordinate without its extreme values",
        ),
        Description(
            "filter.geometric-median", here + "GeometricMedian", "The point of least summed distance"
        ),
        Description("filter.krum", here + "Krum", "The one vector nearest to its nearest others"),
        Description(
            "filter.multi-krum", here + "MultiKrum", "The mean of the vectors nearest to their nearest others"
        ),
    ]


def _attacks() -> list[Description]:
    here = _HERE + "parts.attacks:"
    return [
        Description("attack.negative", here + "Negative", "Sends -c times the update"),
        Description("attack.flipped-labels", here + "FlippedLabels", "Learns from labels of the wrong sign"),
        Description("attack.random-labels", here + "RandomLabels", "Learns from labels tossed by a coin"),
        Description("attack.gaussian", here + "GaussianNoise", "Adds Gaussian noise of a given deviation"),
        Description(
            "attack.collusion", here + "Collusion", "All send one vector as long as norm trimming lets pass"
        ),
        Description("attack.alie", here + "ALittleIsEnough", "Hides within the spread of the honest vectors"),
        Description(
            "attack.inner-product", here + "InnerProduct", "Sends the honest mean, negative and short"
        ),
        Description("attack.mimic", here + "Mimic", "All copy one honest worker"),
    ]


def _faults() -> list[Description]:
    here = _HERE + "parts.faults:"
    return [
        Description("attack.crash", here + "Crash", "Dies, and is not heard of again"),
        Description("attack.hang", here + "Hang", "Never answers"),
        Description("attack.late", here + "LateReply", "Answers when the round is over"),
        Description("attack.replay", here + "Replay", "Sends the answer to an old round"),
        Description("attack.nan", here + "NotANumber", "Sends nan in every place"),
        Description("attack.infinity", here + "Infinity", "Sends infinity in every place"),
        Description("attack.wrong-shape", here + "WrongShape", "Sends a number, or byte, too few"),
        Description("attack.wrong-dtype", here + "WrongType", "Sends numbers of the wrong type"),
        Description("attack.huge", here + "HugeMessage", "Sends a gigabyte"),
        Description("attack.malformed", here + "Malformed", "Sends bytes that mean nothing"),
    ]


def _compressors() -> list[Description]:
    here = _HERE + "parts.compressors:"
    return [
        Description(
            "compressor.qsgd", here + "QSGD", "Stochastic rounding to levels of the largest entry; unbiased"
        ),
        Description("compressor.l1-qsgd", here + "L1QSGD", "Stochastic rounding to levels of the l1 norm"),
        Description("compressor.top-k", here + "TopK", "The k largest entries"),
        Description("compressor.rand-k", here + "RandK", "k entries drawn at random, not rescaled"),
        Description("compressor.sign", here + "ScaledSign", "Signs times the mean absolute entry"),
    ]
