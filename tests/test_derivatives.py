"""`check_derivatives` passes right derivatives and names the wrong one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optiframe import InvalidInput, Objective
from optiframe.testing import check_derivatives


class Quartic(Objective):
    """A right objective over any shape: sum of x^4 plus the squared sum; its parts can be overridden."""

    name = "quartic"

    sizes: tuple[int, ...] = (3,)

    @property
    def shape(self):
        return self.sizes

    def value(self, x):
        return float(np.sum(x**4) + np.sum(x) ** 2)

    def gradient(self, x):
        return 4 * x**3 + 2 * np.sum(x)

    def hessian_product(self, x, v):
        return 12 * x**2 * v + 2 * np.sum(v)

    def hessian(self, x):
        return np.diag(12 * x.ravel() ** 2) + 2.0


@pytest.mark.parametrize("sizes", [(3,), (1,), (2, 3), (2, 1, 2), ()], ids=str)
def test_right_derivatives_pass_over_any_shape(sizes):
    check_derivatives(Quartic(sizes=sizes), trials=20)
    check_derivatives(Quartic(sizes=sizes), np.full(sizes, 0.5))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(x=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), scale=st.sampled_from([1e-8, 1.0, 1e8]))
def test_right_derivatives_pass_at_any_point_and_scale(x, scale):
    class Scaled(Quartic):
        """The quartic in another unit."""

        def value(self, x):
            return scale * Quartic.value(self, x)

        def gradient(self, x):
            return scale * Quartic.gradient(self, x)

        def hessian_product(self, x, v):
            return scale * Quartic.hessian_product(self, x, v)

        def hessian(self, x):
            return scale * Quartic.hessian(self, x)

    check_derivatives(Scaled(), x, trials=2)


@pytest.mark.parametrize("x", [[0.0, 0.0, 0.0], [1e-9, 0.0, -1e-9], [1e3, -1e3, 0.0]], ids=str)
def test_points_without_slope_and_far_points_pass(x):
    check_derivatives(Quartic(), x)


class WrongGradient(Quartic):
    """One entry is a thousandth too large."""

    def gradient(self, x):
        return super().gradient(x) * np.array([1.0, 1.001, 1.0])


class GradientWithoutPart(Quartic):
    """The derivative of the squared sum is forgotten."""

    def gradient(self, x):
        return 4 * x**3


class WrongSign(Quartic):
    """Uphill for downhill."""

    def gradient(self, x):
        return -super().gradient(x)


class WrongProduct(Quartic):
    """Symmetric, but half of one part."""

    def hessian_product(self, x, v):
        return 6 * x**2 * v + 2 * np.sum(v)


class Unsymmetric(Quartic):
    """A product no Hessian can have."""

    def hessian_product(self, x, v):
        return super().hessian_product(x, v) + 0.01 * np.roll(v, 1)


class WrongMatrix(Quartic):
    """Only the diagonal."""

    def hessian(self, x):
        return np.diag(12 * x**2)


class MatrixOfPointShape(Quartic):
    """The Hessian's diagonal in place of the matrix."""

    def hessian(self, x):
        return 12 * x**2


class LowCurvature(Quartic):
    """A bound that does not bound."""

    def curvature(self):
        return 1.0


class GradientOfOtherShape(Quartic):
    """A column in place of a vector."""

    def gradient(self, x):
        return super().gradient(x)[:, np.newaxis]


class NanGradient(Quartic):
    """A gradient that is not a number."""

    def gradient(self, x):
        return super().gradient(x) * math.nan


class NanProduct(Quartic):
    """A product that is not a number."""

    def hessian_product(self, x, v):
        return super().hessian_product(x, v) * math.nan


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (WrongGradient, r"quartic: the gradient is off by .* along the direction of trial 1 of seed 0"),
        (GradientWithoutPart, "quartic: the gradient is off"),
        (WrongSign, "quartic: the gradient is off"),
        (WrongProduct, r"the Hessian product is off by .*in entry \[\d\] it is .*, by central differences"),
        (Unsymmetric, "the Hessian product is not symmetric: .* u'Hv is .*, but v'Hu"),
        (WrongMatrix, "the Hessian matrix is off by .*by the Hessian product"),
        (MatrixOfPointShape, r"the Hessian matrix has shape \(3,\), .* \(3, 3\)"),
        (LowCurvature, "the curvature bound is off: it is 1, but"),
        (GradientOfOtherShape, r"the gradient has shape \(3, 1\), the point \(3,\)"),
        (NanGradient, "the gradient is off by nan"),
        (NanProduct, "Hessian product"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_the_wrong_derivative_is_named(wrong, words):
    with pytest.raises(AssertionError, match=words):
        check_derivatives(wrong())


@pytest.mark.parametrize("seed", range(10))
def test_a_small_error_in_one_entry_is_found_with_any_seed(seed):
    with pytest.raises(AssertionError, match=f"the gradient is off .*seed {seed}"):
        check_derivatives(WrongGradient(), seed=seed)


def test_the_message_gives_both_numbers():
    words = r"off by 2\.76 .*: it is 1\.3814\d*, by central differences of the value -1\.3814"
    with pytest.raises(AssertionError, match=words):
        check_derivatives(WrongSign(), [0.1, 0.2, 0.3], seed=2)


class ValueChangesPoint(Quartic):
    """Works in place."""

    def value(self, x):
        x *= 1.0 + 1e-12
        return super().value(x)


class GradientChangesPoint(Quartic):
    """Works in place."""

    def gradient(self, x):
        x **= 3
        return 4 * x + 2 * np.sum(np.cbrt(x))


class ProductChangesDirection(Quartic):
    """Works in place."""

    def hessian_product(self, x, v):
        total = np.sum(v)
        v *= 12 * x**2
        return v + 2 * total


class MatrixChangesPoint(Quartic):
    """Works in place."""

    def hessian(self, x):
        answer = super().hessian(x)
        x[:] = 0.0
        return answer


class ProductIsItsArgument(Quartic):
    """Right, but the caller's own array comes back."""

    def value(self, x):
        return float(np.sum(x**2) / 2)

    def gradient(self, x):
        return x.copy()

    def hessian_product(self, x, v):
        return v


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (ValueChangesPoint, "the value changes its argument x"),
        (GradientChangesPoint, "the gradient changes its argument x"),
        (ProductChangesDirection, "the Hessian product changes its argument v"),
        (MatrixChangesPoint, "the Hessian matrix changes its argument x"),
        (ProductIsItsArgument, "the Hessian product hands back its argument v"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_an_operation_that_touches_its_arguments_is_named(wrong, words):
    with pytest.raises(AssertionError, match=words):
        check_derivatives(wrong())


class MatrixOnly(Objective):
    """A gradient and a Hessian matrix, without a product; the matrix may be scaled."""

    name = "matrix-only"
    factor: float = 1.0

    @property
    def shape(self):
        return (2, 2)

    def value(self, x):
        return float(np.sum(np.exp(x)))

    def gradient(self, x):
        return np.exp(x)

    def hessian(self, x):
        return self.factor * np.diag(np.exp(x.ravel()))


def test_a_hessian_without_a_product_is_compared_with_the_gradient():
    check_derivatives(MatrixOnly())
    with pytest.raises(
        AssertionError, match=r"Hessian matrix is off .*by central differences of the gradient"
    ):
        check_derivatives(MatrixOnly(factor=1.001))


class Logarithm(Objective):
    """Only defined for positive points."""

    name = "logarithm"

    @property
    def shape(self):
        return (2,)

    def value(self, x):
        return -float(np.sum(np.log(x))) if (x > 0).all() else math.inf

    def gradient(self, x):
        return -1 / x


def test_a_point_outside_the_domain_asks_for_another():
    check_derivatives(Logarithm(), [0.5, 2.0])
    with pytest.raises(AssertionError, match="give an x where the objective is finite"):
        check_derivatives(Logarithm(), seed=1)
    with pytest.raises(AssertionError, match="give an x further inside the domain"):
        check_derivatives(Logarithm(), [1e-9, 1.0])


def test_wrong_arguments_are_named():
    with pytest.raises(InvalidInput, match=r"x has shape \(2,\), the objective takes \(3,\)"):
        check_derivatives(Quartic(), [1.0, 2.0])
    with pytest.raises(InvalidInput, match="trials must be at least 1"):
        check_derivatives(Quartic(), trials=0)


def test_the_given_point_is_left_as_it_is():
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(AssertionError, match="changes its argument"):
        check_derivatives(GradientChangesPoint(), x)
    assert x.tolist() == [1.0, 2.0, 3.0]
