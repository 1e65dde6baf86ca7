"""Population scores plus personal ones of low rank: a penalized likelihood, and its maximum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from optiframe.records.fields import Array
from optiframe_manifold.data import Choices
from optiframe_manifold.kernels import passes
from optiframe_manifold.kernels.blas import one_thread
from optiframe_manifold.low_rank import LowRank, leading
from optiframe_manifold.objective.btl_start import comparison_matrix
from optiframe_manifold.objective.row_passes import Comparisons

_STEPS = 1000  # of L-BFGS at most; a hundred are usual
_MEMORY = 20  # steps it remembers: halves their number against SciPy's ten
_FINE, _ROUGH = {"ftol": 1e-12, "gtol": 1e-6}, {"ftol": 1e-8, "gtol": 1e-4}
_START = 0.3  # log-odds, the typical personal score to begin with: large enough to leave the saddle at zero
_LEAST = 0.01  # of the first direction: what a direction that may not pay begins with


class PersonalLikelihood:
    """Users' comparisons under Bradley-Terry, with scores that are personal as far as the data say.

    User u's log-odds of preferring item i to j are ``mu_i - mu_j + t_u . (f_i - f_j)``: scores mu of the
    population, tastes t (users, r) and features f (items, r). Minimized is the negative log-likelihood plus::

        prior/2 |mu|^2 + ridge/2 (|t|^2 + |f|^2)

    normal priors of precision `prior` and `ridge`. For r large enough the second term is `ridge` times
    the nuclear norm of the personal scores (Srebro, Rennie, Jaakkola 2004), so that they are exactly zero
    where no singular value of the likelihood's gradient, at the population's scores, is above `ridge`.

    A point is the pair of factors ``([1, t], [mu, f])``, r + 1 columns. One evaluation takes
    O((comparisons + users + items) (r + 1)) time; memory beside the data is 24 bytes a comparison and
    some 40 copies of the factors.

    Parameters
    ----------
    choices
        Comparisons grouped by user and merged.
    users, items
        Numbers of them.
    halt
        Asked after every step; True ends the search where it is.
    """

    def __init__(
        self, choices: Choices, users: int, items: int, halt: Callable[[], bool] = lambda: False
    ) -> None:
        weight = np.empty(0) if choices.weight is None else choices.weight
        self.comparisons = Comparisons(
            choices.winner, choices.loser, choices.pointer, weight, sigma=1.0, items=items
        )
        self.users, self.items, self.halt = users, items, halt
        count = len(choices.winner)
        self._led: tuple[LowRank, int, tuple[Array, Array, Array]] | None = None
        self._margin, self._slope, self._bend = np.empty(count), np.empty(count), np.empty(count)

    def population(self, prior: float) -> LowRank:
        """One ranking for all users; left factor ones, right factor mu."""
        return self._minimized(np.zeros((self.users, 0)), np.zeros((self.items, 1)), prior, 1.0, _FINE)

    def personal(
        self, population: LowRank, rank: int, prior: float, ridge: float, *, fine: bool = True
    ) -> LowRank:
        """The factors with `rank` personal directions; `population` itself where `ridge` leaves none.

        Parameters
        ----------
        population
            What `population` found with the same `prior`: where the search begins.
        fine
            To nine digits of the objective, or to the six that suffice for predictions.
        """
        u, values, v = self._directions(population, rank)
        if not values[0] > ridge:
            return population
        size = np.sqrt(_START * np.sqrt(self.users * self.items))
        each = size * np.sqrt(np.maximum((values - ridge) / (values[0] - ridge), _LEAST))
        right = np.column_stack([population.right[:, 0], v * each])
        return self._minimized(-u * each, right, prior, ridge, _FINE if fine else _ROUGH)

    def _directions(self, population: LowRank, rank: int) -> tuple[Array, Array, Array]:
        """The gradient's leading singular triplets, by the score matrix; those asked for last are kept."""
        if self._led is None or self._led[0] is not population or self._led[1] != rank:
            self._loss(population)
            found = leading(comparison_matrix(self.comparisons, self._slope), rank)
            self._led = population, rank, found
        return self._led[2]

    def _minimized(
        self, tastes: Array, right: Array, prior: float, ridge: float, stop: dict[str, float]
    ) -> LowRank:
        users, rank = tastes.shape
        penalty = np.concatenate([np.full(tastes.size, ridge), np.tile([prior, *[ridge] * rank], self.items)])
        left = np.ones((users, rank + 1))

        def point(x: Array) -> LowRank:
            left[:, 1:] = x[: tastes.size].reshape(users, rank)
            return LowRank(left, x[tastes.size :].reshape(self.items, rank + 1))

        def value_and_gradient(x: Array) -> tuple[float, Array]:
            at = point(x)
            loss = self._loss(at)
            to_left, to_right = np.zeros_like(at.left), np.zeros_like(at.right)
            c = self.comparisons
            passes.pull(at.left, at.right, c.pointer, c.winner, c.loser, self._slope, to_left, to_right)
            gradient = np.concatenate([to_left[:, 1:].ravel(), to_right.ravel()]) + penalty * x
            return loss + 0.5 * float(x @ (penalty * x)), gradient

        def callback(_: Array) -> None:
            if self.halt():
                raise StopIteration

        with one_thread():
            found = minimize(
                value_and_gradient,
                np.concatenate([tastes.ravel(), right.ravel()]),
                jac=True,
                method="L-BFGS-B",
                callback=callback,
                options={"maxiter": _STEPS, "maxfun": 2 * _STEPS, "maxcor": _MEMORY, **stop},
            )
        best = point(found.x)
        return LowRank(best.left.copy(), best.right.copy())

    def _loss(self, at: LowRank) -> float:
        """The negative log-likelihood; its slopes by the margins are kept."""
        c = self.comparisons
        passes.margins(at.left, at.right, c.pointer, c.winner, c.loser, self._margin)
        return passes.log_loss(self._margin, c.sigma, c.weight, self._slope, self._bend)
