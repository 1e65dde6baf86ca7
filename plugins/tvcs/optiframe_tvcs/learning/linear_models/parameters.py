"""Parameters of the sparse estimators that nothing behind them checks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, nearest
from optiframe.problems.objectives.losses import LinearModel


def refuse_wrong_parameters(fit_intercept: Any, standardize: Any, seed: Any) -> None:
    """Raise `InvalidInput` for a switch that is neither True nor False, and for a seed that is none."""
    for name, value in (("fit_intercept", fit_intercept), ("standardize", standardize)):
        if not isinstance(value, bool | np.bool_):
            raise InvalidInput(f"{name} must be True or False, got {value!r:.40}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0, got {seed!r:.40}")


def loss_class(loss: Any, known: Mapping[str, type[LinearModel]]) -> type[LinearModel]:
    """The class of linear models that `loss` names or is; None: the first one known.

    Raises
    ------
    InvalidInput
        For another name, for what is no class of linear models, and for a class that lacks methods.
    """
    if loss is None:
        return next(iter(known.values()))
    if isinstance(loss, str) and loss in known:
        return known[loss]
    if not (isinstance(loss, type) and issubclass(loss, LinearModel)):
        hint = nearest(loss, known) if isinstance(loss, str) else ""
        raise InvalidInput(
            f"loss must be one of {', '.join(known)} or a class of linear models, got {loss!r:.40}{hint}; "
            "classes are in optiframe.problems.objectives, in losses and robust_losses"
        )
    if inspect.isabstract(loss):
        missing = ", ".join(sorted(loss.__abstractmethods__))
        raise InvalidInput(
            f"loss: the class {loss.__name__} lacks {missing}; write losses(z), slopes(z) and bends(z), the "
            "loss of each row at the predictions z and its first and second derivatives"
        )
    return loss
