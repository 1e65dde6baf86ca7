"""What sparse estimators share: paths over sizes, the choice of one, and what to know before trusting it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.findings import Finding
from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Result, Status
from optiframe_tvcs.learning.linear_models.parameters import loss_class, refuse_wrong_parameters
from optiframe_tvcs.learning.linear_models.path import Criterion, Objective, SizePath, criterion
from optiframe_tvcs.learning.linear_models.sample_weights import Samples
from optiframe_tvcs.learning.linear_models.scaling import Scaling
from optiframe_tvcs.learning.linear_models.size_choice import (
    end_of_sizes,
    search,
    sizes_to_fit,
    views_do_not_help,
)
from optiframe_tvcs.learning.linear_models.trust import cut_short, fits_anything, refuse_extremes
from optiframe_tvcs.learning.weighted import scaled_rows, weighted
from optiframe_tvcs.sets.three_view import ThreeView

require("sklearn", "sklearn", "optiframework-tvcs")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402  # after the message
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

from optiframe_tvcs.learning.linear_models.folds import folds  # noqa: E402

_CUT_SHORT = (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.DIVERGED)


class SparseLinear(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fits a path over sizes and keeps one; see `SparseRegressor` for its parameters."""

    losses: ClassVar[Mapping[str, type[LinearModel]]]

    coef_: Array
    intercept_: Any
    size_: int
    sizes_: Array
    scores_: Array
    coef_path_: Array
    intercept_path_: Array
    result_: Result[Array, Any]
    findings_: tuple[Finding, ...]
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        size: int | Literal["cv", "bic", "ebic", "sic"] = "cv",
        *,
        sizes: Sequence[int] | None = None,
        over: ThreeView | None = None,
        loss: Any = None,
        l2: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = True,
        solver: Any = "tvcs.splicing",
        cv: Any = 5,
        budget: Any = None,
        seed: int = 0,
    ) -> None:
        self.size = size
        self.sizes = sizes
        self.over = over
        self.loss = loss
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.cv = cv
        self.budget = budget
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but `result_`, which holds the samples."""
        state: dict[str, Any] = {**super().__getstate__()}
        state.pop("result_", None)
        return state

    def _fit(self, matrix: Any, target: Array, weights: Array) -> Self:
        """Fit the path, choose the size, keep what was learnt; `target` is real."""
        refuse_wrong_parameters(self.fit_intercept, self.standardize, self.seed)
        parts = self._folds(matrix, target, weights > 0) if self.size == "cv" else []
        if not weights.all():
            matrix, target, weights = Samples(matrix, target, weights).at(weights > 0)
        over = self._set(matrix.shape[1])
        most = matrix.shape[1] if over is None else over.limit
        scaling = self._scaling(matrix, weights)
        scaled = scaling.apply(matrix)
        refuse_extremes(scaled, target)
        # The intercept of least squares is then 0 but for the scaling, and a penalty leaves it alone.
        centred = self.fit_intercept and loss_class(self.loss, self.losses) is LeastSquares
        middle = float(np.average(target, weights=weights)) if centred else 0.0
        samples = Samples(matrix, target - middle, weights)
        sizes = sizes_to_fit(self.size, self.sizes, samples.shape, most)
        function = self._objective()(scaled, *samples[1:])
        path = self._path(function, over)
        scores, findings = self._scores(sizes, samples, path, over, parts)
        tried = sorted(scores)
        fits = [path.at(size) for size in tried]
        self.sizes_ = np.array(tried)
        self.scores_ = np.array([scores[size].mean() for size in tried])
        chosen = len(tried) - 1
        if isinstance(self.size, str):
            chosen = int(np.argmin(self.scores_))
            findings.extend(end_of_sizes(tried, chosen, sizes[-1], most))
        undone = [scaling.undo(fit.solution) for fit in fits]
        self.coef_path_ = np.array([weights for weights, _ in undone])
        self.intercept_path_ = np.array([intercept + middle for _, intercept in undone])
        self.result_ = path.result(tried[chosen])
        self.n_iter_ = max(1, sum(fit.iterations for fit in fits))
        self.coef_, self.intercept_ = undone[chosen][0], float(self.intercept_path_[chosen])
        self.size_ = int(np.count_nonzero(self.coef_))
        findings.extend(fits_anything(self.size_ + self.fit_intercept, len(target)))
        if self.result_.status in _CUT_SHORT:
            findings.append(cut_short(self.size_, self.result_.message))
            warnings.warn(findings[-1].text, ConvergenceWarning, stacklevel=3)
        self.findings_ = (*self.result_.findings, *findings)
        return self

    def _scores(
        self,
        sizes: Sequence[int],
        samples: Samples,
        path: SizePath,
        over: ThreeView | None,
        parts: Sequence[Any],
    ) -> tuple[dict[int, Array], list[Finding]]:
        """Scores of the sizes tried, one for each fold, nan for a given size; and whether the views help."""
        if not isinstance(self.size, str):
            return {size: np.array([np.nan]) for size in sizes}, []
        shorten = self.sizes is None
        if self.size != "cv":
            return search(sizes, self._by_criterion(path, self.size, samples.shape), shorten=shorten), []
        losses = search(sizes, self._held_out(samples, over, parts), shorten=shorten)
        if over is None:
            return losses, []
        alone = search(sorted(losses), self._held_out(samples, None, parts), shorten=False)
        return losses, views_do_not_help(losses, alone)

    def _scaling(self, matrix: Any, weights: Array) -> Scaling:
        return Scaling.of(matrix, weights, standardise=self.standardize, intercept=self.fit_intercept)

    def _path(self, function: LinearModel, over: ThreeView | None) -> SizePath:
        return SizePath(
            function,
            over,
            intercept=self.fit_intercept,
            solver=self.solver,
            budget=self.budget,
            seed=self.seed,
            asked=None if isinstance(self.size, str) else self.size,
        )

    def _held_out(self, samples: Samples, over: ThreeView | None, splits: Any) -> Callable[[int], Array]:
        """Mean loss of a size on the samples left out, one for each fold; others alone scale columns."""
        make, unpenalised, parts = self._objective(), self._objective(penalised=False), []
        for train, test in splits:
            matrix, *others = samples.at(train)
            scaling = self._scaling(matrix, others[1])
            learnt = self._path(make(scaling.apply(matrix), *others), over)
            parts.append((scaling, learnt, test))

        def losses(size: int) -> Array:
            found = []
            for scaling, learnt, test in parts:
                coefficients, intercept = scaling.undo(learnt.at(size).solution)
                matrix, *others = samples.at(test)
                predicted = np.asarray(matrix @ coefficients + intercept)
                found.append(unpenalised(predicted[:, np.newaxis], *others).value(np.ones(1)))
            return np.array(found)

        return losses

    def _by_criterion(
        self, path: SizePath, kind: Criterion, shape: tuple[float, int]
    ) -> Callable[[int], Array]:
        def value(size: int) -> Array:
            x = path.at(size).solution
            return np.array([criterion(kind, path.function, x, self._used(x), shape)])

        return value

    def _used(self, x: Array) -> int:
        return int(np.count_nonzero(x[:-1] if self.fit_intercept else x))

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which features have coefficients other than zero: a mask, or their positions."""
        check_is_fitted(self)
        kept = np.ravel(self.coef_) != 0
        return np.flatnonzero(kept) if indices else kept

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Names of the features with coefficients other than zero; x0, x1, .. where columns have none.

        Raises
        ------
        InvalidInput
            When `input_features` are not a list of one for each feature, or not the names in `fit`.
        """
        kept = self.get_support(indices=True)
        learnt = getattr(self, "feature_names_in_", None)
        names = learnt if input_features is None else input_features
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        every = np.asarray(names, dtype=object)
        if every.ndim != 1:  # a string, say
            raise InvalidInput(
                f"input_features must be a list of names, one for each feature, got {names!r:.40}"
            )
        if len(every) != self.n_features_in_:
            raise InvalidInput(
                f"input_features should have length equal to the number of features, {self.n_features_in_}; "
                f"got {len(every)}"
            )
        if learnt is not None and list(every) != list(learnt):
            raise InvalidInput("input_features is not equal to feature_names_in_, the names in fit")
        chosen: NDArray[Any] = every[kept]
        return chosen

    def _folds(self, matrix: Any, target: Array, counted: NDArray[np.bool_]) -> list[Any]:
        classes = isinstance(self, ClassifierMixin)
        return folds(self.cv, matrix, target, counted, classes=classes, seed=int(self.seed))

    def _objective(self, *, penalised: bool = True) -> Objective:
        loss = loss_class(self.loss, self.losses)
        l2 = self.l2 if penalised else 0.0
        made: Callable[..., LinearModel] = loss

        def objective(matrix: Any, target: Array, weights: Array) -> LinearModel:
            shares = weights / weights.mean() if np.ptp(weights) else None
            if shares is not None and issubclass(loss, LeastSquares):
                roots = np.sqrt(shares)
                matrix, target, shares = scaled_rows(matrix, roots), roots * target, None
            if shares is None and not (l2 and self.fit_intercept):
                return made(matrix=matrix, target=target, l2=l2)
            free = matrix.shape[1] - 1 if self.fit_intercept else -1
            special: Callable[..., LinearModel] = weighted(loss)
            return special(matrix=matrix, target=target, l2=l2, weights=shares, free=free)

        return objective

    def _set(self, features: int) -> ThreeView | None:
        over: ConstraintSet | None = self.over
        if over is None:
            return None
        if not isinstance(over, ThreeView):
            raise InvalidInput(f"over must be a ThreeView or None, got {type(over).__name__}")
        over.check_shape((features,))
        return over

    def _decision(self, x: Any) -> Array:
        check_is_fitted(self)
        return self._predicted(validate_data(self, x, reset=False, accept_sparse="csr", dtype=np.float64))

    def _predicted(self, matrix: Any) -> Array:
        return np.asarray(matrix @ np.ravel(self.coef_) + float(np.ravel(self.intercept_)[0]))
