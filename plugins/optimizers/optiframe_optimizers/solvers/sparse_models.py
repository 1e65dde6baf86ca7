"""Which problems the Lasso packages take: a data fit and a penalty, in their words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.regularizers.norms import L1, ElasticNet, GroupL1
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.problems.sets.vector_sets import NonNegative


def unsuited(
    problem: Composite, terms: tuple[type[Regularizer], ...], *, positive: bool = False
) -> str | None:
    """Why a package for least squares or logistic losses plus one of these regularizers cannot take it."""
    function, plus = problem.function, problem.plus
    if type(function) not in (LeastSquares, Logistic):
        return f"the objective is {function.name!r}, and it takes 'least-squares' or 'logistic'"
    if getattr(function, "l2", 0.0):
        return "the objective has an l2 term of its own; give it as regularizer.elastic-net"
    if len(plus) != 1 or not isinstance(plus[0], terms):
        *others, last = (term.name.removeprefix("regularizer.") for term in terms)
        named = f"{', '.join(others)} or {last}" if others else last
        return f"it takes one regularizer: {named}"
    if isinstance(problem.over, WholeSpace):
        return None
    if not (positive and isinstance(problem.over, NonNegative)):
        also = ", only 'non-negative' or none" if positive else ""
        return f"it takes no set such as {problem.over.name!r}{also}"
    return "it takes no groups over 'non-negative'" if isinstance(plus[0], GroupL1) else None


def weights(problem: Composite) -> tuple[float, float]:
    """The weight of an `l1` or `elastic-net`, and the share of absolute values in it."""
    term = problem.plus[0]
    return term.weight, term.ratio if isinstance(term, ElasticNet) else 1.0


def by_columns(matrix: Any) -> Any:
    """A matrix by columns, with the small indices that compiled code takes."""
    if not sp.issparse(matrix):
        return np.asfortranarray(matrix, dtype=np.float64)
    columns = sp.csc_matrix(matrix, dtype=np.float64)
    columns.indices, columns.indptr = columns.indices.astype(np.int32), columns.indptr.astype(np.int32)
    return columns


def residual(problem: Composite, x: Any) -> float:
    """Largest entry of x - prox(x - gradient)."""
    gradient = problem.function.gradient(x)
    return float(np.max(np.abs(x - problem.proximal.step(x - gradient, 1.0)), initial=0.0))


RESIDUAL = "largest entry of x - prox(x - gradient)"
L1_OR_NET: tuple[type[Regularizer], ...] = (L1, ElasticNet)
