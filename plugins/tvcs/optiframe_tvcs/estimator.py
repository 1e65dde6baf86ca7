"""Sparse linear models in the manner of scikit-learn: features in, a few coefficients out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit

from optiframe.errors import InvalidInput, require
from optiframe.findings import Finding
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.records.fields import Array
from optiframe_tvcs.learning.linear_models.one_thread import one_thread
from optiframe_tvcs.learning.linear_models.parameters import loss_class
from optiframe_tvcs.learning.linear_models.sample_weights import class_weights, sample_weights
from optiframe_tvcs.learning.linear_models.trust import real_targets, separated
from optiframe_tvcs.sets.three_view import ThreeView

require("sklearn", "sklearn", "optiframework-tvcs")

from sklearn.base import ClassifierMixin, RegressorMixin  # noqa: E402  # after the message
from sklearn.utils.multiclass import check_classification_targets, type_of_target  # noqa: E402
from sklearn.utils.validation import validate_data  # noqa: E402

from optiframe_tvcs.learning.linear_models.sparse_linear import SparseLinear  # noqa: E402


class SparseRegressor(RegressorMixin, SparseLinear):  # type: ignore[misc]  # scikit-learn has no types
    """Linear regression with few coefficients that are not zero.

    Needs scikit-learn. Fits every size from nothing up, each from the fit before and from a point of an l1
    path, whichever ends with the lower training loss, and keeps one size.

    Parameters
    ----------
    size
        Nonzero coefficients at most: a number, or how to choose it: "cv" by cross-validation, "bic", "ebic"
        or "sic" by that criterion (`optiframe_tvcs.learning.linear_models.path.criterion`).
    sizes
        The sizes to choose from, of which all are tried. None: those up to n / (log p log log n), each up to
        20, then steps of a tenth, and each near the best. They end at 1.5 times the best size and 20 more,
        where nothing larger was better; then a finding says where.
    over
        A `ThreeView` over the features: bounds on groups of coefficients besides the size. None: no groups.
    loss
        "least-squares", or a class of linear models of your own
        (`optiframe.problems.objectives.losses.LinearModel`).
    l2
        Weight of half the squared norm of the (standardized) coefficients; the intercept does not count.
    fit_intercept
        Fit a constant, which is not counted.
    standardize
        Divide columns by their standard deviation. With an intercept they are centred too, but for columns
        with zeros in sparse tables. `coef_` is for columns as they came.
    solver
        What fits one size, for problems over sets of supports: "tvcs.splicing", "tvcs.htp", "tvcs.iht",
        "tvcs.gradmp", "tvcs.stochastic-iht", "tvcs.stochastic-gradmp", a table with parameters, or a solver.
    cv
        Folds, which are shuffled by `seed`, or a splitter of scikit-learn, for ``size="cv"``.
    budget
        Of each single fit, as for `optiframe.solve`.
    seed
        Of each single fit, and of the folds: scikit-learn's `random_state`, which must be a number here.

    Attributes
    ----------
    coef_, intercept_
        Shape (features,), and a number.
    size_
        Nonzero coefficients.
    sizes_, scores_, coef_path_, intercept_path_
        Sizes tried, their held-out loss or criterion (nan for a given size), their coefficients, shape
        (sizes, features), and intercepts.
    result_, findings_
        The `Result` of the fit kept, in the scaled columns (least squares: of targets less their mean, rows
        times the roots of their weights), which holds the samples and is left out of copies and pickles; what
        to know before trusting it. With "tvcs.splicing" the status "converged" says that no support of this
        size fits the samples better: few features, or small sizes (see its `proof`).
    """

    losses: ClassVar[Mapping[str, type[LinearModel]]] = {"least-squares": LeastSquares}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # scikit-learn's name
        """Learn from samples (n, features), dense or sparse, their targets (n,) and weights (n,).

        A weight says how many times its sample counts, in the fit, in scaling and in held-out losses; a
        sample of weight 0 is left out. Criteria, and the sizes that are tried by default, take the sum of the
        weights for the number of samples, if it is larger: divide weights that are no counts by their mean.

        Raises
        ------
        InvalidInput
            For targets, weights or parameters that cannot be, naming the first; for entries whose squares
            float64 cannot hold. It is a ValueError, as scikit-learn's own checks raise.
        """
        matrix, given = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        target = real_targets(given)
        weights = sample_weights(sample_weight, len(target))
        with one_thread(matrix):
            return self._fit(matrix, target, weights)

    def predict(self, X: Any) -> Array:
        """Targets of samples, shape (n,): what the loss takes as predictions `z`."""
        return self._decision(X)


class SparseClassifier(ClassifierMixin, SparseLinear):  # type: ignore[misc]  # scikit-learn has no types
    """Classification into two classes with few coefficients that are not zero.

    As `SparseRegressor`, with these differences; for more classes put it into scikit-learn's
    `OneVsRestClassifier`.

    Parameters
    ----------
    loss
        "logistic", "squared-hinge", or a class of linear models of your own for targets -1 and 1.
    l2
        As there, 0.001 by default: without it, classes that a plane separates have no best fit.
    class_weight
        None, "balanced" or a table of a factor for each class (1 where it is left out), by which weights of
        its samples are multiplied, held-out ones too; their sum is kept. "balanced": all classes weigh the
        same.

    Attributes
    ----------
    classes_
        The two classes; the second one has positive decisions.
    coef_, intercept_
        Shape (1, features) and (1,).
    """

    losses: ClassVar[Mapping[str, type[LinearModel]]] = {"logistic": Logistic, "squared-hinge": SquaredHinge}

    classes_: Any

    def __init__(
        self,
        size: int | Literal["cv", "bic", "ebic", "sic"] = "cv",
        *,
        sizes: Sequence[int] | None = None,
        over: ThreeView | None = None,
        loss: Any = None,
        l2: float = 1e-3,
        fit_intercept: bool = True,
        standardize: bool = True,
        solver: Any = "tvcs.splicing",
        cv: Any = 5,
        budget: Any = None,
        seed: int = 0,
        class_weight: Any = None,
    ) -> None:
        super().__init__(
            size,
            sizes=sizes,
            over=over,
            loss=loss,
            l2=l2,
            fit_intercept=fit_intercept,
            standardize=standardize,
            solver=solver,
            cv=cv,
            budget=budget,
            seed=seed,
        )
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from samples (n, features), dense or sparse, their classes (n,) and weights (n,).

        Weights count as for `SparseRegressor`.

        Raises
        ------
        InvalidInput
            As there; for more classes than two, and for one class alone.
        """
        matrix, given = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        weights = sample_weights(sample_weight, len(given))
        counted = weights > 0
        check_classification_targets(given)
        kind = type_of_target(given[counted], input_name="y")
        if kind != "binary":
            raise InvalidInput(
                f"Only binary classification is supported. The type of the target is {kind}. "
                "For more classes use sklearn.multiclass.OneVsRestClassifier"
            )
        classes = np.unique(given[counted])
        if len(classes) < 2:
            raise InvalidInput("all samples are of one class; two classes are needed to tell them apart")
        second = given == classes[1]
        sums = np.array([weights[~second].sum(), weights[second].sum()])
        weights *= class_weights(self.class_weight, classes, sums)[second.astype(int)]
        signs = np.where(second, 1.0, -1.0)
        with one_thread(matrix):
            self._fit(matrix, signs, weights)
        self.classes_ = classes  # now that there is a model of them
        self.coef_, self.intercept_ = self.coef_[np.newaxis], np.array([self.intercept_])
        self.findings_ = (*self.findings_, *self._separated(matrix[counted], signs[counted]))
        return self

    def _separated(self, matrix: Any, signs: Array) -> Iterator[Finding]:
        chosen = matrix[:, self.get_support(indices=True)]
        columns = chosen.toarray() if sp.issparse(chosen) else chosen
        beside = np.column_stack([columns, np.ones((len(signs), int(self.fit_intercept)))])
        names = self.get_feature_names_out().tolist()
        yield from separated(signs * self._predicted(matrix), signs[:, np.newaxis] * beside, names, self.l2)

    def decision_function(self, X: Any) -> Array:
        """Positive for the second class, shape (n,)."""
        return self._decision(X)

    def predict(self, X: Any) -> Any:
        """Classes of samples, shape (n,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    @property
    def predict_proba(self) -> Callable[[Any], Array]:
        """Probabilities of both classes, shape (n, 2); with the logistic loss only."""
        self._check_has_probabilities()
        return self._probabilities

    @property
    def predict_log_proba(self) -> Callable[[Any], Array]:
        """Logarithms of the probabilities, shape (n, 2); with the logistic loss only."""
        self._check_has_probabilities()
        return self._log_probabilities

    def _check_has_probabilities(self) -> None:
        # scikit-learn's `available_if` would keep the reason for the cause of its own message.
        if loss_class(self.loss, self.losses) is not Logistic:
            raise AttributeError('probabilities need loss = "logistic"')

    def _probabilities(self, X: Any) -> Array:
        second = expit(self.decision_function(X))
        return np.column_stack([1.0 - second, second])

    def _log_probabilities(self, X: Any) -> Array:
        decisions = self.decision_function(X)
        return np.column_stack([log_expit(-decisions), log_expit(decisions)])
