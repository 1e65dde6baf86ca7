"""The gradient of crowd-kit's NoisyBradleyTerry is not that of its likelihood.

python examples/peers_noisy_bradley_terry.py     # needs: pip install "./plugins/peers[labels]"

Both functions are taken from crowd-kit 1.4 as they are. The gradient is compared with central finite
differences of the likelihood at a random point; then the likelihood is minimized from crowd-kit's own
start, by the optimizer it uses, with its gradient and with finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crowdkit.aggregation import NoisyBradleyTerry
from scipy.optimize import approx_fprime, minimize

ITEMS, WORKERS, ROWS = 8, 6, 600
PARTS = {
    "reference": slice(0, 1),
    "scores": slice(1, 1 + ITEMS),
    "biases": slice(1 + ITEMS, 1 + ITEMS + WORKERS),
    "skills": slice(1 + ITEMS + WORKERS, 1 + ITEMS + 2 * WORKERS),
}
STEP = 1e-5  # of finite differences: an error near 1e-8 at values near 500


def comparisons(rng: np.random.Generator) -> tuple[Any, ...]:
    """Votes as crowd-kit codes them: items from 1, and every other worker a guesser who likes the left."""
    score = np.linspace(-2, 2, ITEMS)
    left = rng.integers(ITEMS, size=ROWS)
    right = (left + rng.integers(1, ITEMS, size=ROWS)) % ITEMS
    worker = rng.integers(WORKERS, size=ROWS)
    left_wins = rng.random(ROWS) < 1 / (1 + np.exp(score[right] - score[left]))
    guessed = rng.random(ROWS) < 0.8
    left_wins = np.where(worker % 2 == 1, guessed, left_wins)
    return 1 + np.column_stack([left, right, np.where(left_wins, left, right)]), worker, ITEMS, WORKERS, 1e-5


def main() -> None:
    rng = np.random.default_rng(0)
    given = comparisons(rng)

    def likelihood(x: Any) -> float:
        return NoisyBradleyTerry._compute_log_likelihood(x, *given)

    def theirs(x: Any) -> Any:
        return NoisyBradleyTerry._compute_gradient(x, *given)

    def differences(x: Any) -> Any:
        return (approx_fprime(x, likelihood, STEP) + approx_fprime(x, likelihood, -STEP)) / 2

    point = rng.normal(size=1 + ITEMS + 2 * WORKERS)
    by_code, by_differences = theirs(point), differences(point)
    print("gradient at a random point: largest entry, and largest error of crowd-kit's entries\n")
    for part, where in PARTS.items():
        error = np.abs(by_code - by_differences)[where]
        largest = np.abs(by_differences[where]).max()
        print(f"{part:10} {largest:8.3f} {error.max():8.3f}   wrong entries: {(error > 1e-4).sum()}")

    start = rng.random(len(point))
    print("\nnegative log-likelihood reached from one start by L-BFGS-B")
    for title, gradient in (("with crowd-kit's gradient", theirs), ("with finite differences", differences)):
        found = minimize(likelihood, start, jac=gradient, method="L-BFGS-B", options={"maxiter": 100})
        skill = 1 / (1 + np.exp(-found.x[PARTS["skills"]]))
        print(f"{title:26} {found.fun:8.2f}  in {found.nit:3} iterations; skills {np.round(skill, 2)}")
    print("(workers 0, 2 and 4 compare, workers 1, 3 and 5 guess)")


if __name__ == "__main__":
    main()
