"""The Riemannian trust region as a solver (PRTRS, and any other objective over matrices of a fixed rank)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PlainValidator, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.methods.smooth_part import first_point
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.product import Product
from optiframe.records.fields import Accepts, Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank
from optiframe_manifold.geometry.objective_adapters import OfArrays, OfFactors
from optiframe_manifold.geometry.positive_rank_one import PositiveRankOne, Vectors, holds_all_vectors
from optiframe_manifold.geometry.pymanopt_adapter import as_manifold, random_point
from optiframe_manifold.low_rank import Rank
from optiframe_manifold.sets.manifold_of import is_ambient, manifold_of, member, no_manifold
from optiframe_manifold.sets.manifold_set import ManifoldSet, typical_distance
from optiframe_manifold.solvers.starts import first_factors
from optiframe_manifold.solvers.trust_region_loop import Step, trust_region

# Below this share of the largest a singular value says that the rank is lower. A superfluous one only
# shrinks by a third or so in each step, until the gradient, which goes as its square, is small enough.
_DEFICIENT = 1e-4


class TrustRegion(Solver[Minimize, Any, None]):
    """Riemannian trust region with truncated conjugate gradients (PRTRS).

    Needs an objective with a gradient and a Hessian product, over `Rank`; its points are
    factors, never a dense matrix. It converges to a point with small gradient and no
    direction of strong negative curvature from any start, in the end quadratically. One outer
    step costs a few to a few dozen Hessian products; beside those O((m + n) r^2) each.
    Memory is about ten times the factors, 80 (m + n) r bytes. Inner loops that are asked for less than
    three digits take Hessian products of six, in single precision, where the objective has them (the
    ranking objective with log-sum-exp: 8 more bytes for each comparison at two points);
    values, gradients and the last loops are in double precision, and the answer is as exact.

    Also takes an objective over arrays that no set bounds (such as `rank-one-completion` without
    bounds, as the matrix x x'), one over a set that is a manifold (`stiefel` and others), and, with
    `manifold`, one on any manifold of pymanopt.

    The trace has the radius, the ratio of actual to predicted decrease, the Hessian products of
    each outer step and whether it was accepted.
    """

    name = "manifold.trust-region"
    reference = "Dong et al., Sec. V; Absil, Baker, Gallivan 2007"
    solves = Minimize
    uses = (Objective.gradient, Objective.hessian_product)
    former_names = (("begin", "init"), ("largest", "max_radius"))
    accepts_start = True
    residual_meaning = "norm of the Riemannian gradient, in the metric of Eq. 12"
    point_type = object

    init: Literal["spectral", "random"] = Field(
        default="spectral",
        description="where to begin without a start: leading directions of the gradient at zero, or random "
        "factors with largest entry .95",
    )
    precondition: bool = Field(
        default=True, description="undo the effect of the factors' size on the Hessian"
    )
    steps: PositiveInt = Field(default=500, description="outer steps at most")
    radius: PositiveFloat = Field(
        default=0.25, description="first radius, relative to the length of a point in its own metric"
    )
    max_radius: PositiveFloat = Field(default=1.0, description="largest radius, in the same unit")
    kappa: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.1, description="share of the gradient norm at which an inner loop ends, far from the answer"
    )
    theta: NonNegativeFloat = Field(default=0.5, description="near it, the order of convergence less one")
    manifold: Annotated[
        Any, PlainValidator(as_manifold), Accepts("a manifold object of pymanopt, in Python only")
    ] = Field(default=None, description="manifold to search, for an objective over its arrays")

    def unsuited(self, problem: Minimize) -> str | None:
        if isinstance(problem.over, Rank):
            return "a manifold is given, and the points are factors" if self.manifold is not None else None
        if isinstance(problem.over, ManifoldSet | Product):
            return self._unsuited_to_set(problem)
        if holds_all_vectors(problem.over):
            return None
        return (
            f"the set {problem.over.name!r} is no manifold; this takes the set 'rank', "
            "or points without bounds"
        )

    def _unsuited_to_set(self, problem: Minimize) -> str | None:
        if self.manifold is not None:
            return f"a manifold is given, and the set {problem.over.name!r} is one; leave one of them out"
        if not is_ambient(problem.over):
            return (
                f"directions along the set {problem.over.name!r} are not arrays like its points; take "
                "pymanopt.trust-regions"
            )
        return no_manifold(problem.over, problem.function.shape)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        manifold, objective, start = self._setting(problem, run)
        unit = typical_distance(manifold)
        preconditioner = getattr(manifold, "precondition", None) if self.precondition else None
        search = trust_region(
            manifold,
            objective,
            start,
            radius=self.radius * unit,
            max_radius=max(self.max_radius, self.radius) * unit,
            precondition=preconditioner,
            kappa=self.kappa,
            theta=self.theta,
            enough=run.budget.tolerance,
            time_left=lambda: 0.0 if run.stopping else run.time_left(),
        )
        for done in range(self.steps):
            try:
                with np.errstate(all="ignore"):  # what overflows is refused, or said in words
                    step = next(search)
            except StopIteration as end:
                return Status.STALLED if done else Status.DIVERGED, end.value
            if step.gradient_norm <= run.budget.tolerance:
                _warn_of_lower_rank(step.point, run)
            yield self._iterate(step)
        return Status.ITERATION_LIMIT, f"stopped after {self.steps} outer steps, the solver's own limit"

    def _iterate(self, step: Step) -> Iterate:
        return Iterate(
            step.point.matrix if isinstance(step.point, Factors) else step.point,
            residual=step.gradient_norm,
            info={
                "radius": step.radius,
                "ratio": step.ratio,
                "products": step.products,
                "accepted": float(step.accepted),
            },
        )

    def _setting(self, problem: Minimize, run: Run) -> tuple[Any, Any, Any]:
        """The manifold, the objective in its terms, and the first point."""
        if isinstance(problem.over, Rank):
            geometry = FixedRank(problem.over.rows, problem.over.columns, problem.over.rank)
            start = first_factors(problem, run, self.init)
            return geometry, OfFactors(problem.function, geometry), Factors(start)
        if isinstance(problem.over, ManifoldSet | Product):
            point = member(problem.over, first_point(problem, run))
            manifold = manifold_of(problem.over, point.shape)
            return manifold, OfArrays(problem.function, manifold), point
        given = problem.start if run.start is None else run.start
        if self.manifold is not None:
            point = random_point(self.manifold, run.rng) if given is None else _finite(given)
            _check_point(point, problem, self.manifold)
            return self.manifold, OfArrays(problem.function, self.manifold), point
        point = _finite(problem.initial() if given is None else given)
        if isinstance(problem.over, PositiveRankOne) and not point.any():
            # The gradient of a function of x x' by x vanishes at zero, whatever the function.
            point = run.rng.standard_normal(point.shape)
            if given is not None:
                text = "the start is zero, where the gradient by x vanishes: began at random instead"
                run.warn(text, identifier="collaborative.zero-start")
        vectors = Vectors(point.size, typical_dist=max(float(np.linalg.norm(point)), 1.0))
        return vectors, OfArrays(problem.function, vectors), point


def _check_point(point: Any, problem: Minimize, manifold: Any) -> None:
    found = np.asarray(point)
    if found.dtype.kind != "f" or found.shape != problem.function.shape:
        raise InvalidInput(
            f"points of {manifold} are {found.dtype} arrays of shape {found.shape}, the objective "
            f"{problem.function.known_as!r} takes float64 ones of shape {problem.function.shape}; "
            "give the manifold of these"
        )


def _finite(start: Any) -> Array:
    point = np.array(start, dtype=np.float64)
    if not np.isfinite(point).all():
        raise InvalidInput("start: every entry must be finite")
    return point


def _warn_of_lower_rank(point: Any, run: Run) -> None:
    if not isinstance(point, Factors):
        return
    values = point.singular_values
    if values[-1] < _DEFICIENT * values[0]:
        lower = int(np.count_nonzero(values >= _DEFICIENT * values[0]))
        run.warn(
            f"the answer has rank {lower} in effect, less than the {len(values)} asked for: its other "
            f"singular values are below {_DEFICIENT:g} of the largest; lower the rank to {lower}",
            identifier="collaborative.lower-rank-answer",
        )
