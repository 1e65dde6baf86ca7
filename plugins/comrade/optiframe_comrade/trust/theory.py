"""What the theory asks of the data: coherence, terms a worker, and the share of hostile workers it allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from optiframe.errors import InvalidInput, Unsuited
from optiframe.findings import Finding
from optiframe.numbers import number, percent
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array
from optiframe_comrade.local.symmetric import weighted_gram

_ENOUGH = 5  # terms a worker and column below which local Hessians are poor; measured in the docs
_CHEAP = 1 << 23  # multiplications for advice nobody asked for: some ten milliseconds, as a round or two


@dataclass(frozen=True)
class Advice:
    """What Theorem 1 and Remark 5 say of a problem shared out among workers.

    Attributes
    ----------
    coherence
        mu of Definition 1, in [1, n/d]: n/d times the largest leverage of a row of
        A = diag(sqrt(loss'')) X at the point.
    terms, held
        s, terms a worker's Hessian is of, and how many it holds.
    terms_wanted
        Theorem 1's bound on s, 3 mu d/eta^2 log(m d/delta).
    columns
        d.
    condition
        kappa of the Hessian at the point.
    byzantine, byzantine_allowed
        alpha, and Remark 5's 1/sqrt(kappa), an order of magnitude.
    """

    coherence: float
    terms: int
    held: int
    terms_wanted: float
    columns: int
    condition: float
    byzantine: float
    byzantine_allowed: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The same in sentences, as far as there is something to say."""
        few = few_terms(self.held, self.columns, self.terms)
        found = [] if few is None else [few]
        if self.terms < self.terms_wanted:
            text = (
                f"Theorem 1 guarantees nothing here: it needs {number(round(self.terms_wanted))} terms for "
                f"each worker (coherence {number(self.coherence)}), and each has {self.terms:,}. The bound "
                "is conservative"
            )
            found.append(Finding("note", text, identifier="federation.fewer-terms-than-theory"))
        if self.byzantine > self.byzantine_allowed:
            text = (
                f"{percent(self.byzantine)} of the workers may be hostile; the theory allows about "
                f"1/sqrt(kappa) = {percent(self.byzantine_allowed)}, kappa being {number(self.condition)}"
            )
            found.append(Finding("note", text, identifier="federation.more-hostile-than-theory"))
        return tuple(found)


def few_terms(held: float, columns: int, sampled: int | None = None) -> Finding | None:
    """A warning where a worker's Hessian is of few terms for each column; None where it is of enough.

    `held` is how many terms a worker holds, `sampled` of how many of them its Hessian is; None: of all.
    """
    share = min(held, sampled or held) / columns
    if share >= _ENOUGH:
        return None
    does, remedy = "holds", "use fewer workers"
    if held >= _ENOUGH * columns:
        does, remedy = "takes its Hessian of", "raise `hessian_terms`"
    text = (
        f"each worker {does} {number(share)} terms for each of the {columns} columns; below {_ENOUGH} the "
        f"local Hessians are poor and the error floor high; {remedy}"
    )
    return Finding("warning", text, identifier="federation.few-terms-per-column")


def advice(
    problem: Problem[Array],
    workers: int = 20,
    byzantine: float = 0.0,
    *,
    at: Array | None = None,
    hessian_terms: int | None = None,
    eta: float = 0.5,
    delta: float = 0.1,
) -> Advice:
    """What the theory says of a linear model shared out among workers.

    Parameters
    ----------
    problem
        A `Minimize` of a linear model (logistic, least squares, ...), or what formulates to one.
    workers, byzantine
        m, and alpha, the share of them that may be hostile.
    at
        The point, of shape (d,); the origin by default.
    hessian_terms
        Terms a worker's Hessian is of; by default all it holds.
    eta, delta
        Accuracy of a local Hessian and chance of failure in Theorem 1, both in (0, 1).

    Raises
    ------
    InvalidInput
        When `workers` is below 1 or above the number of terms, `byzantine` is not in [0, 0.5), `eta` or
        `delta` is not between 0 and 1, `hessian_terms` is below 1, `at` is no finite vector of d numbers,
        or the Hessian there is not finite.
    Unsuited
        When the objective is no linear model.

    Source: Ghosh et al., Definition 1, Theorem 1, Remark 5. Costs n d^2 operations, n d numbers.
    """
    if workers < 1:
        raise InvalidInput(f"workers is {workers}; there must be at least one")
    if not 0 <= byzantine < 0.5:
        raise InvalidInput(f"byzantine is {byzantine}; it is a share of the workers, from 0 to below 0.5")
    if hessian_terms is not None and hessian_terms < 1:
        raise InvalidInput(f"hessian_terms is {hessian_terms}; a Hessian is of at least one term")
    for name, value in (("eta", eta), ("delta", delta)):
        if not 0 < value < 1:
            raise InvalidInput(f"{name} is {value}; it must be between 0 and 1")
    last: Problem[Array] = problem
    while last.formulation is not None and not isinstance(last, Minimize):
        last = last.formulation.problem
    model = last.function if isinstance(last, Minimize) else None
    if not isinstance(model, LinearModel):
        raise Unsuited(
            "the advice needs a linear model (logistic, least squares): coherence is a property of its matrix"
        )
    if len(model) < workers:
        raise InvalidInput(f"workers is {workers}, and {len(model)} terms cannot be shared out among them")
    weights = model.bends(model.matrix @ _point(model, at)) / len(model)
    gram = weighted_gram(model.matrix, weights, model.l2)
    if not np.isfinite(gram).all():
        raise InvalidInput("the Hessian at this point is not finite; give another `at`, or scale the columns")
    mu = coherence(model.matrix, weights)
    values = la.eigvalsh(gram)
    kappa = float(values[-1] / values[0]) if values[0] > 0 else math.inf
    columns, held = model.shape[0], len(model) // workers
    return Advice(
        coherence=mu,
        terms=min(held, hessian_terms or held),
        held=held,
        terms_wanted=terms_wanted(mu, columns, workers, eta, delta),
        columns=columns,
        condition=kappa,
        byzantine=byzantine,
        byzantine_allowed=1 / math.sqrt(kappa),
    )


def _point(model: LinearModel, at: Array | None) -> Array:
    if at is None:
        return np.zeros(model.shape)
    try:
        x = np.asarray(at, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"at must be a vector of {model.shape[0]} numbers") from None
    if x.shape != model.shape or not np.isfinite(x).all():
        what = f"got shape {x.shape}" if x.shape != model.shape else "and some are nan or infinite"
        raise InvalidInput(f"at must be a vector of {model.shape[0]} finite numbers, {what}")
    return x


def cheap_notes(
    f: Objective, workers: int, byzantine: float, *, at: Array, hessian_terms: int | None = None
) -> tuple[Finding, ...]:
    """The notes of `advice` where they cost some ten milliseconds at most; else none."""
    if not isinstance(f, LinearModel):
        return ()
    columns = f.shape[0]
    if (f.matrix.size + columns**2) * columns > _CHEAP:  # of a sparse matrix, its nonzeros
        return ()
    try:
        with np.errstate(all="ignore"):
            found = advice(Minimize(f), workers, byzantine, at=at, hessian_terms=hessian_terms)
    except InvalidInput:  # too large numbers, of which the run will say more
        return ()
    return tuple(each for each in found.findings if each.level == "note")


def coherence(matrix: Array, weights: Array | None = None) -> float:
    """n/d times the largest squared row norm of an orthonormal basis of diag(sqrt(weights)) matrix.

    By the Gram matrix: the leverage of row a is a' (A'A)^+ a. `matrix` may be sparse.
    """
    rows, columns = matrix.shape
    scale = np.ones(rows) if weights is None else weights
    values, vectors = la.eigh(weighted_gram(matrix, scale))
    keep = values > columns * np.finfo(np.float64).eps * values[-1]
    flat = matrix @ (vectors[:, keep] / np.sqrt(values[keep]))
    dense = flat.toarray() if sp.issparse(flat) else flat
    leverages = scale * np.einsum("ij,ij->i", dense, dense)
    return float(rows / columns * leverages.max())


def terms_wanted(mu: float, columns: int, workers: int, eta: float, delta: float) -> float:
    """Theorem 1's bound on s: 3 mu d / eta^2 log(m d / delta)."""
    return 3 * mu * columns / eta**2 * math.log(workers * columns / delta)
