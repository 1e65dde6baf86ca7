"""`check_derivatives` passes right derivatives and names the wrong one."""

import math
from collections.abc import Callable
from typing import Any

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


RIGHT = Quartic()


def quartic(operation: str, body: Callable[..., Any]) -> Quartic:
    """The quartic with another body for one of its operations."""
    changed = {operation: lambda self, *arguments: body(*arguments)}
    return type("Changed", (Quartic,), {"__doc__": "Changed.", "__module__": __name__, **changed})()


def with_wrong_entry(x):
    return RIGHT.gradient(x) * np.array([1.0, 1.001, 1.0])


# What is wrong, in which operation, and what is said of it.
WRONG = {
    "an entry a thousandth too large": (
        "gradient",
        with_wrong_entry,
        r"quartic: the gradient is off by .* along the direction of trial 1 of seed 0",
    ),
    "the squared sum forgotten": ("gradient", lambda x: 4 * x**3, "quartic: the gradient is off"),
    "uphill": ("gradient", lambda x: -RIGHT.gradient(x), "quartic: the gradient is off"),
    "a column": (
        "gradient",
        lambda x: RIGHT.gradient(x)[:, np.newaxis],
        r"the gradient has shape \(3, 1\), the point \(3,\)",
    ),
    "not a number": ("gradient", lambda x: RIGHT.gradient(x) * math.nan, "the gradient is off by nan"),
    "half of one part": (
        "hessian_product",
        lambda x, v: 6 * x**2 * v + 2 * np.sum(v),
        r"the Hessian product is off by .*in entry \[\d\] it is .*, by central differences",
    ),
    "unsymmetric": (
        "hessian_product",
        lambda x, v: RIGHT.hessian_product(x, v) + 0.01 * np.roll(v, 1),
        "the Hessian product is not symmetric: .* u'Hv is .*, but v'Hu",
    ),
    "a product not a number": (
        "hessian_product",
        lambda x, v: RIGHT.hessian_product(x, v) * math.nan,
        "Hessian product",
    ),
    "the diagonal alone": (
        "hessian",
        lambda x: np.diag(12 * x**2),
        "the Hessian matrix is off by .*by the Hessian product",
    ),
    "a matrix of the point's shape": (
        "hessian",
        lambda x: 12 * x**2,
        r"the Hessian matrix has shape \(3,\), .* \(3, 3\)",
    ),
    "no bound": ("curvature", lambda: 1.0, "the curvature bound is off: it is 1, but"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_wrong_derivative_is_named(case):
    operation, body, words = WRONG[case]
    with pytest.raises(AssertionError, match=words):
        check_derivatives(quartic(operation, body))


@pytest.mark.parametrize("seed", range(10))
def test_a_small_error_in_one_entry_is_found_with_any_seed(seed):
    with pytest.raises(AssertionError, match=f"the gradient is off .*seed {seed}"):
        check_derivatives(quartic("gradient", with_wrong_entry), seed=seed)


def test_the_message_gives_both_numbers():
    words = r"off by 2\.76 .*: it is 1\.3814\d*, by central differences of the value -1\.3814"
    with pytest.raises(AssertionError, match=words):
        check_derivatives(quartic(*WRONG["uphill"][:2]), [0.1, 0.2, 0.3], seed=2)


def value_changing_the_point(x):
    x *= 1.0 + 1e-12
    return RIGHT.value(x)


def gradient_changing_the_point(x):
    x **= 3
    return 4 * x + 2 * np.sum(np.cbrt(x))


def product_changing_the_direction(x, v):
    total = np.sum(v)
    v *= 12 * x**2
    return v + 2 * total


def matrix_changing_the_point(x):
    answer = RIGHT.hessian(x)
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
        (quartic("value", value_changing_the_point), "the value changes its argument x"),
        (quartic("gradient", gradient_changing_the_point), "the gradient changes its argument x"),
        (
            quartic("hessian_product", product_changing_the_direction),
            "the Hessian product changes its argument v",
        ),
        (quartic("hessian", matrix_changing_the_point), "the Hessian matrix changes its argument x"),
        (ProductIsItsArgument(), "the Hessian product hands back its argument v"),
    ],
)
def test_an_operation_that_touches_its_arguments_is_named(wrong, words):
    with pytest.raises(AssertionError, match=words):
        check_derivatives(wrong)


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
        check_derivatives(quartic("gradient", gradient_changing_the_point), x)
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("products", [False, True])
def test_a_curvature_bound_is_held_to_the_steepest_direction(products):
    class Valley(Objective):
        """A bowl that is ten times as steep along one of fifty directions."""

        name = "valley"
        bound: float = 10.0

        @property
        def shape(self):
            return (50,)

        def value(self, x):
            return float(np.sum(x**2) + 9 * x[7] ** 2) / 2

        def gradient(self, x):
            return x + 9 * x[7] * np.eye(50)[7]

        def curvature(self):
            return self.bound

    class WithProducts(Valley):
        """The same with the product."""

        def hessian_product(self, x, v):
            return self.gradient(v)

    kind = WithProducts if products else Valley
    check_derivatives(kind())
    with pytest.raises(AssertionError, match="valley: the curvature bound is off: it is 5, but the Hessian"):
        check_derivatives(kind(bound=5.0))


def test_a_gradient_that_is_a_list_is_named():
    class Listed(Quartic):
        """Gives a list."""

        def gradient(self, x):
            return super().gradient(x).tolist()

    with pytest.raises(AssertionError, match=r"the gradient is a list, .*give a NumPy array"):
        check_derivatives(Listed())
