"""Whether an answer of low rank is a minimum: the smallest eigenvalue of the Hessian there.

A small gradient is also found at saddles. Where besides the Riemannian Hessian has no negative
eigenvalue, no direction leads down to second order: the certificate that goes with a trust
region's answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from optiframe.errors import InvalidInput, Unsuited
from optiframe.findings import Finding
from optiframe.notebook import InNotebook
from optiframe.numbers import number
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array
from optiframe.solving.sources import Source, answer_of, part_of
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, balanced
from optiframe_manifold.geometry.objective_adapters import OfFactors
from optiframe_manifold.low_rank import LowRank, Rank, finite

_DENSE = 400  # numbers in the factors up to which the whole Hessian is decomposed, in a second or less
_STEPS = 300  # restarts of Lanczos' method at most
_WIDTH = 40  # vectors it keeps
_DEFICIENT = 1e-8  # a share of the largest singular value below which one is zero but for the solver's rest
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SecondOrder(InNotebook):
    """The ends of the Riemannian Hessian's spectrum at a point, in the metric of Eq. 12.

    Parameters
    ----------
    smallest, largest
        Eigenvalues on horizontal vectors.
    error
        How far from `smallest` an eigenvalue is at most: the residual of its vector. Lanczos' method
        comes from above, so that the smallest can be lower by more only where it was missed.
    gradient_norm
        Norm of the Riemannian gradient.
    direction
        The vector of `smallest`, of length 1 in the metric, as a pair of factors' changes.
    products
        Hessian products spent.
    """

    smallest: float
    largest: float
    error: float
    gradient_norm: float
    direction: LowRank
    products: int

    def __repr__(self) -> str:
        return f"<{self.finding.text}>"

    def in_words(self) -> list[str]:
        """The certificate in a sentence."""
        return [self.finding.text]

    @property
    def is_minimum(self) -> bool | None:
        """Whether no direction leads down; None where the smallest is zero but for its error.

        A gradient that is not quite zero counts as error too: it bends the Hessian by as much.
        """
        slack = max(self.error, self.gradient_norm, 100 * _EPS * self.largest)
        if abs(self.smallest) <= slack:
            return None
        return self.smallest > 0

    @property
    def finding(self) -> Finding:
        """The certificate in a sentence."""
        numbers = (
            f"smallest eigenvalue of the Hessian {number(self.smallest)} (within {number(self.error)}), "
            f"largest {number(self.largest)}, gradient norm {number(self.gradient_norm)}"
        )
        if self.is_minimum is None:
            return Finding(
                "note",
                f"the answer may not be a minimum: some directions are flat to second order ({numbers})",
                identifier="collaborative.flat-directions",
            )
        if self.is_minimum:
            return Finding(
                "note",
                f"the answer is a local minimum to second order: {numbers}",
                identifier="collaborative.local-minimum",
            )
        return Finding(
            "warning",
            f"not a minimum, a direction leads further down: {numbers}",
            identifier="collaborative.not-a-minimum",
        )


def second_order(problem: Source, answer: Any = None, *, tolerance: float = 1e-4) -> SecondOrder:
    """The smallest and largest eigenvalue of the Riemannian Hessian at an answer.

    Lanczos' method (ARPACK) with Hessian products, in horizontal vectors: factors' changes that
    do not merely rewrite the same matrix. It begins at a fixed vector, so the same answer gives the same
    bits. Small problems (up to 400 numbers in the factors) are decomposed whole, without error.
    Memory: 40 times the factors.

    Parameters
    ----------
    problem
        Any that leads to `Minimize` over `Rank`, such as `collaborative-ranking`; or the `Result` of
        one or a fitted estimator, and no answer.
    answer
        Its solution, or the `Result`.
    tolerance
        Error of the smallest eigenvalue, relative to the largest. It takes the more products the
        smaller it is: flat directions lie close together.

    Raises
    ------
    InvalidInput
        When there is no answer, or it is not finite.
    Unsuited
        When the problem does not lead to `Minimize` over `Rank`, the objective has no Hessian product,
        the answer is of a lower rank, where the manifold ends, or of a solver with another objective
        (`btl.personal`).
    """
    wanted = "a problem that leads to matrices of a fixed rank, the result of a solver for it or an estimator"
    asked: Problem[Any] = part_of(problem, Problem, "problem", wanted=wanted)
    given = answer_of(problem, answer)
    if getattr(given, "prior", None) is not None:
        raise Unsuited(
            "this answer minimizes an objective with priors of its own, not the problem's; for a certificate "
            'take a solver of the problem\'s objective, such as "manifold.trust-region"'
        )
    target, x = inner(asked, given)
    if not 0 < tolerance < 1:
        raise InvalidInput(f"tolerance must be between 0 and 1, got {tolerance}")
    hessian = _Hessian(target, x)
    size = x.left.size + x.right.size
    values, vectors = _whole(hessian, size) if size <= _DENSE else _ends(hessian, size, tolerance)
    least, vector = float(values[0]), vectors[:, 0]
    error = float(np.linalg.norm(hessian(vector) - least * vector))
    return SecondOrder(
        smallest=least,
        largest=float(values[-1]),
        error=error,
        gradient_norm=hessian.gradient_norm,
        direction=LowRank(*hessian.geometry.split(hessian.lifted(vector))),
        products=hessian.products,
    )


def inner(problem: Problem[Any], answer: Any) -> tuple[Minimize, LowRank]:
    """The fixed-rank problem that a problem leads to, and the answer in its terms."""
    while not isinstance(problem, Minimize):
        step = problem.formulation
        if step is None or step.encode is None:
            raise Unsuited(
                f"{problem.name!r} is not solved over matrices of a fixed rank, so it has no such certificate"
            )
        problem, answer = step.problem, step.encode(answer)
    if not isinstance(problem.over, Rank):
        raise Unsuited(f"the set {problem.over.name!r} is not the set of matrices of a fixed rank")
    lacking = problem.function.lacks(Objective.hessian_product)
    if lacking:
        raise Unsuited(lacking)
    problem.check(answer)
    if not finite(answer):
        raise InvalidInput("the answer has entries that are not finite")
    x = balanced(answer)
    sizes = np.einsum("ij,ij->j", x.left, x.left)  # singular values, falling
    if x.rank != problem.over.rank or not sizes[-1] > _DEFICIENT * sizes[0]:
        raise Unsuited(
            f"the answer cannot be checked: it is of a lower rank than the set's {problem.over.rank}, at the "
            "edge of the manifold of that rank; solve with the lower rank"
        )
    return problem, x


class _Hessian:
    """The Riemannian Hessian as a symmetric matrix: in coordinates in which the metric is the identity.

    A vector v is w G^(1/2) with G the factors' Gram matrices, here diagonal. What is not horizontal is
    given the value `beyond` instead of zero, so that it hides no eigenvalue.
    """

    def __init__(self, problem: Minimize, x: LowRank) -> None:
        self.geometry = FixedRank(len(x.left), len(x.right), x.rank)
        self.point = Factors(x)
        self.objective = OfFactors(problem.function, self.geometry)
        self.root = np.sqrt(np.einsum("ij,ij->j", x.left, x.left))  # balanced: of both factors
        self.gradient = self.objective.gradient(self.point)
        riemannian = self.geometry.euclidean_to_riemannian_gradient(self.point, self.gradient)
        self.gradient_norm = self.geometry.norm(self.point, riemannian)
        self.beyond = 0.0
        self.products = 0

    def lifted(self, w: Array) -> Array:
        """The tangent vector of coordinates `w`."""
        return self.geometry.projection(self.point, w.reshape(-1, len(self.root)) * self.root)

    def __call__(self, w: Array) -> Array:
        self.products += 1
        v = self.lifted(w)
        change = self.objective.hessian_product(self.point, v)
        curved = self.geometry.euclidean_to_riemannian_hessian(self.point, self.gradient, change, v)
        inside = (v / self.root).ravel()
        return np.asarray((curved / self.root).ravel() + self.beyond * (w.ravel() - inside))


def _whole(hessian: _Hessian, size: int) -> tuple[Array, Array]:
    """All eigenvalues on horizontal vectors, rising, and their vectors."""
    matrix = np.column_stack([hessian(e) for e in np.eye(size)])
    inside = np.column_stack([(hessian.lifted(e) / hessian.root).ravel() for e in np.eye(size)])
    _, basis = np.linalg.eigh((inside + inside.T) / 2)
    basis = basis[:, size - hessian.geometry.dim :]  # the projection's eigenvalues are 0 and 1
    values, turned = np.linalg.eigh(basis.T @ ((matrix + matrix.T) / 2) @ basis)
    return values, basis @ turned


def _ends(hessian: _Hessian, size: int, tolerance: float) -> tuple[Array, Array]:
    """Smallest and largest eigenvalue, and their vectors."""
    first = np.random.default_rng(0).standard_normal(size)  # fixed: the answer has the same bits each time
    operator = LinearOperator((size, size), matvec=hessian, dtype=np.float64)
    options: dict[str, Any] = {"k": 1, "v0": first, "maxiter": _STEPS}
    top, top_vector = eigsh(operator, which="LA", tol=1e-3, **options)
    # Vectors that are not horizontal are moved to the upper end.
    hessian.beyond = max(float(top[0]), 0.0)
    try:
        # ARPACK's tolerance is relative to the eigenvalue it seeks; seen from the upper end that is the span.
        flipped = LinearOperator(
            (size, size), matvec=lambda w: hessian.beyond * w.ravel() - hessian(w), dtype=np.float64
        )
        low, low_vector = eigsh(flipped, which="LA", tol=tolerance, ncv=_WIDTH, **options)
    except ArpackNoConvergence as error:
        if not len(error.eigenvalues):
            raise Unsuited(
                "the smallest eigenvalue was not found: Lanczos' method did not settle; "
                "try a larger tolerance"
            ) from None
        low, low_vector = error.eigenvalues, error.eigenvectors
    vector = low_vector[:, -1]
    vector = hessian.lifted(vector) / hessian.root  # what rounding has left outside
    vector = vector.ravel() / np.linalg.norm(vector)
    return np.array([hessian.beyond - low[-1], top[0]]), np.column_stack([vector, top_vector[:, 0]])
