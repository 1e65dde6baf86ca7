"""What a worker computes: the inverse of its local Hessian times a gradient.

One function for every backend, in float64, by whichever of three ways is cheapest for the
shard's size: a Cholesky factor of the Hessian (d small), of its dual (fewer rows than
columns), or conjugate gradients without the Hessian (d large).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.records.fields import Array
from optiframe_comrade.local.products import conjugate_gradients, step_by_products
from optiframe_comrade.local.sweep import Sweep
from optiframe_comrade.local.symmetric import pseudo_inverse, solve_symmetric, weighted_gram

Method: TypeAlias = Literal["auto", "cholesky", "cg"]

# Above this order a Hessian (8 d^2 bytes, s d^2 operations) costs more than some fifty products
# with it: at s = d = 2,000 both take about .4 s on one core.
SMALL = 1000
_EPS = float(np.finfo(np.float64).eps)


def local_gradient(shard: FiniteSum, x: Array) -> Array:
    """The shard's gradient; of a dense matrix in one reading in place of two."""
    if sweeps(shard):
        return Sweep(shard).gradient(x)
    return np.asarray(shard.gradient(x))


def newton_step(shard: FiniteSum, x: Array, gradient: Array | None = None, method: Method = "auto") -> Array:
    """H^+ g with the Hessian H of `shard` at `x`; g is the shard's own gradient unless one is given.

    H^+ is the inverse, and the pseudo-inverse where H is singular to working accuracy, as it
    is with fewer rows than columns and no l2.

    Parameters
    ----------
    shard
        A finite sum with a Hessian or Hessian products.
    x, gradient
        Vectors of shape (d,).
    method
        "cholesky" forms the Hessian: s d^2 operations, 8 d^2 bytes; for linear models with s
        below d its dual: s^2 d operations, 8 s^2 bytes. A dense shard with s >= d is read once, and if
        large its Hessian is rounded to single precision where its condition allows it (see
        `optiframe_comrade.local.sweep`). "cg" needs products only: 4 s d
        operations a product (of a sparse shard, 4 nnz), memory a few vectors. "auto" takes
        the first up to 1,000 columns (or rows), the second beyond.

    Source: Ghosh et al., Algorithm 1, line 4; Remark 3 for the pseudo-inverse.
    """
    if sweeps(shard) and method != "cg":
        sweep = Sweep(shard)
        here = sweep.at(x)
        return sweep.step(here, here.gradient if gradient is None else gradient)
    own = np.asarray(shard.gradient(x)) if gradient is None else gradient
    if isinstance(shard, LinearModel) and is_plain(shard):
        return hessian_step(shard, shard.bends(shard.matrix @ x), own, method)
    if method == "cg" or not shard.offers(Objective.hessian) or (method == "auto" and len(x) > SMALL):
        return conjugate_gradients(lambda v: np.asarray(shard.hessian_product(x, v)), own)
    return solve_symmetric(shard.hessian(x), own)


def sweeps(f: Objective) -> TypeGuard[LinearModel]:
    """Whether one reading of a dense matrix gives loss, gradient and a Hessian that is worth forming."""
    if not (isinstance(f, LinearModel) and is_plain(f)) or sp.issparse(f.matrix):
        return False
    rows, columns = f.matrix.shape
    return bool(columns <= min(rows, SMALL))


def is_plain(model: LinearModel) -> bool:
    """Whether value and derivatives are the losses' of its rows, which a subclass may have changed."""
    operations = ("value", "gradient", "hessian", "hessian_product")
    return all(getattr(type(model), name) is getattr(LinearModel, name) for name in operations)


def hessian_step(model: LinearModel, bends: Array, gradient: Array, method: Method = "auto") -> Array:
    """H^+ g for a linear model whose losses' second derivatives at its rows are `bends`."""
    rows, columns = model.matrix.shape
    weights = bends / rows
    if method == "cg" or (method == "auto" and min(rows, columns) > SMALL):
        return step_by_products(model, weights, gradient)
    if rows < columns:
        return _dual(model.matrix, np.sqrt(weights), model.l2, gradient)
    return solve_symmetric(weighted_gram(model.matrix, weights, model.l2), gradient)


def _dual(matrix: Any, roots: Array, ridge: float, right: Array) -> Array:
    """The step through the s x s matrix K = B B', where B = diag(roots) matrix and H = B'B + ridge I.

    With a ridge, H^-1 g = (g - B' (K + ridge I)^-1 B g) / ridge; without, H^+ g = B' (K^+)^2 B g.
    """
    scaled = sp.diags_array(roots) @ matrix if sp.issparse(matrix) else roots[:, np.newaxis] * matrix
    gram = scaled @ scaled.T
    gram = gram.toarray() if sp.issparse(gram) else gram
    if ridge <= len(gram) * _EPS * np.trace(gram):  # lost in the rounding of K
        return np.asarray(scaled.T @ pseudo_inverse(gram, scaled @ right, power=2))
    gram[np.diag_indices(len(gram))] += ridge
    inner = la.cho_solve(la.cho_factor(gram, check_finite=False), scaled @ right)
    return np.asarray((right - scaled.T @ inner) / ridge)
