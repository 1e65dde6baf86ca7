"""Minimize over manifolds by name: three problems with closed forms, by several solvers.

The subspace of largest variance (over `stiefel`: the leading eigenvectors), the rotation between two clouds
of points (over `rotations`: Kabsch's) and the likeliest covariance (over `positive-definite`: the sample's).
Prints how far above the closed form each solver ends. `principal_axis.toml` has the first problem in a file,
for one direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import autograd.numpy as anp
import numpy as np

import optiframe

SOLVERS = (
    "manifold.trust-region",
    "pymanopt.trust-regions",
    "pymanopt.conjugate-gradient",
    "pymanopt.steepest-descent",
    "gradient.projected",
)


def problems() -> Iterator[tuple[str, optiframe.Minimize, float]]:
    """Each problem with a title and its least value."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((500, 30)) * np.linspace(3.0, 0.5, 30)
    covariance = samples.T @ samples / len(samples)
    spread = optiframe.from_function(lambda x: -anp.sum(x * anp.dot(covariance, x)), (30, 3))
    yield (
        "largest variance",
        optiframe.Minimize(spread, over="stiefel"),
        -np.linalg.eigvalsh(covariance)[-3:].sum(),
    )

    cloud = rng.standard_normal((40, 3))
    turned = cloud @ optiframe.constraint_set("rotations").inside((3, 3)) + 0.1 * rng.standard_normal((40, 3))
    misfit = optiframe.from_function(lambda x: anp.sum((anp.dot(cloud, x) - turned) ** 2), (3, 3))
    left, _, right = np.linalg.svd(cloud.T @ turned)
    kabsch = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    yield "rotation between clouds", optiframe.Minimize(misfit, over="rotations"), misfit.value(kabsch)

    sample = covariance[:6, :6]
    likelihood = optiframe.from_function(
        lambda x: anp.trace(anp.linalg.solve(x, sample)) + anp.linalg.slogdet(x)[1], (6, 6)
    )
    yield (
        "likeliest covariance",
        optiframe.Minimize(likelihood, over="positive-definite"),
        likelihood.value(sample),
    )


def main() -> None:
    print(f"{'problem':<26} {'solver':<28} {'status':<12} {'steps':>6} {'above the closed form':>22}")
    for title, problem, least in problems():
        for name in SOLVERS:
            if optiframe.why_unsuited(problem, optiframe.solver(name)) is not None:
                continue  # no nearest point in an open set
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optiframe.NotConverged)  # the table says so
                found = optiframe.solve(problem, name)
            above = found.objective - least
            print(f"{title:<26} {name:<28} {found.status:<12} {found.iterations:>6} {above:>22.1e}")


if __name__ == "__main__":
    main()
