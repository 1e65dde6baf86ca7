"""Local steps without a Hessian: conjugate gradients, and what to do where the Hessian is singular."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.problems.objectives.losses import LinearModel
from optiframe.records.fields import Array

_CG_ACCURACY = 1e-10  # of the residual, relative: far below a step's own statistical error
_SOLVED = 1e-8  # relative residual up to which rounding is to blame
_SAME = 1e-3  # relative distance of a vector from its copy, when the matrix has a null space: about 1
_EPS = float(np.finfo(np.float64).eps)


def step_by_products(model: LinearModel, weights: Array, right: Array) -> Array:
    """H^+ right for H = matrix' diag(weights) matrix + l2 I, by products with the matrix.

    With an l2 that rounding does not swallow, by conjugate gradients with the diagonal of H for a
    preconditioner. Without, these find H^+ right only where H is regular: of the many solutions of a
    singular system they give the one that is shortest in the norm of the preconditioner, and they
    diverge where the right-hand side is not in the range of H, as the average gradient of all workers
    need not be. So H is probed, by a second solve with a known answer; `_least_squares` does the rest.
    """
    matrix, ridge = model.matrix, model.l2

    def product(v: Array) -> Array:
        return np.asarray(matrix.T @ (weights * (matrix @ v)) + ridge * v)

    squares = matrix.multiply(matrix) if sp.issparse(matrix) else None
    diagonal = (
        np.einsum("ij,ij,i->j", matrix, matrix, weights) if squares is None else squares.T @ weights
    ) + ridge
    scale = np.where(diagonal > 0, diagonal, 1.0)
    if ridge > len(right) * _EPS * float(diagonal.max()):
        return conjugate_gradients(product, right, scale)
    roots = np.sqrt(weights)
    rooted = sp.diags_array(roots) @ matrix if sp.issparse(matrix) else roots[:, np.newaxis] * matrix
    if len(model) < len(right):
        return _least_squares(rooted, right)[0]
    with np.errstate(all="ignore"):  # it may diverge, and is then not used
        step = conjugate_gradients(product, right, scale)
        solved = bool(np.linalg.norm(product(step) - right) <= _SOLVED * np.linalg.norm(right))
    if solved and _is_regular(product, scale):
        return step
    shortest, converged = _least_squares(rooted, right)
    return step if solved and not converged else shortest


def _is_regular(product: Callable[[Array], Array], scale: Array) -> bool:
    """Whether H has no null space, or next to none: then H v has no other solution than v."""
    probe = np.random.default_rng(0).standard_normal(len(scale))
    found = conjugate_gradients(product, product(probe), scale)
    return bool(np.linalg.norm(found - probe) <= _SAME * np.linalg.norm(probe))


def _least_squares(rooted: Any, right: Array) -> tuple[Array, bool]:
    """H^+ right for H = B'B, as B^+ (B')^+ right; and whether both solves have converged.

    LSMR from zero gives the shortest solution of least squares, whatever the rank of B.
    """
    from scipy.sparse.linalg import lsmr

    limits = {"atol": 1e-14, "btol": 1e-14, "conlim": 0.0, "maxiter": 4 * min(rooted.shape) + 20}
    inner, why_inner = lsmr(rooted.T, right, **limits)[:2]
    step, why = lsmr(rooted, inner, **limits)[:2]
    out_of_steps = 7
    return np.asarray(step), out_of_steps not in {why_inner, why}


def conjugate_gradients(
    product: Callable[[Array], Array], right: Array, diagonal: Array | None = None
) -> Array:
    """Solve H p = right from p = 0 by conjugate gradients, preconditioned by a diagonal.

    Ends at a relative residual of 1e-10, after 2 d + 20 products (rounding may need more than
    d), or where the curvature is no longer positive. Where H is singular, the right-hand side must be
    in its range.
    """
    p, residual = np.zeros_like(right), right.copy()
    scale = 1.0 if diagonal is None else 1.0 / diagonal
    z = scale * residual
    direction, product_before = z.copy(), float(residual @ z)
    enough = _CG_ACCURACY * float(np.linalg.norm(right))
    for _ in range(2 * len(right) + 20):
        if float(np.linalg.norm(residual)) <= enough:
            break
        image = product(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            break
        step = product_before / curvature
        p += step * direction
        residual -= step * image
        z = scale * residual
        product_now = float(residual @ z)
        direction *= product_now / product_before
        direction += z
        product_before = product_now
    return p
